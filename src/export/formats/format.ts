import { type Column, type ColumnType, companyKeyColumn, type Row, type Table } from '../../readers/table.js';
import type { SheetCell } from '../../sheets/xlsx/write-sheet.js';
import type { SheetChart } from '../../sheets/xlsx/write-workbook.js';

/** A file format for tables. `list.ts` names them all. */
export interface Format {
  readonly name: ExportFormat;
  readonly only?: readonly string[];
  check?(): Promise<void>;
  open(target: Target): Promise<FormatWriter>;
  /**
   * Renders the rows of a data table for `append`. It uses no file and may run on any thread. A format without it gets
   * the rows.
   */
  renderer?(columns: readonly Column[], options: ExportOptions): LineRenderer;
  resource(table: Table, columns: readonly Column[], options: ExportOptions): ResourceProperties;
}

export interface Target {
  readonly folder: string;
  readonly scratch: string;
  readonly options: ExportOptions;
  /** The review questions, if the format has room for them. */
  readonly questions?: QuestionLines | undefined;
  /** What the first sheet of a workbook says, once all rows are known. */
  readonly summary?: (() => Promise<SummarySheet>) | undefined;
}

export interface SummarySheet {
  readonly lines: readonly (readonly SheetCell[])[];
  readonly charts: readonly SheetChart[];
}

/** The open questions, one row for each candidate, in the form that `kybatch review apply` reads. */
export interface QuestionLines {
  readonly columns: readonly string[];
  readonly lines: readonly (readonly string[])[];
  readonly choices: Readonly<Record<string, readonly string[]>>;
  readonly counts: readonly string[];
  readonly hidden: readonly string[];
  /** The columns with the user's own texts, which are exported as they are. */
  readonly own: readonly string[];
}

export const writesTable = ({ only }: Pick<Format, 'only'>, table: string): boolean => only?.includes(table) ?? true;

export interface FormatWriter {
  readonly versions: Readonly<Record<string, string>>;
  /** `byCountry`: whether the table may be split by country, as data tables can. */
  table(name: string, columns: readonly Column[], byCountry: boolean): TableFile;
  close(): void;
}

/** A table being written. Nothing can be read before it is finished. */
export interface TableFile {
  write(rows: readonly Row[], country: string | null): void;
  append?(lines: Lines): void;
  /** Waits for the disk, so that pending writes do not fill the memory. */
  drain?(): Promise<void>;
  finish(): Promise<readonly FileFacts[]>;
}

export interface LineRenderer {
  add(rows: readonly Row[], country: string | null): void;
  /** The lines since the last call. They are valid until the next row. */
  take(): Uint8Array;
  /** The longest line so far, in bytes; 0 if none is long enough to matter. */
  readonly longestLine: number;
}

/** Rendered rows as bytes of the file, perhaps from another thread. */
export interface Lines {
  readonly bytes: Uint8Array;
  readonly rows: number;
  /** In bytes; 0 if none is long enough to matter. */
  readonly longestLine: number;
}

/**
 * Lines being rendered. A cell is checked and copied in one pass, because joined texts are copied again and again
 * (docs/developers/performance.md, "Export").
 */
export class LineBytes {
  #bytes = Buffer.allocUnsafeSlow(1 << 16);
  readonly #isSpecial = new Uint8Array(ASCII);
  size = 0;

  /** Cells with these characters, or with any beyond ASCII, are not plain. */
  constructor(special: string) {
    for (const character of special) this.#isSpecial[character.charCodeAt(0)] = 1;
  }

  byte(code: number): void {
    this.#room(1)[this.size++] = code;
  }

  /** Adds a plain cell. False: it is not plain, and nothing was added. */
  plain(text: string): boolean {
    const { length } = text;
    const bytes = this.#room(length);
    const isSpecial = this.#isSpecial;
    let at = this.size;
    for (let i = 0; i < length; i++) {
      const code = text.charCodeAt(i);
      if (code >= ASCII || isSpecial[code] === 1) return false;
      bytes[at++] = code;
    }
    this.size = at;
    return true;
  }

  any(text: string): void {
    this.size += this.#room(text.length * 3).write(text, this.size);
  }

  /** Adds bytes again that are among the waiting ones. */
  again(start: number, end: number): void {
    const bytes = this.#room(end - start);
    let to = this.size;
    for (let at = start; at < end; at++) bytes[to++] = bytes[at] as number;
    this.size = to;
  }

  /** Valid until the next byte. */
  take(): Uint8Array {
    const taken = this.#bytes.subarray(0, this.size);
    this.size = 0;
    return taken;
  }

  #room(more: number): Buffer {
    if (this.size + more <= this.#bytes.length) return this.#bytes;
    const larger = Buffer.allocUnsafeSlow((this.size + more) * 2);
    this.#bytes.copy(larger, 0, 0, this.size);
    this.#bytes = larger;
    return larger;
  }
}

const ASCII = 0x80;

export interface FileFacts {
  readonly path: string;
  readonly rows: number;
  readonly bytes: number;
  readonly sha256: string;
}

/** The files of one table in one format, relative to the folder. */
export interface Resource {
  readonly table: Table;
  readonly columns: readonly Column[];
  readonly format: Format;
  readonly files: readonly FileFacts[];
}

export interface ResourceProperties {
  readonly name: string;
  readonly properties: Readonly<Record<string, unknown>>;
}

export const EXPORT_FORMATS = ['csv', 'parquet', 'xlsx', 'ftm', 'bods'] as const;

export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** The formats for every table. Others are only for the results or the graph of a run. */
export type TableFormat = Exclude<ExportFormat, 'xlsx' | 'ftm' | 'bods'>;

export interface CsvOptions {
  readonly delimiter: string;
  /** Excel reads UTF-8 only with a byte order mark. */
  readonly bom: boolean;
  /** False: texts that a spreadsheet would run as a formula are written as they are. Default: they get an apostrophe. */
  readonly defuse?: boolean | undefined;
}

/** Zstandard makes the smallest files; Snappy is for readers without it. */
export type ParquetCompression = 'zstd' | 'snappy';

/** Plain data, because it is sent to the second thread too. */
export interface ExportOptions {
  readonly folder: string;
  readonly formats: readonly ExportFormat[];
  readonly csv: CsvOptions;
  readonly includeContacts: boolean;
  readonly compression?: ParquetCompression;
  readonly partitionByCountry: boolean;
  readonly now: number;
  readonly version: string;
}

export interface Field {
  readonly name: string;
  readonly type: string;
  readonly description: string;
}

/** A Table Schema of the data package. `resourceOf`: the name of another table's resource in the same format. */
export const schemaOf = (table: Table, fields: readonly Field[], resourceOf: (table: string) => string) => ({
  fields,
  missingValues: [''],
  ...(table.keyAlwaysThere ? { primaryKey: table.key } : { uniqueKeys: [table.key] }),
  ...foreignKeysOf(
    table.columns.map(({ name }) => name),
    resourceOf('entities'),
  ),
});

const ENTITY_KEYS = [companyKeyColumn.name, 'from_key', 'to_key'];

function foreignKeysOf(columns: readonly string[], entities: string) {
  const keys = ENTITY_KEYS.filter((name) => columns.includes(name));
  const reference = { resource: entities, fields: ['entity_key'] };
  return keys.length === 0 ? {} : { foreignKeys: keys.map((name) => ({ fields: [name], reference })) };
}

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
