import { PROVIDER_UNAVAILABLE } from '../calls/breaker.js';
import { asks, type Pipeline } from '../config/pipeline.js';
import { TakenOverError } from '../domain/errors.js';
import { ExitCode } from '../domain/exit-codes.js';
import type { PermissionReader } from '../engine/permissions.js';
import { type Rest, within } from '../engine/row-cost.js';
import { type RunEnd, workOnRun } from '../engine/run.js';
import type { Ledger } from '../ledger/ledger.js';
import type { StartSpending } from '../ledger/reading.js';
import type { RunRecord } from '../ledger/runs.js';
import { deriveChanges } from '../portfolio/changes/derive.js';
import type { ListNews } from './events.js';
import { type ExportView, saysHow, writeTables } from './export.js';
import { storeGiven } from './given.js';
import { harmless, type Listener } from './harmless.js';
import { orGoOnWith } from './next-step.js';
import { importantSince, lastChange } from './night/important-changes.js';
import type { MetricsFile } from './night/metrics-file.js';
import { type Provider, sourcesOf } from './provider.js';
import { knowingSheet } from './review-sheet.js';
import { newestTables, nextSteps, type RunEndView, viewOfEnd } from './run-end.js';
import { exitCodeOfRun } from './run-exit-code.js';
import { openRunLog, type RunLog } from './run-log.js';
import { moreIfLost, reportsUnbound, type SpendingBounds, type SpendingOptions } from './spending.js';
import { inDoubtOf, standingOf } from './standing.js';
import { brokenOff, endingOf } from './start-ending.js';
import { addSpending, StartTally } from './start-tally.js';
import type { Surroundings } from './surroundings.js';
import { wholeOf } from './whole.js';

/** One start on a run. */
export interface Start extends SpendingBounds {
  readonly run: RunRecord;
  readonly pipeline: Pipeline;
  /** Answers from before the run are not used. */
  readonly fresh: boolean;
  /** An earlier start began it. */
  readonly goesOn: boolean;
  /** What the rows that will move can cost at the most; the budgets may be lower. */
  readonly rest: Rest;
  /** What the checks before it have cost, out of the same limits. */
  readonly checks: StartSpending;
  /** The only rows that are to move; without it, all that can. */
  readonly only?: readonly number[] | undefined;
  /** What the file had to tell, where one was taken in. */
  readonly list?: ListNews | undefined;
  readonly options: SpendingOptions;
  /** Undefined where v2 is of no use. */
  readonly permissions: PermissionReader | undefined;
  /** Where figures for a monitor go; null: nowhere. */
  readonly metrics: MetricsFile | null;
}

/** Works on a run until nothing moves or somebody interrupts; writes the tables, and tells how it ended. */
export async function workOn(
  start: Start,
  provider: Provider,
  ledger: Ledger,
  around: Surroundings,
): Promise<RunEndView> {
  const { run, pipeline, limits, options } = start;
  const log = openRunLog(run, provider, around);
  const stopListening = listenForInterrupts(options, log);
  const tally = new StartTally();
  const listener = harmless(options, around);
  const begun: { startId?: number } = {};
  const stopMetrics = start.metrics?.follow(ledger, provider.names, () =>
    begun.startId === undefined ? null : { run, startId: begun.startId, limits },
  );
  try {
    await tellStarted(start, listener, ledger, around);
    if (run.portfolioId !== null) await ledger.portfolios.forgetRefusal(run.portfolioId);
    const end = await orGoOnWith({ kind: 'resume', run: run.id }, () =>
      workOnRun({
        run,
        pipeline,
        fresh: start.fresh,
        only: start.only,
        budgetUnits: limits.units,
        budgetReports: limits.reports,
        unitsBefore: start.checks.units + start.checks.unknownInBudget,
        concurrency: start.concurrency,
        sources: sourcesOf(provider),
        ledger,
        clock: around.clock,
        permissions: start.permissions,
        drain: options.drain ?? never(),
        abort: options.abort ?? never(),
        given: storeGiven(options, around, provider.sandbox?.port),
        onBegun(startId) {
          begun.startId = startId;
        },
        listen(event) {
          tally.listen(event);
          log.listen(event);
          listener(event);
        },
      }).catch((error: unknown) => namingSuccessor(error, run, ledger)),
    );
    log.ended(end);
    const before = await lastChange(ledger);
    await deriveChanges(ledger.changes, around.clock.now(), options.abort);
    const { dataDir } = provider.environment;
    const written = await tablesAtEnd(start, end, tally.broughtAnything, dataDir, ledger, around);
    const progress = await standingOf(run, ledger, around.clock.now());
    const whole = await wholeOf(run, progress, ledger);
    const workers = end.finished ? [] : await ledger.reading.workers(run.id);
    // Who has taken the lead since has freed what this start left, and goes on with it.
    const ledBy = workers.find(({ leads }) => leads)?.worker ?? null;
    const steps = ledBy === null ? nextSteps(run, progress, whole) : [];
    // What was lost may have been found, or settled by the units that remain, since it was counted.
    // And others may have worked on it too.
    const isAlone = ledger.jobs === undefined;
    const ofRun = isAlone && tally.spent.unknown === 0 ? tally.spent : await ledger.reading.spent(end.startId);
    const spent = addSpending(start.checks, ofRun);
    const held = progress.parked === 0 ? null : await ledger.reading.activity(run.id, around.clock.now());
    const importantChanges = await importantSince(before, run, ledger);
    const made = {
      departed: start.list?.left ?? 0,
      departedFirst: start.list?.leftFirst ?? [],
      spent,
      reveals: tally.reveals,
      left: { ...tally.left, invalid: start.list?.invalid ?? 0 },
      importantChanges,
    };
    const view = viewOfEnd(run, { ...end, progress }, whole, made, await knowingSheet(steps, ledger, around), {
      ...written,
      log: log.path,
      parkedUntil: held?.parkedUntil ?? null,
      putOff: await ledger.reading.isPutOff(run.id),
      helpers: workers.filter(({ leads, underWay }) => !leads && underWay > 0).length,
      ledBy,
    });
    const asInterrupt = options.said?.interruptedAs() ?? (view.interrupted ? ExitCode.interrupted : undefined);
    await ledger.calls.noteEnding(end.startId, endingOf(view, exitCodeOfRun(view, asInterrupt)));
    if (run.portfolioId !== null && view.finished && view.tablesLack === null)
      await ledger.portfolios.noteSuccess(run.portfolioId, around.clock.now());
    return view;
  } catch (error) {
    log.brokenOff(error);
    // What cannot be written now is in the log, or on the terminal.
    if (begun.startId !== undefined) await ledger.calls.noteEnding(begun.startId, brokenOff(error)).catch(() => {});
    throw error;
  } finally {
    await stopMetrics?.();
    stopListening();
    log.close();
  }
}

