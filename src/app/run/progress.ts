// The progress of a run and its portfolio, and the stored options of attempts.

import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import { lostAtMost } from '../../calls/settlement.js';
import { type InvalidReason, ROW_OUTCOMES, type RowOutcome } from '../../domain/outcomes.js';
import { EXPORT_FORMATS, type ExportFormat } from '../../export/formats/format.js';
import { isRecord, parseStored } from '../../ledger/db/stored-json.js';
import type { Ledger } from '../../ledger/ledger.js';
import type { AttemptActivity, WorkerAtWork } from '../../ledger/queries.js';
import type { RowRef } from '../../ledger/review/review.js';
import type { Progress, RunRecord } from '../../ledger/rows/runs.js';
import { type AppEnvironment, pathIn } from '../environment.js';
import { isSandboxName } from '../provider/provider.js';
import type { NextStep } from './next-step.js';
import { findSettings, rereadStep } from './stored-settings.js';

/**
 * The progress of a run. The next attempt records the calls of a dead process as unknown charges, and may park their
 * rows. They already count so.
 */
export async function runProgress(
  run: RunRecord,
  { runs, unknownCharges }: Pick<Ledger, 'runs' | 'unknownCharges'>,
  now: number,
): Promise<Progress> {
  const counted = await runs.progress(run.id);
  const lost = (await unknownCharges.leftOpen(now)).filter(({ runId }) => runId === run.id).length;
  const progress = { ...counted, unknownCalls: counted.unknownCalls + lost };
  if (run.state === 'reading' || progress.byOutcome.pending === 0) return progress;
  // The progress of a run with damaged settings can be shown.
  const pipeline = findSettings(run)?.pipeline;
  const held = pipeline === undefined ? 0 : await unknownCharges.heldRows(run.id, lostAtMost(pipeline), now);
  if (held === 0) return progress;
  const { parked, parkedReasons } = progress;
  return {
    ...progress,
    parked: parked + held,
    parkedReasons: { ...parkedReasons, in_doubt: (parkedReasons.in_doubt ?? 0) + held },
  };
}

/** Where a run stands. Every command that shows a run asks here. */
export interface RunState extends WorkState {
  readonly progress: Progress;
  readonly whole: PortfolioProgress;
  readonly condition: RunCondition;
  /** Rows that the next attempt continues with: due rows of the run, also those that keep an earlier answer, or of an earlier run. */
  readonly toDo: number;
}

/** Who works on a run, and whether its tables are written. It counts no rows. */
export interface WorkState {
  /** Its last attempt. Undefined: none has begun. */
  readonly attempt: AttemptActivity | undefined;
  /** The process of that attempt runs. */
  readonly isLed: boolean;
  /** All present workers, if the ledger allows several. */
  readonly workers: readonly WorkerAtWork[];
  /** A process works on it: its leader, or workers that continue without one. */
  readonly isAtWork: boolean;
  /** It finished, but its tables are not written: the process died before, or writing failed. */
  readonly lacksTables: boolean;
  readonly isWriting: boolean;
}

/** A state of a run for people, in one word. `interrupted`: by a signal, or its process died. `paused`: rows are left. */
export type RunCondition =
  | 'reading'
  | 'not_started'
  | 'running'
  | 'paused'
  | 'stopped'
  | 'interrupted'
  | 'writing_tables'
  | 'finished'
  | 'superseded';

/** `since`: the beginning of the time for which speed and failed calls are measured. */
export async function stateOfRun(run: RunRecord, ledger: Ledger, now: number, since = now): Promise<RunState> {
  const standing = await standingOfRun(run, ledger, now, since);
  const whole = await portfolioProgress(run, standing.progress, ledger);
  return { ...standing, whole, toDo: standing.progress.byOutcome.pending || whole.outcomes.pending };
}

/** Without what needs a look at the whole list. */
export async function standingOfRun(
  run: RunRecord,
  ledger: Ledger,
  now: number,
  since?: number,
): Promise<Omit<RunState, 'whole' | 'toDo'>> {
  const progress = await runProgress(run, ledger, now);
  const activity = await workStateOf(run, ledger, now, since);
  return { ...activity, progress, condition: conditionOf(run, activity) };
}

