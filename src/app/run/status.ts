import type { Ledger } from '../../ledger/ledger.js';
import type { OutageNote } from '../../ledger/money/calls.js';
import type { Allowances } from '../../ledger/money/usage.js';
import type { AtWork, RunActivity, WorkerAtWork } from '../../ledger/queries.js';
import type { ReviewStore } from '../../ledger/review/review.js';
import type { Progress, RunRecord } from '../../ledger/rows/runs.js';
import { openQuestions } from '../../review/questions.js';
import { type PlaceOptions, processEnvironment, withLedger } from '../environment.js';
import { withReviewSheets } from '../review/questions.js';
import type { ContinueStep } from './next-step.js';
import {
  type AttemptOptions,
  isOnSandbox,
  lastAttemptOptions,
  type PortfolioProgress,
  portfolioProgress,
  runProgress,
} from './progress.js';
import { type AttemptEnding, nextSteps, readEnding } from './run-end.js';
import { findRun, noRunYet, type RunStanding, viewOf } from './runs.js';
import { readAgain } from './stored-settings.js';

export interface StatusOptions extends PlaceOptions {
  /** The newest without it. */
  readonly run?: string | undefined;
}

export interface StatusView extends RunStanding {
  /** The portfolio that it brings up to date, and how many rows that has; null for runs of versions before there were any. */
  readonly portfolio: string | null;
  readonly listed: number;
  /** When it was looked at. */
  readonly at: number;
  readonly activity: RunActivity;
  /** What the providers that it was run with have said is left. */
  readonly allowances: Allowances;
  /** When the next credit report may be ready; null if none is waited for. */
  readonly nextReportAt: number | null;
  /** What leads on; null where nothing is left to do. */
  readonly next: ContinueStep | null;
  /** What leads on with other rows. */
  readonly further: readonly ContinueStep[];
  /** Calls of the last start whose charge nobody knows, where its budget stopped it: they count against that. */
  readonly unknownInBudget: number;
  /** What waits for a time goes on then by whoever helps, without another start. */
  readonly putOff: boolean;
  /** It was made with the simulated provider, and goes on with it. */
  readonly sandbox: boolean;
  /** As the last start was: so is who goes on with what leads on. */
  readonly given: AttemptOptions;
  /** The process that works on it, or did last; null if none ever has. */
  readonly atWork: AtWorkView | null;
  readonly questions: OpenQuestions;
  /** All who work on it now, where several can. */
  readonly workers: readonly WorkerAtWork[];
}

export interface AtWorkView {
  /** It is at work now. */
  readonly alive: boolean;
  readonly since: number;
  /** It is there, and has not been heard of for longer than it should: frozen, or the machine sleeps. */
  readonly silent: boolean;
  /** Null where it is at work, or has died. */
  readonly endedAt: number | null;
  /** When it last sent a call, or was answered. */
  readonly lastHeardAt: number;
  /** Rows a second, over the last minute or since it began. */
  readonly rowsPerSecond: number;
  /** How long the rows that can move will take at that rate; null where nobody can say. */
  readonly msToGo: number | null;
  /** Calls that met trouble over the same time, by code: what the provider, or the way there, may get over. */
  readonly failedCalls: readonly { readonly code: string; readonly count: number }[];
  /** Rows it has settled in all, calls it has sent, and how long that took. */
  readonly rows: number;
  readonly calls: number;
  readonly ms: number;
  /** What it waits for because the provider does not answer. */
  readonly outages: readonly OutageNote[];
  /** Why it came to its end; null where it has not, or nobody knows. */
  readonly ending: AttemptEnding | null;
}

const NO_QUESTIONS: OpenQuestions = { open: 0, notSure: 0, held: 0 };

/** "Of late" for the speed of a run. */
const LATELY_MS = 60_000;

