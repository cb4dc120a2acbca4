import type { Database, Script } from '../database.js';
import type { ItemIds, PurgeDone, PurgeReport, PurgeRequest } from '../housekeeping.js';
import { nobodyMustWork } from './at-rest.js';
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

function* remove(database: Database, request: PurgeRequest, itemIds: ItemIds, now: number): Script<PurgeReport> {
  // What somebody has under way would be there again after it.
  yield* nobodyMustWork(database, now, GOES_ON_LATER);
  return yield* request.kind === 'before'
    ? purgeBefore(database, request.at)
    : purgeEntity(database, new Lists(database, new Bodies(database), itemIds), request, now);
}

const GOES_ON_LATER =
  'What a process has under way would be stored after the purge. Stop them all (SIGTERM: they bring home what they have begun), purge, and start them again: they go on where they were. Of one that was killed it is known within half a minute. Nothing was removed.';
