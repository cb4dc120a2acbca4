import { closeSync, existsSync, openSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { asPlaceError, KybatchError, UsageError } from '../../domain/errors.js';
import { ExitCode } from '../../domain/exit-codes.js';
import { isAlive } from '../../util/copy-folder.js';
import { makeFolder } from '../../util/make-folder.js';
import type { BackedUp, BackupProgress } from '../options.js';
import { type Connection, connect } from './driver.js';
import { schemaOf } from './migrate.js';
import { sync } from './new-ledger.js';
import { ledgerPath, mustExist } from './open.js';
import { openAsIs } from './private-copy.js';

/** A step copies 16 MB, and lets others have the processor after it. */
const PAGES_AT_ONCE = 2000;

/**
 * Copies the ledger as it is at this moment into a folder that has none, beside a process that writes: one read transaction
 * holds the moment until the last page is copied. The copy is read whole and counted before it gets its name.
 */
export async function backUpSqlite(
  dataDir: string,
  folder: string,
  onProgress: (progress: BackupProgress) => void = () => {},
): Promise<BackedUp> {
  mustExist(dataDir);
  const path = ledgerPath(folder);
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === false)
    throw new UsageError(`${folder} is not a folder`, 'Name a folder; it need not exist.');
  const part = `${path}.${process.pid}.part`;
  try {
    mustBeFree(path);
    makeFolder(folder);
    clearParts(folder, basename(path));
    // Made before it is filled: nobody but its owner ever reads it.
    closeSync(openSync(part, 'w', 0o600));
    const counts = await copyTo(part, ledgerPath(dataDir), onProgress);
    verify(part, counts);
    mustBeFree(path);
    renameSync(part, path);
    sync(folder);
    return { path, ...counts };
  } catch (error) {
    throw asPlaceError(error, `the backup in ${folder}`);
  } finally {
    for (const rest of ['', '-journal', '-wal', '-shm']) rmSync(`${part}${rest}`, { force: true });
  }
}

/** What backups that were killed have left: as large as a ledger, and of use to nobody. */
function clearParts(folder: string, name: string): void {
  for (const entry of readdirSync(folder)) {
    if (!entry.startsWith(`${name}.`)) continue;
    const [, processId] = /^(\d{1,10})\.part(?:-journal|-wal|-shm)?$/.exec(entry.slice(name.length + 1)) ?? [];
    if (processId !== undefined && !isAlive(Number(processId))) rmSync(join(folder, entry), { force: true });
  }
}

function mustBeFree(path: string): void {
  const there = ['', '-wal', '-shm'].map((end) => `${path}${end}`).find((name) => existsSync(name));
  if (there === undefined) return;
  throw new UsageError(`${there} is there already`, 'A backup overwrites nothing: name another folder.');
}

async function copyTo(part: string, source: string, onProgress: (progress: BackupProgress) => void): Promise<Counts> {
  const { database, remove } = openAsIs(source);
  try {
    database.exec('BEGIN');
    const counts = countsOf(database);
    await database.backup(part, {
      progress: ({ totalPages, remainingPages }) => {
        onProgress({ done: totalPages - remainingPages, of: totalPages });
        return PAGES_AT_ONCE;
      },
    });
    return counts;
  } finally {
    database.close();
    remove();
  }
}

type Counts = Omit<BackedUp, 'path'>;

/** What was paid for and decided. */
function countsOf(database: Connection): Counts {
  const one = (sql: string) => database.prepare<[], number>(sql).pluck().get() ?? 0;
  return {
    schema: schemaOf(database),
    bytes: one('SELECT page_count * page_size FROM pragma_page_count, pragma_page_size'),
    calls: one('SELECT count(*) FROM calls'),
    units: one('SELECT CAST(coalesce(sum(units_charged * 1.0), 0) AS INTEGER) FROM calls'),
    answers: one('SELECT count(*) FROM answers'),
    decisions: one('SELECT count(*) FROM decisions'),
  };
}

/** One file holds all of it, so that copying it back is all that a restore takes. */
function verify(part: string, counts: Counts): void {
  const database = connect(part, { timeout: 10_000 });
  try {
    database.pragma('journal_mode = DELETE');
    const verdict = String(database.pragma('integrity_check', { simple: true }));
    if (verdict !== 'ok') throw notWhole(verdict);
    const copied = countsOf(database);
    for (const [name, count] of Object.entries(counts))
      if (copied[name as keyof Counts] !== count)
        throw notWhole(`${name}: ${copied[name as keyof Counts]} of ${count}`);
  } finally {
    database.close();
  }
  sync(part);
}

const notWhole = (why: string) =>
  new KybatchError(`the copy is not the same as the ledger: ${why}`, {
    code: 'BACKUP_NOT_WHOLE',
    exit: ExitCode.internal,
    hint: 'It was removed. `kybatch doctor` looks at the ledger itself; then try again, in a folder on another disk.',
  });
