// Executes one attempt on a run, up to the tables and the final view.

import { type Pipeline, usesApi } from '../../config/pipeline.js';
import { unitsLeft } from '../../domain/account-usage.js';
import { ExitCode, TakenOverError } from '../../domain/errors.js';
import { moneyOf, purchasesOf } from '../../domain/prices.js';
import type { PermissionReader } from '../../engine/permissions.js';
import type { RemainingCost } from '../../engine/row-cost.js';
import { workOnRun } from '../../engine/run.js';
import type { Ledger } from '../../ledger/ledger.js';
import type { PortfolioUpdate } from '../../ledger/portfolio/portfolios.js';
import type { AttemptSpending } from '../../ledger/queries.js';
import { LedElsewhereError } from '../../ledger/rows/claims.js';
import type { RunRecord } from '../../ledger/rows/runs.js';
import { deriveChanges } from '../../portfolio/changes/derive.js';
import { message } from '../../util/message-parts.js';
import { pick } from '../../util/view-json.js';
import { count, listed } from '../../util/words.js';
import { type AppEnvironment, pricesOf, type Workplace } from '../environment.js';
import { stepAfterRefusal } from '../monitoring/check.js';
import type { LastExit } from '../monitoring/figures.js';
import type { MetricsFile, StopMetrics } from '../monitoring/metrics.js';
import { importantSince, lastChange } from '../portfolio/changes.js';
import type { OpenList } from '../portfolio/open-list.js';
import { nameRefusedKey, type Provider, sourcesOf } from '../provider/provider.js';
import { withReviewSheets } from '../review/questions.js';
import { exitOfRun } from './exit-code.js';
import { asContinueError, continuesRows, exitOfFailure } from './next-step.js';
import {
  hasSameLimits,
  portfolioProgress,
  reportedRows,
  runProgress,
  storeAttemptOptions,
  withKeptFormats,
} from './progress.js';
import {
  AttemptTally,
  addSpending,
  endingOf,
  failureEnding,
  hasNewestTables,
  NO_NEWS,
  newestTables,
  nextSteps,
  type RunEndView,
  runStanding,
  shownTables,
  stopView,
  viewOfIdleRun,
} from './run-end.js';
import { openRunLog, type RunLog } from './run-log.js';
import {
  findPriceAboveLimit,
  isBarred,
  type ListNews,
  remainingCost,
  type SpendingBounds,
  type SpendingOptions,
  spendingForecast,
} from './spending.js';
import { isFresh } from './stored-settings.js';
import { areTablesOutdated, tablesAtEnd, tablesWhere } from './tables-at-stop.js';

export interface RunAttempt extends SpendingBounds {
  readonly run: RunRecord;
  readonly pipeline: Pipeline;
  /** An earlier attempt began this run. */
  readonly goesOn: boolean;
  /** The most that the rows to do can cost. The limits may be lower. */
  readonly rest: RemainingCost;
  /** The cost of the checks before it, which counts against the same limits. */
  readonly checks: AttemptSpending;
  /** The only rows to work on. Default: all that can move. */
  readonly only?: readonly number[] | undefined;
  /** The changes of the list, if a file was read. */
  readonly list?: ListNews | undefined;
  readonly options: SpendingOptions;
  /** Undefined if the pipeline does not use v2. */
  readonly permissions: PermissionReader | undefined;
  /** Where metrics are written. Null: nowhere. */
  readonly metrics: MetricsFile | null;
}

