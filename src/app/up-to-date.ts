import type { Ledger } from '../ledger/ledger.js';
import type { Converged, PortfolioRecord } from '../ledger/portfolios.js';
import type { RunRecord } from '../ledger/runs.js';
import { deriveChanges } from '../portfolio/changes/derive.js';
import { writeTables } from './export.js';
import { importantSince, lastChange } from './night/important-changes.js';
import type { OpenList } from './portfolio.js';
import { type RunEndView, viewOfRest } from './run-end.js';
import type { SpendingOptions } from './spending.js';
import type { Surroundings } from './surroundings.js';

/** Nothing is due. The tables are written again only if they would be other ones, or somebody says where or how. */
export async function viewOfUpToDate(
  { portfolio, nextAt, left: departed }: Converged,
  list: OpenList,
  options: SpendingOptions,
  dataDir: string,
  ledger: Ledger,
  around: Surroundings,
): Promise<RunEndView> {
  const run = await ledger.portfolios.lastRun(portfolio.id);
  if (run === undefined) throw new Error(`${portfolio.name} has no run`);
  const before = await lastChange(ledger);
  await deriveChanges(ledger.changes, around.clock.now());
  const importantChanges = await importantSince(before, run, ledger);
  const { out, formats, includeContacts } = options;
  const isSaid = out !== undefined || formats !== undefined || includeContacts !== undefined;
  const isOther = options.export !== false && (list.file.laid || (await isBehind(portfolio, run, ledger)));
  const wanted = isSaid || options.export === true || isOther;
  const written = wanted ? await writeTables(run.id, ledger, dataDir, { out, formats, includeContacts }, around) : null;
  const rest = await viewOfRest(run, ledger, around, { dataDir, tables: written, nextAt, departed });
  const view = { ...rest, importantChanges, due: 0, unitsCharged: 0, unknownCalls: 0 };
  if (view.tablesLack === null) await ledger.portfolios.noteSuccess(portfolio.id, around.clock.now());
  return view;
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
