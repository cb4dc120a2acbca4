import { createReadStream, type Stats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { UsageError } from '../domain/errors.js';
import { gunzipped, isGzip } from './gunzip.js';

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

export const emptyFile = (shownAs: string): UsageError => new UsageError(`${shownAs} is empty`);

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
  throw new UsageError(`${shownAs} has changed since it was opened`, 'Start again when nothing writes to it any more.');
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
  if (stats.isDirectory()) throw new UsageError(`${shownAs} is a directory`, 'Name one CSV or xlsx file in it.');
  // The file is read more than once: a pipe cannot be.
  if (!stats.isFile()) {
    throw new UsageError(
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
  return new UsageError(`${shownAs} ${reason}`, 'Check the path and that you may read it.');
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'does not exist',
  EACCES: 'may not be read by this user',
  EPERM: 'may not be read by this user',
};
