import type { Column, Row, Table } from '../../readers/table.js';
import type { ExportFormat, ExportOptions } from '../options.js';

/** A form that tables are written in. `list.ts` names them all. */
export interface Format {
  readonly name: ExportFormat;
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
}

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
