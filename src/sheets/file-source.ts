import { createReadStream, createWriteStream, rmSync, type Stats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { asOpenError, UsageError } from '../domain/errors.js';
import { createTempFolder, removeStaleTempFolders } from '../util/temp-folder.js';

export const CHUNK_BYTES = 256 * 1024;

/** What tells that a file was changed between two readings. */
export interface FileVersion {
  readonly size: number;
  readonly mtimeMs: number;
}

/** A file that a table is read from, more than once. */
export interface FileSource {
  readonly path: string;
  /** What messages call it: a copy is called by what it is a copy of. */
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

export const emptyFile = (shownAs: string): UsageError => new UsageError('FILE_EMPTY', `${shownAs} is empty`);

/** The bytes, unpacked where the file is gzipped. `onStored` sees them as they lie on the disk. */
export async function* chunksOf(
  { path, shownAs, gzipped }: FileSource,
  onStored: (chunk: Buffer) => void = () => {},
): AsyncGenerator<Buffer> {
  const stored = watched(readChunks(path, shownAs), onStored);
  yield* gzipped ? gunzipped(stored, shownAs) : stored;
}

/** The hash and the header belong to the file as it was inspected: lines of another version must not be mixed in. */
export async function refuseChanged({ path, shownAs, version }: FileSource): Promise<void> {
  const now = await fileVersion(path, shownAs);
  if (now.size === version.size && now.mtimeMs === version.mtimeMs) return;
  throw new UsageError(
    'FILE_CHANGED',
    `${shownAs} has changed since it was opened`,
    'Start again when nothing writes to it any more.',
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
  let stats: Stats;
  try {
    stats = await stat(path);
  } catch (error) {
    throw unreadable(shownAs, error);
  }
  if (stats.isDirectory())
    throw new UsageError('FILE_IS_FOLDER', `${shownAs} is a directory`, 'Name one CSV or xlsx file in it.');
  // The file is read more than once: a pipe cannot be.
  if (!stats.isFile()) {
    throw new UsageError(
      'FILE_NOT_REGULAR',
      `${shownAs} is not a regular file`,
      'Save it to disk first, or give it to - (standard input).',
    );
  }
  return { size: stats.size, mtimeMs: stats.mtimeMs };
}

function unreadable(shownAs: string, error: unknown): unknown {
  const code = (error as NodeJS.ErrnoException | null)?.code;
  if (code === undefined) return error;
  const reason = REASONS[code] ?? `cannot be read (${code})`;
  return new UsageError('FILE_UNREADABLE', `${shownAs} ${reason}`, 'Check the path and that you may read it.');
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'does not exist',
  EACCES: 'may not be read by this user',
  EPERM: 'may not be read by this user',
};

const isGzip = (head: Buffer): boolean => head[0] === 0x1f && head[1] === 0x8b;

/** Unpacks as the bytes go by; several archives one behind the other are one text. */
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
  const why = code === 'Z_BUF_ERROR' ? 'it ends too early' : 'its bytes are not what was packed';
  return new UsageError(
    'ARCHIVE_DAMAGED',
    `${shownAs}: this gzip archive is damaged: ${why}`,
    'Copy it once more from where it came from.',
  );
}

/** What is packed tighter than this was made to fill a disk or a memory: tables of one repeated row come to about 300. */
const GREATEST_RATIO = 500;

/** Below this many bytes nobody is hurt, however tightly they are packed. */
const HARMLESS_BYTES = 64 * 1024 * 1024;

/** Refuses what grows out of all proportion when it is unpacked. */
export function refuseDecompressionBomb(path: string, packedBytes: number, unpackedBytes: number): void {
  if (unpackedBytes <= HARMLESS_BYTES || unpackedBytes <= packedBytes * GREATEST_RATIO) return;
  throw new UsageError(
    'ARCHIVE_TOO_DENSE',
    `${path}: ${packedBytes} bytes unpack to more than ${unpackedBytes}: no table is packed so tightly`,
    'Ask where the file comes from; save the table as CSV if it is what you want.',
  );
}

/** A private copy of what can be read only once, or only from front to back. */
export interface SpooledFile {
  readonly path: string;
  /** Whoever made it removes it; a process that is told to stop does so on its way out. */
  remove(): void;
}

/** A million rows have about 200 MB. What comes through a pipe may never end. */
const MOST_BYTES = 1024 ** 3;

/** Writes the bytes to a file in the system's folder for temporary ones, for its owner alone. `shownAs`: where they are from. */
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
