import { systemFailure } from '../../domain/system-failure.js';
import type { ItemIds, PurgeDone, PurgeReport, PurgeRequest } from '../housekeeping.js';
import { Bodies } from './bodies.js';
import type { Connection } from './driver.js';
import { endDoubts } from './in-doubt.js';
import { purgeEntity } from './purge-entity.js';
import { Lists } from './purge-lists.js';
import { removeRuns } from './remove-runs.js';
import { rememberPurge, unfinishedPurge } from './unfinished-purges.js';

/**
 * Removes data for good. Calls stay, without their bodies: units were spent, whoever for. Deleted text stays in SQLite's
 * free pages and in the write-ahead log until both are written anew: that comes after, because it can fail.
 */
export function purge(database: Connection, request: PurgeRequest, itemIds: ItemIds, now: number): PurgeDone {
  const report = database
    .transaction(() => {
      const removed = remove(database, request, itemIds, now);
      rememberPurge(database, request, removed, now);
      return removed;
    })
    .immediate();
  return { ...report, notRewritten: rewrite(database) };
}

/** The rest of a purge that was broken off after it had removed; undefined if there is none. */
export function goOnPurge(database: Connection, request: PurgeRequest): PurgeDone | undefined {
  const report = unfinishedPurge(database, request);
  return report && { ...report, notRewritten: rewrite(database) };
}

/** Why it failed; null if it has not. What was removed is removed either way. */
function rewrite(database: Connection): string | null {
  try {
    database.exec('VACUUM');
    const [{ busy = 0 } = {}] = database.pragma('wal_checkpoint(TRUNCATE)') as { readonly busy?: number }[];
    return busy === 0 ? null : 'another process is reading the ledger';
  } catch (error) {
    return systemFailure(error)?.what ?? String(error);
  }
}

/** What `purge` would remove. The same statements are run and taken back, so that the counts cannot differ. */
export function previewPurge(database: Connection, request: PurgeRequest, itemIds: ItemIds, now: number): PurgeReport {
  database.exec('BEGIN IMMEDIATE');
  try {
    return remove(database, request, itemIds, now);
  } finally {
    // A full disk has rolled it back already.
    if (database.inTransaction) database.exec('ROLLBACK');
  }
}

const remove = (database: Connection, request: PurgeRequest, itemIds: ItemIds, now: number): PurgeReport =>
  request.kind === 'before'
    ? purgeBefore(database, request.at)
    : purgeEntity(database, new Lists(database, new Bodies(database), itemIds), request, now);

/** Runs that came to rest before, and answers from before. A run that went on later keeps its rows. */
function purgeBefore(database: Connection, at: number): PurgeReport {
  const run = (sql: string, ...parameters: unknown[]) => database.prepare(sql).run(...parameters).changes;
  const runs = database
    .prepare<[number, number], string>(
      `SELECT id FROM runs WHERE created_at < ? AND NOT EXISTS (SELECT 1 FROM rows WHERE run_id = runs.id AND updated_at >= ?) ORDER BY id`,
    )
    .pluck()
    .all(at, at);
  const { rows, candidates, questions } = removeRuns(database, runs);
  const decisions = run('DELETE FROM decisions WHERE decided_at < ?', at);
  // What changed holds what the answer before said.
  run(
    'DELETE FROM changes WHERE changed_at < ? OR call_id IN (SELECT id FROM calls WHERE replaces IN (SELECT id FROM calls WHERE settled_at < ?))',
    at,
    at,
  );
  run('DELETE FROM watch_events WHERE heard_at < ?', at);
  const old = 'SELECT id FROM calls WHERE settled_at < ?';
  endDoubts(database, old, at);
  const answers = run(`DELETE FROM answers WHERE call_id IN (${old})`, at);
  // The same bytes may have been bought again since.
  const bodies = run(
    `DELETE FROM bodies WHERE stored_at < ? AND sha256 NOT IN (SELECT raw_sha256 FROM answers JOIN calls ON calls.id = call_id WHERE raw_sha256 IS NOT NULL)
       AND sha256 NOT IN (SELECT raw_sha256 FROM calls WHERE raw_sha256 IS NOT NULL AND charge = 'charged' AND settled_at >= ?)`,
    at,
    at,
  );
  run('UPDATE calls SET params = NULL, subject_space = NULL, subject_id = NULL WHERE settled_at < ?', at);
  run(
    'UPDATE calls SET raw_sha256 = NULL WHERE raw_sha256 IS NOT NULL AND raw_sha256 NOT IN (SELECT sha256 FROM bodies)',
  );
  const removed = { rows, answers, bodies, candidates, questions, decisions };
  return { runs, runsRemoved: runs, ...removed, identifiers: [], stillListed: [] };
}
