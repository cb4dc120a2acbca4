import type { ExitCode } from '../domain/exit-codes.js';
import type { RowOutcome } from '../domain/outcomes.js';
import type { RunEnd } from '../engine/run.js';
import type { ExportLack } from '../export/summary.js';
import type { Progress, RefusalNote, RunRecord } from '../ledger/runs.js';
import type { ExportView } from './export.js';
import type { NextStep } from './next-step.js';
import type { Spent } from './start-tally.js';
import { jobOf } from './stored-settings.js';

/** How a start ended, and where its run stands. */
export interface RunEndView {
  readonly run: string;
  readonly input: string;
  readonly rows: number;
  /** They add up to `rows`. */
  readonly outcomes: Readonly<Record<RowOutcome, number>>;
  /** Status counts by stage. */
  readonly stages: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** False: there was nothing to do, and nothing was spent. */
  readonly worked: boolean;
  /** By this start. */
  readonly spent: Spent;
  /** By the run, all its starts together. */
  readonly unitsCharged: number;
  /** Rows that wait for a report. */
  readonly waiting: number;
  /** Rows that cannot go on, by reason. */
  readonly parked: Readonly<Record<string, number>>;
  /** When the first of them may go on by itself; null where nobody knows. */
  readonly parkedUntil: number | null;
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
export interface LeftBehind extends Pick<RunEndView, 'log' | 'parkedUntil'> {
  readonly tables: ExportView | null;
}

export function viewOfEnd(
  run: RunRecord,
  end: RunEnd,
  spent: Spent,
  steps: readonly NextStep[],
  { tables, log, parkedUntil }: LeftBehind,
): RunEndView {
  const { progress, stopped, finished, interrupted } = end;
  const [next = null, ...further] = steps;
  return {
    ...standing(run, progress),
    worked: true,
    spent,
    stopped:
      stopped === undefined
        ? null
        : { code: stopped.code, message: stopped.message, hint: stopped.hint, exit: stopped.exit },
    finished,
    interrupted,
    ...ofTables(tables),
    log,
    parkedUntil,
    next,
    further,
  };
}

const ofTables = (view: ExportView | null) => ({ tables: view?.folder ?? null, tablesLack: view?.lack ?? null });

/** There was nothing to do. */
export function viewOfRest(
  run: RunRecord,
  progress: Progress,
  steps: readonly NextStep[],
  tables: ExportView | null,
): RunEndView {
  const [next = null, ...further] = steps;
  return {
    ...standing(run, progress),
    worked: false,
    spent: { units: 0, reports: 0, unknown: 0, unknownInBudget: 0 },
    stopped: null,
    finished: run.state === 'finished',
    interrupted: false,
    ...ofTables(tables),
    log: null,
    parkedUntil: null,
    next,
    further,
  };
}

const standing = ({ id, inputPath, rowCount }: RunRecord, progress: Progress) => ({
  run: id,
  input: inputPath,
  rows: rowCount,
  outcomes: progress.byOutcome,
  stages: progress.stages,
  unitsCharged: progress.unitsCharged,
  waiting: progress.waiting,
  parked: progress.parkedReasons,
  refusals: progress.refusals,
  refusedRows: progress.refusedRows,
});

/** All that leads on, the first thing first. `enough`: budgets for all that is left, where a budget is what stopped it. */
export function nextSteps(
  record: RunRecord,
  { byOutcome, parkedReasons }: Progress,
  enough: { readonly budget?: number; readonly maxReports?: number } = {},
): readonly NextStep[] {
  const run = record.id;
  const inDoubt = parkedReasons.in_doubt ?? 0;
  return [
    ...(byOutcome.pending > inDoubt ? [{ kind: 'resume' as const, run, ...enough }] : []),
    ...(inDoubt > 0 ? [{ kind: 'doubt' as const, run }] : []),
    ...(byOutcome.failed > 0 ? [{ kind: 'retry' as const, run }] : []),
    ...(byOutcome.needs_review > 0 ? [{ kind: 'review' as const, run }] : []),
    ...(byOutcome.invalid > 0 ? [{ kind: 'plan' as const, ...jobOf(record) }] : []),
  ];
}
