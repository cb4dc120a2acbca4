import {
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readSync,
  realpathSync,
  statfsSync,
  statSync,
} from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** A file that appears only when it is complete, for its owner only unless told otherwise. What was there before stays until then. */
export async function writeAtomically(path: string, text: string, mode = 0o600): Promise<void> {
  const part = `${path}.${process.pid}.part`;
  try {
    const handle = await open(part, 'w', mode);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(part, path);
  } catch (error) {
    await rm(part, { force: true }).catch(() => {});
    throw error;
  }
}

/** Why a file could not be read, in words that go behind its name. */
export class UnreadableFile extends Error {
  override readonly name = 'UnreadableFile';
}

export interface SmallFileOptions {
  /** A pipe will do, as a shell makes one for `<(…)`. It can be read once: what is read more often must be a file. */
  readonly pipe?: boolean | undefined;
  /** Nobody writes more by hand. */
  readonly mostBytes?: number | undefined;
  /** How long a pipe may bring nothing. */
  readonly waitMs?: number | undefined;
}

/**
 * The text of a file that somebody has written by hand. It never waits for good and never reads without end: a device is
 * refused, and so are a pipe that nobody writes to and a file that is too large.
 */
export function readSmallFile(path: string, options: SmallFileOptions = {}): string {
  const { pipe = false, mostBytes = 4 << 20, waitMs = 5_000 } = options;
  const kind = inWords(() => statSync(path));
  if (kind.isDirectory()) throw new UnreadableFile('cannot be read (EISDIR)');
  const isPipe = pipe && kind.isFIFO();
  if (!kind.isFile() && !isPipe) throw new UnreadableFile('is not a regular file');
  // Whoever opens a pipe is kept waiting until somebody writes to it, unless they say otherwise.
  const descriptor = inWords(() => openSync(path, constants.O_RDONLY | constants.O_NONBLOCK));
  try {
    return inWords(() => readAll(descriptor, mostBytes, isPipe ? waitMs : 0));
  } finally {
    closeSync(descriptor);
  }
}

const CHUNK_BYTES = 64 << 10;
const STEP_MS = 10;

function readAll(descriptor: number, mostBytes: number, waitMs: number): string {
  const chunks: Buffer[] = [];
  let total = 0;
  for (let waited = 0; ; waited += STEP_MS) {
    const chunk = Buffer.alloc(CHUNK_BYTES);
    const read = readNow(descriptor, chunk);
    if (read === 0 && (total > 0 || waitMs === 0)) return Buffer.concat(chunks).toString('utf8');
    if (read !== undefined && read > 0) {
      waited = 0;
      total += read;
      if (total > mostBytes) throw new UnreadableFile(`is larger than ${mostBytes.toLocaleString('en-US')} bytes`);
      chunks.push(chunk.subarray(0, read));
      continue;
    }
    if (waited >= waitMs) throw new UnreadableFile(`is a pipe that has brought nothing for ${waitMs / 1000} s`);
    pause(STEP_MS);
  }
}

/** Undefined: nothing is there yet, and somebody may still write. */
function readNow(descriptor: number, into: Buffer): number | undefined {
  try {
    return readSync(descriptor, into);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return undefined;
    throw error;
  }
}

const pause = (ms: number): unknown => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

function inWords<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof UnreadableFile) throw error;
    throw new UnreadableFile(`cannot be read (${(error as NodeJS.ErrnoException).code ?? 'error'})`);
  }
}

/**
 * A folder and those above it that are missing, for their owner only. Node's own recursive mkdir never returns where a
 * file system says "no such folder" about a child of one that is there (/proc): here every step is made once.
 */
export function makeFolder(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  if (dirname(path) !== path) makeFolder(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Somebody else was quicker; a file in its place is told as what it is.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !statSync(path).isDirectory()) throw error;
  }
}

/** Where a path leads, links followed, also where nothing is there yet. */
export function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const above = dirname(path);
    return above === path ? path : join(realPath(above), basename(path));
  }
}

/** Bytes that this user can still write where `path` is, or will be; undefined where the system does not say. */
export function freeBytes(path: string): number | undefined {
  try {
    const { bavail, bsize, blocks } = statfsSync(path);
    // Some network and virtual file systems say nothing at all: that is not "full".
    return blocks === 0 ? undefined : bavail * bsize;
  } catch {
    const above = dirname(path);
    return existsSync(path) || above === path ? undefined : freeBytes(above);
  }
}