/** One run: counts, stages, units, speed, and what it waits for; also while it is at work. */
export function status(options: StatusOptions = {}, around = processEnvironment()): Promise<StatusView> {
  return withLedger('read', options, around, async (ledger) => {
    const { runs, reading } = ledger;
    const run = await findRun(options.run, ledger);
    if (run === undefined) throw noRunYet();
    const at = around.clock.now();
    const progress = await runProgress(run, ledger, at);
    const found = await reading.atWork(run.id, at - LATELY_MS);
    const activity = await reading.activity(run.id, at - LATELY_MS);
    const whole = await portfolioProgress(run, progress, ledger);
    const workers = await reading.workers(run.id);
    const lookUntil = activity.looking.until;
    const atWork =
      found === undefined ? null : viewOfWork(found, progress, { at, lookUntil, helped: workers.length > 0 });
    const isAtWork = atWork?.alive === true || workers.length > 0;
    const steps = stepsOf(run, progress, whole, isAtWork);
    const [next = null, ...further] = await withReviewSheets(steps, ledger, around);
    return {
      run: viewOf(run),
      portfolio: whole.portfolio,
      listed: whole.rows,
      progress,
      at,
      atWork,
      activity,
      allowances: await reading.allowances(run.id),
      questions: progress.byOutcome.needs_review === 0 ? NO_QUESTIONS : await questionsStanding(run.id, ledger.review),
      workers,
      nextReportAt: (await runs.nextDue(run.id)) ?? null,
      next,
      further,
      unknownInBudget: await unknownInBudget(run.id, progress, ledger),
      putOff: await ledger.reading.isPutOff(run.id),
      sandbox: await isOnSandbox(run.id, runs),
      given: run.state === 'reading' ? {} : await lastAttemptOptions(run.id, ledger),
    };
  });
}

async function unknownInBudget(run: string, { parkedReasons }: Progress, { reading }: Pick<Ledger, 'reading'>) {
  const last = (parkedReasons.budget ?? 0) === 0 ? undefined : await reading.lastStart(run);
  return last === undefined ? 0 : (await reading.spent(last.id)).unknownInBudget;
}

/** Who is at work needs nobody to go on, and lets nobody in. */
function stepsOf(
  run: RunRecord,
  progress: Progress,
  whole: PortfolioProgress,
  isAtWork: boolean,
): readonly ContinueStep[] {
  if (isAtWork) return [];
  if (run.state === 'reading') return [readAgain(run)];
  if (run.state === 'superseded') return [];
  return nextSteps(run, progress, whole);
}

function viewOfWork(
  work: AtWork,
  { byOutcome, waiting, parked }: Progress,
  { at, lookUntil, helped }: { readonly at: number; readonly lookUntil: number | null; readonly helped: boolean },
): AtWorkView {
  const { begunAt, leaseUntil, endedAt, lastHeardAt, lastCallAt, settledRows, failedCalls, ending } = work;
  const alive = work.alive ?? leaseUntil >= at;
  // Who helps goes on without who led.
  const goesOn = alive || helped;
  const outages = goesOn ? work.outages : [];
  const seconds = Math.max(1, Math.min(LATELY_MS, at - begunAt) / 1000);
  const rowsPerSecond = goesOn ? settledRows / seconds : 0;
  // Rows that wait for a report or for a person take the time that takes.
  const open = byOutcome.pending - waiting - parked;
  return {
    alive,
    since: begunAt,
    silent: alive && leaseUntil < at,
    endedAt,
    lastHeardAt,
    rowsPerSecond,
    msToGo: goesOn
      ? msToGo({
          open,
          rowsPerSecond,
          inOutage: outages.some(({ row }) => row === undefined),
          lookMs: (lookUntil ?? at) - at,
        })
      : null,
    failedCalls: goesOn ? failedCalls : [],
    rows: work.rowsInAll,
    calls: work.callsInAll,
    ms: Math.max(0, (goesOn ? at : Math.max(endedAt ?? 0, lastCallAt)) - begunAt),
    outages,
    ending: alive ? null : readEnding(ending),
  };
}

interface ToGo {
  /** Rows that can move. */
  readonly open: number;
  readonly rowsPerSecond: number;
  readonly inOutage: boolean;
  /** How long lost reports are still looked for; 0 where none is. */
  readonly lookMs: number;
}

function msToGo({ open, rowsPerSecond, inOutage, lookMs }: ToGo): number | null {
  // Nobody knows how long an outage lasts.
  if (inOutage || (open > 0 && rowsPerSecond === 0)) return null;
  const ms = Math.max(lookMs, open === 0 ? 0 : (open / rowsPerSecond) * 1000);
  return ms > 0 ? ms : null;
}

/** How the questions of a run stand: what people have said of them that settles nothing counts as that. */
export interface OpenQuestions {
  readonly open: number;
  /** Those of them that somebody was not sure about. */
  readonly notSure: number;
  /** Those of them that wait for a second person. */
  readonly held: number;
}

async function questionsStanding(run: string, review: ReviewStore): Promise<OpenQuestions> {
  const questions = await openQuestions(review, [run]);
  return {
    open: questions.length,
    notSure: questions.filter(({ decision }) => decision?.decision === 'not_sure').length,
    held: questions.filter(({ held }) => held.length > 0).length,
  };
}
