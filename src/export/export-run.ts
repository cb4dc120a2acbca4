import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { asFileError, KybatchError } from '../domain/errors.js';
import { ExitCode } from '../domain/exit-codes.js';
import type { RunSnapshot } from '../ledger/snapshot.js';
import { allowanceRows } from './allowances-table.js';
import { changeRows, importantNames } from './changes-table.js';
import { companyAtAGlance } from './company-at-a-glance.js';
import { dataPackage } from './data-package.js';
import { keepEditedWorkbook } from './edited-workbook.js';
import { DATA_PACKAGE, SUMMARY } from './export-marker.js';
import { GrowingFolder } from './folder.js';
import { withFormats } from './formats/open.js';
import type { ExportOptions } from './options.js';
import { type OpenFormats, Outputs, type Unwritten } from './outputs.js';
import { ALL_PARTS, type ExportParts } from './parts.js';
import { resultRow } from './results-rows.js';
import { type ResultsShape, resultsFor, resultsTable } from './results-table.js';
import {
  callRow,
  candidateRow,
  damagedRow,
  damagedTextRow,
  endRow,
  errorRow,
  inputColumns,
  inputRow,
  memberRow,
  plannedStages,
  watchEventRow,
} from './run-rows.js';
import { rowsTable } from './run-tables.js';
import { answersOf } from './subjects.js';
import { type ExportSummary, summarise } from './summary.js';
import { boughtTables, tablesOf } from './tables.js';
import { writeAnswers } from './write-answers.js';
import { writeJson } from './write-json.js';

/** Writes the tables of a run, from its raw bodies, for 0 units. The folder appears when everything is in it. */
export async function exportRun(
  snapshot: RunSnapshot,
  options: ExportOptions,
  parts: ExportParts = ALL_PARTS,
): Promise<ExportSummary> {
  const folder = new GrowingFolder(options.folder);
  try {
    const summary = await fill(folder.path, snapshot, options, parts);
    const edited = keepEditedWorkbook(options.folder);
    folder.appear();
    if (edited !== null) parts.onKept?.(edited);
    return summary;
  } catch (error) {
    folder.abandon();
    throw asFileError(error, options.folder);
  }
}

async function fill(
  folder: string,
  snapshot: RunSnapshot,
  options: ExportOptions,
  parts: ExportParts,
): Promise<ExportSummary> {
  const scratch = join(folder, '.scratch');
  mkdirSync(scratch, { mode: 0o700 });
  return await withFormats({ folder, scratch, options, questions: parts.questions }, parts.formats, async (opened) => {
    const shape = resultsFor(snapshot.columns);
    const outputs = openOutputs(snapshot, options, parts, opened, shape);
    await writeRunTables(snapshot, options, outputs, parts);
    const allowances = allowanceRows(await snapshot.allowances());
    outputs.write('allowances', allowances);
    const issues = await writeAnswers(answersOf(snapshot), options, parts, outputs);
    // What the answers say of each company stands beside its lines.
    await writeInputLines(snapshot, outputs, shape);
    writeDamaged(snapshot, outputs, options.now);
    const finished = await outputs.finish(folder);
    if (finished.resources.length === 0) throw nothingWritten(finished.unwritten);
    rmSync(scratch, { recursive: true });
    const versions = Object.assign({}, ...opened.map(({ writer }) => writer.versions)) as Record<string, string>;
    const summary = { ...summarise(snapshot, finished, outputs.counts(), issues, versions, options), allowances };
    const facts = {
      run: snapshot.run.id,
      exportedAt: summary.exported_at,
      partial: summary.partial,
      rows: summary.input.rows,
      rowsNotSettled: summary.rows_not_settled,
      options,
    };
    writeJson(join(folder, DATA_PACKAGE), dataPackage(finished.resources, facts));
    writeJson(join(folder, SUMMARY), summary);
    return summary;
  });
}

function openOutputs(
  { columns }: RunSnapshot,
  options: ExportOptions,
  parts: ExportParts,
  opened: OpenFormats,
  shape: ResultsShape,
): Outputs {
  const bought = boughtTables(parts.readers);
  const declared = tablesOf(parts.readers).map((table) => ({
    table: table === resultsTable ? shape.table : table,
    furtherColumns: table === rowsTable ? inputColumns(columns) : table === resultsTable ? shape.inputs : [],
    bought: bought.includes(table),
  }));
  return new Outputs(declared, opened, options.includeContacts, parts.signal);
}

async function writeRunTables(
  snapshot: RunSnapshot,
  { includeContacts }: ExportOptions,
  outputs: Outputs,
  { judge }: ExportParts,
): Promise<void> {
  for await (const batch of snapshot.members())
    outputs.write(
      'members',
      batch.map((member) => memberRow(member, judge)),
    );
  for await (const batch of snapshot.watchEvents())
    outputs.write(
      'watch_events',
      batch.map((event) => watchEventRow(event, includeContacts)),
    );
  for await (const batch of snapshot.candidates())
    outputs.write(
      'candidates',
      batch.map((one) => candidateRow(one, includeContacts)),
    );
  for await (const batch of snapshot.calls()) outputs.write('calls', batch.map(callRow));
  const important = importantNames(snapshot.run);
  for await (const batch of snapshot.changes())
    outputs.write(
      'changes',
      batch.flatMap((change) => changeRows(change, important)),
    );
  for await (const batch of snapshot.errors()) {
    const before = outputs.count('errors');
    outputs.write(
      'errors',
      batch.map((error, index) => errorRow(error, before + index + 1)),
    );
  }
}

/** The input line by line, for programs and for people; those that people have to look at are told in `errors`, too. */
async function writeInputLines(snapshot: RunSnapshot, outputs: Outputs, shape: ResultsShape): Promise<void> {
  const stages = plannedStages(snapshot.run);
  const inputs = inputColumns(snapshot.columns);
  for await (const batch of snapshot.rows()) {
    const lines = batch.map((row) => ({ row, company: companyAtAGlance(row) }));
    outputs.write(
      'rows',
      lines.map(({ row, company }) => inputRow(row, company, stages, inputs)),
    );
    outputs.write(
      'results',
      lines.map(({ row, company }) => resultRow(row, company, shape)),
    );
    const before = outputs.count('errors');
    const ended = batch.filter(({ outcome }) => outcome === 'invalid' || outcome === 'needs_review');
    outputs.write(
      'errors',
      ended.map((row, index) => endRow(row, before + index + 1)),
    );
    await outputs.drain('results');
  }
}

function writeDamaged({ damaged, damagedTexts }: RunSnapshot, outputs: Outputs, now: number): void {
  const before = outputs.count('errors');
  outputs.write('errors', [
    ...damaged.map((answer, index) => damagedRow(answer, before + index + 1)),
    ...damagedTexts.map((place, index) => damagedTextRow(place, before + damaged.length + index + 1, now)),
  ]);
}

function nothingWritten([first]: readonly Unwritten[]): KybatchError {
  return new KybatchError(`no table could be written as ${first?.format}: ${first?.reason}`, {
    code: 'NOT_WRITTEN',
    hint: 'The export before it is as it was. Another --format may do; csv needs the least memory.',
    exit: ExitCode.internal,
  });
}
