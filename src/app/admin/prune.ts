// Removes old runs, exports and logs, and whole portfolios.

import { existsSync, lstatSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { asOpenError, KybatchError, UsageError } from '../../domain/errors.js';
import { ownFiles, removeExport } from '../../export/atomic-folder.js';
import { type ExportFolder, findExports, findKeptWorkbooks } from '../../export/export-folders.js';
import { clearExports } from '../../export/latest-tables.js';
import type { PruneReport } from '../../ledger/erase/housekeeping.js';
import type { Ledger } from '../../ledger/ledger.js';
import type { PortfolioRecord } from '../../ledger/portfolio/portfolios.js';
import { type AppEnvironment, dataDirOf, type PlaceOptions, processEnvironment, withLedger } from '../environment.js';
import { portfoliosNamed } from '../portfolio/open-list.js';
import { isSelectedProvider, type ProviderOptions } from '../provider/provider.js';

export interface PruneOptions extends PlaceOptions {
  /** Runs and files that ended longer ago than this are removed. At least one day. */
  readonly olderThanMs: number;
  /** Called once with the preview, unless it is empty. Without it, no confirmation is asked. */
  readonly agree?: ((preview: PruneView) => Promise<boolean>) | undefined;
}

export interface PruneView extends OldFiles {
  readonly outcome: 'removed' | 'nothing_found' | 'not_agreed';
  /** Runs and files that ended before this time are removed. */
  readonly before: number;
  /** The removed data of the ledger, or the preview if it was not agreed to. */
  readonly report: PruneReport;
  /** Export folders that stay because they hold foreign files. */
  readonly left: readonly string[];
  /** Why nothing was removed from the ledger if the disk was too full for that. Otherwise null. */
  readonly ledgerLeft: string | null;
}

const DAY_MS = 86_400_000;

/** Files go first: on a full disk that makes the room which the ledger needs to delete. */
export async function prune(options: PruneOptions, environment = processEnvironment()): Promise<PruneView> {
  const { olderThanMs } = options;
  if (!(olderThanMs >= DAY_MS && Number.isFinite(olderThanMs)))
    throw new UsageError('AGE_TOO_SHORT', 'prune takes an age of one day or more', 'For example --older-than 90d.');
  const before = environment.clock.now() - olderThanMs;
  try {
    return await pruneAll(before, options, environment);
  } catch (error) {
    // The ledger was not even opened, so nothing is removed yet.
    if (!isFull(error)) throw error;
    return await pruneFilesFirst(before, error, options, environment);
  }
}

function pruneAll(before: number, { agree, ...place }: PruneOptions, environment: AppEnvironment): Promise<PruneView> {
  return withLedger('existing', place, environment, async ({ housekeeping, runs }, { dataDir }) => {
    const found = await housekeeping.previewPrune(before);
    const files = findOldFiles(dataDir, before, { unfinished: found.unfinished, lists: await runs.ofLists() });
    const preview = pruneView(before, files, found);
    if (isNothing(found) && isNone(files)) return preview;
    if (agree !== undefined && !(await agree(preview))) return { ...preview, outcome: 'not_agreed' };
    const left = removeOldFiles(files, dataDir);
    return { ...preview, outcome: 'removed', left, ...(await pruneLedger(before, housekeeping)) };
  });
}

/** The files are already removed, so a full disk is reported together with that. */
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
  environment: AppEnvironment,
): Promise<PruneView> {
  const dataDir = dataDirOf(options, environment);
  const files = findOldFiles(dataDir, before, await findRetained(options, environment));
  const preview = pruneView(before, files, NOTHING);
  if (isNone(files)) return { ...preview, ledgerLeft: refused.message };
  if (options.agree !== undefined && !(await options.agree(preview))) return { ...preview, outcome: 'not_agreed' };
  const removed = { ...preview, outcome: 'removed' as const, left: removeOldFiles(files, dataDir) };
  try {
    // The user agreed to everything of that age.
    const { report, bytes, logs } = await pruneAll(before, { ...options, agree: undefined }, environment);
    return { ...removed, report, bytes: removed.bytes + bytes, logs: [...removed.logs, ...logs] };
  } catch (error) {
    if (!isFull(error)) throw error;
    return { ...removed, ledgerLeft: error.message };
  }
}

