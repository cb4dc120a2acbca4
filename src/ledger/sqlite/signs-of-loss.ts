import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Connection } from './driver.js';

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
