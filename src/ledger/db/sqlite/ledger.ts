import { closeSync, existsSync, openSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { asOpenError, ExitCode, KybatchError, systemFailure, UsageError } from '../../../domain/errors.js';
import { makeFolder } from '../../../util/files.js';
import { sentence } from '../../../util/message-parts.js';
import { isProcessAlive } from '../../../util/temp-folder.js';
import { aheadInWords, isNews, noteAhead } from '../../clock-ahead.js';
import {
  type DamagedRecord,
  type DatabaseHealth,
  type DeepHealth,
  damagedAnswers,
  damagedRecords,
} from '../../health.js';
import { type BackedUp, type BackupProgress, composeLedger, type Ledger, type LedgerOptions } from '../../ledger.js';
import { bringForward, endOtherAttempts } from '../../rows/workers.js';
import { acquireLock, type Connection, connect, isLocked } from './connection.js';
import { runNow, sqliteDatabase, sqlOn } from './database.js';
import { DamagedLedger, impossibleNumber, mustBeSound, walBytes } from './integrity.js';
import { currentSchema, schemaOf, sync } from './migrate.js';
import { isThere, ledgerPath, mustExist, openAsIs, openForReading, openForWriting } from './open.js';

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
    const hadNewest = walBytes(ledgerPath(dataDir)) > 0;
    const database = openForWriting(dataDir, now, pagesAtMost);
    if (access === 'note') return await compose(database, options, () => lock.release());
    const loss = signsOfLoss(database, dataDir, hadNewest);
    if (loss !== undefined) onNote?.(loss);
    const sql = sqlOn(database);
    runNow(endOtherAttempts(sql, now));
    runNow(bringForward(sql, now));
    const ahead = runNow(noteAhead(sql, now));
    if (ahead !== null && isNews(ahead, now)) onNote?.(aheadInWords(ahead, now));
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
 * What shows that a ledger has lost what was in it, where the file itself is sound. It is told and refuses nothing: files
 * that lie beside a ledger may be of another one.
 */
export function signsOfLoss(database: Connection, dataDir: string, hadNewest: boolean): string | undefined {
  const isThere = (sql: string) => database.prepare(sql).get() !== undefined;
  if (!isThere('SELECT 1 FROM runs') && !isThere('SELECT 1 FROM calls')) return tracesOfRuns(dataDir);
  // Who is killed leaves the log beside the ledger: it holds all that was sent since the start was written down.
  const begun =
    'SELECT 1 FROM starts WHERE ended_at IS NULL AND NOT EXISTS (SELECT 1 FROM calls WHERE start_id = starts.id)';
  return hadNewest || !isThere(begun)
    ? undefined
    : `the last start was broken off, and the ledger knows of nothing that it sent: if kybatch.db-wal was removed, what was bought in that start is paid for again; if a copy exists, restore it`;
}

/** The same where there is no ledger, or nothing in it. */
export function tracesOfRuns(dataDir: string): string | undefined {
  const found = ['logs', 'exports.jsonl'].map((name) => join(dataDir, name)).filter(holdsSomething);
  return found.length === 0
    ? undefined
    : `this ledger knows of no run, but ${found.join(' and ')} show that there were some: if a copy exists, restore it, or what was bought is paid for again`;
}

function holdsSomething(path: string): boolean {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    return found?.isDirectory() ? readdirSync(path).some((name) => name.endsWith('.log')) : (found?.size ?? 0) > 0;
  } catch {
    // What may not be looked at shows nothing.
    return false;
  }
}

/** Reads the whole ledger file and its indexes; changes nothing. A driver that does not load says nothing about the file. */
export function checkDatabase(dataDir: string): DatabaseHealth {
  try {
    connect(':memory:').close();
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return { state: 'no_driver', detail: `${sentence(error.message)} ${error.hint}` };
  }
  try {
    if (!isThere(dataDir)) return { state: 'absent', note: tracesOfRuns(dataDir) };
    const hadNewest = walBytes(ledgerPath(dataDir)) > 0;
    const { database, remove } = openAsIs(ledgerPath(dataDir));
    try {
      const health = healthOf(database);
      // A start that goes on is none that was broken off.
      const atRest = health.state === 'sound' && isLocked(dataDir) === false;
      if (health.state === 'absent') return { ...health, note: tracesOfRuns(dataDir) };
      return atRest ? { ...health, note: signsOfLoss(database, dataDir, hadNewest) } : health;
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

/** Only SQLite itself calls a file damaged; a full disk, a mount or a right that is missing is something else. */
function whatFailed(error: unknown): DatabaseHealth {
  if (error instanceof DamagedLedger) return { state: 'damaged', detail: error.what, wayOut: error.wayOut };
  const detail = error instanceof Error ? error.message : String(error);
  if (error instanceof KybatchError)
    return { state: 'unusable', detail: `${sentence(detail)} ${error.hint ?? ''}`.trim(), exit: error.exit };
  const failure = systemFailure(error);
  if (failure === undefined || failure.code === 'LEDGER_DAMAGED') return { state: 'damaged', detail };
  // A right that is missing, or a mount, is the user's to mend; a full or failing disk is the machine's.
  const isPlace = failure.code === 'NO_PERMISSION' || failure.code === 'READ_ONLY';
  const exit = isPlace ? ExitCode.usage : ExitCode.internal;
  return { state: 'unusable', detail: `${sentence(failure.what)} ${failure.hint}`, exit };
}

/** Unpacks every stored answer and compares it with its digest, and reads every record; changes nothing. */
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

/** The look that every start takes before it spends anything, for those who only look. Throws where the file is damaged. */
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

/**
 * What CHECK constraints would refuse to write. SQLite's own check leaves them out on a connection that only reads, so
 * they are asked one by one, as the schema has them.
 */
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

/** Records that point to some which are not there. */
export function strayRecords(database: Connection): readonly DamagedRecord[] {
  return database
    .prepare<[], { table: string; parent: string; count: number }>(
      'SELECT "table", parent, count(*) AS count FROM pragma_foreign_key_check GROUP BY 1, 2',
    )
    .all()
    .map(({ table, parent, count }) => ({
      what: `${count} of ${table} point to ${parent} that are not there`,
      remedy: { kind: 'restore' },
    }));
}

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
    throw asOpenError(error, `the backup in ${folder}`);
  } finally {
    for (const rest of ['', '-journal', '-wal', '-shm']) rmSync(`${part}${rest}`, { force: true });
  }
}

/** What backups that were killed have left: as large as a ledger, and of use to nobody. */
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
