import type { Column, ColumnType, Row, Table } from '../../readers/table.js';

/** A form that tables are written in. `list.ts` names them all. */
export interface Format {
  readonly name: ExportFormat;
  /** The only tables that it is for; all of them without it. */
  readonly only?: readonly string[];
  /** Throws where this machine cannot write it. */
  check?(): Promise<void>;
  /** Begins an export. */
  open(target: Target): Promise<FormatWriter>;
  /**
   * Makes lines for `append` from rows of a table of what was bought. It knows no file and may run on any thread. A
   * format without it is handed the rows.
   */
  renderer?(columns: readonly Column[], options: ExportOptions): LineRenderer;
  /** Name and properties of a table's resource in the data package. */
  resource(table: Table, columns: readonly Column[], options: ExportOptions): ResourceProperties;
}

export interface Target {
  /** Where the files go. */
  readonly folder: string;
  /** For files that are gone at the end. */
  readonly scratch: string;
  readonly options: ExportOptions;
  /** What people are asked, where the format has room for it. */
  readonly questions?: QuestionLines | undefined;
}

/** The questions that are open, a line for each candidate, as `kybatch review apply` reads them back. */
export interface QuestionLines {
  readonly columns: readonly string[];
  readonly lines: readonly (readonly string[])[];
  /** What may be filled in, by column. */
  readonly choices: Readonly<Record<string, readonly string[]>>;
  /** The columns that hold numbers of rows and lines. */
  readonly counts: readonly string[];
}

/** Whether a table is written in this format. */
export const writesTable = ({ only }: Pick<Format, 'only'>, table: string): boolean => only?.includes(table) ?? true;

export interface FormatWriter {
  /** Of the programs that write the files. */
  readonly versions: Readonly<Record<string, string>>;
  /** `byCountry`: whether the rows are of what was bought, which may be split up. */
  table(name: string, columns: readonly Column[], byCountry: boolean): TableFile;
  close(): void;
}

/** A table on its way to disk. Until it is finished there is nothing to be read. */
export interface TableFile {
  write(rows: readonly Row[], country: string | null): void;
  /** Lines that the format's renderer made, after everything written so far. */
  append?(lines: Lines): void;
  /** Until the disk has caught up: where much is written, what waits for it would be held in memory. */
  drain?(): Promise<void>;
  finish(): Promise<readonly FileFacts[]>;
}

export interface LineRenderer {
  render(rows: readonly Row[], country: string | null): string;
  /** The longest line it has made so far, in bytes; 0 where none is long enough to matter. */
  readonly longestLine: number;
}

/** Rows as the bytes that stand in the file. They may have been made on another thread. */
export interface Lines {
  readonly bytes: Uint8Array;
  readonly rows: number;
  /** In bytes; 0 where none is long enough to matter. */
  readonly longestLine: number;
}

export interface FileFacts {
  readonly path: string;
  readonly rows: number;
  readonly bytes: number;
  readonly sha256: string;
}

export interface ResourceProperties {
  readonly name: string;
  readonly properties: Readonly<Record<string, unknown>>;
}

export const EXPORT_FORMATS = ['csv', 'parquet', 'xlsx'] as const;

export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** Those that every table is written in; a workbook is for the results of a run. */
export type TableFormat = Exclude<ExportFormat, 'xlsx'>;

export interface CsvOptions {
  readonly delimiter: string;
  /** Excel reads UTF-8 only with a byte order mark. */
  readonly bom: boolean;
}

/** Zstandard makes the smallest files; readers without it know Snappy. */
export type ParquetCompression = 'zstd' | 'snappy';

/** Plain data: it goes to the second thread, too. */
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

export interface Field {
  readonly name: string;
  readonly type: string;
  readonly description: string;
}

/** A Table Schema of the data package. */
export const schemaOf = (table: Table, fields: readonly Field[]) => ({
  fields,
  missingValues: [''],
  ...(table.keyAlwaysThere ? { primaryKey: table.key } : { uniqueKeys: [table.key] }),
});

export const FIELD_TYPES: Readonly<Record<ColumnType, string>> = {
  text: 'string',
  id: 'string',
  scalar: 'string',
  value: 'string',
  text_or_list: 'string',
  json: 'string',
  number: 'number',
  integer: 'integer',
  boolean: 'boolean',
  date: 'date',
  timestamp: 'datetime',
};
