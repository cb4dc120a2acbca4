import type { Database } from '../database.js';
import type { Housekeeping } from '../housekeeping.js';
import { moveProvider } from './move-provider.js';
import { previewPrune, prune } from './prune.js';
import { goOnPurge, previewPurge, purge } from './purge.js';
import { searchEverywhere } from './purge-proof.js';
import { dropPortfolio, dropRun } from './remove-runs.js';
import { forgetPurge } from './unfinished-purges.js';

/** What takes away and what looks for it. `flush`: everything asked for so far is on disk. */
export function housekeepingStore(database: Database, now: number, flush: () => Promise<void>): Housekeeping {
  const settled = async <T>(work: () => Promise<T>): Promise<T> => {
    await flush();
    return await work();
  };
  return {
    purge: (request, itemIds) => settled(() => purge(database, request, itemIds, now)),
    goOnPurge: (request) => settled(() => goOnPurge(database, request)),
    purgeProved: (request) => settled(() => database.write(() => forgetPurge(database, request))),
    previewPurge: (request, itemIds) => settled(() => previewPurge(database, request, itemIds, now)),
    prune: (before) => settled(() => prune(database, before)),
    previewPrune: (before) => settled(() => previewPrune(database, before)),
    dropRun: (runId) => settled(() => database.write(() => dropRun(database, runId, now))),
    dropPortfolio: (portfolioId) => settled(() => database.write(() => dropPortfolio(database, portfolioId, now))),
    moveProvider: (from, to) => settled(() => database.write(() => moveProvider(database, from, to, now))),
    searchEverywhere: (identifiers) => settled(() => searchEverywhere(database, identifiers)),
    flush,
  };
}
