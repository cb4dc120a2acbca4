import type { Column, Row, Table } from '../../readers/table.js';
import type { ExportFormat, ExportOptions } from '../options.js';

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
export const isFor = ({ only }: Pick<Format, 'only'>, table: string): boolean => only?.includes(table) ?? true;

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
