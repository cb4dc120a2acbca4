// Backs up a SQLite ledger while others write.

import { closeSync, existsSync, openSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { asOpenError, ExitCode, KybatchError, UsageError } from '../../../domain/errors.js';
import { isProcessAlive, makeFolder } from '../../../util/files.js';
import type { BackedUp, BackupProgress } from '../../ledger.js';
import { type Connection, connect } from './connection.js';
import { ledgerPath, mustExist, openAsIs, schemaOf, sync } from './open.js';

/** One step copies 16 MB and then yields to other work. */
const PAGES_AT_ONCE = 2000;

/**
 * Copies the ledger as of now into a folder without one, while others write: one read transaction keeps that moment
 * until the last page. The copy is checked and counted before it gets its name.
 */
export async function backUpSqlite(
  dataDir: string,
  folder: string,
  onProgress: (progress: BackupProgress) => void = () => {},
): Promise<BackedUp> {
  mustExist(dataDir);
  const path = ledgerPath(folder);
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === false)
    throw new UsageError('BACKUP_NOT_A_FOLDER', `${folder} is not a folder`, 'Give a folder. It need not exist.');
  const part = `${path}.${process.pid}.part`;
  try {
    mustBeFree(path);
    makeFolder(folder);
    clearParts(folder, basename(path));
    // Created first, so that only its owner can ever read it.
    closeSync(openSync(part, 'w', 0o600));
    const counts = await copyTo(part, ledgerPath(dataDir), onProgress);
    verify(part, counts);
    mustBeFree(path);
    renameSync(part, path);
    sync(folder);
    return { path, ...counts };
  } catch (error) {
    throw asOpenError(error, `the backup in ${folder}`);
  } finally {
    for (const rest of ['', '-journal', '-wal', '-shm']) rmSync(`${part}${rest}`, { force: true });
  }
}

/** Deletes the remains of killed backups, each as large as a ledger. */
function clearParts(folder: string, name: string): void {
  for (const entry of readdirSync(folder)) {
    if (!entry.startsWith(`${name}.`)) continue;
    const [, processId] = /^(\d{1,10})\.part(?:-journal|-wal|-shm)?$/.exec(entry.slice(name.length + 1)) ?? [];
    if (processId !== undefined && !isProcessAlive(Number(processId))) rmSync(join(folder, entry), { force: true });
  }
}

function mustBeFree(path: string): void {
  const there = ['', '-wal', '-shm'].map((end) => `${path}${end}`).find((name) => existsSync(name));
  if (there === undefined) return;
  throw new UsageError('BACKUP_EXISTS', `${there} exists`, 'A backup overwrites nothing. Choose another folder.');
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

/** Makes the copy a single file, so that a restore only copies it back. */
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
  new KybatchError(`the backup differs from the ledger: ${why}`, {
    code: 'BACKUP_NOT_WHOLE',
    exit: ExitCode.internal,
    hint: 'The backup was removed. Check the ledger with `kybatch doctor`, then try another disk.',
  });
