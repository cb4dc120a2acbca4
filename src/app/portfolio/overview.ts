// What a person sees first: the lists, their last nights, and the money.

import { unitsLeft } from '../../domain/account-usage.js';
import { type Money, moneyOf, purchasesOf } from '../../domain/prices.js';
import { message } from '../../util/message-parts.js';
import { pick } from '../../util/view-json.js';
import { pricesNow } from '../admin/usage.js';
import { type AppEnvironment, processEnvironment, type Workplace, withLedger } from '../environment.js';
import { inThread } from '../page-thread.js';
import { isSelectedProvider, type ProviderOptions } from '../provider/provider.js';
import { readEnding } from '../run/run-end.js';
import { type PortfolioView, portfolios } from './portfolios.js';

export interface OverviewView {
  readonly portfolios: readonly ListOverview[];
  readonly spending: SpendingOverview;
}

type Due = Pick<PortfolioView, 'due' | 'costs' | 'oldestFetchedAt' | 'nextDueAt'>;

/** What is due is null if it is not worked out yet, because the list is long. */
export interface ListOverview
  extends Omit<PortfolioView, keyof Due | 'lastRun'>,
    Readonly<{ [Part in keyof Due]: Due[Part] | null }> {
  readonly lastRun: Omit<NonNullable<PortfolioView['lastRun']>, 'lacksTables'> | null;
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
  readonly reportsThisMonth: number;
  readonly callsThisMonth: number;
  /** What this month has cost. Absent: no prices are set. */
  readonly money?: Money;
}

const NIGHTS = 30;

/** Longer lists are worked out in a thread. What is due is kept, and worked out again after a while. */
const SHORT = 5_000;
const KEPT_MS = 600_000;

interface KnownDue {
  readonly at: number;
  readonly views: readonly PortfolioView[];
}

const known = new Map<string, KnownDue>();
const keyOf = (options: ProviderOptions): string => JSON.stringify(options);

export async function overview(
  options: ProviderOptions = {},
  environment = processEnvironment(),
): Promise<OverviewView> {
  const now = environment.clock.now();
  const [lists, spending] = await withLedger('read', options, environment, async (ledger, workplace) => {
    const records = (await ledger.portfolios.all()).filter(({ providers }) => isSelectedProvider(options, providers));
    const read = records.map(async ({ id, name, providers, inputPath, seenAt, lastSuccessAt, refused }) => {
      const outcomes = await ledger.portfolios.outcomes(id);
      const last = await ledger.portfolios.lastRun(id);
      const attempts = await ledger.reading.attempts(id, NIGHTS);
      return {
        name,
        providers,
        input: inputPath,
        seenAt,
        lastSuccessAt,
        outcomes,
        members: Object.values(outcomes).reduce((sum, rows) => sum + rows, 0),
        lastRun: last === undefined ? null : { id: last.id, state: last.state, finishedAt: last.finishedAt },
        pipeline: last?.pipelineName ?? null,
        refusedCode: refused?.code ?? null,
        attempts: attempts.toReversed().map(({ runId, begunAt, ending, unitsSpent, reportsSpent }) => {
          const end = readEnding(ending);
          const [exit, stoppedCode] = [end?.exit ?? null, end?.stopped?.code ?? null];
          return { run: runId, begunAt, exit, stoppedCode, units: unitsSpent, reports: reportsSpent };
        }),
      };
    });
    return [await Promise.all(read), await spendingOf(now, workplace)] as const;
  });
  const isShort = lists.reduce((sum, { members }) => sum + members, 0) <= SHORT;
  const kept = known.get(keyOf(options));
  if (!isShort && now - (kept?.at ?? 0) >= KEPT_MS) workOutDue(options, environment);
  const views = isShort ? await portfolios(options, environment) : (kept?.views ?? []);
  return {
    portfolios: lists.map((list): ListOverview => {
      const found = views.find(({ name, providers }) => name === list.name && providers === list.providers);
      return { ...list, ...(found ? pick(found, 'due', 'costs', 'oldestFetchedAt', 'nextDueAt') : NOT_WORKED_OUT) };
    }),
    spending,
  };
}

const NOT_WORKED_OUT = { due: null, costs: null, oldestFetchedAt: null, nextDueAt: null };

/** Works out what is due in long lists, in a thread. `overview` has it later. */
function workOutDue(options: ProviderOptions, environment: AppEnvironment): void {
  const key = keyOf(options);
  if (underWay.has(key)) return;
  underWay.add(key);
  const { clock, onNote } = environment;
  inThread('portfolios', options, environment)
    .then((views) => {
      known.set(key, { at: clock.now(), views });
      underWay.delete(key);
    })
    // It is not tried again while this process runs: the page reads the overview every second.
    .catch((error: unknown) => onNote?.(message('DUE_UNKNOWN', `the due rows could not be counted: ${String(error)}`)));
}

const underWay = new Set<string>();

async function spendingOf(now: number, workplace: Workplace): Promise<SpendingOverview> {
  const { reading } = workplace.ledger;
  const since = Date.parse(`${new Date(now).toISOString().slice(0, 7)}-01`);
  const { units, reports, calls } = await reading.callsSince(since);
  const told = await reading.unitsTold();
  const prices = await pricesNow(workplace);
  return {
    unitsLeft: told === undefined ? null : unitsLeft(told),
    unitsThisMonth: units,
    reportsThisMonth: reports,
    callsThisMonth: calls,
    ...(prices === null ? {} : { money: moneyOf(prices, purchasesOf(await reading.charged({ since }))) }),
  };
}
