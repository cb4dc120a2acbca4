import { systemFailure } from '../../domain/system-failure.js';
import type { ItemIds, PurgeDone, PurgeReport, PurgeRequest } from '../housekeeping.js';
import { Bodies } from './bodies.js';
import type { Connection } from './driver.js';
import { purgeBefore } from './purge-before.js';
import { purgeEntity } from './purge-entity.js';
import { Lists } from './purge-lists.js';
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
