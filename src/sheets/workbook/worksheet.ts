import { type CellContext, cellValue } from './cell-value.js';
import { columnIndex } from './column-index.js';
import { damagedWorkbook } from './damaged.js';
import { RichText } from './shared-strings.js';
import { isOn, walkXml } from './xml.js';
import type { Attributes, XmlHandler } from './xml-walker.js';
import type { ZipParts } from './zip-parts.js';

export interface WorksheetRow {
  /** As Excel numbers it. */
  readonly row: number;
  /** From the first column to the last that holds anything; what is between is empty. */
  readonly cells: readonly string[];
}

/** What is odd about the rows that were read. */
export interface Oddities {
  hiddenRows: number;
  /** Formulas that were saved without their result: their cells are read as empty. */
  unknownResults: number;
  /** Columns of numbers that were read as their format shows them. */
  readonly paddedColumns: Set<number>;
  /** First and last of each group. */
  readonly hiddenColumns: (readonly [number, number])[];
  /** Cells that are one, as Excel names them: `C4:C23`. Only the first of them holds anything. */
  readonly merged: string[];
}

export const noOddities = (): Oddities => ({
  hiddenRows: 0,
  unknownResults: 0,
  paddedColumns: new Set(),
  hiddenColumns: [],
  merged: [],
});

/** Streams the rows that hold anything, a chunk of the part at a time. */
export async function* readRows(
  parts: ZipParts,
  part: string,
  context: CellContext,
  oddities: Oddities = noOddities(),
): AsyncGenerator<readonly WorksheetRow[]> {
  const reader = new RowReader(context, oddities);
  for await (const _ of walkXml(parts, part, reader)) {
    const rows = reader.take();
    if (rows.length > 0) yield rows;
  }
}

/** Puts rows together from what stands in `<sheetData>`. Places that are not told follow the one before. */
class RowReader implements XmlHandler {
  readonly #context: CellContext;
  readonly #oddities: Oddities;
  readonly #inline = new RichText();
  #rows: WorksheetRow[] = [];
  #row = 0;
  #cells: string[] = [];
  #column = -1;
  #type: string | undefined;
  #style = 0;
  #stored = '';
  #hasValue = false;
  #hasFormula = false;
  /** The element whose text is gathered. */
  #within: 'none' | 'value' | 'inline' = 'none';
  #hidden = false;

  constructor(context: CellContext, oddities: Oddities) {
    this.#context = context;
    this.#oddities = oddities;
  }

  take(): readonly WorksheetRow[] {
    const rows = this.#rows;
    this.#rows = [];
    return rows;
  }

  open(name: string, attributes: Attributes): void {
    if (name === 'c') this.#openCell(attributes);
    else if (name === 'v') {
      this.#within = 'value';
      this.#hasValue = true;
    } else if (name === 'row') this.#openRow(attributes);
    else if (name === 'f') this.#hasFormula = true;
    else if (name === 'is') this.#within = 'inline';
    else if (name === 'col') this.#takeColumns(attributes);
    else if (name === 'mergeCell') this.#oddities.merged.push(attributes.ref ?? '');
    else if (this.#within === 'inline') this.#inline.open(name, attributes);
  }

  text(text: string): void {
    if (this.#within === 'value') this.#stored += text;
    else if (this.#within === 'inline') this.#inline.take(text);
  }

  close(name: string): void {
    if (name === 'c') this.#closeCell();
    else if (name === 'v') this.#within = 'none';
    else if (name === 'row') this.#closeRow();
    else if (this.#within === 'inline') {
      this.#inline.close(name);
      if (name !== 'is') return;
      this.#within = 'none';
      this.#stored = this.#inline.finish();
      this.#hasValue = true;
      this.#type = 'inline';
    }
  }

  #openRow({ r, hidden }: Attributes): void {
    const told = Number(r);
    this.#row = told > this.#row && Number.isSafeInteger(told) ? told : this.#row + 1;
    this.#hidden = isOn(hidden);
    this.#column = -1;
  }

  #closeRow(): void {
    if (this.#cells.length === 0) return;
    const { length } = this.#cells;
    // A place that was skipped is empty, not missing.
    for (let index = 0; index < length; index++) this.#cells[index] ??= '';
    this.#rows.push({ row: this.#row, cells: this.#cells });
    this.#cells = [];
    if (this.#hidden) this.#oddities.hiddenRows++;
  }

  #openCell({ r, t, s }: Attributes): void {
    this.#column = r === undefined ? this.#column + 1 : columnIndex(r);
    if (this.#column < 0) throw damagedWorkbook(this.#context.shownAs, `a cell says that it stands at ${r}`);
    this.#type = t;
    this.#style = s === undefined ? 0 : Number(s);
    this.#stored = '';
    this.#hasValue = false;
    this.#hasFormula = false;
  }

  #closeCell(): void {
    // Some programs write an empty result; one that is a text is empty indeed.
    const isUnknown = !this.#hasValue || (this.#stored.trim() === '' && this.#type !== 'str');
    if (this.#hasFormula && isUnknown) this.#oddities.unknownResults++;
    if (!this.#hasValue) return;
    const { text, padded } =
      this.#type === 'inline'
        ? { text: this.#stored, padded: false }
        : this.#stored === ''
          ? EMPTY
          : cellValue(this.#stored, this.#type, this.#style, this.#context);
    if (text === '') return;
    if (padded) this.#oddities.paddedColumns.add(this.#column);
    this.#cells[this.#column] = text;
  }

  #takeColumns({ min, max, hidden }: Attributes): void {
    if (isOn(hidden)) this.#oddities.hiddenColumns.push([Number(min) - 1, Number(max) - 1]);
  }
}

const EMPTY = { text: '', padded: false };
