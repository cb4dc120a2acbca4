import { existsSync } from 'node:fs';
import { UsageError } from '../../domain/errors.js';
import { connect } from './driver.js';
import { ledgerPath } from './open.js';

export type DatabaseHealth =
  | { readonly state: 'absent' }
  | { readonly state: 'no_driver'; readonly detail: string }
  | { readonly state: 'sound' }
  | { readonly state: 'damaged'; readonly detail: string };

/** Reads the whole ledger file and its indexes; changes nothing. A driver that does not load says nothing about the file. */
export function checkDatabase(dataDir: string): DatabaseHealth {
  try {
    connect(':memory:').close();
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return { state: 'no_driver', detail: `${error.message}. ${error.hint}` };
  }
  const path = ledgerPath(dataDir);
  if (!existsSync(path)) return { state: 'absent' };
  try {
    const database = connect(path, { readonly: true, fileMustExist: true });
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
