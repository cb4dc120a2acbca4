import { existsSync } from 'node:fs';
import type { Ledger } from './ledger.js';
import type { LedgerOptions } from './options.js';
import { openSqliteLedger } from './sqlite/ledger.js';
import { ledgerPath } from './sqlite/open.js';

/** The one way to a ledger. Throws an error in words if another process works in the data directory. */
export function openLedger(options: LedgerOptions): Ledger {
  return openSqliteLedger(options);
}

/** Was anything ever bought here? */
export const hasLedger = (dataDir: string): boolean => existsSync(ledgerPath(dataDir));
