import { workbookTooLarge } from './budget.js';
import { type CellContext, cellValue, type StoredKind } from './cell-value.js';
import { columnIndex } from './column-index.js';
import { damagedWorkbook } from './damaged.js';
import { noCell, scanCell, wholeNumberAt } from './scan-cell.js';
import { RichText, unescaped } from './shared-strings.js';
import { isOn } from './xml.js';
import { type Attributes, LONGEST_PIECE, type XmlHandler } from './xml-walker.js';

/** No spreadsheet writes more of them. */
const MOST_ROWS = 1_048_576;

/** Who takes what a worksheet holds. */
export interface SheetTaker {
  openRow(row: number, hidden: boolean): void;
  /** Whether anything hangs on the text of the cell that comes: if not, it is not worked out. */
  wants(column: number, style: number): boolean;
  /** A cell that is not empty. */
  cell(column: number, text: string, kind: StoredKind): void;
  closeRow(): void;
  /** A formula that was saved without its result. */
  unknownResult?(column: number): void;
  /** What stands beside the rows. */
  element?(name: string, attributes: Attributes): void;
}

/** Reads what stands in `<sheetData>`, and hands on what is beside it. Places that are not told follow the one before. */
export class SheetReader implements XmlHandler {
  readonly #context: CellContext;
  readonly #taker: SheetTaker;
  readonly #inline = new RichText();
  readonly #scanned = noCell();
  #row = 0;
  #rows = 0;
  #inRow = false;
  #inCell = false;
  #column = -1;
  #type: string | undefined;
  #style = 0;
  #stored = '';
  #hasValue = false;
  #hasFormula = false;
  /** The element whose text is gathered. */
  #within: 'none' | 'value' | 'inline' = 'none';

  constructor(context: CellContext, taker: SheetTaker) {
    this.#context = context;
    this.#taker = taker;
  }

  whole(text: string, start: number): number {
    if (!this.#inRow || this.#inCell) return 0;
    const cell = this.#scanned;
    const end = scanCell(text, start, cell);
    if (end === 0) return 0;
    const { column, style, type, from, to } = cell;
    if (type === 'shared') {
      const shared = this.#context.strings[wholeNumberAt(text, from, to)];
      // What it refers to is missing: that is told where cells are walked through.
      if (shared === undefined) return 0;
      if (shared !== '' && this.#taker.wants(column, style)) this.#taker.cell(column, shared, 'text');
    } else if (type !== 'none' && this.#taker.wants(column, style)) {
      const stored = text.slice(from, to);
      if (type === 'inline') this.#taker.cell(column, unescaped(stored), 'text');
      else this.#take(column, stored, undefined, style);
    }
    this.#column = column;
    return end;
  }

  open(name: string, attributes: Attributes): void {
    if (name === 'c') this.#openCell(attributes);
    else if (name === 'v') {
      this.#within = 'value';
      this.#hasValue = true;
    } else if (name === 'row') this.#openRow(attributes);
    else if (name === 'f') this.#hasFormula = true;
    else if (name === 'is') this.#within = 'inline';
    else if (this.#within === 'inline') this.#inline.open(name, attributes);
    else if (!this.#inRow) this.#taker.element?.(name, attributes);
  }

  text(text: string): void {
    if (this.#within === 'value') {
      this.#stored += text;
      if (this.#stored.length > LONGEST_PIECE) throw new Error('the text of a cell is too long');
    } else if (this.#within === 'inline') this.#inline.take(text);
  }

  close(name: string): void {
    if (name === 'c') this.#closeCell();
    else if (name === 'v') this.#within = 'none';
    else if (name === 'row') {
      this.#inRow = false;
      this.#taker.closeRow();
    } else if (this.#within === 'inline') {
      this.#inline.close(name);
      if (name !== 'is') return;
      this.#within = 'none';
      this.#stored = this.#inline.finish();
      this.#hasValue = true;
      this.#type = 'inline';
    }
  }

  #openRow({ r, hidden }: Attributes): void {
    if (++this.#rows > MOST_ROWS)
      throw workbookTooLarge(this.#context.shownAs, `a sheet has more than ${MOST_ROWS} rows`);
    const told = Number(r);
    this.#row = told > this.#row && Number.isSafeInteger(told) ? told : this.#row + 1;
    this.#inRow = true;
    this.#column = -1;
    this.#taker.openRow(this.#row, isOn(hidden));
  }

  #openCell({ r, t, s }: Attributes): void {
    this.#inCell = true;
    this.#column = r === undefined ? this.#column + 1 : columnIndex(r);
    if (this.#column < 0) throw damagedWorkbook(this.#context.shownAs, `a cell says that it stands at ${r}`);
    this.#type = t;
    this.#style = s === undefined ? 0 : Number(s);
    this.#stored = '';
    this.#hasValue = false;
    this.#hasFormula = false;
  }

  #closeCell(): void {
    this.#inCell = false;
    // Some programs write an empty result; one that is a text is empty indeed.
    const isUnknown = !this.#hasValue || (this.#stored.trim() === '' && this.#type !== 'str');
    if (this.#hasFormula && isUnknown) this.#taker.unknownResult?.(this.#column);
    if (!this.#hasValue || this.#stored === '') return;
    if (this.#type === 'inline') this.#taker.cell(this.#column, this.#stored, 'text');
    else this.#take(this.#column, this.#stored, this.#type, this.#style);
  }

  #take(column: number, stored: string, type: string | undefined, style: number): void {
    const { text, kind } = cellValue(stored, type, style, this.#context);
    if (text !== '') this.#taker.cell(column, text, kind);
  }
}
