import { createHash } from 'node:crypto';
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Column, ColumnType, Row } from '../../readers/table.js';
import { withoutControls } from '../../util/sanitize-text.js';
import {
  type CsvOptions,
  FIELD_TYPES,
  type FileFacts,
  type Format,
  LineBytes,
  type LineRenderer,
  type Lines,
  schemaOf,
  type TableFile,
} from './format.js';

/** One `<table>.csv` for each table. */
export const csv: Format = {
  name: 'csv',
  async open({ folder, options }) {
    return {
      versions: {},
      table: (name, columns) => new CsvFile(join(folder, `${name}.csv`), columns, options.csv),
      close() {},
    };
  },
  renderer: (columns, options) => new CsvText(columns, options.csv),
  resource: (table, columns, options) => ({
    name: table.name,
    properties: {
      type: 'table',
      format: 'csv',
      mediatype: 'text/csv',
      encoding: 'utf-8',
      dialect: {
        delimiter: options.csv.delimiter,
        lineTerminator: '\r\n',
        quoteChar: '"',
        doubleQuote: true,
        header: true,
      },
      schema: schemaOf(
        table,
        columns.map(({ name, type, description }) => ({ name, type: FIELD_TYPES[type], description })),
        (name) => name,
      ),
    },
  }),
};

export class CsvFile implements TableFile {
  readonly #descriptor: number;
  readonly #text: CsvText;
  readonly #hash = createHash('sha256');
  #rows = 0;
  #bytes = 0;

  constructor(
    readonly path: string,
    columns: readonly Column[],
    options: CsvOptions,
  ) {
    this.#descriptor = openSync(path, 'wx', 0o600);
    this.#text = new CsvText(columns, options);
    this.#append(Buffer.from(`${options.bom ? '\ufeff' : ''}${this.#text.header()}`));
  }

  write(rows: readonly Row[]): void {
    this.#text.add(rows);
    this.#rows += rows.length;
    if (this.#text.size >= BYTES_AT_ONCE) this.#append(this.#text.take());
  }

  append({ bytes, rows }: Lines): void {
    this.#append(this.#text.take());
    this.#append(bytes);
    this.#rows += rows;
  }

  async finish(): Promise<readonly FileFacts[]> {
    this.#append(this.#text.take());
    fsyncSync(this.#descriptor);
    closeSync(this.#descriptor);
    return [{ path: this.path, rows: this.#rows, bytes: this.#bytes, sha256: this.#hash.digest('hex') }];
  }

  #append(bytes: Uint8Array): void {
    this.#hash.update(bytes);
    this.#bytes += bytes.length;
    for (let at = 0; at < bytes.length; ) at += writeSync(this.#descriptor, bytes, at);
  }
}

const BYTES_AT_ONCE = 1 << 18;

/**
 * Renders CSV: RFC 4180, null as an empty field, an empty string as `""`. The bytes are those of csv-stringify, which
 * takes twice the CPU time.
 */
export class CsvText implements LineRenderer {
  readonly longestLine = 0;
  readonly #names: readonly string[];
  readonly #isText: readonly boolean[];
  readonly #header: readonly string[];
  readonly #delimiter: string;
  readonly #lines: LineBytes;
  /** The last cell of each column and its place, because IDs and digests repeat from row to row. */
  readonly #last: (string | null)[];
  readonly #starts: number[];
  readonly #ends: number[];

  constructor(columns: readonly Column[], { delimiter, defuse = true }: Pick<CsvOptions, 'delimiter' | 'defuse'>) {
    this.#names = columns.map(({ name }) => name);
    this.#isText = columns.map(({ type }) => defuse && TEXT_TYPES.has(type));
    this.#header = this.#names.map((name) => (defuse ? escapeFormula(name) : name));
    this.#delimiter = delimiter;
    this.#lines = new LineBytes(`"${delimiter}${CONTROLS}`);
    this.#last = columns.map(() => null);
    this.#starts = columns.map(() => 0);
    this.#ends = columns.map(() => 0);
  }

  get size(): number {
    return this.#lines.size;
  }

  header(): string {
    return `${this.#header.map((name) => this.#quoted(name)).join(this.#delimiter)}\r\n`;
  }

  add(rows: readonly Row[]): void {
    for (const row of rows) this.#line(row);
  }

  take(): Uint8Array {
    this.#last.fill(null);
    return this.#lines.take();
  }

  #line(row: Row): void {
    const names = this.#names;
    const lines = this.#lines;
    const delimiter = this.#delimiter.charCodeAt(0);
    for (let i = 0; i < names.length; i++) {
      if (i > 0) lines.byte(delimiter);
      const cell = row[names[i] as string];
      if (cell === null || cell === undefined) continue;
      if (cell === this.#last[i]) {
        lines.again(this.#starts[i] as number, this.#ends[i] as number);
        continue;
      }
      this.#last[i] = cell;
      this.#starts[i] = lines.size;
      const text = this.#isText[i] === true ? escapeFormula(cell) : cell;
      if (text === '' || !lines.plain(text)) lines.any(this.#quoted(text));
      this.#ends[i] = lines.size;
    }
    lines.byte(0x0d);
    lines.byte(0x0a);
  }

  #quoted(cell: string): string {
    if (cell === '') return '""';
    const isPlain = !SPECIAL.test(cell) && !cell.includes(this.#delimiter);
    return withoutControls(isPlain ? cell : `"${cell.replaceAll('"', '""')}"`);
  }
}

/** Of ASCII. Some are written in another form. */
const CONTROLS = `${Array.from({ length: 0x20 }, (_, code) => String.fromCharCode(code)).join('')}\x7f`;

/** Every reader takes a lone CR or LF for a line end. */
const SPECIAL = /["\r\n]/;

/** Columns that can hold any text. Other types have a fixed form. */
const TEXT_TYPES: ReadonlySet<ColumnType> = new Set(['text', 'id', 'scalar', 'text_or_list', 'value', 'json']);

/** A number as people and providers write it is data, whatever its sign. So is a dash instead of a value. */
const NUMBER = /^(?:[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?|-+)$/;

/**
 * Text that a spreadsheet would run as a formula gets an apostrophe in front. `-5.20` stays `-5.20`. Some programs
 * treat full-width signs as plain ones.
 */
export function escapeFormula(text: string): string {
  switch (text.charCodeAt(0)) {
    case 0x3d: // =
    case 0x2b: // +
    case 0x2d: // -
    case 0x40: // @
    case 0x09:
    case 0x0a:
    case 0x0d:
    case 0xff1d:
    case 0xff0b:
    case 0xff0d:
    case 0xff20:
      return NUMBER.test(text) ? text : `'${text}`;
    default:
      return text;
  }
}
