import { driftOf, remainingUse } from '../../domain/account-usage.js';
import { ExitCode } from '../../domain/errors.js';
import { decisiveHold, isUnknownCharge, type RowOutcome } from '../../domain/outcomes.js';
import type { Ledger } from '../../ledger/ledger.js';
import type { OutageNote } from '../../ledger/money/calls.js';
import type { Limits } from '../../ledger/money/intent.js';
import type { Drift } from '../../ledger/money/usage.js';
import type { PortfolioRecord } from '../../ledger/portfolio/portfolios.js';
import type { AttemptActivity, AttemptSpending, CallCount } from '../../ledger/queries.js';
import type { RunRecord } from '../../ledger/rows/runs.js';
import { providersKey } from '../portfolio/open-list.js';
import { isSandboxName, isSelectedProvider, type ProviderNames, type ProviderOptions } from '../provider/provider.js';
import { type UnknownChargeView, withResendState } from '../review/unknown-charges.js';
import { stateOfRun, workStateOf } from '../run/progress.js';
import { readEnding } from '../run/run-end.js';

export interface Figures {
  readonly at: number;
  readonly lists: readonly ListFigures[];
  readonly unknownCharges: number;
  readonly unitsCharged: number;
  /** Units that the provider of each API counts and the ledger does not, as in `status --check`. */
  readonly drift: readonly { readonly api: string; readonly units: number }[];
  /** v2 counters by permission. Null: not reported or not comparable. */
  readonly permissions: readonly {
    readonly permission: string;
    readonly metric: string;
    readonly left: number | null;
    readonly drift: number | null;
  }[];
  /** Bytes of the ledger, and free bytes on the disk of the data directory. */
  readonly ledgerBytes: number | null;
  readonly freeBytes: number | null;
  readonly unitsLeft: readonly { readonly api: string; readonly of: 'plan' | 'day'; readonly units: number }[];
  /** The attempt that writes the metrics. Null: nothing was due. */
  readonly attempt: AttemptFigures | null;
}

export interface ListFigures {
  readonly name: string;
  readonly outcomes: Readonly<Record<RowOutcome, number>>;
  /** Rows that the next attempt continues with. */
  readonly due: number;
  /** Of these, the number by what they wait for. */
  readonly held: Readonly<Record<string, number>>;
  readonly oldestAnswerAt: number | null;
  readonly lastSuccessAt: number | null;
  /** Companies that left the file when it was last read. */
  readonly departed: number;
  /** Processes that work on it now. */
  readonly workers: number;
  /** The outages they wait for, and those that the last attempt ended in. */
  readonly outages: readonly OutageNote[];
  /** How the last attempt ended. While one is running: the one before. Null: there was none. */
  readonly lastExit: LastExit | null;
}

/** `code` -1: the process died. */
export interface LastExit {
  readonly code: number;
  readonly reason: string;
}

export interface AttemptFigures {
  readonly list: string | null;
  readonly atWork: boolean;
  readonly spent: AttemptSpending;
  /** The rest of the limit of units. Null: no limit. */
  readonly budgetLeft: number | null;
  readonly calls: readonly CallCount[];
}

export interface ReportedAttempt {
  readonly run: RunRecord;
  readonly attemptId: number;
  readonly atWork: boolean;
  readonly limits: Limits;
}

/** An attempt that an error has ended. The ledger may not know it: its disk may be full. */
export interface FailedAttempt {
  readonly portfolioId: number | null;
  readonly exit: LastExit;
}

/** Figures from outside the list queries: disk space, and all units charged. */
export type Measured = Pick<Figures, 'unitsCharged' | 'ledgerBytes' | 'freeBytes'>;

