import type { RowOutcome } from '../../domain/outcomes.js';
import { MAX_EXAMINED_ROWS, planRun, type RunPlan } from '../../engine/plan.js';
import type { Amounts } from '../../engine/row-cost.js';
import type { Ledger } from '../../ledger/ledger.js';
import type { DueReason, PortfolioRecord } from '../../ledger/portfolio/portfolios.js';
import type { RunRecord } from '../../ledger/rows/runs.js';
import type { SurveyedRow } from '../../portfolio/file-rows.js';
import { processEnvironment, withLedger } from '../environment.js';
import { isSelectedProvider, type ProviderOptions } from '../provider/provider.js';
import { workStateOf } from '../run/progress.js';
import { providerIdsOf } from '../run/spending.js';
import { readSettings } from '../run/stored-settings.js';
import { dueDecider, pipelinesBefore, plannedRows } from './open-list.js';

/** A portfolio, and how up to date it is. */
export interface PortfolioView {
  readonly name: string;
  readonly input: string;
  readonly seenAt: number;
  /** When an attempt on it last succeeded. Null: never. */
  readonly lastSuccessAt: number | null;
  readonly providers: string;
  readonly members: number;
  readonly outcomes: Readonly<Record<RowOutcome, number>>;
  /** The age of its oldest answer. Null: there is none. */
  readonly oldestFetchedAt: number | null;
  /** The rows due now by the pipeline of the last run, and their maximum cost. */
  readonly due: Readonly<Partial<Record<DueReason, number>>>;
  readonly costs: Amounts;
  /** When something is due next, if nothing is due now. Null: never without a change. */
  readonly nextDueAt: number | null;
  /** `lacksTables`: it finished, but its tables are not written. */
  readonly lastRun: {
    readonly id: string;
    readonly state: string;
    readonly finishedAt: number | null;
    readonly lacksTables: boolean;
  } | null;
}

export function portfolios(
  options: ProviderOptions = {},
  environment = processEnvironment(),
): Promise<readonly PortfolioView[]> {
  return withLedger('read', options, environment, async (ledger) => {
    const views: PortfolioView[] = [];
    for (const portfolio of await ledger.portfolios.all())
      if (isSelectedProvider(options, portfolio.providers))
        views.push(await viewOf(portfolio, ledger, environment.clock.now()));
    return views;
  });
}

async function viewOf(portfolio: PortfolioRecord, ledger: Ledger, now: number): Promise<PortfolioView> {
  const { id, name, inputPath, seenAt, lastSuccessAt, providers } = portfolio;
  const last = await ledger.portfolios.lastRun(id);
  const outcomes = await ledger.portfolios.outcomes(id);
  const times = { oldest: Number.POSITIVE_INFINITY, next: Number.POSITIVE_INFINITY };
  const plan = last && (await planOfDue(portfolio, last, times, ledger, now));
  const lacksTables = last !== undefined && (await workStateOf(last, ledger, now)).lacksTables;
  return {
    name,
    input: inputPath,
    seenAt,
    lastSuccessAt,
    providers,
    outcomes,
    members: Object.values(outcomes).reduce((sum, count) => sum + count, 0),
    lastRun: last === undefined ? null : { id: last.id, state: last.state, finishedAt: last.finishedAt, lacksTables },
    due: plan?.due ?? {},
    costs: { units: plan?.units.atMost ?? 0, reports: plan?.creditReportsAtMost ?? 0 },
    oldestFetchedAt: timeOf(times.oldest),
    nextDueAt: timeOf(times.next),
  };
}

/** Noted while the companies are listed. */
interface Times {
  oldest: number;
  next: number;
}

/** Counted as an attempt would: by the real stages, with stored answers. */
async function planOfDue(
  portfolio: PortfolioRecord,
  last: RunRecord,
  times: Times,
  ledger: Ledger,
  now: number,
): Promise<RunPlan> {
  const { pipeline, providers } = readSettings(last);
  const [v1 = '', v2 = v1] = providers;
  const judge = dueDecider(last, now, await pipelinesBefore(portfolio, ledger));
  const members = async function* (): AsyncGenerator<readonly SurveyedRow[]> {
    for await (const batch of ledger.portfolios.standings(portfolio.id))
      yield batch.flatMap((standing) => {
        for (const fetchedAt of Object.values(standing.fetched)) times.oldest = Math.min(times.oldest, fetchedAt);
        const judged = judge(standing);
        if (judged.due !== null)
          return { row: standing.row, line: 0, fields: {}, problem: null, standing, due: judged.due };
        times.next = Math.min(times.next, judged.nextAt ?? times.next);
        return [];
      });
  };
  return await planRun({
    rows: plannedRows(members(), ledger),
    pipeline,
    notBefore: 0,
    examineAtMost: MAX_EXAMINED_ROWS,
    now,
    ledger,
    environments: await providerIdsOf({ v1, v2 }, ledger),
  });
}

const timeOf = (at: number): number | null => (Number.isFinite(at) ? at : null);
