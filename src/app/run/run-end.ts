// The view of how an attempt ended, its spending and its next steps.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { REVEALING_OPERATIONS, revealsOfCall } from '../../api/account.js';
import { addReveals, NO_REVEALS, type Reveals } from '../../domain/account-usage.js';
import { type ExitCode, KybatchError } from '../../domain/errors.js';
import { isUnknownCharge } from '../../domain/outcomes.js';
import type { Money } from '../../domain/prices.js';
import type { RunEvent } from '../../engine/events.js';
import type { Amounts } from '../../engine/row-cost.js';
import type { RunEnd } from '../../engine/run.js';
import { type FoundExport, findExports, RESULTS_WORKBOOK, readMarker } from '../../export/export-folders.js';
import { latestLink } from '../../export/latest-tables.js';
import type { ExportLack } from '../../export/summary.js';
import { isRecord, parseStored } from '../../ledger/db/stored-json.js';
import type { Ledger } from '../../ledger/ledger.js';
import { type Limits, possibleCost } from '../../ledger/money/intent.js';
import type { LeftMember, PortfolioUpdate } from '../../ledger/portfolio/portfolios.js';
import { type AttemptActivity, type AttemptSpending, NO_SPENDING, type RunActivity } from '../../ledger/queries.js';
import type { Progress, RunRecord } from '../../ledger/rows/runs.js';
import type { Workplace } from '../environment.js';
import { withReviewSheets } from '../review/questions.js';
import type { ExportView } from './export.js';
import { asKybatchError, type ContinueStep, exitOfFailure, type NextStep, type RunExit } from './next-step.js';
import { type PortfolioProgress, portfolioProgress, runProgress, stepOnRun } from './progress.js';
import { listOfTables } from './runs.js';
import type { PriceAboveLimit } from './spending.js';
import { jobOf } from './stored-settings.js';

export interface RunEndView
  extends Pick<PortfolioProgress, 'portfolio' | 'rows' | 'outcomes' | 'invalid'>,
    Pick<RunEnd, 'finished' | 'interrupted' | 'moved' | 'contacts'>,
    Pick<Progress, 'stages' | 'unitsCharged' | 'unknownCalls' | 'waiting' | 'refusals' | 'refusedRows'> {
  readonly run: string;
  readonly input: string;
  /** Rows that were due when the run began, and how many of them are still to do. */
  readonly due: number;
  readonly toDo: number;
  /** Rows that are new in the file. */
  readonly arrived: number;
  /** Companies of the portfolio that have left the file since the previous one. */
  readonly departed: number;
  readonly departedFirst: readonly LeftMember[];
  /** Companies whose history was read before the due rows were chosen. Its cost is not published. */
  readonly watchAsked: number;
  /** When something is due next, if nothing is due now. Null: unknown, or nothing will be. */
  readonly nextDueAt: number | null;
  /** False: nothing was to do and nothing was spent. */
  readonly worked: boolean;
  /** By this attempt. */
  readonly spent: AttemptSpending;
  /** The same in money. Absent: no prices are set, or nothing was to do. */
  readonly money?: Money;
  /** Contacts that this attempt asked for and got: each reveal is charged. */
  readonly reveals: Reveals;
  /** Calls of v2 that may have cost something. Their prices are not published. */
  readonly v2Calls: number;
  /** Rows that this attempt left to people. */
  readonly left: LeftToPeople;
  /** Important changes that this attempt found. Null: not looked for. */
  readonly importantChanges: number | null;
  readonly limits: Limits;
  /** The most that the rows to do can cost, if a limit stopped the attempt. Otherwise null. */
  readonly rest: Amounts | null;
  /** Null: the limit of units covers each call. */
  readonly priceAboveLimit: PriceAboveLimit | null;
  /** With the same limits, the next attempt would end at once. The user has to raise one of them. */
  readonly barred: boolean;
  /** Credit reports charged by the run, over all attempts. */
  readonly reportsCharged: number;
  /** Units that the account may still spend, as `usage` shows them. Null: unknown, or nothing was to do. */
  readonly unitsLeft: number | null;
  /** Failed rows of the run by code, with the first row of each. */
  readonly failures: RunActivity['failures'];
  readonly parked: Readonly<Record<string, number>>;
  /** When the first of them may continue without help. Null: unknown. */
  readonly parkedUntil: number | null;
  /** A worker elsewhere will continue them then. */
  readonly putOff: boolean;
  /** Workers that still have rows in progress. Their results are not counted here. */
  readonly helpers: number;
  /** The present leader. Null: none, or this attempt led to its end. */
  readonly ledBy: string | null;
  readonly stopped: StopView | null;
  readonly tables: string | null;
  /** If no tables were written: the folder that an earlier attempt left. */
  readonly tablesBefore: string | null;
  /** The stable place of the portfolio's newest tables, if these are the newest. */
  readonly latest: string | null;
  readonly workbook: string | null;
  /** The workbook among those of the earlier attempt. */
  readonly workbookBefore: string | null;
  /** Where the previous workbook was moved because a person had edited it. Otherwise null. */
  readonly keptWorkbook: string | null;
  /** It has answers that are not recorded yet. */
  readonly keptAnswers: boolean;
  /** The missing parts of the tables. Null if they are complete or were not written. */
  readonly tablesLack: ExportLack | null;
  readonly log: string | null;
  /** The next step. Null if nothing is left to do. */
  readonly next: ContinueStep | null;
  /** Next steps for other rows. */
  readonly further: readonly ContinueStep[];
}

