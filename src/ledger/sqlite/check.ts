import { asPlaceError, KybatchError, UsageError } from '../../domain/errors.js';
import { ExitCode } from '../../domain/exit-codes.js';
import { systemFailure } from '../../domain/system-failure.js';
import { sentence } from '../../util/sentence.js';
import type { DatabaseHealth, DeepHealth } from '../health.js';
import { damagedAnswers } from '../stores/damaged-bodies.js';
import { damagedRecords } from '../stores/damaged-records.js';
import { brokenConstraint, strayRecords } from './constraints.js';
import { DamagedLedger } from './damaged-ledger.js';
import { sqliteDatabase } from './database.js';
import { type Connection, connect } from './driver.js';
import { impossibleNumber } from './impossible-number.js';
import { isLocked } from './lock.js';
import { currentSchema, schemaOf } from './migrate.js';
import { isThere, ledgerPath, openForReading } from './open.js';
import { openAsIs } from './private-copy.js';
import { signsOfLoss, tracesOfRuns } from './signs-of-loss.js';
import { mustBeSound } from './sound.js';
import { newestBytes } from './whole.js';

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
    const hadNewest = newestBytes(ledgerPath(dataDir)) > 0;
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
    throw asPlaceError(error, `the ledger ${path}`);
  }
}
