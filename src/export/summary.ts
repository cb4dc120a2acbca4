import { ROW_OUTCOMES, unreachedStatus } from '../domain/outcomes.js';
import type { Money } from '../domain/prices.js';
import type { PastView } from '../ledger/answers/past-view.js';
import type { RunSnapshot } from '../ledger/answers/snapshot.js';
import type { Progress } from '../ledger/rows/runs.js';
import type { AllowanceRow } from './allowances-table.js';
import type { ExportOptions } from './formats/format.js';
import type { FinishedOutputs, UnwrittenFile } from './outputs.js';
import { plannedStages } from './run-rows.js';
import type { TableName } from './tables.js';
import type { IssueCounts } from './write-answers.js';

/** `summary.json`: what was exported, and whether the counts add up. */
export interface ExportSummary {
  readonly run: string;
  readonly state: string;
  /** The run is not finished: results of open rows are not in the tables. */
  readonly partial: boolean;
  readonly rows_not_settled: number;
  readonly exported_at: string;
  /** If the tables show a past day: what they cannot show of it. */
  readonly as_of?: PastSummary;
  readonly input: { readonly path: string; readonly sha256: string; readonly rows: number };
  readonly pipeline: { readonly name: string; readonly sha256: string };
  readonly outcomes: Readonly<Record<string, number>>;
  readonly stages: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** Every row of the input has exactly one outcome and is in the table `rows`. */
  readonly conservation: {
    readonly input_rows: number;
    readonly sum_of_outcomes: number;
    readonly exported_rows: number;
    readonly holds: boolean;
  };
  readonly units_charged: number;
  /** Calls of the run with unknown charge: the provider may have counted more units. */
  readonly unknown_calls: number;
  readonly money?: Money;
  readonly allowances: readonly AllowanceRow[];
  readonly tables: Readonly<Record<TableName, number>>;
  /**
   * Parts of large tables: those written, those linked from an earlier export, and the files that a later export needs.
   * Absent: every table is one file.
   */
  readonly parts?: { readonly written: number; readonly taken_over: number; readonly records: readonly string[] };
  readonly unexpected_shapes: number;
  /** Stored answers that are damaged or unreadable: `errors` names each, and they are not in the tables. */
  readonly answers_not_exported: number;
  /**
   * Cells of rows and candidates that are damaged in the ledger: `errors` names each, and they are empty in the tables.
   */
  readonly cells_not_exported: number;
  readonly not_written: readonly UnwrittenFile[];
  readonly options: Readonly<Record<string, unknown>>;
  readonly versions: { readonly kybatch: string; readonly node: string; readonly [program: string]: string };
  readonly files: readonly ExportedFile[];
}

export interface PastSummary {
  readonly day: string;
  /** Rows that changed later. Their outcome, match and cells are the newest. */
  readonly rows_changed_since: number;
  /** Rows that were matched later. They are pending. */
  readonly rows_not_matched_then: number;
  readonly answers_gone: number;
}

export interface ExportedFile {
  readonly path: string;
  readonly table: string;
  readonly format: string;
  readonly rows: number;
  readonly bytes: number;
  readonly sha256: string;
}

/** The missing parts of an export. Null if it is complete. */
export interface ExportLack {
  readonly answersNotExported: number;
  readonly cellsNotExported: number;
  readonly notWritten: readonly UnwrittenFile[];
}

export function lackOf(summary: ExportSummary): ExportLack | null {
  const { answers_not_exported: answersNotExported, cells_not_exported: cellsNotExported, not_written } = summary;
  const isWhole = answersNotExported + cellsNotExported + not_written.length === 0;
  return isWhole ? null : { answersNotExported, cellsNotExported, notWritten: not_written };
}

/** As in the table `rows`: a stage that no row reached counts all rows too. */
function stageSums(planned: readonly string[], { stages, byOutcome }: Progress): ExportSummary['stages'] {
  const unreached: Record<string, number> = {};
  for (const outcome of ROW_OUTCOMES) {
    const status = unreachedStatus(outcome);
    if (byOutcome[outcome] > 0) unreached[status] = (unreached[status] ?? 0) + byOutcome[outcome];
  }
  return { ...Object.fromEntries(planned.map((stage) => [stage, unreached])), ...stages };
}

export function summarise(
  { run, listed, progress, past, damaged, damagedTexts }: RunSnapshot,
  { resources, unwritten }: FinishedOutputs,
  counts: Readonly<Record<string, number>>,
  issues: IssueCounts,
  versions: Readonly<Record<string, string>>,
  options: ExportOptions,
): Omit<ExportSummary, 'allowances'> {
  const exported = counts.rows ?? 0;
  const sum = ROW_OUTCOMES.reduce((total, outcome) => total + progress.byOutcome[outcome], 0);
  // The rows are not counted while the input is being read.
  const expected = run.state === 'reading' ? sum : listed;
  return {
    run: run.id,
    state: run.state,
    partial: run.state === 'reading' || progress.byOutcome.pending > 0,
    rows_not_settled: progress.byOutcome.pending,
    exported_at: new Date(options.now).toISOString(),
    ...(past === null ? {} : { as_of: pastSummary(past) }),
    input: { path: run.inputPath, sha256: run.inputSha256, rows: expected },
    pipeline: { name: run.pipelineName, sha256: run.pipelineSha256 },
    outcomes: progress.byOutcome,
    stages: stageSums(plannedStages(run), progress),
    conservation: {
      input_rows: expected,
      sum_of_outcomes: sum,
      exported_rows: exported,
      holds: sum === expected && exported === expected,
    },
    units_charged: progress.unitsCharged,
    unknown_calls: progress.unknownCalls,
    tables: counts as ExportSummary['tables'],
    unexpected_shapes: issues.unexpectedShapes,
    answers_not_exported: damaged.length + issues.unread,
    cells_not_exported: damagedTexts.length,
    not_written: unwritten,
    ...exportProvenance(resources, versions, options),
  };
}

const pastSummary = ({ at, rowsChanged, rowsNotMatched, answersGone }: PastView): PastSummary => ({
  day: new Date(at).toISOString().slice(0, 10),
  rows_changed_since: rowsChanged,
  rows_not_matched_then: rowsNotMatched,
  answers_gone: answersGone,
});

/** The part of every summary by which `export-folders.ts` recognizes our folders. */
export const exportProvenance = (
  resources: FinishedOutputs['resources'],
  versions: Readonly<Record<string, string>>,
  options: ExportOptions,
): Pick<ExportSummary, 'options' | 'versions' | 'files'> => ({
  options: {
    formats: options.formats,
    delimiter: options.csv.delimiter,
    bom: options.csv.bom,
    include_contacts: options.includeContacts,
    partition_by: options.partitionByCountry ? 'country' : null,
  },
  versions: { kybatch: options.version, node: process.version, ...versions },
  files: resources.flatMap(({ table, format, files }) =>
    files.map(({ path, rows, bytes, sha256 }) => ({
      path,
      table: table.name,
      format: format.name,
      rows,
      bytes,
      sha256,
    })),
  ),
});
