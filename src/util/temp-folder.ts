import { createHash } from 'node:crypto';
import { lstatSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * A folder for a private copy of a ledger or an input. Its process removes it, but a killed process cannot. So the name
 * has the machine, the process ID and its start time, because IDs are reused. The machine includes the container,
 * because process IDs are local to it.
 */
export function createTempFolder(): string {
  return mkdtempSync(join(tmpdir(), `${PREFIX}${place()}-${process.pid}-${begunAt(process.pid) ?? 0}-`));
}

/** Removes the copies of dead processes of this user and machine. Failures are ignored. */
export function removeStaleTempFolders(): void {
  for (const name of namesIn(tmpdir())) {
    const [, where, pid, begun] = NAME.exec(name) ?? [];
    if (where !== place() || isProcessAlive(Number(pid), Number(begun))) continue;
    const folder = join(tmpdir(), name);
    try {
      const { uid, isFolder } = ownerOf(folder);
      if (isFolder && uid === process.getuid?.()) rmSync(folder, { recursive: true, force: true });
    } catch {
      // Another process was quicker, or it belongs to another user: it does no harm.
    }
  }
}

const PREFIX = 'kybatch-read-';
const NAME = /^kybatch-read-([0-9a-f]{12})-(\d+)-(\d+)-[^-]{6}$/;

function place(): string {
  return createHash('sha256').update(`${hostname()} ${processSpace()}`).digest('hex').slice(0, 12);
}

/** Only Linux has several on one machine. */
function processSpace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return '';
  }
}

/** If the start time is unknown, a process with this ID counts as the same one. */
export function isProcessAlive(pid: number, begun = 0): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
  }
  const now = begunAt(pid);
  return now === undefined || begun === 0 || now === begun;
}

/** In clock ticks since boot. Undefined if the system does not say. */
function begunAt(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The program name is in brackets and may contain anything. Numbers follow it.
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
