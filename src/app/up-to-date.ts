import { LedElsewhereError } from '../ledger/jobs.js';
import type { Ledger } from '../ledger/ledger.js';
import type { Converged, PortfolioRecord } from '../ledger/portfolios.js';
import type { RunRecord } from '../ledger/runs.js';
import { deriveChanges } from '../portfolio/changes/derive.js';
import { type ExportView, saysHow, writeTables } from './export.js';
import { importantSince, lastChange } from './night/important-changes.js';
import type { OpenList } from './portfolio.js';
import { newestTables, type RunEndView, viewOfRest } from './run-end.js';
import type { SpendingOptions } from './spending.js';
import type { Surroundings } from './surroundings.js';

/** Nothing is due. The tables are written again only if they would be other ones, or somebody says where or how. */
export async function viewOfUpToDate(
  { portfolio, nextAt, left, leftFirst, invalid }: Converged,
  list: OpenList,
  options: SpendingOptions,
  dataDir: string,
  ledger: Ledger,
  around: Surroundings,
): Promise<RunEndView> {
  const run = await ledger.portfolios.lastRun(portfolio.id);
  if (run === undefined) throw new Error(`${portfolio.name} has no run`);
  const importantChanges = await changesSince(run, ledger, around);
  const isOther = async () => list.file.laid || (await isBehind(portfolio, run, ledger));
  const tables = await tablesWhere(isOther, run, options, dataDir, ledger, around);
  const rest = await viewOfRest(run, ledger, around, { dataDir, tables, nextAt, list: { left, leftFirst, invalid } });
  const view = { ...rest, importantChanges, due: 0, unitsCharged: 0, unknownCalls: 0 };
  if (view.tablesLack === null) await ledger.portfolios.noteSuccess(portfolio.id, around.clock.now());
  return view;
}

/**
 * No row of the run is left for this command. Others may have brought it to its end, on other machines or when nobody
 * led: then the tables that lie here are older than that, and are written again.
 */
export async function viewOfNothingToDo(
  run: RunRecord,
  options: SpendingOptions,
  dataDir: string,
  ledger: Ledger,
  around: Surroundings,
): Promise<RunEndView> {
  const [working] = await ledger.reading.workers(run.id);
  if (working !== undefined) throw new LedElsewhereError(run.id, working.worker, working.leaseUntil);
  const { byOutcome } = await ledger.runs.progress(run.id);
  if (byOutcome.pending > 0) return await viewOfRest(run, ledger, around, { dataDir });
  const endedAt = run.finishedAt ?? around.clock.now();
  // Whoever settled its last row died before it could say so.
  if (run.state === 'open') await ledger.runs.finish(run.id, endedAt);
  const importantChanges = await changesSince(run, ledger, around);
  const isOlder = async () => {
    const written = newestTables(run.id, dataDir);
    return written !== undefined && Date.parse(written.at) < endedAt;
  };
  const tables = await tablesWhere(isOlder, run, options, dataDir, ledger, around);
  const view = { ...(await viewOfRest(run, ledger, around, { dataDir, tables })), importantChanges };
  if (tables !== null && run.portfolioId !== null && view.tablesLack === null)
    await ledger.portfolios.noteSuccess(run.portfolioId, around.clock.now());
  return view;
}

async function changesSince(run: RunRecord, ledger: Ledger, { clock }: Surroundings) {
  const before = await lastChange(ledger);
  await deriveChanges(ledger.changes, clock.now());
  return await importantSince(before, run, ledger);
}

async function tablesWhere(
  isOther: () => Promise<boolean>,
  run: RunRecord,
  options: SpendingOptions,
  dataDir: string,
  ledger: Ledger,
  around: Surroundings,
): Promise<ExportView | null> {
  const wanted = saysHow(options) || (options.export !== false && (await isOther()));
  return wanted ? await writeTables(run.id, ledger, dataDir, options, around) : null;
}

/**
 * What came after the last success is not in the tables: the rest of a start that was killed when its rows were done, and
 * what another list, or somebody by hand, has bought since.
 */
async function isBehind(
  { id, lastSuccessAt }: PortfolioRecord,
  { finishedAt }: RunRecord,
  { portfolios }: Ledger,
): Promise<boolean> {
  if (lastSuccessAt === null || (finishedAt !== null && finishedAt > lastSuccessAt)) return true;
  return await portfolios.boughtElsewhere(id, lastSuccessAt);
}
