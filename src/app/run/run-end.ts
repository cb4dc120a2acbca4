import { REVEALING_OPERATIONS, revealsOfCall } from '../../api/account.js';
import { addReveals, type ContactCounts, NO_REVEALS, type Reveals } from '../../domain/account-usage.js';
import { ExitCode, KybatchError } from '../../domain/errors.js';
import type { InvalidReason, RowOutcome } from '../../domain/outcomes.js';
import type { RunEvent } from '../../engine/events.js';
import type { MovedUse } from '../../engine/permissions.js';
import type { RunEnd } from '../../engine/run.js';
import { type FoundExport, findExports } from '../../export/export-folders.js';
import type { ExportLack } from '../../export/summary.js';
import { isRecord, parseStored } from '../../ledger/db/stored-json.js';
import type { Ledger } from '../../ledger/ledger.js';
import { possibleCost } from '../../ledger/money/intent.js';
import type { Converged, LeftMember } from '../../ledger/portfolio/portfolios.js';
import type { AttemptSpending } from '../../ledger/queries.js';
import type { Progress, RefusalNote, RunRecord } from '../../ledger/rows/runs.js';
import { sanitizeText } from '../../util/sanitize-text.js';
import type { AppEnvironment } from '../environment.js';
import { withReviewSheets } from '../review/questions.js';
import type { ExportView } from './export.js';
import type { NextStep } from './next-step.js';
import { type PortfolioProgress, portfolioProgress, runProgress } from './progress.js';
import { jobOf } from './stored-settings.js';

/** How a start ended, and where its run stands. */
export interface RunEndView {
  readonly run: string;
  readonly input: string;
  /** The name of the portfolio; null for runs of versions before there were any. */
  readonly portfolio: string | null;
  /** Of the whole list. */
  readonly rows: number;
  /** They add up to `rows`. */
  readonly outcomes: Readonly<Record<RowOutcome, number>>;
  /** Why rows are invalid, each reason with its first row. */
  readonly invalid: readonly InvalidReason[];
  /** Rows that were due when the run began, and those of them that are still to do. */
  readonly due: number;
  readonly toDo: number;
  /** Members that are not in the file any more, and were in the one before. */
  readonly departed: number;
  /** The first of them. */
  readonly departedFirst: readonly LeftMember[];
  /** Companies whose history was asked for before it was decided what is due; what that costs is not told. */
  readonly watchAsked: number;
  /** When something is due next, where nothing is now; null: nobody has looked, or nothing is by itself. */
  readonly nextDueAt: number | null;
  /** Status counts by stage, of the rows that were due. */
  readonly stages: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** False: there was nothing to do, and nothing was spent. */
  readonly worked: boolean;
  /** By this start. */
  readonly spent: Spent;
  /** What v2 counts otherwise than when this start began, whoever has used it. */
  readonly moved: readonly MovedUse[];
  /** What of people this start has asked for and was answered: each reveal is charged. */
  readonly reveals: Reveals;
  /** How many contacts the account has revealed, whoever did, as v2 says; null where nobody has asked, or it did not tell. */
  readonly contacts: ContactCounts | null;
  /** Rows that this start has left to people. */
  readonly left: LeftToPeople;
  /** Changes that matter which this start has found; null: nobody has looked. */
  readonly importantChanges: number | null;
  /** By the run, all its starts together. */
  readonly unitsCharged: number;
  /** Calls of the run, in all its starts, whose charge nobody knows: the provider may have counted more. */
  readonly unknownCalls: number;
  /** Rows that wait for a report. */
  readonly waiting: number;
  /** Rows that cannot go on, by reason. */
  readonly parked: Readonly<Record<string, number>>;
  /** When the first of them may go on by itself; null where nobody knows. */
  readonly parkedUntil: number | null;
  /** Whoever helps on another machine goes on with them then. */
  readonly putOff: boolean;
  /** Workers that still have rows of it under way: what those come to is not counted here. */
  readonly helpers: number;
  /** Who leads it now; null: nobody, or this very start did to its end. */
  readonly ledBy: string | null;
  /** What the provider has refused those that wait for a scope, in its own words. */
  readonly refusals: readonly RefusalNote[];
  /** Rows with a stage that is not available because the provider has refused it to this company. */
  readonly refusedRows: number;
  /** What stopped it before its time. */
  readonly stopped: StopView | null;
  /** No row is pending. */
  readonly finished: boolean;
  readonly interrupted: boolean;
  /** The folder of the tables, where they were written. */
  readonly tables: string | null;
  /** Where they were not written: the folder of those that an earlier attempt has left. */
  readonly tablesBefore: string | null;
  /** The workbook among them. */
  readonly workbook: string | null;
  /** Where the workbook before it was put, because somebody had worked in it; null where nobody had. */
  readonly keptWorkbook: string | null;
  /** What the tables are without; null where they are whole, or were not written. */
  readonly tablesLack: ExportLack | null;
  readonly log: string | null;
  /** What leads on; null where nothing is left to do. */
  readonly next: NextStep | null;
  /** What leads on with other rows. */
  readonly further: readonly NextStep[];
}