/** Without `since` no calls and rows are counted. */
export async function workStateOf(run: RunRecord, ledger: Ledger, now: number, since?: number): Promise<WorkState> {
  const { reading } = ledger;
  const attempt = await reading.atWork(run.id, since);
  const workers = await reading.workers(run.id);
  const isLed = attempt !== undefined && (attempt.alive ?? attempt.leaseUntil >= now);
  const isAtWork = isLed || workers.length > 0;
  const isUnwritten = run.state === 'finished' && (await endedBeforeTables(run, attempt, ledger));
  const isWriting = isUnwritten && (isAtWork || (attempt?.ending === null && isAlive(await reading.processOf(run.id))));
  return { attempt, isLed, workers, isAtWork, isWriting, lacksTables: isUnwritten && !isWriting };
}

function conditionOf({ state }: RunRecord, { attempt, isAtWork, isWriting }: WorkState): RunCondition {
  if (isWriting) return 'writing_tables';
  if (state !== 'open') return state;
  if (isAtWork) return 'running';
  if (attempt === undefined) return 'not_started';
  const ending = attempt.ending === null ? undefined : parseStored(attempt.ending, isRecord);
  if (ending?.stopped != null) return 'stopped';
  return attempt.endedAt === null || ending?.interrupted === true ? 'interrupted' : 'paused';
}

/** Tables are written within this time. Later the number of the process may be that of another one. */
export const WRITING_MS = 3_600_000;

/** Another process of this machine: it writes tables after its attempt has ended. */
function isAlive(worker: string | null | undefined): boolean {
  const [, host, pid] = /^(.*):(\d+)$/.exec(worker ?? '') ?? [];
  if (host !== hostname() || Number(pid) === process.pid) return false;
  try {
    return process.kill(Number(pid), 0);
  } catch {
    return false;
  }
}

/** The last attempt died or failed, and none has succeeded since. */
async function endedBeforeTables(
  { portfolioId }: RunRecord,
  attempt: AttemptActivity | undefined,
  { portfolios }: Pick<Ledger, 'portfolios'>,
): Promise<boolean> {
  const list = (await portfolios.all()).find(({ id }) => id === portfolioId);
  if (list === undefined || attempt === undefined || (list.lastSuccessAt ?? 0) >= attempt.begunAt) return false;
  return attempt.ending === null || parseStored(attempt.ending, isRecord)?.finished === false;
}

/** Rows that wait for a person to decide about a lost call. */
export const rowsWithUnknownCharge = async (
  run: RunRecord,
  ledger: Pick<Ledger, 'runs' | 'unknownCharges'>,
  now: number,
): Promise<number> => (await runProgress(run, ledger, now)).parkedReasons.in_doubt ?? 0;

/** The progress of the whole list of a run. The run itself has only the rows that were due. */
export interface PortfolioProgress {
  /** The name of the portfolio. Null for runs older than portfolios. */
  readonly portfolio: string | null;
  readonly rows: number;
  /** They add up to `rows`. */
  readonly outcomes: Readonly<Record<RowOutcome, number>>;
  /** The runs that rows to do belong to, the newest first. */
  readonly pendingIn: readonly string[];
  /** The same for failed rows. */
  readonly failedIn: readonly string[];
  /** The runs with rows that need review, or that another pipeline has asked about. */
  readonly askedIn: readonly string[];
  /** Why rows are invalid. Empty for runs older than portfolios. */
  readonly invalid: readonly InvalidReason[];
}

export async function portfolioProgress(
  run: RunRecord,
  { byOutcome }: Pick<Progress, 'byOutcome'>,
  { portfolios }: Pick<Ledger, 'portfolios'>,
): Promise<PortfolioProgress> {
  const { portfolioId } = run;
  if (portfolioId === null) {
    const here = (outcome: RowOutcome) => (byOutcome[outcome] > 0 ? [run.id] : []);
    const holders = { pendingIn: here('pending'), failedIn: here('failed'), askedIn: here('needs_review') };
    return { portfolio: null, rows: run.rowCount, outcomes: byOutcome, ...holders, invalid: [] };
  }
  const outcomes = await portfolios.outcomes(portfolioId);
  const holder = async (outcome: RowOutcome) =>
    outcomes[outcome] > 0 ? await portfolios.runsWith(outcome, portfolioId) : [];
  const asked = [...(await holder('needs_review')), ...(await portfolios.runsWithOtherQuestions(portfolioId))];
  return {
    portfolio: (await portfolios.all()).find(({ id }) => id === portfolioId)?.name ?? null,
    rows: ROW_OUTCOMES.reduce((sum, outcome) => sum + outcomes[outcome], 0),
    outcomes,
    pendingIn: await holder('pending'),
    failedIn: await holder('failed'),
    askedIn: [...new Set(asked)],
    invalid: outcomes.invalid > 0 ? await portfolios.invalidReasons(portfolioId) : [],
  };
}

