import type { InvalidReason } from '../domain/invalid-reason.js';
import { ROW_OUTCOMES, type RowOutcome } from '../domain/outcomes.js';
import type { Ledger } from '../ledger/ledger.js';
import type { Progress, RunRecord } from '../ledger/runs.js';

/** Where the whole list stands that a run belongs to. A run is about the rows that were due, and no others. */
export interface Whole {
  /** The name of the portfolio; null for runs of versions before there were any. */
  readonly portfolio: string | null;
  readonly rows: number;
  /** They add up to `rows`. */
  readonly outcomes: Readonly<Record<RowOutcome, number>>;
  /** The runs by which rows stand that have failed, the newest first. */
  readonly failedIn: readonly string[];
  /** Those with rows that wait for a person, or of which another pipeline has asked something. */
  readonly askedIn: readonly string[];
  /** Why rows are invalid; not told of runs of versions before there were portfolios. */
  readonly invalid: readonly InvalidReason[];
}

export async function wholeOf(
  run: RunRecord,
  { byOutcome }: Pick<Progress, 'byOutcome'>,
  { portfolios }: Pick<Ledger, 'portfolios'>,
): Promise<Whole> {
  const { portfolioId } = run;
  if (portfolioId === null) {
    const here = (outcome: RowOutcome) => (byOutcome[outcome] > 0 ? [run.id] : []);
    const holders = { failedIn: here('failed'), askedIn: here('needs_review') };
    return { portfolio: null, rows: run.rowCount, outcomes: byOutcome, ...holders, invalid: [] };
  }
  const outcomes = await portfolios.outcomes(portfolioId);
  const holder = async (outcome: RowOutcome) =>
    outcomes[outcome] > 0 ? await portfolios.runsWith(outcome, portfolioId) : [];
  const asked = [...(await holder('needs_review')), ...(await portfolios.runsAskedBeside(portfolioId))];
  return {
    portfolio: (await portfolios.all()).find(({ id }) => id === portfolioId)?.name ?? null,
    rows: ROW_OUTCOMES.reduce((sum, outcome) => sum + outcomes[outcome], 0),
    outcomes,
    failedIn: await holder('failed'),
    askedIn: [...new Set(asked)],
    invalid: outcomes.invalid > 0 ? await portfolios.invalidReasons(portfolioId) : [],
  };
}
