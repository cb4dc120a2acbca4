import type { Cell, Column, ColumnType, Row } from '../../readers/table.js';
import { fitsSmall, largeDecimal } from './decimal-columns.js';
import type { LineRenderer } from './format.js';

export const DECIMAL_TYPES: ReadonlySet<ColumnType> = new Set(['number', 'scalar', 'value']);

/** What is shorter is not measured: nothing has to be arranged for it. */
const LONG_LINE = 1024;

/** Lines of the text that DuckDB makes Parquet from: each number is followed by the two forms of its decimal. */
export class ParquetText implements LineRenderer {
  /** In bytes; 0 while there is none of more than `LONG_LINE` characters. */
  longestLine = 0;
  readonly #names: readonly string[];
  readonly #isDecimal: readonly boolean[];
  readonly #byCountry: boolean;

  constructor(columns: readonly Column[], byCountry: boolean) {
    this.#names = columns.map(({ name }) => name);
    this.#isDecimal = columns.map(({ type }) => DECIMAL_TYPES.has(type));
    this.#byCountry = byCountry;
  }

  render(rows: readonly Row[], country: string | null): string {
    let text = '';
    for (const row of rows) {
      const line = this.#line(row, country);
      if (line.length > LONG_LINE) this.longestLine = Math.max(this.longestLine, Buffer.byteLength(line));
      text += line;
    }
    return text;
  }

  #line(row: Row, country: string | null): string {
    let line = '';
    for (let i = 0; i < this.#names.length; i++) {
      const cell = row[this.#names[i] as string] ?? null;
      if (i > 0) line += ',';
      if (cell !== null) line += quoted(cell);
      if (this.#isDecimal[i] === true) line += decimals(cell);
    }
    return this.#byCountry ? `${line},${quoted(country ?? 'unknown')}\n` : `${line}\n`;
  }
}

/** Quotes tell an empty text from null. */
const SPECIAL = /[",\r\n]/;
const quoted = (cell: string): string => (cell === '' || SPECIAL.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);

function decimals(cell: Cell): string {
  if (cell === null) return ',,';
  if (fitsSmall(cell)) return `,${cell},`;
  return `,,${largeDecimal(cell) ?? ''}`;
}