/** Works on a run until nothing moves or it is interrupted, writes the tables and returns how it ended. */
export async function executeRun(attempt: RunAttempt, provider: Provider, workplace: Workplace): Promise<RunEndView> {
  const { run, pipeline, limits, options, checks } = attempt;
  const { ledger, clock } = workplace;
  const prices = pricesOf(pipeline, workplace);
  const log = openRunLog(run, provider, workplace);
  const stopListening = listenForInterrupts(options, log);
  const tally = new AttemptTally();
  const listener = safeListener(options, workplace);
  const begun: { attemptId?: number } = {};
  let stopMetrics: StopMetrics = async (failed) => await attempt.metrics?.write(ledger, provider.names, null, failed);
  let failure: LastExit | undefined;
  try {
    await emitStarted(attempt, listener, workplace);
    if (run.portfolioId !== null) await ledger.portfolios.forgetRefusal(run.portfolioId);
    const wanted = await withKeptFormats(options, run.id, ledger);
    const { lastDied, ...reported } = await reportedRows(run, ledger);
    const untold =
      lastDied && run.portfolioId !== null
        ? await ledger.portfolios.untoldNews(run.portfolioId, clock.now())
        : undefined;
    const news = attempt.list ?? untold ?? NO_NEWS;
    const work = () =>
      workOnRun({
        run,
        pipeline,
        fresh: isFresh(run),
        only: attempt.only,
        budgetUnits: limits.units,
        budgetReports: limits.reports,
        unitsBefore: checks.units + checks.unknownInBudget,
        concurrency: attempt.concurrency,
        sources: sourcesOf(provider),
        ledger,
        clock,
        permissions: attempt.permissions,
        drain: options.drain ?? never(),
        abort: options.abort ?? never(),
        given: storeAttemptOptions(wanted, workplace, provider.sandbox?.port, reported),
        onBegun(attemptId) {
          begun.attemptId = attemptId;
          const follow = attempt.metrics?.follow(ledger, provider.names, { run, attemptId, limits });
          if (follow !== undefined) stopMetrics = follow;
        },
        listen(event) {
          tally.listen(event);
          log.listen(event);
          listener(event);
        },
      }).catch((error: unknown) => rethrowWithSuccessor(error, run, ledger));
    const end = await work();
    log.ended(end);
    const before = await lastChange(ledger);
    await deriveChanges(ledger.changes, clock.now(), options.abort);
    const stoppedAttempt = { run, pipeline, prices, options: wanted };
    const { broughtAnything } = tally;
    const made = await tablesAtEnd(stoppedAttempt, end, broughtAnything, listener, workplace);
    const { failed, tables, tablesBefore } = made;
    if (failed !== undefined) log.brokenOff(failed);
    const progress = await runProgress(run, ledger, clock.now());
    const whole = await portfolioProgress(run, progress, ledger);
    const workers = end.finished ? [] : await ledger.reading.workers(run.id);
    // A new leader has released the rows of this attempt and continues with them.
    const ledBy = workers.find(({ leads }) => leads)?.worker ?? null;
    // Lost calls may have been found or settled since they were counted, and other workers may have spent units.
    const isAlone = ledger.claims === undefined;
    const ofRun = isAlone && tally.spent.unknown === 0 ? tally.spent : await ledger.reading.spent(end.attemptId);
    const spent = addSpending(checks, ofRun);
    const charged = isAlone && prices === null ? [] : await ledger.reading.charged({ attempt: end.attemptId });
    // The checks before the attempt cost nothing but units.
    const bought = { ...purchasesOf(charged), ...pick(spent, 'units', 'reports'), reveals: tally.reveals };
    const activity =
      progress.parked + progress.byOutcome.failed === 0 && !attempt.goesOn
        ? null
        : await ledger.reading.activity(run.id, clock.now());
    const isLimited = (progress.parkedReasons.budget ?? 0) > 0;
    const rest = isLimited ? await remainingCost(run, pipeline, 'pending', workplace, provider.names) : null;
    // The same limits would end the next attempt at once.
    const priceAboveLimit = await findPriceAboveLimit(run, progress, pipeline, limits, ledger);
    const isUsedUp = (progress.parkedReasons.allowance ?? 0) > 0;
    const broughtNothing = !broughtAnything && !isUsedUp;
    const barred = rest !== null && (isBarred(rest, limits) || priceAboveLimit !== null || broughtNothing);
    const steps = ledBy === null ? await nextSteps(run, progress, whole, ledger) : [];
    const allowed = steps.filter((step) => !continuesRows(step) || !barred);
    const importantChanges = await importantSince(before, run, ledger);
    const stopped = failed ?? (end.stopped && nameRefusedKey(end.stopped, provider.configuration));
    const correct = stopped == null ? null : stepAfterRefusal(stopped, run);
    // Shown before the step that continues, as `status` does.
    const first = correct?.kind === 'doctor' && ledBy === null ? [correct] : [];
    const [next = null, ...further] = await withReviewSheets([...allowed, ...first], ledger, workplace);
    const view: RunEndView = {
      ...runStanding(run, progress, whole),
      ...pick(end, 'finished', 'interrupted', 'moved', 'contacts'),
      ...(await shownTables(run, tables, tablesBefore, workplace)),
      nextDueAt: null,
      watchAsked: 0,
      worked: true,
      stopped: stopped === undefined ? null : stopView(stopped),
      next,
      further,
      arrived: attempt.list?.due.new ?? 0,
      departed: news.left,
      departedFirst: news.leftFirst,
      spent,
      ...(prices === null ? {} : { money: moneyOf(prices, bought) }),
      reveals: tally.reveals,
      // Calls that may have cost something, of all workers.
      v2Calls: isAlone
        ? tally.v2Calls
        : charged.reduce((sum, { meter, calls }) => sum + (meter === 'not_told' ? calls : 0), 0),
      left: {
        failed: Math.max(tally.failed, whole.outcomes.failed - reported.failed),
        questions: Math.max(0, whole.outcomes.needs_review - reported.questions),
        invalid: news.invalid,
      },
      importantChanges,
      limits,
      rest,
      priceAboveLimit,
      barred,
      reportsCharged: activity?.reports ?? spent.reports,
      unitsLeft: usesApi(pipeline, 'v1') ? await allowanceLeft(provider, ledger) : null,
      failures: activity?.failures ?? [],
      log: log.path,
      parkedUntil: activity?.parkedUntil ?? null,
      putOff: await ledger.reading.isPutOff(run.id),
      helpers: workers.filter(({ leads, underWay }) => !leads && underWay > 0).length,
      ledBy,
    };
    const finished = view.finished && failed === undefined;
    await ledger.calls.noteEnding(end.attemptId, endingOf({ ...view, finished }, exitOfRun(view, options.said)));
    if (run.portfolioId !== null && finished && view.tablesLack === null)
      await ledger.portfolios.noteSuccess(run.portfolioId, clock.now());
    return view;
  } catch (error) {
    log.brokenOff(error);
    const exit = exitOfFailure(error);
    // Another process continues the run, and reports its own end.
    if (exit.code !== ExitCode.locked) failure = exit;
    // The failure is in the log or on the terminal if it cannot be stored now.
    if (begun.attemptId !== undefined)
      await ledger.calls.noteEnding(begun.attemptId, failureEnding(error)).catch(() => {});
    const cost = chargedSoFar(addSpending(checks, tally.spent));
    throw asContinueError(error, { kind: 'resume', run: run.id }, cost);
  } finally {
    await stopMetrics(failure && { portfolioId: run.portfolioId, exit: failure });
    stopListening();
    log.close();
  }
}