export async function figuresOf(
  ledger: Ledger,
  configured: ProviderNames,
  attempt: ReportedAttempt | null,
  measured: Measured,
  now: number,
  failed?: FailedAttempt,
): Promise<Figures> {
  // Its calls in flight are lost, although its lease and its lock still hold.
  const isOver = failed !== undefined && ledger.claims === undefined;
  const lists = await currentPortfolios(ledger);
  const names = namesInUse(lists, configured);
  return {
    ...measured,
    ...(await comparedCounts(names, await recentDrift(lists, ledger, now), ledger)),
    at: now,
    lists: await Promise.all(lists.map((list) => figuresOfList(list, attempt, failed, ledger, now))),
    unknownCharges: openCharges(await unknownCharges(ledger, isOver ? Number.MAX_SAFE_INTEGER : now)).count,
    unitsLeft: await unitsLeft(names, ledger),
    attempt: attempt && (await figuresOfAttempt(attempt, isOver, lists, ledger)),
  };
}

async function figuresOfList(
  list: PortfolioRecord,
  own: ReportedAttempt | null,
  failed: FailedAttempt | undefined,
  ledger: Ledger,
  now: number,
): Promise<ListFigures> {
  const { portfolios, reading } = ledger;
  const run = await portfolios.lastRun(list.id);
  const state = run === undefined ? undefined : await stateOfRun(run, ledger, now);
  const { attempt, progress, workers = [], isAtWork = false, isLed = false, isWriting = false } = state ?? {};
  const isOwn = own?.atWork === true && own.run.portfolioId === list.id;
  const [newest, before] = await reading.attempts(list.id, 2);
  const isRunning = isOwn || isLed || isWriting;
  // Workers may continue after the attempt that led them has ended.
  const past = isRunning ? before : newest;
  const ended = isRunning || isAtWork ? past && { ...past, endedAt: null } : attempt;
  const outcomes = state?.whole.outcomes ?? (await portfolios.outcomes(list.id));
  return {
    name: list.name,
    outcomes,
    departed: await portfolios.departed(list.id),
    // With a ledger in a file, workers are not listed.
    workers: Math.max(workers.length, isLed ? 1 : 0),
    outages: (attempt?.outages ?? []).filter(({ row }) => row === undefined),
    lastExit:
      failed?.portfolioId === list.id ? failed.exit : lastExitOf(list, ended, outcomes, progress?.parkedReasons ?? {}),
    due: state?.toDo ?? 0,
    held: { waiting: progress?.waiting ?? 0, ...progress?.parkedReasons },
    oldestAnswerAt: (await portfolios.oldestAnswer(list.id)) ?? null,
    lastSuccessAt: list.lastSuccessAt,
  };
}

/** An attempt that found nothing due left only the time of its success. */
function lastExitOf(
  { refused, lastSuccessAt }: PortfolioRecord,
  work: Pick<AttemptActivity, 'begunAt' | 'endedAt' | 'ending'> | undefined,
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
  // It may have died while it wrote its tables.
  if (ended === null) return { code: -1, reason: 'DIED' };
  const { stopped, interrupted, finished, exit, reason } = ended;
  if (exit !== undefined && reason !== undefined) return { code: exit, reason };
  if (stopped !== null) return { code: ended.exit ?? stopped.exit, reason: stopped.code };
  if (interrupted && !finished) return { code: ended.exit ?? ExitCode.interrupted, reason: 'INTERRUPTED' };
  const held = decisiveHold(parked);
  if (finished || held === undefined) return { ...ofRows, code: ended.exit ?? ofRows.code };
  return { code: ended.exit ?? ExitCode.allowance, reason: held.toUpperCase() };
}

/** Drift is reported for this long, so that a weekend does not hide it. `usage` shows all of it. */
const DRIFT_TOLD_MS = 7 * 86_400_000;

/** Units that were charged for no call of this ledger: another user or another ledger uses the account. */
export async function recentDrift(
  lists: readonly PortfolioRecord[],
  { reading }: Pick<Ledger, 'reading'>,
  now: number,
): Promise<readonly Drift[]> {
  const providers = lists.flatMap((list) => list.providers.split(','));
  return await reading.driftSince(providers, now - DRIFT_TOLD_MS);
}

