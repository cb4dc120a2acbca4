import type { Database, Script, Sql } from '../database.js';
import type { ItemIds, PurgeDone, PurgeReport, PurgeRequest } from '../housekeeping.js';
import { Bodies } from './bodies.js';
import { purgeBefore } from './purge-before.js';
import { purgeEntity } from './purge-entity.js';
import { Lists } from './purge-lists.js';
import { rememberPurge, unfinishedPurge } from './unfinished-purges.js';

/**
 * Removes data for good. Calls stay, without their bodies: units were spent, whoever for. Deleted text stays where the
 * store has it on disk until that is written anew: that comes after, because it can fail.
 */
export async function purge(
  database: Database,
  request: PurgeRequest,
  itemIds: ItemIds,
  now: number,
): Promise<PurgeDone> {
  const report = await database.write(function* () {
    const removed = yield* remove(database, request, itemIds, now);
    yield* rememberPurge(database, request, removed, now);
    return removed;
  });
  return { ...report, notRewritten: await database.rewrite() };
}

/** The rest of a purge that was broken off after it had removed; undefined if there is none. */
export async function goOnPurge(database: Database, request: PurgeRequest): Promise<PurgeDone | undefined> {
  const report = await database.read(() => unfinishedPurge(database, request));
  return report && { ...report, notRewritten: await database.rewrite() };
}

/** What `purge` would remove. The same statements are run and taken back, so that the counts cannot differ. */
export const previewPurge = (
  database: Database,
  request: PurgeRequest,
  itemIds: ItemIds,
  now: number,
): Promise<PurgeReport> => database.trial(() => remove(database, request, itemIds, now));

const remove = (database: Sql, request: PurgeRequest, itemIds: ItemIds, now: number): Script<PurgeReport> =>
  request.kind === 'before'
    ? purgeBefore(database, request.at)
    : purgeEntity(database, new Lists(database, new Bodies(database), itemIds), request, now);
