import { UsageError } from '../domain/errors.js';
import type { Ledger } from '../ledger/ledger.js';
import { portfoliosNamed } from './find-portfolios.js';
import { namedRun } from './find-run.js';
import type { WhoseQuestions } from './next-step.js';
import type { Surroundings } from './surroundings.js';

export type QuestionsLedger = Pick<Ledger, 'runs' | 'portfolios' | 'review'>;

/** The runs whose questions are meant; undefined: all. */
export async function runsAsking(
  { run, portfolio }: WhoseQuestions,
  { runs, portfolios }: QuestionsLedger,
  around: Surroundings,
): Promise<readonly string[] | undefined> {
  if (run !== undefined && portfolio !== undefined)
    throw new UsageError('either a run or --portfolio says whose questions are meant', 'Leave one of them out.');
  if (run !== undefined) return [(await namedRun(run, { runs })).id];
  if (portfolio === undefined) return undefined;
  const lists = portfoliosNamed(portfolio, await portfolios.all(), around).map(({ id }) => id);
  const ofLists = (await runs.all()).filter(({ portfolioId }) => portfolioId !== null && lists.includes(portfolioId));
  return ofLists.map(({ id }) => id);
}
