// What a person sees first: the lists, their last nights, and the money.

import { unitsLeft } from '../../domain/account-usage.js';
import type { Money } from '../../domain/prices.js';
import { type UsageView, usage } from '../admin/usage.js';
import { processEnvironment, withLedger } from '../environment.js';
import { isSelectedProvider, type ProviderOptions } from '../provider/provider.js';
import { readEnding } from '../run/run-end.js';
import { type PortfolioView, portfolios } from './portfolios.js';

export interface OverviewView {
  readonly portfolios: readonly ListOverview[];
  readonly spending: SpendingOverview;
}

export interface ListOverview extends PortfolioView {
  /** Of the last run. Null: there is none. */
  readonly pipeline: string | null;
  /** The last attempts, the oldest first. */
  readonly attempts: readonly AttemptOverview[];
  /** Why the last attempt was refused before it began. Null: it was not. */
  readonly refusedCode: string | null;
}

export interface AttemptOverview {
  readonly run: string;
  readonly begunAt: number;
  /** Null: it runs, it died, or an older version stored none. */
  readonly exit: number | null;
  readonly stoppedCode: string | null;
  readonly units: number;
  readonly reports: number;
}

export interface SpendingOverview {
  /** Units that the account may still spend. Null: not reported yet. */
  readonly unitsLeft: number | null;
  /** This month by UTC. */
  readonly unitsThisMonth: number;
  readonly callsThisMonth: number;
  /** All that was ever spent. Absent: no prices are set. */
  readonly money?: Money;
}

const NIGHTS = 30;

export async function overview(options: ProviderOptions = {}, around = processEnvironment()): Promise<OverviewView> {
  const views = await portfolios(options, around);
  const spent = await usage({ ...options, unknownAtMost: 0 }, around);
  return await withLedger('read', options, around, async (ledger) => {
    const known = (await ledger.portfolios.all()).filter(({ providers }) => isSelectedProvider(options, providers));
    const lists = views.map(async (view): Promise<ListOverview> => {
      const record = known.find(({ name, providers }) => name === view.name && providers === view.providers);
      const attempts = record === undefined ? [] : await ledger.reading.attempts(record.id, NIGHTS);
      const last = view.lastRun === null ? undefined : await ledger.runs.find(view.lastRun.id);
      return {
        ...view,
        pipeline: last?.pipelineName ?? null,
        refusedCode: record?.refused?.code ?? null,
        attempts: attempts.toReversed().map(({ runId, begunAt, ending, unitsSpent, reportsSpent }) => {
          const end = readEnding(ending);
          const stoppedCode = end?.stopped?.code ?? null;
          return {
            run: runId,
            begunAt,
            exit: end?.exit ?? null,
            stoppedCode,
            units: unitsSpent,
            reports: reportsSpent,
          };
        }),
      };
    });
    return { portfolios: await Promise.all(lists), spending: spendingOf(spent, around.clock.now()) };
  });
}

function spendingOf({ byDay, environments, money }: UsageView, now: number): SpendingOverview {
  const month = new Date(now).toISOString().slice(0, 7);
  const days = byDay.filter(({ key }) => key.startsWith(month));
  const v1 = environments.find(({ api, observedAt }) => api === 'v1' && observedAt !== null);
  return {
    unitsLeft: v1 === undefined ? null : unitsLeft(v1),
    unitsThisMonth: days.reduce((sum, { unitsCharged }) => sum + unitsCharged, 0),
    callsThisMonth: days.reduce((sum, { calls }) => sum + calls, 0),
    ...(money === undefined ? {} : { money }),
  };
}