/** For an attempt that breaks off. Calls in flight are settled by the next one, so the sum is the least. */
const chargedSoFar = ({ units, reports, unknown }: AttemptSpending): string =>
  `Charged so far: ${listed([units > 0 && count(units, 'unit'), reports > 0 && count(reports, 'credit report'), unknown > 0 && `${count(unknown, 'call')} with unknown charge`]) || 'nothing'}, without the calls in flight.`;

/** Answers overtake each other, so the last one may report more than is left. The ledger keeps the right figure. */
async function allowanceLeft({ names }: Provider, { calls }: Ledger): Promise<number | null> {
  const environment = await calls.findEnvironment('v1', names.v1);
  const allowance = environment === undefined ? undefined : await calls.allowance(environment);
  return allowance === undefined ? null : unitsLeft(allowance);
}

/** If another process has taken over, the error names it, because there is nothing to resume here. */
async function rethrowWithSuccessor(error: unknown, { id }: RunRecord, { reading }: Ledger): Promise<never> {
  if (!(error instanceof TakenOverError)) throw error;
  const [first] = await reading.workers(id).catch(() => []);
  throw first === undefined ? error : new TakenOverError(first.worker);
}

async function emitStarted(
  { run, only, limits, goesOn, rest, pipeline, list, options }: RunAttempt,
  listener: Listener,
  { ledger, ...environment }: Workplace,
): Promise<void> {
  const { byOutcome, unitsCharged } = await ledger.runs.progress(run.id);
  listener({
    kind: 'started',
    run: run.id,
    rows: run.rowCount,
    outcomes: byOutcome,
    toGo: (only?.length ?? byOutcome.pending) - rest.held,
    inDoubt: rest.held,
    unitsCharged,
    goesOn,
    fresh: isFresh(run),
    ...spendingForecast(rest, limits, pipeline, pricesOf(pipeline, environment)),
    list,
    hasSameLimits: goesOn && (await hasSameLimits(run.id, options, ledger)),
  });
}

function listenForInterrupts({ drain, abort }: SpendingOptions, log: RunLog): () => void {
  const first = () => log.interrupted(false);
  const second = () => log.interrupted(true);
  drain?.addEventListener('abort', first);
  abort?.addEventListener('abort', second);
  return () => {
    drain?.removeEventListener('abort', first);
    abort?.removeEventListener('abort', second);
  };
}

const never = (): AbortSignal => new AbortController().signal;

type Listener = NonNullable<SpendingOptions['listen']>;

/** A listener must not affect the run: one that throws is noted once and not called again. */
function safeListener({ listen }: SpendingOptions, { onNote }: AppEnvironment): Listener {
  let heard = listen;
  return (event) => {
    try {
      heard?.(event);
    } catch (error) {
      heard = undefined;
      onNote?.(
        message(
          'LISTENER_FAILED',
          `a listener failed and gets no more events: ${error instanceof Error ? error.message : String(error)}`,
        ),
      );
    }
  };
}

