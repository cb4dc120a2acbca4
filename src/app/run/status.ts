// `status`: shows one run.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { UsageError } from '../../domain/errors.js';
import { type Money, moneyOf, purchasesOf } from '../../domain/prices.js';
import { RESULTS_WORKBOOK, readMarker } from '../../export/export-folders.js';
import type { Ledger } from '../../ledger/ledger.js';
import type { OutageNote } from '../../ledger/money/calls.js';
import type { Allowances } from '../../ledger/money/usage.js';
import { hasLedger } from '../../ledger/open-ledger.js';
import type { RefusedAttempt } from '../../ledger/portfolio/portfolios.js';
import type { AttemptActivity, RunActivity, WorkerAtWork } from '../../ledger/queries.js';
import type { Progress, RunRecord } from '../../ledger/rows/runs.js';
import { countOpenQuestions, type OpenQuestions } from '../../review/questions.js';
import { pick } from '../../util/view-json.js';
import {
  type AppEnvironment,
  ledgerOf,
  type PlaceOptions,
  pricesOf,
  processEnvironment,
  type Workplace,
  withLedger,
} from '../environment.js';
import { stepAfterRefusal } from '../monitoring/check.js';
import { providerNames } from '../provider/provider.js';
import { withReviewSheets } from '../review/questions.js';
import { findLostLedger } from './guards.js';
import { type ContinueStep, continuesRows, NEW_LEDGER } from './next-step.js';
import {
  type AttemptOptions,
  isOnSandbox,
  listedRows,
  offeredOptions,
  type PortfolioProgress,
  type RunState,
  standingOfRun,
  stateOfRun,
} from './progress.js';
import { type AttemptEnding, latestTables, newestTables, nextSteps, readEnding, workMs } from './run-end.js';
import { findRun, namedRun, type RunStanding, viewOf } from './runs.js';
import { type Amounts, type BarredRest, remainingCost, restIfBarred } from './spending.js';
import { findSettings, rereadStep } from './stored-settings.js';

export interface StatusOptions extends PlaceOptions {
  /** Default: the newest run. */
  readonly run?: string | undefined;
}

/** What a page shows while a run works, without what needs a look at its whole list. */
export interface RunPageView extends RunStanding {
  /** The portfolio of the run and its number of rows. Null for runs older than portfolios. */
  readonly portfolio: string | null;
  readonly listed: number;
  readonly at: number;
  /** It finished, but its tables are not written. */
  readonly lacksTables: boolean;
  readonly activity: RunActivity;
  /** What the run has cost so far. Absent: no prices are set. */
  readonly money?: Money;
  /** The newest tables of the run: the workbook, or their folder. Null: none are there. */
  readonly results: string | null;
  /** The options of the last attempt, which the next one is offered again. */
  readonly given: AttemptOptions;
  /** The process that works on the run, or worked on it last. Null: none ever has. */
  readonly atWork: Omit<ProcessView, 'lastHeardAt' | 'failedCalls' | 'rows' | 'calls'> | null;
  /** All present workers, if the ledger allows several. */
  readonly workers: readonly WorkerAtWork[];
}

export interface StatusView extends RunPageView {
  readonly atWork: ProcessView | null;
  /** The allowances that the run's providers last reported. */
  readonly allowances: Allowances;
  /** When the next credit report may be ready. Null: none is awaited. */
  readonly nextReportAt: number | null;
  /** A list whose last attempt was refused after this run. Null: none. */
  readonly refused: RefusedList | null;
  /** Another run of the list that the next step continues, and its rows to do. Null: none. */
  readonly unfinished: { readonly run: string; readonly rows: number } | null;
  /** The stable place of the newest tables of its portfolio. Null: none, or the tables of the run are newer. */
  readonly latest: string | null;
  /** The workbook among them, if its questions are the open ones. Otherwise null. */
  readonly answerIn: string | null;
  /** The next step. Null if nothing is left to do. */
  readonly next: ContinueStep | null;
  /** Next steps for other rows. */
  readonly further: readonly ContinueStep[];
  /** Calls with unknown charge of the last attempt, if its limit stopped it. They count against the limit. */
  readonly unknownInBudget: number;
  /** A worker continues the parked rows when their time comes, without another attempt. */
  readonly putOff: boolean;
  /** It was made with the sandbox and continues with it. */
  readonly sandbox: boolean;
  /** What the rows to do need, if the limits of the last attempt would end the next one at once. Otherwise null. */
  readonly rest: BarredRest | null;
  readonly questions: OpenQuestions;
}

