import { UsageError } from '../domain/errors.js';
import type { Ledger } from '../ledger/ledger.js';
import type { PortfolioRecord } from '../ledger/portfolios.js';
import { didYouMean } from '../util/suggest.js';
import { here, type PlaceOptions, pathIn, type Surroundings, withLedger } from './surroundings.js';

export interface DropPortfolioOptions extends PlaceOptions {
  /** Its name, or the path of its file. */
  readonly portfolio: string;
  /** Asked with what would go. Without it nobody is asked. */
  readonly agree?: ((list: DroppedList) => Promise<boolean>) | undefined;
}

export interface DroppedList {
  readonly name: string;
  readonly members: number;
  readonly runs: number;
}

export interface DropPortfolioView extends DroppedList {
  readonly dropped: boolean;
}

/**
 * Forgets a list that nobody keeps up to date any more: its members and its runs. What was bought stays owned, what was
 * spent stays in the books; the same file makes it anew, and pays for nothing that is fresh.
 */
export function dropPortfolio(options: DropPortfolioOptions, around = here()): Promise<DropPortfolioView> {
  const { portfolio, agree, ...place } = options;
  return withLedger('existing', place, around, async (ledger) => {
    const { id, name } = await onlyList(portfolio, ledger, around);
    const outcomes = Object.values(await ledger.portfolios.outcomes(id));
    const members = outcomes.reduce((sum, count) => sum + count, 0);
    const runs = (await ledger.runs.all()).filter(({ portfolioId }) => portfolioId === id).length;
    const list = { name, members, runs };
    const dropped = agree === undefined || (await agree(list));
    if (dropped) await ledger.housekeeping.dropPortfolio(id);
    return { ...list, dropped };
  });
}

async function onlyList(said: string, { portfolios }: Ledger, around: Surroundings): Promise<PortfolioRecord> {
  const known = await portfolios.all();
  const [only, ...others] = known.filter(({ name }) => name === said.trim() || name === pathIn(around, said));
  if (only === undefined) {
    const names = known.map(({ name }) => name);
    throw new UsageError(
      `there is no portfolio ${said}.${didYouMean(said, names)}`,
      '`kybatch portfolios` lists them.',
    );
  }
  if (others.length === 0) return only;
  const providers = [only, ...others].map((list) => list.providers).join(' and ');
  throw new UsageError(
    `${only.name} is the name of ${others.length + 1} lists, of ${providers}`,
    'Drop the runs of the one that is meant with `kybatch prune --run RUN`: a list goes with the last of its runs.',
  );
}
