import type { Ledger } from '../ledger/ledger.js';
import type { Converged } from '../ledger/portfolios.js';
import { deriveChanges } from '../portfolio/changes/derive.js';
import { writeTables } from './export.js';
import type { OpenList } from './portfolio.js';
import { type RunEndView, viewOfRest } from './run-end.js';
import type { SpendingOptions } from './spending.js';
import type { Surroundings } from './surroundings.js';

/** Nothing is due. The tables are written again only if the file is another one, or somebody says where or how. */
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
  await deriveChanges(ledger.changes, around.clock.now());
  const { out, formats } = options;
  // Who has left, cells that are other ones, and what another list has bought, are in the tables of the morning too.
  const { lastSuccessAt } = portfolio;
  const isOther =
    options.export !== false &&
    (list.file.laid ||
      (lastSuccessAt !== null && (await ledger.portfolios.boughtElsewhere(portfolio.id, lastSuccessAt))));
  const wanted = out !== undefined || formats !== undefined || options.export === true || isOther;
  const written = wanted ? await writeTables(run.id, ledger, dataDir, { out, formats }, around) : null;
  const view = { ...(await viewOfRest(run, ledger, around, { tables: written, nextAt, departed })), unitsCharged: 0 };
  if (view.tablesLack === null) await ledger.portfolios.noteSuccess(portfolio.id, around.clock.now());
  return view;
}
