// Opens, checks and backs up a SQLite ledger.

import { closeSync, existsSync, openSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { asOpenError, ExitCode, KybatchError, systemFailure, UsageError } from '../../../domain/errors.js';
import { isProcessAlive, makeFolder } from '../../../util/files.js';
import { message, sentence } from '../../../util/message-parts.js';
import { aheadInWords, isRecentFinding, noteAhead } from '../../clock-ahead.js';
import {
  type DamagedRecord,
  type DatabaseHealth,
  type DeepHealth,
  damagedAnswers,
  damagedRecords,
} from '../../health.js';
import { type BackedUp, type BackupProgress, composeLedger, type Ledger, type LedgerOptions } from '../../ledger.js';
import { endOtherAttempts, resetFutureTimes } from '../../rows/workers.js';
import {
  acquireLock,
  type Connection,
  connect,
  DamagedLedger,
  impossibleNumber,
  isLocked,
  isUnused,
  mustBeSound,
} from './connection.js';
import { runNow, sqliteDatabase, sqlOn } from './database.js';
import {
  currentSchema,
  isThere,
  ledgerPath,
  mustExist,
  openAsIs,
  openForReading,
  openForWriting,
  schemaOf,
  sync,
} from './open.js';

export async function openSqliteLedger(options: LedgerOptions): Promise<Ledger> {
  const { dataDir, access } = options;
  try {
    if (access === 'read') {
      const { database, remove } = openForReading(dataDir, options.now, options.onNote);
      return await compose(database, options, remove);
    }
    if (access !== 'write') mustExist(dataDir);
    return await openLocked(options);
  } catch (error) {
    throw asOpenError(error, `the ledger ${ledgerPath(dataDir)}`);
  }
}

async function openLocked(options: LedgerOptions): Promise<Ledger> {
  const { dataDir, access, now, pagesAtMost, onNote } = options;
  const lock = acquireLock(dataDir);
  try {
    const database = openForWriting(dataDir, now, pagesAtMost);
    if (access === 'note') return await compose(database, options, () => lock.release());
    const loss = dataLossWarning(database, dataDir);
    if (loss !== undefined) onNote?.(message('LEDGER_SHOWS_LOSS', loss));
    const sql = sqlOn(database);
    runNow(endOtherAttempts(sql, now));
    runNow(resetFutureTimes(sql, now));
    const ahead = runNow(noteAhead(sql, now));
    if (ahead !== null && isRecentFinding(ahead, now)) onNote?.(message('CLOCK_AHEAD', aheadInWords(ahead, now)));
    return await compose(database, options, () => lock.release());
  } catch (error) {
    lock.release();
    throw error;
  }
}

const compose = (connection: Connection, options: LedgerOptions, onClose: () => void): Promise<Ledger> =>
  composeLedger(
    sqliteDatabase(connection, { dataDir: options.dataDir, freeBytes: options.freeBytes, onClose }),
    options,
  );

/**
 * Signs that an intact ledger has lost data. They are reported and refuse nothing, because files beside a ledger may
 * belong to another one.
 */
export function dataLossWarning(database: Connection, dataDir: string): string | undefined {
  const isThere = (sql: string) => database.prepare(sql).get() !== undefined;
  return isThere('SELECT 1 FROM runs') || isThere('SELECT 1 FROM calls') ? undefined : tracesOfRuns(dataDir);
}

/** The same for a missing or empty ledger. */
export function tracesOfRuns(dataDir: string): string | undefined {
  const found = ['logs', 'exports.jsonl'].map((name) => join(dataDir, name)).filter(holdsSomething);
  return found.length === 0
    ? undefined
    : `${found.join(' and ')} show runs that this ledger does not have. If a copy exists, restore it. Otherwise kybatch buys their answers again`;
}

function holdsSomething(path: string): boolean {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    return found?.isDirectory() ? readdirSync(path).some((name) => name.endsWith('.log')) : (found?.size ?? 0) > 0;
  } catch {
    // An unreadable folder is no sign.
    return false;
  }
}

/**
 * Reads the whole ledger file and its indexes without changes. A driver that does not load says nothing about the file.
 */
