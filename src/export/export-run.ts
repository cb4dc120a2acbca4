import { constants, copyFileSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type FieldChange, fieldsOf, isImportant } from '../domain/change.js';
import { type Money, moneyOf, type Prices, purchasesOf } from '../domain/prices.js';
import type { RunSnapshot, SnapshotChange } from '../ledger/answers/snapshot.js';
import { READERS_VERSION } from '../readers/list.js';
import type { Glance } from '../readers/reader.js';
import { timestamp } from '../readers/table.js';
import { isContactName, sanitizeText, withoutEmails } from '../util/sanitize-text.js';
import { count, listed } from '../util/words.js';
import { allowanceRows } from './allowances-table.js';
import { syncFolder, writeFolder, writeJson } from './atomic-folder.js';
import { companyAtAGlance, LAST_CHANGE, NOT_COMPARED } from './company-at-a-glance.js';
import { dataPackage } from './data-package.js';
import { DATA_PACKAGE, fileSha256, isWorkbookEdited, REPORT, RESULTS_WORKBOOK, SUMMARY } from './export-folders.js';
import type { ExportOptions } from './formats/format.js';
import { withFormats } from './formats/list.js';
import { addMatch, writeGraph } from './graph.js';
import { notWritten, type OpenFormats, Outputs } from './outputs.js';
import { RECORDS, SCRATCH } from './parts.js';
import { ReportTally, reportHtml, summarySheet } from './report.js';
import { resultRow } from './results-rows.js';
import { type ResultsShape, resultsFor, resultsTable } from './results-table.js';
import {
  callRow,
  candidateRow,
  damagedAnswer,
  damagedText,
  endOfRow,
  inputColumns,
  inputRow,
  memberRow,
  plannedStages,
  watchEventRow,
  writeErrors,
} from './run-rows.js';
import { changeRows, companySpaces, importantNames, rowsTable } from './run-tables.js';
import { type ExportSummary, summarise } from './summary.js';
import { boughtTables, tablesOf } from './tables.js';
import { ALL_PARTS, type ExportParts, type PartCounts, writeAnswers } from './write-answers.js';

/** Writes the tables of a run from its stored answers, free. The folder appears when it is complete. */
export async function exportRun(
  snapshot: RunSnapshot,
  options: ExportOptions,
  parts: ExportParts = ALL_PARTS,
): Promise<ExportSummary> {
  let edited: string | null = null;
  const summary = await writeFolder(options.folder, parts.latest, async (folder) => {
    const written = await fill(folder, snapshot, options, parts);
    edited = keepEditedWorkbook(options.folder);
    return written;
  });
  if (edited !== null) parts.onKept?.(edited);
  return summary;
}