export interface StopView {
  readonly code: string;
  readonly message: string;
  readonly hint: string | undefined;
  readonly exit: ExitCode;
}

/** What was left behind beside the ledger, and what it waits for. */
export interface LeftBehind
  extends Pick<RunEndView, 'tablesBefore' | 'log' | 'parkedUntil' | 'putOff' | 'helpers' | 'ledBy'> {
  readonly tables: ExportView | null;
}

export function viewOfEnd(
  run: RunRecord,
  end: RunEnd,
  whole: PortfolioProgress,
  made: Pick<RunEndView, 'departed' | 'departedFirst' | 'spent' | 'reveals' | 'left' | 'importantChanges'>,
  steps: readonly NextStep[],
  { tables, tablesBefore, log, parkedUntil, putOff, helpers, ledBy }: LeftBehind,
): RunEndView {
  const { progress, stopped, finished, interrupted, moved, contacts } = end;
  const [next = null, ...further] = steps;
  return {
    ...standing(run, progress, whole),
    nextDueAt: null,
    watchAsked: 0,
    worked: true,
    moved,
    contacts,
    ...made,
    stopped:
      stopped === undefined
        ? null
        : { code: stopped.code, message: stopped.message, hint: stopped.hint, exit: stopped.exit },
    finished,
    interrupted,
    ...ofTables(tables),
    tablesBefore,
    log,
    parkedUntil,
    putOff,
    helpers,
    ledBy,
    next,
    further,
  };
}

const ofTables = (view: ExportView | null) => ({
  tables: view?.folder ?? null,
  workbook: view?.workbook ?? null,
  keptWorkbook: view?.kept ?? null,
  tablesLack: view?.lack ?? null,
});

interface IdleRun {
  readonly dataDir: string;
  readonly tables?: ExportView | null;
  readonly nextAt?: number | null;
  /** What the file had to tell, where one was taken in. */
  readonly list?: Pick<Converged, 'left' | 'leftFirst' | 'invalid'>;
}

/** There was nothing to do. */
export async function viewOfIdleRun(
  run: RunRecord,
  ledger: Ledger,
  around: AppEnvironment,
  { dataDir, tables = null, nextAt = null, list = { left: 0, leftFirst: [], invalid: 0 } }: IdleRun,
): Promise<RunEndView> {
  const progress = await runProgress(run, ledger, around.clock.now());
  const whole = await portfolioProgress(run, progress, ledger);
  const [next = null, ...further] = await withReviewSheets(nextSteps(run, progress, whole), ledger, around);
  return {
    ...standing(run, progress, whole),
    departed: list.left,
    departedFirst: list.leftFirst,
    nextDueAt: nextAt,
    watchAsked: 0,
    worked: false,
    moved: [],
    spent: { units: 0, reports: 0, unknown: 0, unknownInBudget: 0 },
    reveals: NO_REVEALS,
    contacts: null,
    left: { failed: 0, questions: 0, invalid: list.invalid },
    importantChanges: null,
    stopped: null,
    finished: progress.byOutcome.pending === 0,
    interrupted: false,
    ...ofTables(tables),
    tablesBefore: tables === null ? (newestTables(run.id, dataDir)?.folder ?? null) : null,
    log: null,
    parkedUntil: null,
    putOff: false,
    helpers: 0,
    ledBy: null,
    next,
    further,
  };
}

/** The newest that are still where they were put. */
export function newestTables(run: string, dataDir: string): FoundExport | undefined {
  const ofRun = exportsIn(dataDir).filter((found) => found.run === run);
  return ofRun.sort((a, b) => a.at.localeCompare(b.at)).at(-1);
}

/** Whoever removes something must see the whole list; who only tells where tables are does without one that is unreadable. */
function exportsIn(dataDir: string): readonly FoundExport[] {
  try {
    return findExports(dataDir);
  } catch (error) {
    if (error instanceof KybatchError) return [];
    throw error;
  }
}