/** A list, and why its last attempt was refused before it began. */
export interface RefusedList extends Pick<RefusedAttempt, 'code' | 'exit' | 'at'> {
  readonly portfolio: string;
}

export interface ProcessView {
  readonly alive: boolean;
  readonly since: number;
  /** The process exists but its lease has run out: it is frozen or the machine sleeps. */
  readonly silent: boolean;
  /** Null while it runs, or if it died. */
  readonly endedAt: number | null;
  /** When it last sent a call or got an answer. */
  readonly lastHeardAt: number;
  /** Rows a second, over the last minute or since it began. */
  readonly rowsPerSecond: number;
  /** How long the rows that can move will take at that rate. Null: unknown. */
  readonly msToGo: number | null;
  /** Failed calls over the same time, by code, if the failure may pass. */
  readonly failedCalls: readonly { readonly code: string; readonly count: number }[];
  /** Rows it has finished, calls it has sent, and how long that took. */
  readonly rows: number;
  readonly calls: number;
  readonly ms: number;
  /** Outages of the provider that it waits for. */
  readonly outages: readonly OutageNote[];
  /** Why it ended. Null if it has not, or the reason is unknown. */
  readonly ending: AttemptEnding | null;
}

const NO_QUESTIONS: OpenQuestions = { open: 0, notSure: 0, held: 0 };

/** The period over which the speed of a run is measured. */
const RATE_WINDOW_MS = 60_000;
const RATE_STEP_MS = 5_000;

/** One run: counts, stages, units, speed, and what it waits for. It may be running. */
export async function status(options: StatusOptions = {}, environment = processEnvironment()): Promise<StatusView> {
  await mustNotBeLost(options, environment);
  return await withLedger('read', options, environment, async (ledger, workplace) => {
    const { dataDir } = workplace;
    const { runs, reading } = ledger;
    const run = await findRun(options.run, ledger);
    const at = environment.clock.now();
    const state = await stateOfRun(run, ledger, at, at - RATE_WINDOW_MS);
    const { progress, whole, isAtWork, lacksTables } = state;
    const shown = await pageOf(run, state, whole, at, workplace);
    const refused = options.run === undefined ? await newestRefusal(ledger) : null;
    const rest = isAtWork ? null : await restIfBarred(run, progress, shown.given, workplace);
    const correct = stepAfterRefusal(refused ?? shown.atWork?.ending?.stopped ?? null, run);
    const steps: readonly ContinueStep[] = [
      ...(lacksTables ? [rereadStep(run)] : []),
      ...(await stepsOf(run, progress, whole, isAtWork, ledger)).filter(
        (step) => !continuesRows(step) || (rest === null && refused?.code !== NEW_LEDGER),
      ),
      // Shown before the step that continues, which needs it.
      ...(correct?.kind === 'doctor' && !isAtWork ? [correct] : []),
    ];
    const [next = null, ...further] = await withReviewSheets(steps, ledger, environment);
    const hasQuestions = progress.byOutcome.needs_review > 0;
    return {
      ...shown,
      allowances: await reading.allowances(run.id),
      questions: hasQuestions ? await countOpenQuestions(ledger.review, [run.id]) : NO_QUESTIONS,
      nextReportAt: (await runs.nextDue(run.id)) ?? null,
      refused,
      unfinished: progress.byOutcome.pending > 0 ? null : await otherUnfinished(steps, whole, runs),
      latest: await latestTables(run, newestTables(run.id, dataDir)?.folder ?? null, dataDir, ledger),
      answerIn: await workbookToAnswer(run.id, dataDir, [next, ...further], ledger),
      next,
      further,
      unknownInBudget: await unknownInBudget(run.id, progress, ledger),
      putOff: await reading.isPutOff(run.id),
      sandbox: await isOnSandbox(run.id, runs),
      rest,
    };
  });
}