/** The same, without a look at the rows of others. */
export async function listedRows(
  { portfolioId, rowCount }: RunRecord,
  { portfolios }: Pick<Ledger, 'portfolios'>,
): Promise<Pick<PortfolioProgress, 'portfolio' | 'rows'>> {
  const portfolio = (await portfolios.all()).find(({ id }) => id === portfolioId)?.name ?? null;
  return { portfolio, rows: portfolioId === null ? rowCount : await portfolios.members(portfolioId) };
}

/**
 * The limits and the export options of an attempt. The ledger stores them so that the next attempt is offered the same.
 */
export interface AttemptOptions {
  readonly budget?: number | undefined;
  readonly maxReports?: number | undefined;
  readonly yes?: boolean | undefined;
  readonly export?: boolean | undefined;
  readonly out?: string | undefined;
  readonly formats?: readonly ExportFormat[] | undefined;
  readonly includeContacts?: boolean | undefined;
  /** The port of its sandbox while it runs, so that workers use the same one. */
  readonly sandboxPort?: number | undefined;
  /** What the attempt before it has reported. If this one dies, the next one reports what is new since then. */
  readonly reported?: ReportedRows | undefined;
}

export interface ReportedRows {
  readonly questions: number;
  readonly failed: number;
}

/** The folder is stored as an absolute path: the next attempt may run elsewhere. */
export const storeAttemptOptions = (
  { budget, maxReports, yes, export: exports, out, formats, includeContacts }: AttemptOptions,
  environment: AppEnvironment,
  sandboxPort?: number,
  reported?: ReportedRows,
): string =>
  JSON.stringify({
    budget,
    maxReports,
    yes: yes || undefined,
    export: exports,
    out: out === undefined ? undefined : pathIn(environment, out),
    formats,
    includeContacts,
    sandboxPort,
    reported,
  } satisfies AttemptOptions);

/** The limits and the consent of a refused attempt. Null: a limit is no number of units, so no attempt can use it. */
export function storeLimits({ budget, maxReports, yes }: AttemptOptions): string | null {
  const isLimit = (given: number | undefined) => given === undefined || (Number.isSafeInteger(given) && given >= 0);
  if (!isLimit(budget) || !isLimit(maxReports)) return null;
  return JSON.stringify({ budget, maxReports, yes: yes || undefined } satisfies AttemptOptions);
}

/**
 * The options that the next attempt on a run is offered: those of the last one that began, with the limits and the
 * consent of the last one, even if it was refused.
 */
export async function offeredOptions(
  { id, portfolioId }: Pick<RunRecord, 'id' | 'portfolioId'>,
  ledger: Pick<Ledger, 'reading' | 'portfolios'>,
): Promise<AttemptOptions> {
  const begun = await lastAttemptOptions(id, ledger);
  const list = (await ledger.portfolios.all()).find((portfolio) => portfolio.id === portfolioId);
  const stored = list?.refused?.given ?? null;
  const refused = stored === null ? undefined : parseStored(stored, isGiven);
  if (refused === undefined) return begun;
  return { ...begun, budget: refused.budget, maxReports: refused.maxReports, yes: refused.yes };
}

/**
 * The options of the last attempt on a run. If none has begun, for example because the key was refused, those of the
 * last attempt on its portfolio. Empty if there is none, or an older version stored none.
 */
export async function lastAttemptOptions(run: string, { reading }: Pick<Ledger, 'reading'>): Promise<AttemptOptions> {
  const stored = await reading.lastGiven({ runId: run });
  return stored == null ? {} : (parseStored(stored, isGiven) ?? {});
}

/** An attempt that names no format writes those of the last attempt on its run. */
export async function withKeptFormats<T extends Pick<AttemptOptions, 'formats'>>(
  options: T,
  run: string,
  { reading }: Pick<Ledger, 'reading'>,
): Promise<T> {
  const stored = options.formats === undefined ? (await reading.lastAttempt(run))?.given : undefined;
  const formats = stored == null ? undefined : parseStored(stored, isGiven)?.formats;
  return formats === undefined ? options : { ...options, formats };
}

