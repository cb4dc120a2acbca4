import type { CellContext, StoredKind } from './cell-value.js';
import { SheetReader, type SheetTaker } from './sheet-reader.js';
import { walkXml } from './xml.js';
import type { ZipParts } from './zip-parts.js';

export interface WorksheetRow {
  /** As Excel numbers it. */
  readonly row: number;
  /** From the first column to the last that holds anything; what is between is empty. */
  readonly cells: readonly string[];
}

/** Streams the rows that hold anything, a chunk of the part at a time. */
export async function* readRows(
  parts: ZipParts,
  part: string,
  context: CellContext,
): AsyncGenerator<readonly WorksheetRow[]> {
  const rows = new Rows();
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

  cell(column: number, text: string, _kind: StoredKind): void {
    const cells = this.#cells;
    // A place that was skipped is empty, not missing.
    while (cells.length < column) cells.push('');
    cells[column] = text;
  }

  closeRow(): void {
    if (this.#cells.length === 0) return;
    this.#rows.push({ row: this.#row, cells: this.#cells });
    this.#cells = [];
  }
}