/** Without a ledger, traces of earlier runs show that it was lost, and no new one has to be begun. */
async function mustNotBeLost(options: StatusOptions, environment: AppEnvironment): Promise<void> {
  const place = ledgerOf(options, environment);
  if (await hasLedger(place)) return;
  const [found] = await findLostLedger(place, providerNames({}, environment), environment);
  if (found !== undefined) throw new UsageError(NEW_LEDGER, found.message, found.hint);
}

/** The part of `status` that a page reads again every second, and the files of the newest tables. */
export const runPage = (
  options: PlaceOptions & { readonly run: string },
  environment: AppEnvironment,
): Promise<RunPageView & { readonly files: readonly string[] }> =>
  withLedger('read', options, environment, async (ledger, workplace) => {
    const run = await namedRun(options.run, ledger);
    const at = environment.clock.now();
    // The calls of the attempt are not counted.
    const state = await standingOfRun(run, ledger, at);
    // In steps, so that the counts can be kept.
    const step = Math.floor(at / RATE_STEP_MS) * RATE_STEP_MS - RATE_WINDOW_MS;
    const since = Math.max(step, state.attempt?.begunAt ?? 0);
    const shown = await pageOf(run, state, await listedRows(run, ledger), at, workplace, since);
    return { ...shown, files: filesOf(run.id, workplace.dataDir).names };
  });

/** `since`: the speed is measured since then, in rows of the run. Default: as the attempt was counted. */
async function pageOf(
  run: RunRecord,
  state: Omit<RunState, 'whole' | 'toDo'>,
  { portfolio, rows }: Pick<PortfolioProgress, 'portfolio' | 'rows'>,
  at: number,
  workplace: Workplace,
  since?: number,
): Promise<RunPageView & Pick<StatusView, 'atWork'>> {
  const { ledger, dataDir } = workplace;
  const { reading } = ledger;
  const { progress, workers, attempt, lacksTables, condition } = state;
  const activity = await reading.activity(run.id, since ?? at - RATE_WINDOW_MS);
  const settledRows = since === undefined ? attempt?.settledRows : activity.settledSince;
  const prices = pricesOf(findSettings(run)?.pipeline, workplace);
  const bought = prices && { ...purchasesOf(await reading.charged({ run: run.id })), units: progress.unitsCharged };
  return {
    run: viewOf(run),
    portfolio,
    listed: rows,
    progress,
    condition,
    at,
    lacksTables,
    atWork:
      attempt === undefined
        ? null
        : viewOfWork({ ...attempt, settledRows: settledRows ?? 0 }, state, at, activity.looking.until),
    activity,
    ...(prices === null || bought === null ? {} : { money: moneyOf(prices, bought) }),
    workers,
    results: resultsOf(run.id, dataDir),
    given: run.state === 'reading' ? {} : await offeredOptions(run, ledger),
  };
}

/** A refused attempt has no run of its own that could show it. */
async function newestRefusal({ portfolios }: Ledger): Promise<RefusedList | null> {
  const refused = (await portfolios.all()).flatMap(({ name, refused: why }) =>
    why === null ? [] : [{ portfolio: name, ...pick(why, 'code', 'exit', 'at') }],
  );
  return refused.toSorted((a, b) => b.at - a.at)[0] ?? null;
}

async function otherUnfinished(
  steps: readonly ContinueStep[],
  { pendingIn: [run] }: PortfolioProgress,
  runs: Ledger['runs'],
) {
  if (run === undefined || !steps.some(continuesRows)) return null;
  return { run, rows: (await runs.progress(run)).byOutcome.pending };
}

/** The most that the rest of a run can cost: its rows to do, or its failed rows. */
export const continueCost = (
  options: PlaceOptions & { readonly run: string; readonly failed: boolean },
  environment: AppEnvironment,
): Promise<Amounts> =>
  withLedger('read', options, environment, async (ledger, workplace) => {
    const run = await namedRun(options.run, ledger);
    const pipeline = findSettings(run)?.pipeline;
    if (pipeline === undefined) return { units: 0, reports: 0 };
    return await remainingCost(run, pipeline, options.failed ? 'failed' : 'pending', workplace);
  });

