import { KybatchError, UsageError } from '../domain/errors.js';
import type { PruneReport } from '../ledger/housekeeping.js';
import type { Ledger } from '../ledger/ledger.js';
import { findOldFiles, type OldFiles, removeOldFiles, type Staying } from './old-files.js';
import { dataDirOf, here, type PlaceOptions, type Surroundings, withLedger } from './surroundings.js';

export interface PruneOptions extends PlaceOptions {
  /** What came to rest longer ago than this goes; a day at the least. */
  readonly olderThanMs: number;
  /** Asked once, with what would go, unless that is nothing. Without it nobody is asked. */
  readonly agree?: ((preview: PruneView) => Promise<boolean>) | undefined;
}

export interface PruneView extends OldFiles {
  readonly outcome: 'removed' | 'nothing_found' | 'not_agreed';
  /** What came to rest before this goes. */
  readonly before: number;
  /** What went from the ledger; what would go, where it was not agreed to. */
  readonly report: PruneReport;
  /** Export folders that hold something of others, and stay. */
  readonly left: readonly string[];
  /** Why nothing went from the ledger, where the disk had no room even for that; null if it did. */
  readonly ledgerLeft: string | null;
}

const DAY_MS = 86_400_000;

/**
 * Removes exports, logs and finished runs that are older than said; never the newest answer to anything. Files go first:
 * on a full disk that makes the room which the ledger needs to let go of anything.
 */
export async function prune(options: PruneOptions, around = here()): Promise<PruneView> {
  const { olderThanMs } = options;
  if (!(olderThanMs >= DAY_MS && Number.isFinite(olderThanMs)))
    throw new UsageError('prune takes an age of one day or more', 'For example --older-than 90d.');
  const before = around.clock.now() - olderThanMs;
  try {
    return await pruneAll(before, options, around);
  } catch (error) {
    // Not even opened: nothing has gone yet.
    if (!isFull(error)) throw error;
    return await pruneFilesFirst(before, error, options, around);
  }
}

function pruneAll(before: number, { agree, ...place }: PruneOptions, around: Surroundings): Promise<PruneView> {
  return withLedger('existing', place, around, async ({ housekeeping, runs }, dataDir) => {
    const found = await housekeeping.previewPrune(before);
    const files = findOldFiles(dataDir, before, { unfinished: found.unfinished, lists: await runs.ofLists() });
    const preview = viewOf(before, files, found);
    if (isNothing(found) && isNone(files)) return preview;
    if (agree !== undefined && !(await agree(preview))) return { ...preview, outcome: 'not_agreed' };
    const left = removeOldFiles(files);
    return { ...preview, outcome: 'removed', left, ...(await pruneLedger(before, housekeeping)) };
  });
}

/** The files are gone by now: what the ledger refuses is told with that. */
async function pruneLedger(before: number, housekeeping: Ledger['housekeeping']) {
  try {
    return { report: await housekeeping.prune(before) };
  } catch (error) {
    if (!isFull(error)) throw error;
    return { report: NOTHING, ledgerLeft: error.message };
  }
}

async function pruneFilesFirst(
  before: number,
  refused: KybatchError,
  options: PruneOptions,
  around: Surroundings,
): Promise<PruneView> {
  const files = findOldFiles(dataDirOf(options, around), before, await whatStays(options, around));
  if (isNone(files)) throw refused;
  const preview = viewOf(before, files, NOTHING);
  if (options.agree !== undefined && !(await options.agree(preview))) return { ...preview, outcome: 'not_agreed' };
  const removed = { ...preview, outcome: 'removed' as const, left: removeOldFiles(files) };
  try {
    // Agreed to, with all that is of that age.
    const { report, bytes, logs } = await pruneAll(before, { ...options, agree: undefined }, around);
    return { ...removed, report, bytes: removed.bytes + bytes, logs: [...removed.logs, ...logs] };
  } catch (error) {
    if (!isFull(error)) throw error;
    return { ...removed, ledgerLeft: error.message };
  }
}

/** From a copy, if there is room for one anywhere; null if nobody can say. */
async function whatStays(place: PlaceOptions, around: Surroundings): Promise<Staying | null> {
  try {
    return await withLedger('read', place, around, async ({ runs }) => {
      const open = (await runs.all()).filter(({ state }) => state === 'open' || state === 'reading');
      return { unfinished: open.map(({ id }) => id), lists: await runs.ofLists() };
    });
  } catch (error) {
    if (!isFull(error)) throw error;
    return null;
  }
}

const viewOf = (before: number, files: OldFiles, report: PruneReport): PruneView => ({
  outcome: 'nothing_found',
  before,
  report,
  ...files,
  bytes: files.bytes + report.bytes,
  left: [],
  ledgerLeft: null,
});

const isNothing = ({
  runs,
  rows,
  portfolios,
  calls,
  answers,
  changes,
  watchEvents,
  watchLooks,
}: PruneReport): boolean =>
  runs.length + rows + portfolios.length + calls + answers + changes + watchEvents + watchLooks === 0;

const isNone = ({ exports, logs }: OldFiles): boolean => exports.length + logs.length === 0;

const isFull = (error: unknown): error is KybatchError => error instanceof KybatchError && error.code === 'DISK_FULL';

const NOTHING: PruneReport = {
  runs: [],
  rows: 0,
  portfolios: [],
  waiting: [],
  unfinished: [],
  calls: 0,
  changes: 0,
  answers: 0,
  watchEvents: 0,
  watchLooks: 0,
  bodies: 0,
  bytes: 0,
};
