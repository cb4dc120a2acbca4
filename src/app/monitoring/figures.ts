import { v2Operations } from '../../api/v2/operations.js';
import { driftOf, remainingUse } from '../../domain/account-usage.js';
import { ExitCode } from '../../domain/errors.js';
import type { RowOutcome } from '../../domain/outcomes.js';
import type { Ledger } from '../../ledger/ledger.js';
import type { OutageNote } from '../../ledger/money/calls.js';
import type { Limits } from '../../ledger/money/intent.js';
import type { PortfolioRecord } from '../../ledger/portfolio/portfolios.js';
import type { AttemptSpending, AtWork, CallCount } from '../../ledger/queries.js';
import type { RunRecord } from '../../ledger/rows/runs.js';
import { isSelectedProvider, type ProviderNames, type ProviderOptions } from '../provider/provider.js';
import { type UnknownChargeView, withResendState } from '../review/unknown-charges.js';
import { runProgress } from '../run/progress.js';
import { readEnding } from '../run/run-end.js';

/** What a monitor is told. */
export interface Figures {
  readonly at: number;
  readonly lists: readonly ListFigures[];
  readonly callsInDoubt: number;
  /** Units that were charged in all, as far as that is known. */
  readonly unitsCharged: number;
  /** Units that the provider of each API counts and we do not, as `usage` tells it. */
  readonly drift: readonly { readonly api: string; readonly units: number }[];
  /** What v2 counts by permission; null: not told, or not to be compared. */
  readonly permissions: readonly {
    readonly permission: string;
    readonly metric: string;
    readonly left: number | null;
    readonly drift: number | null;
  }[];
  /** Bytes: of the ledger, and free on the disk of the data directory. */
  readonly ledgerBytes: number | null;
  readonly freeBytes: number | null;
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
  /** Members that are not in the file any more. */
  readonly departed: number;
  /** Processes that work on it now. */
  readonly workers: number;
  /** What they wait for because the provider does not answer. */
  readonly outages: readonly OutageNote[];
  /** How the last start ended; null: one is at work, or there was none. */
  readonly lastExit: LastExit | null;
}

/** `code` -1: it died. */
export interface LastExit {
  readonly code: number;
  readonly reason: string;
}

