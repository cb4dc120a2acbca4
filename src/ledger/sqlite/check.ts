import { existsSync } from 'node:fs';

import Database from 'better-sqlite3';
import { ledgerPath } from './open.js';

export type DatabaseHealth =
  | { readonly state: 'absent' }
  | { readonly state: 'sound' }
  | { readonly state: 'damaged'; readonly detail: string };

/** Reads the whole ledger file and its indexes; changes nothing. */
export function checkDatabase(dataDir: string): DatabaseHealth {
  const path = ledgerPath(dataDir);
  if (!existsSync(path)) return { state: 'absent' };
  try {
    const database = new Database(path, { readonly: true, fileMustExist: true });
    try {
      const verdict = database.pragma('integrity_check', { simple: true });
      return verdict === 'ok' ? { state: 'sound' } : { state: 'damaged', detail: String(verdict) };
    } finally {
      database.close();
    }
  } catch (error) {
    return { state: 'damaged', detail: error instanceof Error ? error.message : String(error) };
  }
}
