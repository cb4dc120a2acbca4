import type { Ledger } from '../ledger/ledger.js';
import type { PortfolioRecord } from '../ledger/portfolios.js';
import { portfoliosNamed } from './find-portfolios.js';
import { isWanted, type ProviderOptions } from './provider.js';
import { here, withLedger } from './surroundings.js';

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
  around = here(),
): Promise<DropPortfolioView> {
  return withLedger('existing', place, around, async (ledger) => {
    const known = (await ledger.portfolios.all()).filter(({ providers }) => isWanted(place, providers));
    const found = portfoliosNamed(name, known, around);
    const lists = await Promise.all(found.map((portfolio) => viewOf(portfolio, ledger)));
    const dropped = agree === undefined || (await agree(lists));
    if (dropped) for (const { id } of found) await ledger.housekeeping.dropPortfolio(id);
    return { lists, dropped };
  });
}

async function viewOf(
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