/** The configured providers, or those of the newest list if no list uses the configured ones, such as a refused address. */
function namesInUse(lists: readonly PortfolioRecord[], configured: ProviderNames): ProviderNames {
  const isUsed = lists.some(({ providers }) => providers === providersKey(configured));
  const newest = lists.find(({ providers }) => !isSandboxName(providers));
  if (newest === undefined || isUsed) return configured;
  const [v1 = '', v2 = v1] = newest.providers.split(',');
  return { ...configured, v1, v2 };
}

async function comparedCounts(
  names: ProviderNames,
  recent: readonly Drift[],
  { reading }: Ledger,
): Promise<Pick<Figures, 'drift' | 'permissions'>> {
  const { environments, permissions } = await reading.countsTold();
  const isOurs = (api: string, name: string) => (api === 'v1' || api === 'v2') && names[api] === name;
  return {
    drift: environments
      .filter(({ api, name, observedAt }) => api === 'v1' && isOurs(api, name) && observedAt !== null)
      .map(({ api, name }) => ({
        api,
        units: recent.find((one) => one.api === api && one.environment === name)?.units ?? 0,
      })),
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

async function figuresOfAttempt(
  { run, attemptId, atWork, limits }: ReportedAttempt,
  isOver: boolean,
  lists: readonly PortfolioRecord[],
  { reading }: Ledger,
): Promise<AttemptFigures> {
  const spent = await reading.spent(attemptId, isOver);
  // Calls that may have been charged count as spent, as for the limit itself.
  const { unitsSpent = spent.units } = (await reading.lastAttempt(run.id)) ?? {};
  return {
    list: lists.find(({ id }) => id === run.portfolioId)?.name ?? null,
    atWork,
    spent,
    budgetLeft: limits.units === null ? null : Math.max(0, limits.units - unitsSpent),
    calls: await reading.callsOf(run.id, attemptId),
  };
}

/** All lists, each once. A list that was run with the sandbox or another provider before is not a second list. */
export async function currentPortfolios(
  { portfolios }: Pick<Ledger, 'portfolios'>,
  which: Pick<ProviderOptions, 'sandbox'> = {},
): Promise<readonly PortfolioRecord[]> {
  const names = new Set<string>();
  const wanted = (await portfolios.all()).filter(({ providers }) => isSelectedProvider(which, providers));
  // The newest is first.
  return wanted.filter(({ name }) => !names.has(name) && names.add(name));
}

/** Calls that wait for a person or for the next run, as a monitor counts them. */
export interface OpenCharges {
  readonly count: number;
  /** How many of them a person decides about. */
  readonly toDecide: number;
  /** Calls that were charged without an answer, and hold a row until a person decides. */
  readonly paidInVain: number;
}

export function openCharges(calls: readonly UnknownChargeView[]): OpenCharges {
  const unknown = calls.filter((call) => isUnknownCharge(call) && call.waitsFor !== 'nothing');
  const forPerson = calls.filter(({ waitsFor }) => waitsFor === 'person');
  const toDecide = forPerson.filter(isUnknownCharge).length;
  return { count: unknown.length, toDecide, paidInVain: forPerson.length - toDecide };
}

/** The calls that `charges` lists, without those that a running process is about to settle or repeat. */
export async function unknownCharges(ledger: Ledger, now: number): Promise<readonly UnknownChargeView[]> {
  const calls = await withResendState(await ledger.unknownCharges.list({ calls: [], runs: [] }, now), ledger);
  const atWork = new Set<string>();
  for (const id of new Set(calls.map(({ runId }) => runId))) {
    const run = id === null ? undefined : await ledger.runs.find(id);
    if (run !== undefined && (await workStateOf(run, ledger, now)).isAtWork) atWork.add(run.id);
  }
  return calls.filter(({ waitsFor, runId }) => waitsFor !== 'next_run' || runId === null || !atWork.has(runId));
}