const standing = (
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

/** All that leads on, the first thing first. */
export function nextSteps(
  record: RunRecord,
  { byOutcome, parkedReasons }: Progress,
  { portfolio, outcomes, failedIn, askedIn }: PortfolioProgress,
): readonly NextStep[] {
  const run = record.id;
  const inDoubt = parkedReasons.in_doubt ?? 0;
  return [
    ...(byOutcome.pending > inDoubt ? [{ kind: 'resume' as const, run }] : []),
    ...(inDoubt > 0 ? [{ kind: 'doubt' as const, run }] : []),
    ...failedIn.slice(0, 1).map((failed) => ({ kind: 'retry' as const, run: failed })),
    ...(askedIn.length === 0 ? [] : [{ kind: 'review' as const, ...asking(askedIn, portfolio) }]),
    ...(outcomes.invalid > 0 ? [{ kind: 'plan' as const, ...jobOf(record) }] : []),
  ];
}

/** One run alone, where all questions are in it; else those of the whole list. */
const asking = ([run, ...others]: readonly string[], portfolio: string | null) =>
  others.length > 0 && portfolio !== null ? { portfolio } : { run };

/** What this start has spent, as far as anybody knows. */
export type Spent = AttemptSpending;

export const addSpending = (a: Spent, b: Spent): Spent => ({
  units: a.units + b.units,
  reports: a.reports + b.reports,
  unknown: a.unknown + b.unknown,
  unknownInBudget: a.unknownInBudget + b.unknownInBudget,
});

/** Rows that a start has left to people: failed, with a question, or invalid since the file before. */
export interface LeftToPeople {
  readonly failed: number;
  readonly questions: number;
  readonly invalid: number;
}

/** Counts what the calls of one start have cost, and what it has left to people. */
export class AttemptTally {
  #units = 0;
  #reports = 0;
  #unknown = 0;
  #unknownInBudget = 0;
  #reveals = NO_REVEALS;
  #broughtAnything = false;

  readonly #left = { failed: 0, questions: 0 };

  readonly listen = (event: RunEvent): void => {
    if (event.kind === 'row_settled') {
      this.#broughtAnything ||= event.checkpoint.outcome !== 'pending';
      if (event.checkpoint.outcome === 'failed') this.#left.failed += 1;
      if (event.checkpoint.outcome === 'needs_review') this.#left.questions += 1;
    }
    if (event.kind !== 'call_settled') return;
    const { meter } = event.intent;
    const { charge, unitsCharged, answer } = event.settlement;
    this.#broughtAnything ||= answer !== null || charge !== 'free';
    this.#reveals = addReveals(this.#reveals, revealsIn(event));
    this.#units += unitsCharged ?? 0;
    if (meter === 'report' && charge === 'charged') this.#reports += 1;
    if (charge === 'unknown') this.#unknown += 1;
    // As the ledger holds it against the budget.
    const { units, reports } = possibleCost(meter, event.settlement);
    if (charge === 'unknown') this.#unknownInBudget += units + reports;
  };

  /** An answer came, a call may have been charged, or a row has finished: the tables are others. */
  get broughtAnything(): boolean {
    return this.#broughtAnything;
  }

  get spent(): Spent {
    return {
      units: this.#units,
      reports: this.#reports,
      unknown: this.#unknown,
      unknownInBudget: this.#unknownInBudget,
    };
  }

  /** What of people was asked for, and answered; what was lost is among the calls with unknown charge. */
  get reveals(): Reveals {
    return this.#reveals;
  }

  get left(): Omit<LeftToPeople, 'invalid'> {
    return { ...this.#left };
  }
}

function revealsIn({ intent, settlement }: Extract<RunEvent, { kind: 'call_settled' }>): Reveals {
  if (!REVEALING_OPERATIONS.has(intent.operation) || settlement.answer === null || settlement.errorCode !== null)
    return NO_REVEALS;
  return revealsOfCall(intent.operation, parseStored(settlement.answer.params, isRecord) ?? {});
}

/** How a start came to its end, as it is kept in the ledger for whoever asks later. */
export interface AttemptEnding {
  readonly stopped: StopView | null;
  readonly interrupted: boolean;
  readonly finished: boolean;
  /** Its exit code; not kept by versions before. */
  readonly exit?: number;
}

export const endingOf = (
  { stopped, interrupted, finished }: Pick<RunEndView, 'stopped' | 'interrupted' | 'finished'>,
  exit: number,
): string => JSON.stringify({ stopped, interrupted, finished, exit } satisfies AttemptEnding);

/** An error ended it: what could not be written, what was taken over, a defect. */
export function failureEnding(error: unknown): string {
  const stopped =
    error instanceof KybatchError
      ? { code: error.code, message: error.message, hint: error.hint, exit: error.exit }
      : { code: 'INTERNAL', message: sanitizeText(String(error)), hint: undefined, exit: ExitCode.internal };
  return endingOf({ stopped, interrupted: false, finished: false }, stopped.exit);
}

/** Null where nothing was kept, or what was kept is damaged: the run can be looked at without it. */
export const readEnding = (stored: string | null): AttemptEnding | null =>
  stored === null ? null : (parseStored(stored, isEnding) ?? null);

const isEnding = (value: unknown): value is AttemptEnding => isRecord(value) && typeof value.finished === 'boolean';
