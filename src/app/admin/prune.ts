import { existsSync, lstatSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { asOpenError, KybatchError, UsageError } from '../../domain/errors.js';
import { ownFiles, removeExport } from '../../export/atomic-folder.js';
import { type ExportFolder, findExports, findKeptWorkbooks } from '../../export/export-folders.js';
import type { PruneReport } from '../../ledger/erase/housekeeping.js';
import type { Ledger } from '../../ledger/ledger.js';
import type { PortfolioRecord } from '../../ledger/portfolio/portfolios.js';
import { type AppEnvironment, dataDirOf, type PlaceOptions, processEnvironment, withLedger } from '../environment.js';
import { portfoliosNamed } from '../portfolio/open-list.js';
import { isSelectedProvider, type ProviderOptions } from '../provider/provider.js';

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
export async function prune(options: PruneOptions, around = processEnvironment()): Promise<PruneView> {
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

function pruneAll(before: number, { agree, ...place }: PruneOptions, around: AppEnvironment): Promise<PruneView> {
  return withLedger('existing', place, around, async ({ housekeeping, runs }, dataDir) => {
    const found = await housekeeping.previewPrune(before);
    const files = findOldFiles(dataDir, before, { unfinished: found.unfinished, lists: await runs.ofLists() });
    const preview = pruneView(before, files, found);
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
  around: AppEnvironment,
): Promise<PruneView> {
  const files = findOldFiles(dataDirOf(options, around), before, await whatStays(options, around));
  if (isNone(files)) throw refused;
  const preview = pruneView(before, files, NOTHING);
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
async function whatStays(place: PlaceOptions, around: AppEnvironment): Promise<Staying | null> {
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

const pruneView = (before: number, files: OldFiles, report: PruneReport): PruneView => ({
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

/** Exports and logs from before a time. Removing them needs no room, whatever the ledger needs. */
export interface OldFiles {
  /** Folders in the data directory. */
  readonly exports: readonly string[];
  readonly logs: readonly string[];
  readonly bytes: number;
  /** Exports outside of the data directory: they are the user's. */
  readonly elsewhere: readonly string[];
  /** Workbooks that somebody had worked in, kept beside their exports: they are the user's, too. */
  readonly workbooks: readonly string[];
}

/** What stays, whatever its age. */
interface Staying {
  /** Runs that are not finished: they keep their log. */
  readonly unfinished: readonly string[];
  /** Runs, and the portfolio with members that each is of: its newest tables may be the only ones. */
  readonly lists: ReadonlyMap<string, number>;
}

/** `staying` is null where nobody knows: then all logs stay, and no tables, for they are made again for 0 units. */
function findOldFiles(dataDir: string, before: number, staying: Staying | null): OldFiles {
  const found = findExports(dataDir);
  const kept = new Set(newestTables(found.filter(isIn(dataDir)), staying?.lists ?? new Map()));
  const old = found.filter((tables) => Date.parse(tables.at) < before && !kept.has(tables));
  const folders = old.map(({ folder }) => folder);
  const exports = old.filter(isIn(dataDir)).map(({ folder }) => folder);
  const logs = staying === null ? [] : oldLogs(join(dataDir, 'logs'), before, staying.unfinished);
  return {
    exports,
    logs,
    bytes: sizeOf([...exports.flatMap(ownFiles), ...logs]),
    elsewhere: folders.filter((folder) => !exports.includes(folder)),
    workbooks: findKeptWorkbooks(dataDir)
      .filter(({ at }) => Date.parse(at) < before)
      .map(({ file }) => file),
  };
}

const isIn =
  (dataDir: string) =>
  ({ folder }: ExportFolder): boolean =>
    dirname(folder) === join(dataDir, 'exports');

/** Of each portfolio. */
function newestTables(found: readonly ExportFolder[], lists: Staying['lists']): Iterable<ExportFolder> {
  const newest = new Map<number, ExportFolder>();
  for (const tables of found) {
    const list = lists.get(tables.run);
    if (list === undefined) continue;
    const other = newest.get(list);
    if (other === undefined || Date.parse(other.at) < Date.parse(tables.at)) newest.set(list, tables);
  }
  return newest.values();
}

/** The export folders that hold something of others, and stay. */
function removeOldFiles({ exports, logs }: OldFiles): readonly string[] {
  for (const log of logs) rmSync(log, { force: true });
  return exports.filter((folder) => !removeExport(folder));
}

function oldLogs(folder: string, before: number, goingOn: readonly string[]): readonly string[] {
  if (!existsSync(folder)) return [];
  return namesIn(folder)
    .filter((name) => /\.log(?:\.\d+)?$/.test(name) && !goingOn.some((run) => name.startsWith(run)))
    .map((name) => join(folder, name))
    .filter((path) => {
      const found = lstatSync(path, { throwIfNoEntry: false });
      return found?.isFile() && found.mtimeMs < before;
    });
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    throw asOpenError(error, folder);
  }
}

const sizeOf = (files: readonly string[]): number =>
  files.reduce((sum, path) => sum + (lstatSync(path, { throwIfNoEntry: false })?.size ?? 0), 0);

export interface DropPortfolioOptions extends ProviderOptions {
  /** By its name, or by the path of its file. */
  readonly portfolio: string;
  /** Asked with what goes. Without it nobody is asked. */
  readonly agree?: ((lists: readonly DroppedPortfolio[]) => Promise<boolean>) | undefined;
}

export interface DroppedPortfolio {
  readonly name: string;
  readonly providers: string;
  /** Who is in the list. */
  readonly members: number;
  readonly runs: number;
  /** What is unfinished goes with the rest: rows to do, and rows that wait for a person. */
  readonly toDo: number;
  readonly inQuestion: number;
}

export interface DropPortfolioView {
  /** One for each provider that the list was run with. */
  readonly lists: readonly DroppedPortfolio[];
  readonly dropped: boolean;
}

/**
 * Forgets a list that is done with: its members and its runs. What was bought stays owned, what was spent stays in the
 * books, what people decided stays decided, and tables and logs stay where they are.
 */
export function dropPortfolio(
  { portfolio: name, agree, ...place }: DropPortfolioOptions,
  around = processEnvironment(),
): Promise<DropPortfolioView> {
  return withLedger('existing', place, around, async (ledger) => {
    const known = (await ledger.portfolios.all()).filter(({ providers }) => isSelectedProvider(place, providers));
    const found = portfoliosNamed(name, known, around);
    const lists = await Promise.all(found.map((portfolio) => droppedPortfolio(portfolio, ledger)));
    const dropped = agree === undefined || (await agree(lists));
    if (dropped) for (const { id } of found) await ledger.housekeeping.dropPortfolio(id);
    return { lists, dropped };
  });
}

async function droppedPortfolio(
  { id, name, providers }: PortfolioRecord,
  { portfolios, runs }: Ledger,
): Promise<DroppedPortfolio> {
  const outcomes = await portfolios.outcomes(id);
  const own = (await runs.all()).filter(({ portfolioId }) => portfolioId === id);
  const open = own.filter(({ state }) => state === 'open');
  const progress = await Promise.all(open.map((run) => runs.progress(run.id)));
  return {
    name,
    providers,
    members: Object.values(outcomes).reduce((sum, count) => sum + count, 0),
    runs: own.length,
    toDo: progress.reduce((sum, { byOutcome }) => sum + byOutcome.pending, 0),
    inQuestion: outcomes.needs_review,
  };
}