export interface StopView {
  readonly code: string;
  readonly message: string;
  readonly hint: string | undefined;
  readonly exit: ExitCode;
  /** Code of the last error, if the provider was unavailable. */
  readonly cause?: string | undefined;
}

export const stopView = ({ code, message, hint, exit, cause }: KybatchError): StopView => ({
  code,
  message,
  hint,
  exit,
  cause: cause instanceof KybatchError ? cause.code : undefined,
});

/** `before`: the folder of an earlier attempt, if no tables were written. */
export const shownTables = async (
  run: RunRecord,
  view: ExportView | null,
  before: string | null,
  { ledger, dataDir }: Workplace,
) => ({
  tables: view?.folder ?? null,
  tablesBefore: before,
  latest: await latestTables(run, view?.folder ?? before, dataDir, ledger),
  workbook: view?.workbook ?? null,
  workbookBefore: workbookIn(before),
  keptWorkbook: view?.kept ?? null,
  keptAnswers: view?.keptAnswers ?? false,
  tablesLack: view?.lack ?? null,
});

function workbookIn(folder: string | null): string | null {
  const file = folder === null ? null : join(folder, RESULTS_WORKBOOK);
  return file !== null && existsSync(file) ? file : null;
}

interface IdleRun {
  readonly tables?: ExportView | null;
  readonly nextAt?: number | null;
  /** The changes of the list, if a file was read. */
  readonly list?: Pick<PortfolioUpdate, 'left' | 'leftFirst' | 'invalid'> & Partial<Pick<PortfolioUpdate, 'due'>>;
}

/** `resume` reads no file. */
export const NO_NEWS: NonNullable<IdleRun['list']> = { left: 0, leftFirst: [], invalid: 0 };

export async function viewOfIdleRun(
  run: RunRecord,
  workplace: Workplace,
  { tables = null, nextAt = null, list = NO_NEWS }: IdleRun = {},
): Promise<RunEndView> {
  const { ledger, dataDir, clock } = workplace;
  const progress = await runProgress(run, ledger, clock.now());
  const whole = await portfolioProgress(run, progress, ledger);
  const steps = await nextSteps(run, progress, whole, ledger);
  const [next = null, ...further] = await withReviewSheets(steps, ledger, workplace);
  const before = tables === null ? (newestTables(run.id, dataDir)?.folder ?? null) : null;
  return {
    ...runStanding(run, progress, whole),
    arrived: list.due?.new ?? 0,
    departed: list.left,
    departedFirst: list.leftFirst,
    nextDueAt: nextAt,
    watchAsked: 0,
    worked: false,
    moved: [],
    spent: NO_SPENDING,
    reveals: NO_REVEALS,
    v2Calls: 0,
    contacts: null,
    left: { failed: 0, questions: 0, invalid: list.invalid },
    importantChanges: null,
    limits: { units: null, reports: null },
    rest: null,
    priceAboveLimit: null,
    barred: false,
    reportsCharged: (await ledger.reading.activity(run.id, clock.now())).reports,
    unitsLeft: null,
    failures: [],
    stopped: null,
    finished: progress.byOutcome.pending === 0,
    interrupted: false,
    ...(await shownTables(run, tables, before, workplace)),
    log: null,
    parkedUntil: null,
    putOff: false,
    helpers: 0,
    ledBy: null,
    next,
    further,
  };
}