async function fill(
  folder: string,
  snapshot: RunSnapshot,
  options: ExportOptions,
  parts: ExportParts,
): Promise<ExportSummary> {
  const scratch = join(folder, SCRATCH);
  mkdirSync(scratch, { mode: 0o700 });
  const tally = new ReportTally();
  const summary = () => summarySheet(snapshot, tally);
  const target = { folder, scratch, options, questions: parts.questions, summary };
  return await withFormats(target, parts.formats, async (opened) => {
    const shape = resultsFor(snapshot.columns);
    // Parquet by country has files of its own.
    const rules = options.partitionByCountry ? undefined : parts.inParts;
    const outputs = openOutputs(snapshot, options, parts, opened, shape, rules !== undefined);
    const folders = rules === undefined ? [] : [RECORDS, ...boughtTables(parts.readers).map(({ name }) => name)];
    for (const name of folders) mkdirSync(join(folder, name), { mode: 0o700 });
    await writeRunTables(snapshot, options, outputs, parts, tally);
    const allowances = snapshot.past === null ? allowanceRows(await snapshot.allowances()) : [];
    outputs.write('allowances', allowances);
    const issues = await writeAnswers(snapshot, options, parts, outputs, folder, rules);
    // The key facts of each company are ready by now.
    await writeInputLines(snapshot, outputs, shape, tally);
    writeGraph(snapshot.graph, outputs);
    const { damaged, damagedTexts } = snapshot;
    writeErrors(outputs, [
      ...damaged.map(damagedAnswer),
      ...damagedTexts.map((text) => damagedText(text, options.now)),
    ]);
    const finished = await outputs.finish(folder);
    if (finished.resources.length === 0) throw notWritten(finished.unwritten[0]);
    // A worker may still be adding a file.
    rmSync(scratch, { recursive: true, maxRetries: 5 });
    for (const name of folders) syncFolder(join(folder, name));
    const versions = Object.assign({}, ...opened.map(({ writer }) => writer.versions)) as Record<string, string>;
    const summary = {
      ...summarise(snapshot, finished, outputs.counts(), issues, versions, options),
      allowances,
      ...(issues.parts === undefined ? {} : { parts: partsSummary(issues.parts) }),
      ...(parts.prices ? { money: await moneyOfRun(snapshot, parts.prices) } : {}),
    };
    writeJson(join(folder, DATA_PACKAGE), dataPackage(finished.resources, summary, options));
    writeJson(join(folder, SUMMARY), summary);
    writeFileSync(join(folder, REPORT), await reportHtml(snapshot, summary, tally), { mode: 0o600 });
    return summary;
  });
}

const moneyOfRun = async (snapshot: RunSnapshot, prices: Prices): Promise<Money> =>
  moneyOf(prices, { ...purchasesOf(await snapshot.charged()), units: snapshot.progress.unitsCharged });

const partsSummary = ({ written, takenOver, records }: PartCounts) => ({ written, taken_over: takenOver, records });

function openOutputs(
  { columns }: RunSnapshot,
  options: ExportOptions,
  parts: ExportParts,
  opened: OpenFormats,
  shape: ResultsShape,
  inParts: boolean,
): Outputs {
  const bought = new Set(boughtTables(parts.readers).map(({ name }) => name));
  const declared = tablesOf(parts.readers).map((table) => ({
    table: table === resultsTable ? shape.table : table,
    furtherColumns: table === rowsTable ? inputColumns(columns) : table === resultsTable ? shape.inputs : [],
    bought: bought.has(table.name),
    inParts: inParts && bought.has(table.name),
  }));
  return new Outputs(declared, opened, options.includeContacts, parts.signal);
}

async function writeRunTables(
  snapshot: RunSnapshot,
  { includeContacts }: ExportOptions,
  outputs: Outputs,
  { judge }: ExportParts,
  tally: ReportTally,
): Promise<void> {
  for await (const batch of snapshot.members()) {
    outputs.write(
      'members',
      batch.map((member) => memberRow(member, judge)),
    );
    for (const { leftAt, confirmed, ...member } of batch)
      if (leftAt !== null) addMatch(snapshot.graph, { ...member, ...confirmed });
  }
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
  const since = new ChangesSince(important);
  for await (const batch of snapshot.changes()) {
    for (const change of batch) {
      tally.addChange(change, important);
      keepLastChange(snapshot, change, since);
    }
    outputs.write(
      'changes',
      batch.flatMap((change) => changeRows(change, important)),
    );
  }
  const cells = JSON.stringify({ not_compared: 'new answers are not compared yet' } satisfies Glance);
  for await (const batch of snapshot.notCompared(READERS_VERSION))
    for (const { space, id } of batch) snapshot.keepGlances(NOT_COMPARED, space, [{ id, cells }]);
  for await (const batch of snapshot.errors()) writeErrors(outputs, batch);
}

