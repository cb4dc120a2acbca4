import { trimCell } from '../sheets/blank.js';
import type { FilledCell } from './fill-down.js';
import type { EmptiedCells, FilledCells, InputField, InputRemarks, LeftOutKind, LeftOutLine } from './types.js';

const KINDS_AT_MOST = 200;
const LINES_AT_MOST = 20;

/** `M?ller`, `?koda`, `Nestl? SA`, `MÃ¼ller`. `Who? Ltd` is a name. */
const LOST_LETTERS = /\p{L}\?\p{L}|(?<!\S)\?\p{L}|\p{Ll}\? \p{Lu}{2}|\ufffd|Ã[\u0080-\u00bf]/u;

/** Counts them as the lines go by: memory does not grow with the file. */
export class RemarksTally {
  readonly #emptied = new Map<string, EmptiedCells>();
  readonly #filled = new Map<string, FilledCells>();
  readonly #damagedNames: { row: number; line: number; text: string }[] = [];
  #damagedNameRows = 0;
  readonly #leftOut: LeftOutLine[] = [];
  #leftOutLines = 0;
  readonly #surplus: { line: number; text: string }[] = [];
  #surplusLines = 0;

  emptied(cells: readonly { readonly field: InputField; readonly text: string }[], row: number, line: number): void {
    for (const { field, text } of cells) {
      const key = `${field} ${text}`;
      const known = this.#emptied.get(key);
      if (known !== undefined) this.#emptied.set(key, { ...known, cells: known.cells + 1 });
      else if (this.#emptied.size < KINDS_AT_MOST) this.#emptied.set(key, { field, text, cells: 1, row, line });
    }
  }

  filled(cells: readonly FilledCell[], row: number, line: number): void {
    for (const { field, by, text } of cells) {
      const key = `${field} ${by} ${text}`;
      const known = this.#filled.get(key);
      if (known !== undefined) this.#filled.set(key, { ...known, cells: known.cells + 1 });
      else if (this.#filled.size < KINDS_AT_MOST) this.#filled.set(key, { field, by, text, cells: 1, row, line });
    }
  }

  /** Notes a name in which a program wrote `?` for a letter that it did not know, or read UTF-8 as another encoding. */
  name(text: string, row: number, line: number): void {
    if (!LOST_LETTERS.test(text)) return;
    this.#damagedNameRows += 1;
    if (this.#damagedNames.length < LINES_AT_MOST) this.#damagedNames.push({ row, line, text });
  }

  leftOut(kind: LeftOutKind, line: number, cells: readonly string[]): void {
    this.#leftOutLines += 1;
    if (this.#leftOut.length >= LINES_AT_MOST) return;
    this.#leftOut.push({ line, kind, text: cells.map(trimCell).find((cell) => cell !== '') ?? '' });
  }

  surplus(line: number, cells: readonly string[]): void {
    this.#surplusLines += 1;
    if (this.#surplus.length < LINES_AT_MOST)
      this.#surplus.push({
        line,
        text: cells
          .map(trimCell)
          .filter((cell) => cell !== '')
          .join(', '),
      });
  }

  all(): InputRemarks {
    const emptied = [...this.#emptied.values()].sort((a, b) => b.cells - a.cells || a.line - b.line);
    return {
      emptied,
      filled: [...this.#filled.values()],
      damagedNames: this.#damagedNames,
      damagedNameRows: this.#damagedNameRows,
      leftOut: this.#leftOut,
      leftOutLines: this.#leftOutLines,
      surplus: this.#surplus,
      surplusLines: this.#surplusLines,
    };
  }
}