/** The newest tables that are still in their folder. A copy elsewhere does not take the place of the run's own. */
export function newestTables(run: string, dataDir: string): FoundExport | undefined {
  const found = exportsIn(dataDir).filter((one) => one.run === run);
  return found.find(({ folder }) => folder === join(dataDir, 'exports', run)) ?? newestOf(found);
}

/** The stable place of a portfolio's newest tables. Null if there is none, or these tables are newer. */
export async function latestTables(
  run: Pick<RunRecord, 'portfolioId'>,
  shown: string | null,
  dataDir: string,
  ledger: Pick<Ledger, 'runs' | 'portfolios'>,
): Promise<string | null> {
  const list = shown === null ? undefined : await listOfTables(run, ledger);
  const link = list && latestLink(dataDir, list);
  const at = (folder: string | null | undefined) => (folder ? (readMarker(folder)?.at ?? '') : '');
  return link !== undefined && at(link.target) !== '' && at(link.target) >= at(shown) ? link.path : null;
}

/** False if a later attempt on an earlier run of the same list has written newer tables. */
export async function hasNewestTables(
  { id, portfolioId }: RunRecord,
  dataDir: string,
  { runs }: Ledger,
): Promise<boolean> {
  const lists = await runs.ofLists();
  const ofList = exportsIn(dataDir).filter(({ run }) => run === id || lists.get(run) === portfolioId);
  return (newestOf(ofList)?.run ?? id) === id;
}

export const newestOf = (found: readonly FoundExport[]): FoundExport | undefined =>
  found.toSorted((a, b) => a.at.localeCompare(b.at)).at(-1);

/** An unreadable list is ignored here, because this only shows where tables are. Deleting needs the whole list. */
export function exportsIn(dataDir: string): readonly FoundExport[] {
  try {
    return findExports(dataDir).filter(({ isPast }) => !isPast);
  } catch (error) {
    if (error instanceof KybatchError) return [];
    throw error;
  }
}

export const runStanding = (
  { id, inputPath, rowCount }: RunRecord,
  progress: Progress,
  { portfolio, rows, outcomes, invalid }: PortfolioProgress,
) => ({
  run: id,
  input: inputPath,
  portfolio,
  rows,
  outcomes,
  invalid,
  due: rowCount,
  toDo: progress.byOutcome.pending,
  stages: progress.stages,
  unitsCharged: progress.unitsCharged,
  unknownCalls: progress.unknownCalls,
  waiting: progress.waiting,
  parked: progress.parkedReasons,
  refusals: progress.refusals,
  refusedRows: progress.refusedRows,
});

export async function nextSteps(
  record: RunRecord,
  { byOutcome, parkedReasons }: Progress,
  { portfolio, outcomes, pendingIn, failedIn, askedIn }: PortfolioProgress,
  ledger: Pick<Ledger, 'runs' | 'portfolios'>,
): Promise<readonly NextStep[]> {
  const run = record.id;
  const inDoubt = parkedReasons.in_doubt ?? 0;
  const stepOn = (of: string) => stepOnRun(of, record.portfolioId, ledger);
  const [toDo] = byOutcome.pending > inDoubt ? [run] : byOutcome.pending === 0 ? pendingIn : [];
  const [failed] = failedIn;
  const [asks, ...others] = askedIn;
  const review = { kind: 'review' as const };
  // A run of the list continues the rows of all its runs.
  const again = (await Promise.all(askedIn.map(stepOn))).find(({ kind }) => kind === 'run');
  return [
    ...(toDo === undefined ? [] : [await stepOn(toDo)]),
    ...(inDoubt > 0 ? [{ kind: 'doubt' as const, run }] : []),
    ...(failed === undefined ? [] : [{ kind: 'retry' as const, run: failed }]),
    // One run if all questions are in it, else the whole list.
    ...(asks === undefined
      ? []
      : [
          others.length > 0 && portfolio !== null
            ? { ...review, portfolio, ...(again && { after: again }) }
            : { ...review, run: asks, after: await stepOn(asks) },
        ]),
    ...(outcomes.invalid > 0 ? [{ kind: 'plan' as const, ...jobOf(record) }] : []),
  ];
}

