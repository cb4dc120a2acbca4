import { asPlaceError } from '../../domain/errors.js';
import { aheadInWords, isNews } from '../clock-ahead.js';
import type { Ledger } from '../ledger.js';
import type { LedgerOptions } from '../options.js';
import { composeLedger } from '../stores/compose.js';
import { bringForward, endOtherStarts } from '../stores/starts.js';
import { noteAhead } from '../stores/times.js';
import { sqliteDatabase } from './database.js';
import type { Connection } from './driver.js';
import { acquireLock } from './lock.js';
import { ledgerPath, mustExist, openForReading, openForWriting } from './open.js';
import { signsOfLoss } from './signs-of-loss.js';
import { runNow, sqlOn } from './statement.js';
import { newestBytes } from './whole.js';

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
    throw asPlaceError(error, `the ledger ${ledgerPath(dataDir)}`);
  }
}

async function openLocked(options: LedgerOptions): Promise<Ledger> {
  const { dataDir, access, now, pagesAtMost, onNote } = options;
  const lock = acquireLock(dataDir);
  try {
    const hadNewest = newestBytes(ledgerPath(dataDir)) > 0;
    const database = openForWriting(dataDir, now, pagesAtMost);
    if (access === 'note') return await compose(database, options, () => lock.release());
    const loss = signsOfLoss(database, dataDir, hadNewest);
    if (loss !== undefined) onNote?.(loss);
    const sql = sqlOn(database);
    runNow(endOtherStarts(sql, now));
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
