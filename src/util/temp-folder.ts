import { createHash } from 'node:crypto';
import { lstatSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Folders for private copies of a ledger or an input. Whoever makes one removes it; a process that is killed cannot, and
 * what is in it is not to lie about for good. So the name tells whose it is: the machine (and the container: process IDs mean something
 * in one alone), the process and when that began, for IDs come again.
 */
export function createTempFolder(): string {
  return mkdtempSync(join(tmpdir(), `${PREFIX}${place()}-${process.pid}-${begunAt(process.pid) ?? 0}-`));
}

/** Removes the copies of processes that are dead, of this user and this machine. What cannot be removed is left. */
export function removeStaleTempFolders(): void {
  for (const name of namesIn(tmpdir())) {
    const [, where, pid, begun] = NAME.exec(name) ?? [];
    if (where !== place() || isProcessAlive(Number(pid), Number(begun))) continue;
    const folder = join(tmpdir(), name);
    try {
      const { uid, isFolder } = ownerOf(folder);
      if (isFolder && uid === process.getuid?.()) rmSync(folder, { recursive: true, force: true });
    } catch {
      // Another reader was quicker, or it is not ours to remove: it is in nobody's way.
    }
  }
}

const PREFIX = 'kybatch-read-';
const NAME = /^kybatch-read-([0-9a-f]{12})-(\d+)-(\d+)-[^-]{6}$/;

function place(): string {
  return createHash('sha256').update(`${hostname()} ${processSpace()}`).digest('hex').slice(0, 12);
}

/** Linux alone has several on one machine. */
function processSpace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return '';
  }
}

/** Where nobody says when it began, one that is there is taken for the one that was meant. */
export function isProcessAlive(pid: number, begun = 0): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
  }
  const now = begunAt(pid);
  return now === undefined || begun === 0 || now === begun;
}

/** In ticks since the machine was started; undefined where it does not tell. */
function begunAt(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name of the program is in brackets and may hold anything; what follows it is numbers.
    const ticks = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]);
    return Number.isSafeInteger(ticks) ? ticks : undefined;
  } catch {
    return undefined;
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function ownerOf(folder: string) {
  const found = lstatSync(folder);
  return { uid: found.uid, isFolder: found.isDirectory() };
}
