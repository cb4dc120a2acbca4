import type { RowOutcome } from '../../domain/outcomes.js';
import type { Limits } from '../../ledger/intended.js';
import type { Ledger } from '../../ledger/ledger.js';
import type { PortfolioRecord } from '../../ledger/portfolios.js';
import type { CallCount, StartSpending } from '../../ledger/reading.js';
import type { RunRecord } from '../../ledger/runs.js';
import type { ProviderNames } from '../provider.js';
import { standingOf } from '../standing.js';
import { callsInDoubt, currentLists } from './lists.js';

/** What a monitor is told. */
export interface Figures {
  readonly at: number;
  readonly lists: readonly ListFigures[];
  readonly callsInDoubt: number;
  /** What can still be had, as the provider last told it. */
  readonly unitsLeft: readonly { readonly api: string; readonly of: 'plan' | 'day'; readonly units: number }[];
  /** The start that tells it; null: nothing was due. */
  readonly start: StartFigures | null;
}

export interface ListFigures {
  readonly name: string;
  readonly outcomes: Readonly<Record<RowOutcome, number>>;
  /** Rows that were found to be due, and are not done. */
  readonly due: number;
  /** Of these: what they wait for. */
  readonly held: Readonly<Record<string, number>>;
  readonly oldestAnswerAt: number | null;
  readonly lastSuccessAt: number | null;
}

export interface StartFigures {
  readonly list: string | null;
  readonly atWork: boolean;
  readonly spent: StartSpending;
  /** Of the budget of units; null: it has none. */
  readonly budgetLeft: number | null;
  readonly calls: readonly CallCount[];
}

/** A start that is at work, or has just ended. */
export interface TellingStart {
  readonly run: RunRecord;
  readonly startId: number;
  readonly atWork: boolean;
  readonly limits: Limits;
}

export async function figuresOf(
  ledger: Ledger,
  names: ProviderNames,
  start: TellingStart | null,
  now: number,
): Promise<Figures> {
  const lists = await currentLists(ledger);
  return {
    at: now,
    lists: await Promise.all(lists.map((list) => figuresOfList(list, ledger, now))),
    callsInDoubt: (await callsInDoubt(ledger, now)).length,
    unitsLeft: await unitsLeft(names, ledger),
    start: start && (await figuresOfStart(start, lists, ledger)),
  };
}

async function figuresOfList(list: PortfolioRecord, ledger: Ledger, now: number): Promise<ListFigures> {
  const { portfolios, times } = ledger;
  const believed = (at: number | null) => at && times.believed(at);
  const run = await portfolios.lastRun(list.id);
  const progress = run === undefined ? undefined : await standingOf(run, ledger, now);
  return {
    name: list.name,
    outcomes: await portfolios.outcomes(list.id),
    due: progress?.byOutcome.pending ?? 0,
    held: { waiting: progress?.waiting ?? 0, ...progress?.parkedReasons },
    oldestAnswerAt: believed(await portfolios.oldestAnswer(list.id)),
    lastSuccessAt: believed(list.lastSuccessAt),
  };
}

async function unitsLeft(names: ProviderNames, { calls }: Ledger): Promise<Figures['unitsLeft']> {
  const found: Figures['unitsLeft'][number][] = [];
  for (const api of ['v1', 'v2'] as const) {
    const environment = await calls.findEnvironment(api, names[api]);
    const told = environment === undefined ? undefined : await calls.allowance(environment);
    if (told?.remainingUnits != null) found.push({ api, of: 'plan', units: told.remainingUnits });
    if (told?.dailyRemaining != null) found.push({ api, of: 'day', units: told.dailyRemaining });
  }
  return found;
}

async function figuresOfStart(
  { run, startId, atWork, limits }: TellingStart,
  lists: readonly PortfolioRecord[],
  { reading }: Ledger,
): Promise<StartFigures> {
  const spent = await reading.spent(startId);
  return {
    list: lists.find(({ id }) => id === run.portfolioId)?.name ?? null,
    atWork,
    spent,
    budgetLeft: limits.units === null ? null : Math.max(0, limits.units - spent.units),
    calls: await reading.callsOf(run.id, startId),
  };
}
