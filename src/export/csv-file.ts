import { createHash } from 'node:crypto';
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs';
import { stringify } from 'csv-stringify/sync';
import { defuse } from './formula.js';
import type { Cell, Column, ColumnType } from './table.js';
import type { FileFacts, Row, TableFile } from './table-file.js';

export interface CsvOptions {
  readonly delimiter: string;
  /** Excel reads UTF-8 only with a byte order mark. */
  readonly bom: boolean;
}

/** A table as CSV: RFC 4180, null as an empty field, an empty string as `""`. */
export class CsvFile implements TableFile {
  readonly #descriptor: number;
  readonly #names: readonly string[];
  readonly #isText: readonly boolean[];
  readonly #settings: Parameters<typeof stringify>[1];
  readonly #hash = createHash('sha256');
  #waiting: Cell[][] = [];
  #hasEmptyText = false;
  #rows = 0;
  #bytes = 0;

  constructor(
    readonly path: string,
    columns: readonly Column[],
    { delimiter, bom }: CsvOptions,
  ) {
    this.#descriptor = openSync(path, 'wx', 0o600);
    this.#names = columns.map(({ name }) => name);
    this.#isText = columns.map(({ type }) => TEXT_TYPES.has(type));
    this.#settings = { delimiter, record_delimiter: '\r\n' };
    if (bom) this.#append('\ufeff');
    this.#append(stringify([this.#names.map(defuse)], this.#settings));
  }

  write(rows: readonly Row[]): void {
    const names = this.#names;
    for (const row of rows) {
      const cells = new Array<Cell>(names.length);
      for (let i = 0; i < names.length; i++) {
        const cell = row[names[i] as string] ?? null;
        cells[i] = cell !== null && this.#isText[i] === true ? defuse(cell) : cell;
        if (cell === '') this.#hasEmptyText = true;
      }
      this.#waiting.push(cells);
    }
    if (this.#waiting.length >= ROWS_AT_ONCE) this.#flush();
  }

  async finish(): Promise<readonly FileFacts[]> {
    this.#flush();
    fsyncSync(this.#descriptor);
    closeSync(this.#descriptor);
    return [{ path: this.path, rows: this.#rows, bytes: this.#bytes, sha256: this.#hash.digest('hex') }];
  }

  #flush(): void {
    if (this.#waiting.length === 0) return;
    // `quoted_empty` would quote null, too. A pattern tells them apart, and is slow: only where there is need.
    const settings = this.#hasEmptyText ? { ...this.#settings, quoted_match: /^$/ } : this.#settings;
    this.#append(stringify(this.#waiting, settings));
    this.#rows += this.#waiting.length;
    this.#waiting = [];
    this.#hasEmptyText = false;
  }

  #append(text: string): void {
    const bytes = Buffer.from(text);
    this.#hash.update(bytes);
    this.#bytes += bytes.length;
    for (let at = 0; at < bytes.length; ) at += writeSync(this.#descriptor, bytes, at);
  }
}

const ROWS_AT_ONCE = 1000;
/** Columns that can hold anything. Numbers, dates and the like are what they are by the time they get here. */
const TEXT_TYPES: ReadonlySet<ColumnType> = new Set(['text', 'id', 'scalar', 'value', 'json']);
