import { createHash } from 'node:crypto';
import {
  closeSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  realpathSync,
  rmSync,
  statfsSync,
  statSync,
} from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';

/**
 * Flags to write a file of ours. A link in its place is not followed, because another user may have put it there to get
 * a file overwritten.
 */
const WRITE = constants.O_WRONLY | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0);
export const REWRITE = WRITE | constants.O_TRUNC;
export const APPEND = WRITE | constants.O_APPEND;

/**
 * Writes a file that appears only when it is complete, by default for its owner only. The previous file stays until
 * then.
 */
export async function writeAtomically(path: string, text: string | Uint8Array, mode = 0o600): Promise<void> {
  const part = `${path}.${process.pid}.part`;
  try {
    const handle = await open(part, REWRITE, mode);
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

/** Resolves when the text is on disk. A folder is opened with `r`: its new names are then on disk. */
export async function writeFlushed(path: string, flags: 'a' | 'r', text = ''): Promise<void> {
  const file = await open(path, flags === 'a' ? APPEND : flags, 0o600);
  try {
    if (text !== '') await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** The names of the files in a folder. Without the folder there are none. */
export function filesIn(folder: string): readonly string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** The first bytes of a file as text. Empty if there is no file. */
export function firstBytes(path: string, count: number): string {
  if (!existsSync(path)) return '';
  const descriptor = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(count);
    return bytes.toString('latin1', 0, readSync(descriptor, bytes));
  } finally {
    closeSync(descriptor);
  }
}

/** Why a file could not be read, as text that follows its name. */
export class UnreadableFile extends Error {
  override readonly name = 'UnreadableFile';

  /** `code`: that of the operating system, or of the reason. */
  constructor(
    readonly code: string,
    message = `cannot be read (${code})`,
  ) {
    super(message);
  }
}

/**
 * Reads a small hand-written file. It never waits or reads forever: it refuses a device, a pipe and a file that is
 * larger than people write by hand.
 */
export function readSmallFile(path: string, mostBytes = 4 << 20): string {
  const kind = inWords(() => statSync(path));
  if (kind.isDirectory()) throw new UnreadableFile('EISDIR');
  if (!kind.isFile()) throw new UnreadableFile('NOT_REGULAR', 'is not a regular file');
  if (kind.size > mostBytes)
    throw new UnreadableFile('TOO_LARGE', `is larger than ${mostBytes.toLocaleString('en-US')} bytes`);
  return inWords(() => readFileSync(path, 'utf8'));
}

function inWords<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new UnreadableFile((error as NodeJS.ErrnoException).code ?? 'error');
  }
}

/**
 * Creates a folder and its missing parents, for their owner only. Node's recursive mkdir never returns if a file system
 * reports "no such folder" for a child of an existing folder (/proc). Here every step is made once.
 */
export function makeFolder(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  if (dirname(path) !== path) makeFolder(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process was quicker. A file in its place is an error.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !statSync(path).isDirectory()) throw error;
  }
}

/** The real path, with links followed, even if nothing exists there yet. */
export function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const above = dirname(path);
    return above === path ? path : join(realPath(above), basename(path));
  }
}

/**
 * Free bytes of a disk. Below `floor` no attempt begins, below `reserved` no call is sent: the rest is for answers in
 * flight. Below `noted` a person is told.
 */
export const SPACE = { reserved: 8e6, floor: 16e6, noted: 1e9 } as const;

/** Bytes that this user can still write at `path`. Undefined if the system does not say. */
export function freeBytes(path: string): number | undefined {
  try {
    const { bavail, bsize, blocks } = statfsSync(path);
    // Some network and virtual file systems report nothing, which does not mean "full".
    return blocks === 0 ? undefined : bavail * bsize;
  } catch {
    const above = dirname(path);
    return existsSync(path) || above === path ? undefined : freeBytes(above);
  }
}

/**
 * A folder for a private copy of a ledger or an input. Its process removes it, but a killed process cannot. So the name
 * has the machine and the process ID.
 */
export function createTempFolder(): string {
  return mkdtempSync(join(tmpdir(), `${PREFIX}${place()}-${process.pid}-`));
}

/** Removes the copies of dead processes of this user and machine. Failures are ignored. */
export function removeStaleTempFolders(): void {
  for (const name of namesIn(tmpdir())) {
    const [, where, pid] = NAME.exec(name) ?? [];
    if (where !== place() || isProcessAlive(Number(pid))) continue;
    const folder = join(tmpdir(), name);
    try {
      const found = lstatSync(folder);
      if (found.isDirectory() && found.uid === process.getuid?.()) rmSync(folder, { recursive: true, force: true });
    } catch {
      // Another process was quicker, or it belongs to another user: it does no harm.
    }
  }
}

const PREFIX = 'kybatch-read-';
const NAME = /^kybatch-read-([0-9a-f]{12})-(\d+)-[^-]{6}$/;

const place = (): string => createHash('sha256').update(hostname()).digest('hex').slice(0, 12);

export function isProcessAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

/** Empty if it cannot be read. */
export function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
