import { asPlaceError } from '../domain/errors.js';
import type { Ledger } from './ledger.js';
import type { LedgerOptions } from './options.js';
import { openSqliteLedger } from './sqlite/ledger.js';
import { currentSchema, schemaOf } from './sqlite/migrate.js';
import { isThere, ledgerPath, mustExist } from './sqlite/open.js';
import { openAsIs } from './sqlite/private-copy.js';

/** The one way to a ledger. Throws an error in words if another process works in the data directory. */
export function openLedger(options: LedgerOptions): Ledger {
  return openSqliteLedger(options);
}

/** Was anything ever bought here? An earlier version that died at once left a database with nothing in it. */
export const hasLedger = (dataDir: string): boolean => isThere(dataDir) && ledgerSchema(dataDir) > 0;

/** The same, of this version: one that an earlier version wrote is read in a copy, however large it is. */
export const hasCurrentLedger = (dataDir: string): boolean =>
  isThere(dataDir) && ledgerSchema(dataDir) === currentSchema();

/** The schema of the ledger as it lies there, whichever version wrote it. */
export function ledgerSchema(dataDir: string): number {
  mustExist(dataDir);
  try {
    const { database, remove } = openAsIs(ledgerPath(dataDir));
    try {
      return schemaOf(database);
    } finally {
      database.close();
      remove();
    }
  } catch (error) {
    throw asPlaceError(error, `the ledger ${ledgerPath(dataDir)}`);
  }
}