/** Who was taken over while others work on the run has nothing to go on with. */
async function namingSuccessor(error: unknown, { id }: RunRecord, { reading }: Ledger): Promise<never> {
  if (!(error instanceof TakenOverError)) throw error;
  const [first] = await reading.workers(id).catch(() => []);
  throw first === undefined ? error : new TakenOverError(first.worker);
}

async function tellStarted(
  { run, only, limits, goesOn, fresh, rest, pipeline, list }: Start,
  listener: Listener,
  ledger: Ledger,
  { clock }: Surroundings,
): Promise<void> {
  const { byOutcome, unitsCharged } = await ledger.runs.progress(run.id);
  const inDoubt = only === undefined ? await inDoubtOf(run, ledger, clock.now()) : 0;
  listener({
    kind: 'started',
    run: run.id,
    rows: run.rowCount,
    outcomes: byOutcome,
    toGo: (only?.length ?? byOutcome.pending) - inDoubt,
    inDoubt,
    unitsCharged,
    goesOn,
    fresh,
    atMost: within(rest, limits),
    asksV1: asks(pipeline, 'v1'),
    list,
    moreIfLost: moreIfLost(rest, limits, pipeline),
    reportsUnbound: reportsUnbound(rest, limits),
  });
}

/** At every stop, whatever stopped it. Who interrupts twice wants the terminal back, also while they are being written. */
async function tablesAtEnd(
  start: Start,
  end: RunEnd,
  broughtAnything: boolean,
  dataDir: string,
  ledger: Ledger,
  around: Surroundings,
): Promise<{ readonly tables: ExportView | null; readonly tablesBefore: string | null }> {
  const { run, options } = start;
  const none = { tables: null, tablesBefore: null };
  const isAborted = () => options.abort?.aborted === true;
  if (isAborted() || !isWanted(start, end)) return none;
  const current = broughtAnything || saysHow(options) ? undefined : await currentTables(run, dataDir, ledger, around);
  if (current !== undefined) return { tables: null, tablesBefore: current };
  try {
    const write = () => writeTables(run.id, ledger, dataDir, { ...options, signal: options.abort }, around);
    return { tables: await orGoOnWith({ kind: 'export', run: run.id }, write), tablesBefore: null };
  } catch (error) {
    if (isAborted()) return none;
    throw error;
  }
}

const isWanted = ({ options, pipeline }: Start, end: RunEnd): boolean =>
  options.export ?? (pipeline.tables === 'at_every_stop' || end.finished || (isAllDone(end) && !end.interrupted));

/** Tables hold the whole list: an attempt that brought nothing does not write a million rows again. */
async function currentTables(
  run: RunRecord,
  dataDir: string,
  { reading, portfolios }: Ledger,
  { clock }: Surroundings,
): Promise<string | undefined> {
  const written = newestTables(run.id, dataDir);
  const at = written === undefined ? Number.NaN : Date.parse(written.at);
  if (!(at <= clock.now())) return undefined;
  const { settledSince, lastAnswerAt } = await reading.activity(run.id, at);
  if (settledSince > 0 || (lastAnswerAt ?? 0) >= at) return undefined;
  const isBehind = run.portfolioId !== null && (await portfolios.boughtElsewhere(run.portfolioId, at));
  return isBehind ? undefined : written?.folder;
}

/**
 * Companies whose answers are always bad must not keep the tables of all others from being written, night after night:
 * also where they cannot be told from an outage that began when all others were done.
 */
function isAllDone({ finished, stopped, allTried, progress }: RunEnd): boolean {
  const { in_doubt = 0, unanswered = 0, ask_provider = 0 } = progress.parkedReasons;
  if (stopped !== undefined) return stopped.code === PROVIDER_UNAVAILABLE && allTried;
  return finished || progress.byOutcome.pending === in_doubt + unanswered + ask_provider;
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
