import { type Pipeline, stagesOf } from '../config/pipeline.js';
import type { RowOutcome } from '../domain/outcomes.js';
import { type Amounts, mostFor } from '../engine/row-cost.js';
import type { Ledger } from '../ledger/ledger.js';
import type { Due, DueReason, PortfolioRecord, Standing } from '../ledger/portfolios.js';
import { judgeOf } from './portfolio.js';
import { isWanted, type ProviderOptions } from './provider.js';
import { readSettings } from './stored-settings.js';
import { here, withLedger } from './surroundings.js';

/** A list of companies, and how up to date it is. */
export interface PortfolioView {
  readonly name: string;
  /** The newest file, and when it was last looked at. */
  readonly input: string;
  readonly seenAt: number;
  /** When a start on it last came to its end by itself; null: none ever has. */
  readonly lastSuccessAt: number | null;
  readonly providers: string;
  /** Who is in the list, by what they have come to. */
  readonly members: number;
  readonly outcomes: Readonly<Record<RowOutcome, number>>;
  /** When the oldest of all answers was fetched; null: there is none. */
  readonly oldestFetchedAt: number | null;
  /** What is due now, by the pipeline of the last run, and what that can cost at the most. */
  readonly due: Readonly<Partial<Record<DueReason, number>>>;
  readonly costs: Amounts;
  /** When something is due next, where nothing is now; null: nothing is, by itself. */
  readonly nextDueAt: number | null;
  readonly lastRun: { readonly id: string; readonly state: string; readonly finishedAt: number | null } | null;
}

/** The portfolios of a data directory, the one that was looked at last first. */
export function portfolios(options: ProviderOptions = {}, around = here()): Promise<readonly PortfolioView[]> {
  return withLedger('read', options, around, async (ledger) => {
    const views: PortfolioView[] = [];
    for (const portfolio of await ledger.portfolios.all())
      if (isWanted(options, portfolio.providers)) views.push(await viewOf(portfolio, ledger, around.clock.now()));
    return views;
  });
}

async function viewOf(portfolio: PortfolioRecord, ledger: Ledger, now: number): Promise<PortfolioView> {
  const { id, name, inputPath, seenAt, lastSuccessAt, providers } = portfolio;
  const last = await ledger.portfolios.lastRun(id);
  const outcomes = await ledger.portfolios.outcomes(id);
  const shared = { name, input: inputPath, seenAt, lastSuccessAt, providers, outcomes };
  const members = Object.values(outcomes).reduce((sum, count) => sum + count, 0);
  const lastRun = last === undefined ? null : { id: last.id, state: last.state, finishedAt: last.finishedAt };
  const due: Partial<Record<DueReason, number>> = {};
  let units = 0;
  let reports = 0;
  let oldest = Number.POSITIVE_INFINITY;
  let next = Number.POSITIVE_INFINITY;
  const pipeline = last && readSettings(last).pipeline;
  const judge = last && judgeOf(last, now);
  for await (const batch of ledger.portfolios.standings(id))
    for (const standing of batch) {
      oldest = Math.min(oldest, ...Object.values(standing.fetched));
      const judged = judge?.(standing);
      if (judged === undefined || pipeline === undefined) continue;
      if (judged.due === null) next = Math.min(next, judged.nextAt ?? next);
      else {
        due[judged.due.reason] = (due[judged.due.reason] ?? 0) + 1;
        const most = costOf(standing, judged.due, pipeline);
        units += most.units;
        reports += most.reports;
      }
    }
  const timeOf = (at: number) => (Number.isFinite(at) ? at : null);
  return {
    ...shared,
    members,
    lastRun,
    due,
    costs: { units, reports },
    oldestFetchedAt: timeOf(oldest),
    nextDueAt: timeOf(next),
  };
}

/** Who is confirmed is not searched for again: only the stages that are run count. */
function costOf({ outcome }: Standing, { forget, stages }: Due, pipeline: Pipeline): Amounts {
  const again = stagesOf(pipeline).filter(({ name }) => stages[name] === 'pending');
  if (outcome !== 'complete' || forget.includes('v1') || again.length === 0) return mostFor(1, pipeline);
  const calls = again.flatMap((stage) => stage.calls);
  const most = (meter: string) =>
    calls.reduce((sum, { operation, atMost }) => sum + (operation.meter === meter ? atMost : 0), 0);
  return { units: most('unit'), reports: most('report') };
}
