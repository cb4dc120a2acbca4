import type { WorkbookBudget } from './budget.js';
import type { CellContext, StoredKind } from './cell-value.js';
import { SheetReader, type SheetTaker } from './sheet-reader.js';
import { walkXml } from './xml.js';
import type { ZipParts } from './zip-parts.js';

export interface WorksheetRow {
  /** As Excel numbers it. */
  readonly row: number;
  /** From the first column to the last that holds anything; what is between is empty. */
  readonly cells: readonly string[];
  /** As in `NumberedLine`; empty if all are text. */
  readonly kinds: string;
  /** As in `NumberedLine`. */
  readonly unknown: readonly number[];
}

/** Streams the rows that hold anything, a chunk of the part at a time. */
export async function* readRows(
  parts: ZipParts,
  part: string,
  context: CellContext,
): AsyncGenerator<readonly WorksheetRow[]> {
  const rows = new Rows(parts.budget);
  for await (const _ of walkXml(parts, part, new SheetReader(context, rows))) {
    const taken = rows.take();
    if (taken.length > 0) yield taken;
  }
}

/** Puts rows together from their cells. */
class Rows implements SheetTaker {
  #rows: WorksheetRow[] = [];
  #row = 0;
  #cells: string[] = [];
  #kinds = '';
  #unknown: readonly number[] = NONE;
  readonly #budget: WorkbookBudget;

  constructor(budget: WorkbookBudget) {
    this.#budget = budget;
  }

  take(): readonly WorksheetRow[] {
    const rows = this.#rows;
    this.#rows = [];
    return rows;
  }

  openRow(row: number): void {
    this.#row = row;
  }

  wants(): boolean {
    return true;
  }

  cell(column: number, text: string, kind: StoredKind): void {
    const cells = this.#cells;
    if (column > cells.length) this.#budget.takeElements(column - cells.length);
    // A place that was skipped is empty, not missing.
    while (cells.length < column) cells.push('');
    cells[column] = text;
    const letter = LETTERS[kind];
    if (letter !== NO_KIND || column < this.#kinds.length) this.#kinds = withKind(this.#kinds, column, letter);
  }

  unknownResult(column: number): void {
    if (this.#unknown === NONE) this.#unknown = [column];
    else if (this.#unknown.length < MOST_UNKNOWN) this.#unknown = [...this.#unknown, column];
  }

  closeRow(): void {
    const unknown = this.#unknown;
    this.#unknown = NONE;
    if (this.#cells.length === 0) return;
    this.#rows.push({ row: this.#row, cells: this.#cells, kinds: this.#kinds, unknown });
    this.#cells = [];
    this.#kinds = '';
  }
}

/** More are not told of: a row may repeat a cell without end. */
const MOST_UNKNOWN = 1_000;

/** Shared by all rows but those with such a formula, as there are millions. */
const NONE: readonly number[] = [];

const NO_KIND = '-';

/** Zeros that a format added are none of the number: it is a text from then on. */
const LETTERS: Readonly<Record<StoredKind, string>> = { text: NO_KIND, padded: NO_KIND, number: 'n', day: 'd' };

/** Cells come in the order of their columns, but for those of programs that do as they like. */
const withKind = (kinds: string, column: number, letter: string): string =>
  column < kinds.length
    ? kinds.slice(0, column) + letter + kinds.slice(column + 1)
    : kinds.padEnd(column, NO_KIND) + letter;
