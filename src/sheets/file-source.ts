// Reads the bytes of a list: change detection, gzip, and copies of pipes.

import { createReadStream, createWriteStream, rmSync, type Stats } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { asOpenError, UsageError } from '../domain/errors.js';
import { createTempFolder, removeStaleTempFolders } from '../util/files.js';
import { didYouMean } from '../util/message-parts.js';

export const CHUNK_BYTES = 256 * 1024;

type FileVersion = Pick<Stats, 'size' | 'mtimeMs'>;

export interface FileSource {
  readonly path: string;
  /** The name in messages. A copy has the name of its original. */
  readonly shownAs: string;
  readonly version: FileVersion;
  readonly gzipped: boolean;
}

export async function openSource(path: string, shownAs = path): Promise<FileSource> {
  const version = await fileVersion(path, shownAs);
  if (version.size === 0) throw emptyFile(shownAs);
  for await (const chunk of readChunks(path, shownAs)) return { path, shownAs, version, gzipped: isGzip(chunk) };
  throw emptyFile(shownAs);
}

export const emptyFile = (shownAs: string): UsageError =>
  new UsageError('FILE_EMPTY', `${shownAs} is empty`, 'Nothing was spent. Check where the file comes from.');

/** The bytes, unpacked if the file is gzipped. `onStored` gets the bytes as stored. */
export async function* chunksOf(
  { path, shownAs, gzipped }: FileSource,
  onStored: (chunk: Buffer) => void = () => {},
): AsyncGenerator<Buffer> {
  const stored = watched(readChunks(path, shownAs), onStored);
  yield* gzipped ? gunzipped(stored, shownAs) : stored;
}

/** Hash and header belong to the inspected version, so lines of another version must not be mixed in. */
export async function refuseChanged({ path, shownAs, version }: FileSource): Promise<void> {
  const now = await fileVersion(path, shownAs);
  if (now.size === version.size && now.mtimeMs === version.mtimeMs) return;
  throw new UsageError(
    'FILE_CHANGED',
    `${shownAs} has changed since it was opened`,
    'Start again when no other program writes to it.',
  );
}

async function* watched(chunks: AsyncIterable<Buffer>, onChunk: (chunk: Buffer) => void): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    onChunk(chunk);
    yield chunk;
  }
}

async function* readChunks(path: string, shownAs: string): AsyncGenerator<Buffer> {
  try {
    yield* createReadStream(path, { highWaterMark: CHUNK_BYTES }) as AsyncIterable<Buffer>;
  } catch (error) {
    throw unreadable(shownAs, error);
  }
}

async function fileVersion(path: string, shownAs: string): Promise<FileVersion> {
  const stats = await stat(path).catch(async (error: unknown) => {
    const names = await readdir(dirname(path)).catch(() => []);
    throw unreadable(shownAs, error, didYouMean(basename(path), names));
  });
  if (stats.isDirectory())
    throw new UsageError('FILE_IS_FOLDER', `${shownAs} is a directory`, 'Name one CSV or xlsx file in it.');
  // The file is read more than once, which a pipe does not allow.
  if (!stats.isFile()) {
    throw new UsageError(
      'FILE_NOT_REGULAR',
      `${shownAs} is not a regular file`,
      'Save it to disk first, or give it to - (standard input).',
    );
  }
  return { size: stats.size, mtimeMs: stats.mtimeMs };
}

function unreadable(shownAs: string, error: unknown, near = ''): unknown {
  const code = (error as NodeJS.ErrnoException | null)?.code;
  if (code === undefined) return error;
  const reason = REASONS[code] ?? `cannot be read (${code})`;
  const fact = code === 'ENOENT' && near !== '' ? `${reason}.${near}` : reason;
  return new UsageError(
    'FILE_UNREADABLE',
    `${shownAs} ${fact}`,
    'Nothing was spent. Check the path and that you may read it.',
  );
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'does not exist',
  EACCES: 'cannot be read: permission denied',
  EPERM: 'cannot be read: permission denied',
};

const isGzip = (head: Buffer): boolean => head[0] === 0x1f && head[1] === 0x8b;

/** Unpacks as bytes arrive. Several archives in a row are one text. */
async function* gunzipped(stored: AsyncIterable<Buffer>, shownAs: string): AsyncGenerator<Buffer> {
  const gunzip = createGunzip({ chunkSize: 256 * 1024 });
  const source = Readable.from(stored, { objectMode: false });
  source.on('error', (error) => gunzip.destroy(error));
  source.pipe(gunzip);
  let unpackedBytes = 0;
  try {
    for await (const chunk of gunzip as AsyncIterable<Buffer>) {
      unpackedBytes += chunk.length;
      refuseDecompressionBomb(shownAs, gunzip.bytesWritten, unpackedBytes);
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
  const why = code === 'Z_BUF_ERROR' ? 'it ends too early' : 'its checksum is wrong';
  return new UsageError(
    'ARCHIVE_DAMAGED',
    `${shownAs} is a damaged gzip archive: ${why}`,
    'Copy it again from its source.',
  );
}

/** A higher ratio is a decompression bomb: tables of one repeated row reach about 300. */
const GREATEST_RATIO = 500;

/** Fewer bytes than this do no harm at any ratio. */
const HARMLESS_BYTES = 64 * 1024 * 1024;

export function refuseDecompressionBomb(path: string, packedBytes: number, unpackedBytes: number): void {
  if (unpackedBytes <= HARMLESS_BYTES || unpackedBytes <= packedBytes * GREATEST_RATIO) return;
  throw new UsageError(
    'ARCHIVE_TOO_DENSE',
    `${path}: ${packedBytes} bytes unpack to more than ${unpackedBytes}. No list compresses that much`,
    'Check where the file comes from. If it is your list, save it as CSV.',
  );
}

/** A private copy of a file that can be read only once, or only from beginning to end. */
export interface SpooledFile {
  readonly path: string;
  /** The creator removes it. A process that is asked to stop does so before it exits. */
  remove(): void;
}

/** A million rows have about 200 MB. A pipe may never end. */
const MOST_BYTES = 1024 ** 3;

/**
 * Writes the bytes to a file in the system's temporary folder, readable only by its owner. `shownAs` is their origin.
 */
export async function spool(
  bytes: AsyncIterable<Uint8Array>,
  shownAs: string,
  mostBytes = MOST_BYTES,
): Promise<SpooledFile> {
  removeStaleTempFolders();
  const folder = createTempFolder();
  const remove = () => {
    process.off('exit', remove);
    rmSync(folder, { recursive: true, force: true });
  };
  process.on('exit', remove);
  const path = join(folder, 'input');
  try {
    const bounded = upTo(bytes, mostBytes, shownAs);
    await pipeline(Readable.from(bounded, { objectMode: false }), createWriteStream(path, { mode: 0o600 }));
  } catch (error) {
    remove();
    throw asOpenError(error, tmpdir());
  }
  return { path, remove };
}

async function* upTo(bytes: AsyncIterable<Uint8Array>, most: number, shownAs: string): AsyncGenerator<Uint8Array> {
  let seen = 0;
  for await (const chunk of bytes) {
    seen += chunk.length;
    if (seen > most)
      throw new UsageError(
        'FILE_TOO_LARGE',
        `${shownAs} has more than ${most} bytes`,
        'Save the list to a file and name the file, or split the list.',
      );
    yield chunk;
  }
}