/** How long an attempt worked that has ended. Its calls may end after it. */
export const workMs = ({ begunAt, endedAt, lastCallAt }: AttemptActivity): number =>
  Math.max(0, Math.max(endedAt ?? 0, lastCallAt) - begunAt);

export const addSpending = (a: AttemptSpending, b: AttemptSpending): AttemptSpending => ({
  units: a.units + b.units,
  reports: a.reports + b.reports,
  unknown: a.unknown + b.unknown,
  unknownInBudget: a.unknownInBudget + b.unknownInBudget,
});

/** Rows that an attempt left to people: failed, more than before with a review question, or newly invalid. */
export interface LeftToPeople {
  readonly failed: number;
  readonly questions: number;
  readonly invalid: number;
}

/** Counts what the calls of one attempt cost and which rows it left to people. */
export class AttemptTally {
  spent = NO_SPENDING;
  v2Calls = 0;
  /** Contacts that were asked for and answered. Lost calls count as unknown charges. */
  reveals = NO_REVEALS;
  failed = 0;
  /** An answer came, a call may have been charged, or a row finished. The tables would differ. */
  broughtAnything = false;

  readonly listen = (event: RunEvent): void => {
    if (event.kind === 'row_settled') {
      this.broughtAnything ||= event.checkpoint.outcome !== 'pending';
      if (event.checkpoint.outcome === 'failed') this.failed += 1;
    }
    if (event.kind !== 'call_settled') return;
    const { meter } = event.intent;
    const { charge, unitsCharged, answer } = event.settlement;
    this.broughtAnything ||= answer !== null || charge !== 'free';
    this.reveals = addReveals(this.reveals, revealsIn(event));
    if (meter === 'not_told' && charge !== 'free') this.v2Calls += 1;
    const isUnknown = isUnknownCharge({ charge });
    // Counted as the ledger counts it against the limit.
    const possible = possibleCost(meter, event.settlement);
    this.spent = addSpending(this.spent, {
      units: unitsCharged ?? 0,
      reports: meter === 'report' && charge === 'charged' ? 1 : 0,
      unknown: isUnknown ? 1 : 0,
      unknownInBudget: isUnknown ? possible.units + possible.reports : 0,
    });
  };
}

function revealsIn({ intent, settlement }: Extract<RunEvent, { kind: 'call_settled' }>): Reveals {
  if (!REVEALING_OPERATIONS.has(intent.operation) || settlement.answer === null || settlement.errorCode !== null)
    return NO_REVEALS;
  return revealsOfCall(intent.operation, parseStored(settlement.answer.params, isRecord) ?? {});
}

/** How an attempt ended, as the ledger stores it. */
export interface AttemptEnding {
  readonly stopped: StopView | null;
  readonly interrupted: boolean;
  readonly finished: boolean;
  /** Its exit code, and the cause that it stands for. Older versions stored none. */
  readonly exit?: number;
  readonly reason?: string;
}

export const endingOf = (
  { stopped, interrupted, finished }: Pick<RunEndView, 'stopped' | 'interrupted' | 'finished'>,
  { code: exit, reason }: RunExit,
): string => JSON.stringify({ stopped, interrupted, finished, exit, reason } satisfies AttemptEnding);

export const failureEnding = (error: unknown): string =>
  endingOf({ stopped: stopView(asKybatchError(error)), interrupted: false, finished: false }, exitOfFailure(error));

/** Null if nothing was stored or it is damaged. The run can be shown without it. */
export const readEnding = (stored: string | null): AttemptEnding | null =>
  stored === null ? null : (parseStored(stored, isEnding) ?? null);

const isEnding = (value: unknown): value is AttemptEnding => isRecord(value) && typeof value.finished === 'boolean';
