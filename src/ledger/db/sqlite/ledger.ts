// Opens and checks a SQLite ledger.

import { asOpenError, ExitCode, KybatchError, systemFailure, UsageError } from '../../../domain/errors.js';
import { sentence } from '../../../util/message-parts.js';
import { type DatabaseHealth, type DeepHealth, findDamagedAnswers } from '../../health.js';
import { composeLedger, type Ledger, type LedgerOptions } from '../../ledger.js';
import { endOtherAttempts, resetFutureTimes } from '../../rows/attempts.js';
import { acquireLock, type Connection, connect, DamagedLedger, isUnused, mustBeSound } from './connection.js';
import { runNow, sqliteDatabase, sqlOn } from './database.js';
import {
  currentSchema,
  isThere,
  ledgerPath,
  mustExist,
  openForReading,
  openForWriting,
  schemaOf,
  withFile,
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
  const { dataDir, access, now, pagesAtMost } = options;
  const lock = acquireLock(dataDir);
  try {
    const database = openForWriting(dataDir, now, pagesAtMost);
    if (access === 'annotate') return await compose(database, options, () => lock.release());
    const sql = sqlOn(database);
    runNow(endOtherAttempts(sql, now));
    runNow(resetFutureTimes(sql, now));
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
    if (!isThere(dataDir)) return { state: 'absent' };
    return withFile(ledgerPath(dataDir), (database) => {
      const health = healthOf(database);
      return health.state === 'sound' ? { ...health, isUnused: isUnused(dataDir) } : health;
    });
  } catch (error) {
    return healthAfterError(error);
  }
}

function healthOf(database: Connection): DatabaseHealth {
  const verdict = database.pragma('integrity_check', { simple: true });
  if (verdict !== 'ok') return { state: 'damaged', detail: String(verdict) };
  const schema = schemaOf(database);
  if (schema === currentSchema()) return { state: 'sound' };
  return schema === 0 ? { state: 'absent' } : { state: schema > currentSchema() ? 'newer' : 'older', schema };
}

/** Only SQLite itself calls a file damaged. A full disk, a mount or a missing permission is something else. */
function healthAfterError(error: unknown): DatabaseHealth {
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

/** Compares every stored answer with its digest, without changes. */
export async function checkDeeply(dataDir: string, now: number): Promise<DeepHealth> {
  const { database: connection, remove } = openForReading(dataDir, now);
  const database = sqliteDatabase(connection, { dataDir, onClose: remove });
  try {
    return await database.read(() => findDamagedAnswers(database));
  } finally {
    await database.close();
  }
}

/** The check that each attempt makes before spending, for commands that only read. Throws if the file is damaged. */
export function mustLookSound(dataDir: string): void {
  const path = ledgerPath(dataDir);
  try {
    withFile(path, mustBeSound);
  } catch (error) {
    throw asOpenError(error, `the ledger ${path}`);
  }
}
