import { stringify } from 'csv-stringify/sync';
import type { Cell, Column, ColumnType, Row } from '../../readers/table.js';
import type { LineRenderer } from './format.js';
import { defuse } from './formula.js';

/** Lines of CSV: RFC 4180, null as an empty field, an empty string as `""`. */
export class CsvText implements LineRenderer {
  readonly longestLine = 0;
  readonly #names: readonly string[];
  readonly #isText: readonly boolean[];
  readonly #settings: { readonly delimiter: string; readonly record_delimiter: string };

  constructor(columns: readonly Column[], delimiter: string) {
    this.#names = columns.map(({ name }) => name);
    this.#isText = columns.map(({ type }) => TEXT_TYPES.has(type));
    this.#settings = { delimiter, record_delimiter: '\r\n' };
  }

  header(): string {
    return stringify([this.#names.map(defuse)], { ...this.#settings, quoted_match: NEEDS_QUOTES });
  }

  render(rows: readonly Row[]): string {
    const names = this.#names;
    let needsPattern = false;
    const lines = rows.map((row) => {
      const cells = new Array<Cell>(names.length);
      for (let i = 0; i < names.length; i++) {
        const cell = row[names[i] as string] ?? null;
        cells[i] = cell !== null && this.#isText[i] === true ? defuse(cell) : cell;
        if (typeof cell === 'string' && (cell === '' || cell.includes('\n') || cell.includes('\r')))
          needsPattern = true;
      }
      return cells;
    });
    // A pattern is slow: only where there is need.
    const text = stringify(lines, needsPattern ? { ...this.#settings, quoted_match: NEEDS_QUOTES } : this.#settings);
    // Many CSV readers end a file, or a cell, at a NUL. The raw answer keeps it.
    return text.includes('\0') ? text.replaceAll('\0', '\ufffd') : text;
  }
}

/**
 * What the library leaves bare: an empty text, because `quoted_empty` would quote null, too; and half a line end, which it takes
 * for no line end beside `\r\n`, and every reader for one.
 */
const NEEDS_QUOTES = /^$|[\r\n]/;

/** Columns that can hold anything. Numbers, dates and the like are what they are by the time they get here. */
const TEXT_TYPES: ReadonlySet<ColumnType> = new Set(['text', 'id', 'scalar', 'text_or_list', 'value', 'json']);