export interface StartFigures {
  readonly list: string | null;
  readonly atWork: boolean;
  readonly spent: AttemptSpending;
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

/** What the ledger does not know itself: room on the disk, and all units that were charged. */
export type Measured = Pick<Figures, 'unitsCharged' | 'ledgerBytes' | 'freeBytes'>;

export async function figuresOf(
  ledger: Ledger,
  names: ProviderNames,
  start: TellingStart | null,
  measured: Measured,
  now: number,
): Promise<Figures> {
  const lists = await currentPortfolios(ledger);
  return {
    ...measured,
    ...(await comparedCounts(names, ledger)),
    at: now,
    lists: await Promise.all(lists.map((list) => figuresOfList(list, ledger, now))),
    callsInDoubt: (await unresolvedCharges(ledger, now)).length,
    unitsLeft: await unitsLeft(names, ledger),
    start: start && (await figuresOfStart(start, lists, ledger)),
  };
}

async function figuresOfList(list: PortfolioRecord, ledger: Ledger, now: number): Promise<ListFigures> {
  const { portfolios, reading, times } = ledger;
  const believed = (at: number | null) => at && times.believed(at);
  const run = await portfolios.lastRun(list.id);
  const progress = run === undefined ? undefined : await runProgress(run, ledger, now);
  const outcomes = await portfolios.outcomes(list.id);
  const work = run === undefined ? undefined : await reading.atWork(run.id, now);
  const isAtWork = work !== undefined && (work.alive ?? work.leaseUntil >= now);
  const workers = run === undefined ? 0 : (await reading.workers(run.id)).length;
  return {
    name: list.name,
    outcomes,
    departed: await portfolios.departed(list.id),
    // Where one process has the ledger for itself, nobody is listed.
    workers: Math.max(workers, isAtWork ? 1 : 0),
    outages: (isAtWork || workers > 0 ? (work?.outages ?? []) : []).filter(({ row }) => row === undefined),
    lastExit: isAtWork ? null : lastExitOf(list, work, outcomes, progress?.parkedReasons ?? {}),
    due: progress?.byOutcome.pending ?? 0,
    held: { waiting: progress?.waiting ?? 0, ...progress?.parkedReasons },
    oldestAnswerAt: believed(await portfolios.oldestAnswer(list.id)),
    lastSuccessAt: believed(list.lastSuccessAt),
  };
}

/** A start that found nothing due has left no trace but the time of its success. */
function lastExitOf(
  { refused, lastSuccessAt }: PortfolioRecord,
  work: AtWork | undefined,
  { failed, invalid, needs_review }: ListFigures['outcomes'],
  parked: Readonly<Record<string, number>>,
): LastExit | null {
  if (refused !== null) return { code: refused.exit ?? ExitCode.usage, reason: refused.code };
  const ofRows: LastExit =
    failed + invalid + needs_review > 0
      ? { code: ExitCode.rowsOpen, reason: 'ROWS_OPEN' }
      : { code: ExitCode.ok, reason: 'OK' };
  if (work === undefined) return lastSuccessAt === null ? null : ofRows;
  if (lastSuccessAt !== null && lastSuccessAt >= (work.endedAt ?? work.begunAt)) return ofRows;
  const ended = readEnding(work.ending);
  if (ended === null) return work.endedAt === null ? { code: -1, reason: 'DIED' } : null;
  const { stopped, interrupted, finished } = ended;
  if (stopped !== null) return { code: ended.exit ?? stopped.exit, reason: stopped.code };
  if (interrupted && !finished) return { code: ended.exit ?? ExitCode.interrupted, reason: 'INTERRUPTED' };
  const [held] = Object.keys(parked);
  if (finished || held === undefined) return { ...ofRows, code: ended.exit ?? ofRows.code };
  return { code: ended.exit ?? ExitCode.allowance, reason: held.toUpperCase() };
}

/** As `usage` compares them, of the providers that are configured now. */
async function comparedCounts(
  names: ProviderNames,
  { reading }: Ledger,
): Promise<Pick<Figures, 'drift' | 'permissions'>> {
  const { environments, permissions } = await reading.countsTold();
  const isOurs = (api: string, name: string) => (api === 'v1' || api === 'v2') && names[api] === name;
  return {
    drift: environments
      .filter(({ api, name, observedAt }) => api === 'v1' && isOurs(api, name) && observedAt !== null)
      .map(({ api, driftUnits }) => ({ api, units: driftUnits })),
    permissions: permissions
      .filter(({ environment }) => isOurs('v2', environment))
      .map((use) => ({ permission: use.permission, metric: use.metric, left: remainingUse(use), drift: driftOf(use) })),
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

/** All lists, each once: one that was tried on the sandbox, or with another provider, before is not a list of its own. */
export async function currentPortfolios(
  { portfolios }: Pick<Ledger, 'portfolios'>,
  which: Pick<ProviderOptions, 'sandbox'> = {},
): Promise<readonly PortfolioRecord[]> {
  const names = new Set<string>();
  const wanted = (await portfolios.all()).filter(({ providers }) => isSelectedProvider(which, providers));
  // The newest comes first.
  return wanted.filter(({ name }) => !names.has(name) && names.add(name));
}

/** Of the calls that `doubt` lists, those about which a person has still to say something. */
export async function unresolvedCharges(
  ledger: Pick<Ledger, 'doubts' | 'runs'>,
  now: number,
): Promise<readonly UnknownChargeView[]> {
  const calls = await ledger.doubts.list({ calls: [], runs: [] }, now);
  return (await withResendState(calls, ledger)).filter(needsAWord);
}

const ASKED_EVERY_NIGHT: readonly string[] = [v2Operations.watchHistory.name, v2Operations.watchList.name];

/**
 * In doubt, and either what it was for waits, or nobody knows what it cost: also where its row has gone on without it. What
 * was answered since has been dealt with as the pipeline says; but of a report that may have been paid for twice only a
 * person can find out. What the provider has refused for good was never in doubt, and what the watch was asked the next
 * night asks again: that costs no more than it always does.
 */
function needsAWord({ operation, holds, sentAgain, charge, note, answered, meter }: UnknownChargeView): boolean {
  if (ASKED_EVERY_NIGHT.includes(operation)) return false;
  if (holds) return sentAgain !== 'nothing' || charge === 'unknown';
  return answered && meter === 'report' && charge === 'unknown' && note === null;
}
