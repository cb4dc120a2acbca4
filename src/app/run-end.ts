import type { ContactCounts } from '../domain/contact-counts.js';
import { KybatchError } from '../domain/errors.js';
import type { ExitCode } from '../domain/exit-codes.js';
import type { InvalidReason } from '../domain/invalid-reason.js';
import type { RowOutcome } from '../domain/outcomes.js';
import { NO_REVEALS, type Reveals } from '../domain/reveals.js';
import type { MovedUse } from '../engine/permissions.js';
import type { RunEnd } from '../engine/run.js';
import { type FoundExport, findExports } from '../export/export-folders.js';
import type { ExportLack } from '../export/summary.js';
import type { Ledger } from '../ledger/ledger.js';
import type { Converged, LeftMember } from '../ledger/portfolios.js';
import type { Progress, RefusalNote, RunRecord } from '../ledger/runs.js';
import type { ExportView } from './export.js';
import type { NextStep } from './next-step.js';
import { knowingSheet } from './review-sheet.js';
import { standingOf } from './standing.js';
import type { LeftToPeople, Spent } from './start-tally.js';
import { jobOf } from './stored-settings.js';
import type { Surroundings } from './surroundings.js';
import { type Whole, wholeOf } from './whole.js';

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
  whole: Whole,
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

interface QuietNight {
  readonly dataDir: string;
  readonly tables?: ExportView | null;
  readonly nextAt?: number | null;
  /** What the file had to tell, where one was taken in. */
  readonly list?: Pick<Converged, 'left' | 'leftFirst' | 'invalid'>;
}

/** There was nothing to do. */
export async function viewOfRest(
  run: RunRecord,
  ledger: Ledger,
  around: Surroundings,
  { dataDir, tables = null, nextAt = null, list = { left: 0, leftFirst: [], invalid: 0 } }: QuietNight,
): Promise<RunEndView> {
  const progress = await standingOf(run, ledger, around.clock.now());
  const whole = await wholeOf(run, progress, ledger);
  const [next = null, ...further] = await knowingSheet(nextSteps(run, progress, whole), ledger, around);
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
  { portfolio, rows, outcomes, invalid }: Whole,
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
  { portfolio, outcomes, failedIn, askedIn }: Whole,
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
