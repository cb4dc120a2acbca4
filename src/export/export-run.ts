import { closeSync, fsyncSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { asFileError, asPlaceError } from '../domain/errors.js';
import type { RunSnapshot } from '../ledger/snapshot.js';
import { CsvFile, type CsvOptions } from './csv-file.js';
import { dataPackage, type Resource } from './data-package.js';
import { type Duck, openDuck } from './duck.js';
import { FiguresPool } from './figures-pool.js';
import { DATA_PACKAGE, GrowingFolder, SUMMARY } from './folder.js';
import { callRow, candidateRow, errorRow, inputColumns, inputRow, issueRow, stagesOf } from './ledger-rows.js';
import { type ParquetCompression, ParquetFile } from './parquet-file.js';
import { flatAnswers, readAnswers } from './read-answers.js';
import { type ExportSummary, summarise } from './summary.js';
import { type Column, columnsOf } from './table.js';
import type { FileFacts, Rendered, Row, TableFile } from './table-file.js';
import { type TableName, tableNames, tables } from './tables/index.js';

export type ExportFormat = 'csv' | 'parquet';

export interface ExportOptions {
  /** The folder that is to hold the tables; it is replaced as a whole. */
  readonly folder: string;
  readonly formats: readonly ExportFormat[];
  readonly csv: CsvOptions;
  readonly includeContacts: boolean;
  readonly compression?: ParquetCompression;
  /** Parquet in one folder per country. */
  readonly partitionByCountry: boolean;
  readonly now: number;
  /** Of kybatch. */
  readonly version: string;
}

/** Writes the tables of a run, from its raw bodies, for 0 units. The folder appears when everything is in it. */
export async function exportRun(snapshot: RunSnapshot, options: ExportOptions): Promise<ExportSummary> {
  const folder = openFolder(options.folder);
  try {
    const summary = await fill(folder.path, snapshot, options);
    folder.appear();
    return summary;
  } catch (error) {
    folder.abandon();
    throw asFileError(error, options.folder);
  }
}

function openFolder(path: string): GrowingFolder {
  try {
    return new GrowingFolder(path);
  } catch (error) {
    throw asPlaceError(error, `the folder ${path}`);
  }
}

async function fill(folder: string, snapshot: RunSnapshot, options: ExportOptions): Promise<ExportSummary> {
  const scratch = join(folder, '.scratch');
  mkdirSync(scratch, { mode: 0o700 });
  const duck = options.formats.includes('parquet')
    ? await openDuck({ scratch, threads: options.partitionByCountry ? 1 : 2 })
    : undefined;
  try {
    const outputs = openOutputs(folder, scratch, snapshot, options, duck);
    await writeLedgerTables(snapshot, outputs);
    const unexpectedShapes =
      (await writeAnswers(snapshot, options.includeContacts, outputs)) +
      (await writeFigures(snapshot, options, outputs));
    const resources = await finishAll(folder, outputs);
    rmSync(scratch, { recursive: true });
    const summary = summarise(snapshot, resources, outputs.counts, unexpectedShapes, duck?.version, options);
    const description = dataPackage(resources, {
      run: snapshot.run.id,
      exportedAt: summary.exported_at,
      version: options.version,
      csv: options.csv,
    });
    writeJson(join(folder, DATA_PACKAGE), description);
    writeJson(join(folder, SUMMARY), summary);
    return summary;
  } finally {
    duck?.close();
  }
}

interface Output {
  readonly columns: readonly Column[];
  readonly files: readonly { readonly format: ExportFormat; readonly file: TableFile }[];
}

/** One table after the other is written to; each knows its own files. */
class Outputs {
  readonly counts = Object.fromEntries(tableNames.map((name) => [name, 0])) as Record<TableName, number>;

  constructor(readonly byTable: Readonly<Record<TableName, Output>>) {}

  write(name: TableName, rows: readonly Row[], country: string | null = null): void {
    if (rows.length === 0) return;
    for (const { file } of this.byTable[name].files) file.write(rows, country);
    this.counts[name] += rows.length;
  }

  /** The same rows in each format. */
  append(name: TableName, rendered: Readonly<Partial<Record<ExportFormat, Rendered>>>): void {
    let rows = 0;
    for (const { format, file } of this.byTable[name].files) {
      const lines = rendered[format];
      if (lines === undefined) continue;
      file.append(lines);
      rows = lines.rows;
    }
    this.counts[name] += rows;
  }
}

/** Tables of what was bought can be split by country; those of what happened stay whole. */
const WHOLE: ReadonlySet<TableName> = new Set(['rows', 'candidates', 'calls', 'errors']);

function openOutputs(
  folder: string,
  scratch: string,
  { run }: RunSnapshot,
  options: ExportOptions,
  duck: Duck | undefined,
): Outputs {
  const open = (name: TableName): Output => {
    const declared = columnsOf(tables[name], options.includeContacts);
    const columns = name === 'rows' ? [...declared, ...inputColumns(run.columns)] : declared;
    const files: { format: ExportFormat; file: TableFile }[] = [];
    if (options.formats.includes('csv'))
      files.push({ format: 'csv', file: new CsvFile(join(folder, `${name}.csv`), columns, options.csv) });
    if (duck !== undefined) {
      const compression = options.compression ?? 'zstd';
      const byCountry = options.partitionByCountry && !WHOLE.has(name);
      const path = join(folder, byCountry ? name : `${name}.parquet`);
      files.push({
        format: 'parquet',
        file: new ParquetFile(path, name, columns, { duck, scratch, byCountry, compression }),
      });
    }
    return { columns, files };
  };
  return new Outputs(
    Object.fromEntries(tableNames.map((name) => [name, open(name)])) as unknown as Record<TableName, Output>,
  );
}

async function writeLedgerTables(snapshot: RunSnapshot, outputs: Outputs): Promise<void> {
  const stages = stagesOf(snapshot.run);
  const inputs = inputColumns(snapshot.run.columns);
  for await (const batch of snapshot.rows())
    outputs.write(
      'rows',
      batch.map((row) => inputRow(row, stages, inputs)),
    );
  for await (const batch of snapshot.candidates()) outputs.write('candidates', batch.map(candidateRow));
  for await (const batch of snapshot.calls()) outputs.write('calls', batch.map(callRow));
  for await (const batch of snapshot.errors()) {
    const before = outputs.counts.errors;
    outputs.write(
      'errors',
      batch.map((error, index) => errorRow(error, before + index + 1)),
    );
  }
}

async function writeAnswers(snapshot: RunSnapshot, includeContacts: boolean, outputs: Outputs): Promise<number> {
  let unexpectedShapes = 0;
  for await (const { gathered, origin } of readAnswers(snapshot, includeContacts)) {
    for (const name of tableNames) outputs.write(name, gathered.rows[name], origin.country);
    const before = outputs.counts.errors;
    outputs.write(
      'errors',
      gathered.issues.map((issue, index) => issueRow(issue, origin, before + index + 1)),
    );
    unexpectedShapes += gathered.issues.length;
  }
  return unexpectedShapes;
}

/** Most of an export: its lines are made on two threads. */
async function writeFigures(snapshot: RunSnapshot, options: ExportOptions, outputs: Outputs): Promise<number> {
  const pool = new FiguresPool({
    delimiter: options.formats.includes('csv') ? options.csv.delimiter : null,
    parquet: options.formats.includes('parquet') ? { byCountry: options.partitionByCountry } : null,
  });
  let unexpectedShapes = 0;
  try {
    for await (const { rendered, issues } of pool.render(flatAnswers(snapshot))) {
      outputs.append('flat_financials', rendered);
      const before = outputs.counts.errors;
      outputs.write(
        'errors',
        issues.map(({ issue, origin }, index) => issueRow(issue, origin, before + index + 1)),
      );
      unexpectedShapes += issues.length;
    }
  } finally {
    await pool.close();
  }
  return unexpectedShapes;
}

async function finishAll(folder: string, outputs: Outputs): Promise<readonly Resource[]> {
  const resources: Resource[] = [];
  const inside = (facts: FileFacts) => ({ ...facts, path: relative(folder, facts.path).split(sep).join('/') });
  for (const name of tableNames) {
    const { columns, files } = outputs.byTable[name];
    for (const { format, file } of files)
      resources.push({ table: tables[name], columns, format, files: (await file.finish()).map(inside) });
  }
  return resources;
}

function writeJson(path: string, value: unknown): void {
  const descriptor = openSync(path, 'wx', 0o600);
  writeSync(descriptor, `${JSON.stringify(value, null, 2)}\n`);
  fsyncSync(descriptor);
  closeSync(descriptor);
}