/** Writes the input rows for programs and for people. Rows that need a person are also in `errors`. */
async function writeInputLines(
  snapshot: RunSnapshot,
  outputs: Outputs,
  shape: ResultsShape,
  tally: ReportTally,
): Promise<void> {
  const stages = plannedStages(snapshot.run);
  const inputs = inputColumns(snapshot.columns);
  for await (const batch of snapshot.rows()) {
    const lines = batch.map((row) => ({ row, company: companyAtAGlance(row) }));
    for (const { row, company } of lines) {
      tally.add(row, company);
      const { name, registrationNumber, country: countryCode } = company;
      addMatch(snapshot.graph, { ...row, name, registrationNumber, countryCode });
    }
    outputs.write(
      'rows',
      lines.map(({ row, company }) => inputRow(row, company, stages, inputs)),
    );
    outputs.write(
      'results',
      lines.map(({ row, company }) => resultRow(row, company, shape)),
    );
    const ended = batch.filter(({ outcome }) => outcome === 'invalid' || outcome === 'needs_review');
    writeErrors(outputs, ended.map(endOfRow));
    await outputs.drain('results');
  }
}

/** Changes come oldest first, so the last one stays. */
function keepLastChange(snapshot: RunSnapshot, change: SnapshotChange, since: ChangesSince): void {
  const { ids, changedAt } = change;
  const words = since.add(change);
  const at = timestamp(changedAt);
  if (at === null) return;
  const glance: Glance = { last_change: at.slice(0, 10), ...(words && { changed_since: words }) };
  const cells = JSON.stringify(glance);
  for (const space of companySpaces) {
    const id = ids[space];
    if (id !== undefined) snapshot.keepGlances(LAST_CHANGE, space, [{ id, cells }]);
  }
}

const IMPORTANT_SHOWN = 5;

/** What changed at each company since the run before, in words. It keeps no contacts. */
class ChangesSince {
  readonly #companies = new Map<string, { last: number; shown: string[]; others: number }>();

  constructor(private readonly important: ReadonlySet<string>) {}

  add({ id, ids, items, isNew }: SnapshotChange): string | undefined {
    const key = JSON.stringify(ids);
    const company = this.#companies.get(key) ?? { last: 0, shown: [], others: 0 };
    // Several rows may have the company.
    if (isNew === 1 && company.last !== id) {
      this.#companies.set(key, company);
      company.last = id;
      for (const field of items.flatMap(fieldsOf)) {
        if (field.ofItem || field.kind === 'respelled') continue;
        const isShown = isImportant(field, this.important) && !isContactName(field.column ?? '');
        if (isShown && company.shown.length < IMPORTANT_SHOWN) company.shown.push(changeInWords(field));
        else company.others += 1;
      }
    }
    const { shown, others } = company;
    const more = others > 0 && (shown.length > 0 ? `${others} more` : count(others, 'less important change'));
    return listed([...shown, more], '; ') || undefined;
  }
}

function changeInWords({ table, column, kind, oldValue, newValue }: FieldChange): string {
  const name = listed([table !== 'companies' && table, column], ' ').replaceAll('_', ' ');
  const value = (text: string | null) => (text === null ? 'not returned' : withoutEmails(sanitizeText(text, 80)));
  if (column === null) return `${name}: ${kind === 'added' ? 'new' : 'no longer returned'}`;
  return `${name}: ${value(oldValue)} → ${value(newValue)}`;
}

/**
 * People answer questions in the workbook of an export, and an export replaces its whole folder. An edited workbook is
 * kept beside the folder under a free name. Null if there is none.
 */
function keepEditedWorkbook(folder: string): string | null {
  if (!isWorkbookEdited(folder)) return null;
  const path = join(folder, RESULTS_WORKBOOK);
  for (let number = 1; ; number += 1) {
    const name = `${basename(folder)}-results-edited${number === 1 ? '' : `-${number}`}.xlsx`;
    const kept = join(dirname(folder), name);
    if (existsSync(kept)) {
      if (fileSha256(kept) === fileSha256(path)) return kept;
      continue;
    }
    copyFileSync(path, kept, constants.COPYFILE_EXCL);
    return kept;
  }
}