/** What was reported of a list before this attempt. An attempt that died has reported nothing. */
export async function reportedRows(
  { id, portfolioId }: RunRecord,
  { runs, portfolios, reading }: Pick<Ledger, 'runs' | 'portfolios' | 'reading'>,
): Promise<ReportedRows & { readonly lastDied: boolean }> {
  const [last] = portfolioId === null ? [] : await reading.attempts(portfolioId, 1);
  const stored = last?.ending === null && last.given !== null ? parseStored(last.given, isGiven)?.reported : undefined;
  const { needs_review: questions, failed } =
    portfolioId === null ? (await runs.progress(id)).byOutcome : await portfolios.outcomes(portfolioId);
  return { questions, failed, ...stored, lastDied: last?.ending === null };
}

export async function hasSameLimits(
  run: string,
  { budget, maxReports }: AttemptOptions,
  ledger: Pick<Ledger, 'reading'>,
): Promise<boolean> {
  if ((await ledger.reading.lastAttempt(run)) === undefined) return false;
  const last = await lastAttemptOptions(run, ledger);
  return last.budget === budget && last.maxReports === maxReports;
}

const isGiven = (value: unknown): value is AttemptOptions =>
  isRecord(value) &&
  isOr(value.budget, 'number') &&
  isOr(value.maxReports, 'number') &&
  isOr(value.sandboxPort, 'number') &&
  isOr(value.yes, 'boolean') &&
  isOr(value.export, 'boolean') &&
  isOr(value.out, 'string') &&
  (value.reported === undefined || isReported(value.reported)) &&
  isOr(value.includeContacts, 'boolean') &&
  (value.formats === undefined ||
    (Array.isArray(value.formats) && value.formats.every((said) => EXPORT_FORMATS.some((format) => format === said))));

const isReported = (value: unknown): value is ReportedRows =>
  isRecord(value) && typeof value.questions === 'number' && typeof value.failed === 'number';

const isOr = (said: unknown, type: 'number' | 'boolean' | 'string') => said === undefined || typeof said === type;

export interface ReleasedRun {
  readonly run: string;
  readonly rows: number;
  /** All rows that `resume` continues. */
  readonly toDo: number;
  /** It was made with the sandbox and continues with it. */
  readonly sandbox: boolean;
  readonly given: AttemptOptions;
  readonly step: NextStep;
}

export async function releasedRuns(
  rows: readonly RowRef[],
  ledger: Pick<Ledger, 'runs' | 'reading' | 'portfolios'>,
): Promise<readonly ReleasedRun[]> {
  const lists = await ledger.runs.ofLists();
  const ids = [...new Set(rows.map(({ runId }) => runId))];
  return await Promise.all(
    ids.map(async (run) => ({
      run,
      rows: rows.filter(({ runId }) => runId === run).length,
      toDo: (await ledger.runs.progress(run)).byOutcome.pending,
      sandbox: await isOnSandbox(run, ledger.runs),
      given: await offeredOptions({ id: run, portfolioId: lists.get(run) ?? null }, ledger),
      step: await stepOnRun(run, lists.get(run) ?? null, ledger),
    })),
  );
}

/**
 * Continues a run. If its list has a newer run with the same pipeline, a run of the list takes the rows over and writes
 * the newest tables. To continue the older run would write them beside. The file of the list may be gone.
 */
export async function stepOnRun(
  run: string,
  list: number | null,
  { runs, portfolios }: Pick<Ledger, 'runs' | 'portfolios'>,
): Promise<NextStep> {
  const resume = { kind: 'resume', run } as const;
  const newest = list === null ? undefined : await portfolios.lastRun(list);
  if (newest === undefined || newest.id === run || !existsSync(newest.inputPath)) return resume;
  const isOther = (await runs.find(run))?.pipelineName !== newest.pipelineName;
  return isOther || findSettings(newest) === undefined ? resume : { ...rereadStep(newest), fresh: false };
}

export async function isOnSandbox(run: string, runs: Ledger['runs']): Promise<boolean> {
  const names = await Promise.all([runs.environmentName(run, 'v1'), runs.environmentName(run, 'v2')]);
  return names.some((name) => isSandboxName(name));
}
