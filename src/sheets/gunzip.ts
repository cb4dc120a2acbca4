import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { UsageError } from '../domain/errors.js';
import { refuseBomb } from './bomb.js';

export const isGzip = (head: Buffer): boolean => head[0] === 0x1f && head[1] === 0x8b;

/** Unpacks as the bytes go by; several archives one behind the other are one text. */
export async function* gunzipped(stored: AsyncIterable<Buffer>, shownAs: string): AsyncGenerator<Buffer> {
  const gunzip = createGunzip({ chunkSize: 256 * 1024 });
  const source = Readable.from(stored, { objectMode: false });
  source.on('error', (error) => gunzip.destroy(error));
  source.pipe(gunzip);
  let unpackedBytes = 0;
  try {
    for await (const chunk of gunzip as AsyncIterable<Buffer>) {
      unpackedBytes += chunk.length;
      refuseBomb(shownAs, gunzip.bytesWritten, unpackedBytes);
      yield chunk;
    }
  } catch (error) {
    throw damagedArchive(shownAs, error);
  } finally {
    source.destroy();
    gunzip.destroy();
  }
}

function damagedArchive(shownAs: string, error: unknown): unknown {
  const code = (error as NodeJS.ErrnoException | null)?.code;
  if (code?.startsWith('Z_') !== true) return error;
  const why = code === 'Z_BUF_ERROR' ? 'it ends too early' : 'its bytes are not what was packed';
  return new UsageError(
    `${shownAs}: this gzip archive is damaged: ${why}`,
    'Copy it once more from where it came from.',
  );
}