const LOOK_MS = 1000;

interface LedWork {
  readonly isMeant: (run: RunRecord) => boolean;
  /** The name of the led work in messages, such as "this run". */
  readonly called: string;
}

/** A leader that renews its lease is alive. One that died is noticed when its lease ends. */
export async function waitForLeader(
  { isMeant, called }: LedWork,
  { drain }: SpendingOptions,
  { ledger, clock, onNote }: Workplace,
): Promise<void> {
  let first: LedElsewhereError | undefined;
  for (;;) {
    const led = await ledElsewhere(isMeant, ledger);
    if (led === undefined) return;
    if (led.leaseUntil > (first ?? led).leaseUntil || drain?.aborted === true) throw led;
    const left = Math.max(0, (first ?? led).leaseUntil - clock.now()) + 1;
    if (first === undefined)
      onNote?.(
        message(
          'WAITING_FOR_LEADER',
          `${led.worker ?? 'another process'} leads ${called}. kybatch checks whether it is alive, for at most ${Math.ceil(left / 1000)} s`,
        ),
      );
    first ??= led;
    await clock.sleep(Math.min(LOOK_MS, left), drain).catch(() => {});
  }
}

async function ledElsewhere(
  isMeant: LedWork['isMeant'],
  { claims, runs, reading }: Ledger,
): Promise<LedElsewhereError | undefined> {
  for (const { runId, leaderIsAlive } of (await claims?.runs()) ?? []) {
    const run = leaderIsAlive ? await runs.find(runId) : undefined;
    if (run === undefined || !isMeant(run)) continue;
    const leader = (await reading.workers(runId)).find(({ leads }) => leads);
    if (leader !== undefined) return new LedElsewhereError(runId, leader.worker, leader.leaseUntil);
  }
  return undefined;
}

/** Nothing is due. The tables are written again only if they would differ or the options ask for it. */
export async function viewOfUpToDate(
  { portfolio, nextAt, left, leftFirst, invalid }: PortfolioUpdate,
  list: OpenList,
  options: SpendingOptions,
  workplace: Workplace,
): Promise<RunEndView> {
  const { ledger, dataDir } = workplace;
  const run = await ledger.portfolios.lastRun(portfolio.id);
  if (run === undefined) throw new Error(`${portfolio.name} has no run`);
  const importantChanges = await changesSince(run, workplace);
  const isOther = async () =>
    list.file.laid ||
    (await areTablesOutdated(portfolio, run, ledger)) ||
    !(await hasNewestTables(run, dataDir, ledger));
  const tables = await tablesWhere(isOther, run, options, workplace);
  const rest = await viewOfIdleRun(run, workplace, { tables, nextAt, list: { left, leftFirst, invalid } });
  const view = { ...rest, importantChanges, due: 0, unitsCharged: 0, unknownCalls: 0 };
  if (view.tablesLack === null) await ledger.portfolios.noteSuccess(portfolio.id, workplace.clock.now());
  return view;
}

/** No row is left. Workers elsewhere may have finished the run, so tables here that are older are written again. */
export async function viewOfNothingToDo(
  run: RunRecord,
  options: SpendingOptions,
  workplace: Workplace,
): Promise<RunEndView> {
  const { ledger, dataDir, clock } = workplace;
  const [working] = await ledger.reading.workers(run.id);
  if (working !== undefined) throw new LedElsewhereError(run.id, working.worker, working.leaseUntil);
  const { byOutcome } = await ledger.runs.progress(run.id);
  if (byOutcome.pending > 0) return await viewOfIdleRun(run, workplace);
  const endedAt = run.finishedAt ?? clock.now();
  // The process that finished the last row died before it could mark the run as finished.
  if (run.state === 'open') await ledger.runs.finish(run.id, endedAt);
  const importantChanges = await changesSince(run, workplace);
  const isOlder = async () => {
    const written = newestTables(run.id, dataDir);
    return written !== undefined && Date.parse(written.at) < endedAt;
  };
  const tables = await tablesWhere(isOlder, run, options, workplace);
  const view = { ...(await viewOfIdleRun(run, workplace, { tables })), importantChanges };
  if (tables !== null && run.portfolioId !== null && view.tablesLack === null)
    await ledger.portfolios.noteSuccess(run.portfolioId, clock.now());
  return view;
}

async function changesSince(run: RunRecord, { ledger, clock }: Workplace) {
  const before = await lastChange(ledger);
  await deriveChanges(ledger.changes, clock.now());
  return await importantSince(before, run, ledger);
}