/**
 * Read from a copy if there is room for one. Otherwise nothing old is retained: tables can be written again free, and a
 * log only repeats what is in the ledger.
 */
async function findRetained(place: PlaceOptions, environment: AppEnvironment): Promise<Retained> {
  try {
    return await withLedger('read', place, environment, async ({ runs }) => {
      const open = (await runs.all()).filter(({ state }) => state === 'open' || state === 'reading');
      return { unfinished: open.map(({ id }) => id), lists: await runs.ofLists() };
    });
  } catch (error) {
    if (!isFull(error)) throw error;
    return { unfinished: [], lists: new Map() };
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

/** Exports and logs from before a time. Removing them needs no disk space, unlike the ledger. */
export interface OldFiles {
  readonly exports: readonly string[];
  readonly logs: readonly string[];
  readonly bytes: number;
  /** Exports outside the data directory, which belong to the user. */
  readonly elsewhere: readonly string[];
  /** Workbooks that a person edited, kept beside their exports. They belong to the user too. */
  readonly workbooks: readonly string[];
}

/** Runs and tables that stay at any age. */
interface Retained {
  /** Unfinished runs keep their log. */
  readonly unfinished: readonly string[];
  /** Runs by portfolio: its newest tables may be the only ones. */
  readonly lists: ReadonlyMap<string, number>;
}

function findOldFiles(dataDir: string, before: number, staying: Retained): OldFiles {
  const found = findExports(dataDir);
  const kept = new Set(
    newestTables(
      found.filter((tables) => !tables.isPast && isIn(dataDir)(tables)),
      staying.lists,
    ),
  );
  const old = found.filter((tables) => Date.parse(tables.at) < before && !kept.has(tables));
  const folders = old.map(({ folder }) => folder);
  const exports = old.filter(isIn(dataDir)).map(({ folder }) => folder);
  const logs = oldLogs(join(dataDir, 'logs'), before, staying.unfinished);
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

function newestTables(found: readonly ExportFolder[], lists: Retained['lists']): Iterable<ExportFolder> {
  const newest = new Map<number, ExportFolder>();
  for (const tables of found) {
    const list = lists.get(tables.run);
    if (list === undefined) continue;
    const other = newest.get(list);
    if (other === undefined || Date.parse(other.at) < Date.parse(tables.at)) newest.set(list, tables);
  }
  return newest.values();
}

/** Removes the files, and links to them. Returns the export folders that stay because they hold foreign files. */
function removeOldFiles({ exports, logs }: OldFiles, dataDir: string): readonly string[] {
  for (const log of logs) rmSync(log, { force: true });
  const left = exports.filter((folder) => !removeExport(folder));
  clearExports(dataDir);
  return left;
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
  /** A name, or the path of its file. */
  readonly portfolio: string;
  /** Called with what will be removed. Without it, no confirmation is asked. */
  readonly agree?: ((lists: readonly DroppedPortfolio[]) => Promise<boolean>) | undefined;
}

export interface DroppedPortfolio {
  readonly name: string;
  readonly providers: string;
  readonly members: number;
  readonly runs: number;
  /** Unfinished work is removed too: rows to do, and rows that need review. */
  readonly toDo: number;
  readonly inQuestion: number;
}

export interface DropPortfolioView {
  /** One for each provider that the list was run with. */
  readonly lists: readonly DroppedPortfolio[];
  readonly dropped: boolean;
}

/** Removes a portfolio with its companies and runs. Answers, spending, decisions, tables and logs stay. */
export function dropPortfolio(
  { portfolio: name, agree, ...place }: DropPortfolioOptions,
  environment = processEnvironment(),
): Promise<DropPortfolioView> {
  return withLedger('existing', place, environment, async (ledger) => {
    const known = (await ledger.portfolios.all()).filter(({ providers }) => isSelectedProvider(place, providers));
    const found = portfoliosNamed(name, known, environment);
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