export function checkDatabase(dataDir: string): DatabaseHealth {
  try {
    connect(':memory:').close();
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return { state: 'no_driver', detail: `${sentence(error.message)} ${error.hint}` };
  }
  try {
    if (!isThere(dataDir)) return { state: 'absent', note: tracesOfRuns(dataDir) };
    const { database, remove } = openAsIs(ledgerPath(dataDir));
    try {
      const health = healthOf(database);
      if (health.state === 'absent') return { ...health, note: tracesOfRuns(dataDir) };
      // A running attempt was not interrupted.
      if (health.state !== 'sound' || isLocked(dataDir) !== false) return health;
      return { ...health, note: dataLossWarning(database, dataDir), isUnused: isUnused(dataDir) };
    } finally {
      database.close();
      remove();
    }
  } catch (error) {
    return whatFailed(error);
  }
}

function healthOf(database: Connection): DatabaseHealth {
  const verdict = database.pragma('integrity_check', { simple: true });
  if (verdict !== 'ok') return { state: 'damaged', detail: String(verdict) };
  const broken = brokenConstraint(database) ?? impossibleNumber(database);
  if (broken !== undefined) return { state: 'damaged', detail: broken };
  const schema = schemaOf(database);
  if (schema === currentSchema()) return { state: 'sound' };
  return schema === 0 ? { state: 'absent' } : { state: schema > currentSchema() ? 'newer' : 'older', schema };
}

/** Only SQLite itself calls a file damaged. A full disk, a mount or a missing permission is something else. */
function whatFailed(error: unknown): DatabaseHealth {
  if (error instanceof DamagedLedger) return { state: 'damaged', detail: error.what, wayOut: error.wayOut };
  const detail = error instanceof Error ? error.message : String(error);
  if (error instanceof KybatchError)
    return { state: 'unusable', detail: `${sentence(detail)} ${error.hint ?? ''}`.trim(), exit: error.exit };
  const failure = systemFailure(error);
  if (failure === undefined || failure.code === 'LEDGER_DAMAGED') return { state: 'damaged', detail };
  // The user can fix a missing permission or a mount. A full or failing disk is the machine's.
  const isPlace = failure.code === 'NO_PERMISSION' || failure.code === 'READ_ONLY';
  const exit = isPlace ? ExitCode.usage : ExitCode.internal;
  return { state: 'unusable', detail: `${sentence(failure.what)} ${failure.hint}`, exit };
}

/** Compares every stored answer with its digest and reads every record, without changes. */
export async function checkDeeply(dataDir: string, now: number): Promise<DeepHealth> {
  const { database: connection, remove } = openForReading(dataDir, now);
  const database = sqliteDatabase(connection, { dataDir, onClose: remove });
  try {
    return await database.read(function* () {
      const answers = yield* damagedAnswers(database);
      const records = yield* damagedRecords(database, database.stored);
      return { ...answers, records: [...records, ...strayRecords(connection)] };
    });
  } finally {
    await database.close();
  }
}

/** The check that each attempt makes before spending, for commands that only read. Throws if the file is damaged. */
export function mustLookSound(dataDir: string): void {
  const path = ledgerPath(dataDir);
  try {
    const { database, remove } = openAsIs(path);
    try {
      mustBeSound(database);
    } finally {
      database.close();
      remove();
    }
  } catch (error) {
    throw asOpenError(error, `the ledger ${path}`);
  }
}

/** Evaluates all CHECK constraints of the schema, because SQLite's own check skips them on a read-only connection. */
export function brokenConstraint(database: Connection): string | undefined {
  const tables = database
    .prepare<[], { name: string; sql: string }>(
      "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND sql LIKE '%CHECK (%'",
    )
    .all();
  for (const { name, sql } of tables)
    for (const [, condition = ''] of sql.matchAll(/CHECK \(((?:[^()]|\([^()]*\))*)\)/g)) {
      const broken = database
        .prepare<[], number>(`SELECT count(*) FROM "${name}" WHERE NOT (${condition})`)
        .pluck()
        .get();
      if (broken !== undefined && broken > 0) return `CHECK constraint failed in ${name} (${condition})`;
    }
  return undefined;
}

/** Records with a missing parent. */
export function strayRecords(database: Connection): readonly DamagedRecord[] {
  return database
    .prepare<[], { table: string; parent: string; count: number }>(
      'SELECT "table", parent, count(*) AS count FROM pragma_foreign_key_check GROUP BY 1, 2',
    )
    .all()
    .map(({ table, parent, count }) => ({
      what: `${count} of ${table} ${count === 1 ? 'refers' : 'refer'} to missing ${parent}`,
      remedy: { kind: 'restore' },
    }));
}

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