/** The files of the newest tables of a run, as their export lists them. */
export const resultFiles = (
  options: PlaceOptions & { readonly run: string },
  environment: AppEnvironment,
): Promise<{ readonly folder: string; readonly names: readonly string[] }> =>
  withLedger('read', options, environment, async (ledger, { dataDir }) =>
    filesOf((await namedRun(options.run, ledger)).id, dataDir),
  );

function filesOf(run: string, dataDir: string) {
  const folder = newestTables(run, dataDir)?.folder ?? '';
  return { folder, names: readMarker(folder)?.files.filter((name) => !name.includes('/')) ?? [] };
}

function resultsOf(run: string, dataDir: string): string | null {
  const { folder } = newestTables(run, dataDir) ?? {};
  if (folder === undefined) return null;
  const workbook = join(folder, RESULTS_WORKBOOK);
  return existsSync(workbook) ? workbook : folder;
}

/** A decision made or withdrawn since the workbook was written makes its questions others than the open ones. */
async function workbookToAnswer(
  run: string,
  dataDir: string,
  steps: readonly (ContinueStep | null)[],
  { review }: Pick<Ledger, 'review'>,
): Promise<string | null> {
  const step = steps.find((one) => one?.kind === 'review');
  const { folder = '', at = '' } = newestTables(run, dataDir) ?? {};
  const workbook = join(folder, RESULTS_WORKBOOK);
  if (step?.kind !== 'review' || step.run !== run || step.sheets?.asks || !existsSync(workbook)) return null;
  const changes = (await review.decisions()).map(({ decidedAt, withdrawnAt }) => Math.max(decidedAt, withdrawnAt ?? 0));
  return changes.every((time) => time <= Date.parse(at)) ? workbook : null;
}

async function unknownInBudget(run: string, { parkedReasons }: Progress, { reading }: Pick<Ledger, 'reading'>) {
  const last = (parkedReasons.budget ?? 0) === 0 ? undefined : await reading.lastAttempt(run);
  return last === undefined ? 0 : (await reading.spent(last.id)).unknownInBudget;
}

/** A running process needs no next step and admits no second one. */
async function stepsOf(
  run: RunRecord,
  progress: Progress,
  whole: PortfolioProgress,
  isAtWork: boolean,
  ledger: Ledger,
): Promise<readonly ContinueStep[]> {
  if (isAtWork) return [];
  if (run.state === 'reading') return [rereadStep(run)];
  if (run.state === 'superseded') return [];
  return await nextSteps(run, progress, whole, ledger);
}

function viewOfWork(
  work: AttemptActivity,
  { progress: { byOutcome, waiting, parked }, isLed: alive, isAtWork: goesOn }: Omit<RunState, 'whole' | 'toDo'>,
  at: number,
  lookUntil: number | null,
): ProcessView {
  const { begunAt, settledRows } = work;
  const outages = goesOn ? work.outages : [];
  const seconds = Math.max(1, Math.min(RATE_WINDOW_MS, at - begunAt) / 1000);
  const rowsPerSecond = goesOn ? settledRows / seconds : 0;
  // The time of rows that wait for a report or a person cannot be estimated.
  const open = byOutcome.pending - waiting - parked;
  return {
    alive,
    since: begunAt,
    silent: alive && work.leaseUntil < at,
    ...pick(work, 'endedAt', 'lastHeardAt'),
    rowsPerSecond,
    // The duration of an outage is unknown.
    msToGo:
      goesOn && !outages.some(({ row }) => row === undefined)
        ? msToGo(open, rowsPerSecond, (lookUntil ?? at) - at)
        : null,
    failedCalls: goesOn ? work.failedCalls : [],
    rows: work.rowsInAll,
    calls: work.callsInAll,
    ms: goesOn ? Math.max(0, at - begunAt) : workMs(work),
    outages,
    ending: alive ? null : readEnding(work.ending),
  };
}

/** `open`: rows that can move. `lookMs`: how long lost reports are still looked for. */
function msToGo(open: number, rowsPerSecond: number, lookMs: number): number | null {
  if (open > 0 && rowsPerSecond === 0) return null;
  const ms = Math.max(lookMs, open === 0 ? 0 : (open / rowsPerSecond) * 1000);
  return ms > 0 ? ms : null;
}
