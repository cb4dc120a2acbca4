// The worksheets of a workbook, the texts and formats that they share, and their cells.

import { posix } from 'node:path';
import { builtInLook, type CellContext, cellValue, lookOf, type NumberLook, type StoredKind } from './cell-value.js';
import {
  type Attributes,
  isOn,
  LONGEST_PIECE,
  prefixed,
  RichText,
  readSharedStrings,
  readXml,
  unescaped,
  walkXml,
  type XmlHandler,
} from './xml.js';
import { damagedWorkbook, type WorkbookBudget, workbookTooLarge, type ZipParts } from './zip-parts.js';

export interface Worksheet {
  readonly name: string;
  readonly part: string;
  readonly hidden: boolean;
}

/** The worksheets of a workbook, and the parts with their texts and formats. */
export interface Contents {
  readonly worksheets: readonly Worksheet[];
  /** Days are counted from 1904, as on old Macs. */
  readonly from1904: boolean;
  readonly sharedStrings: string | undefined;
  readonly styles: string | undefined;
}

/** A limit, because each sheet is searched for a table. */
const MOST_SHEETS = 1_000;

export async function readContents(parts: ZipParts): Promise<Contents> {
  const workbook = await workbookPart(parts);
  const relations = await readRelations(parts, workbook);
  const ofKind = (kind: string) => [...relations.values()].find(({ type }) => type.endsWith(`/${kind}`))?.target;
  const worksheets: Worksheet[] = [];
  let from1904 = false;
  await readXml(parts, workbook, {
    open(name, attributes) {
      if (name === 'workbookPr') from1904 = isOn(attributes.date1904);
      if (name !== 'sheet') return;
      const relation = relations.get(prefixed(attributes, 'id') ?? '');
      // Sheets of charts and dialogues have no table.
      if (relation === undefined || !relation.type.endsWith('/worksheet')) return;
      if (worksheets.some(({ part }) => part === relation.target))
        throw damagedWorkbook(parts.shownAs, `two of its sheets are the same part, ${relation.target}`);
      if (worksheets.length >= MOST_SHEETS)
        throw damagedWorkbook(parts.shownAs, `it has more than ${MOST_SHEETS} sheets`);
      const hidden = (attributes.state ?? 'visible') !== 'visible';
      worksheets.push({ name: attributes.name ?? '', part: relation.target, hidden });
    },
  });
  return { worksheets, from1904, sharedStrings: ofKind('sharedStrings'), styles: ofKind('styles') };
}

async function workbookPart(parts: ZipParts): Promise<string> {
  if (!parts.has('_rels/.rels') && parts.has('xl/workbook.xml')) return 'xl/workbook.xml';
  const roots = await readRelations(parts, '');
  const root = [...roots.values()].find(({ type }) => type.endsWith('/officeDocument'));
  if (root === undefined) throw damagedWorkbook(parts.shownAs, 'it does not name the part that is the workbook');
  return root.target;
}

interface Relation {
  readonly type: string;
  readonly target: string;
}

/** The relations of a part. `Target` is relative to the part's folder, unless it begins with a slash. */
async function readRelations(parts: ZipParts, part: string): Promise<Map<string, Relation>> {
  const folder = posix.dirname(part);
  const relations = new Map<string, Relation>();
  const name = posix.join(folder, '_rels', `${posix.basename(part)}.rels`);
  if (!parts.has(name)) return relations;
  await readXml(parts, name, {
    open(element, { Id, Type, Target }) {
      if (element !== 'Relationship' || Id === undefined || Type === undefined || Target === undefined) return;
      const target = Target.startsWith('/') ? Target.slice(1) : posix.join(folder, Target);
      relations.set(Id, { type: Type, target });
    },
  });
  return relations;
}

export async function readContext(parts: ZipParts, contents: Contents): Promise<CellContext> {
  const strings = await readSharedStrings(parts, contents.sharedStrings);
  const styles = await readStyles(parts, contents.styles);
  return { shownAs: parts.shownAs, strings, styles, from1904: contents.from1904 };
}

async function readStyles(parts: ZipParts, part: string | undefined): Promise<readonly NumberLook[]> {
  if (part === undefined || !parts.has(part)) return [];
  const formats = new Map<number, NumberLook>();
  const formatIds: number[] = [];
  let inCells = false;
  await readXml(parts, part, {
    open(name, attributes) {
      if (name === 'cellXfs') inCells = true;
      else if (name === 'numFmt') formats.set(Number(attributes.numFmtId), lookOf(attributes.formatCode ?? ''));
      else if (name === 'xf' && inCells) formatIds.push(Number(attributes.numFmtId ?? 0));
    },
    close(name) {
      if (name === 'cellXfs') inCells = false;
    },
  });
  return formatIds.map((id) => formats.get(id) ?? builtInLook(id));
}

export interface WorksheetRow {
  readonly row: number;
  /** From the first column to the last with content. Empty cells between are empty texts. */
  readonly cells: readonly string[];
  /** As in `NumberedLine`. Empty if all are text. */
  readonly kinds: string;
  /** As in `NumberedLine`. */
  readonly unknown: readonly number[];
}

export async function* readRows(
  parts: ZipParts,
  part: string,
  context: CellContext,
): AsyncGenerator<readonly WorksheetRow[]> {
  const rows = new Rows(parts.budget);
  for await (const _ of walkXml(parts, part, new SheetReader(context, rows, parts.budget))) {
    const taken = rows.take();
    if (taken.length > 0) yield taken;
  }
}

class Rows implements SheetReceiver {
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
    // A skipped cell is empty, not missing.
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

/** A limit, because a row may repeat a cell without end. */
const MOST_UNKNOWN = 1_000;

/** Shared by all rows without such a formula, because there are millions. */
const NONE: readonly number[] = [];

const NO_KIND = '-';

/** A number to which a format added zeros is text. */
const LETTERS: Readonly<Record<StoredKind, string>> = { text: NO_KIND, padded: NO_KIND, number: 'n', day: 'd' };

/** Most programs write cells in the order of their columns, but some do not. */
const withKind = (kinds: string, column: number, letter: string): string =>
  column < kinds.length
    ? kinds.slice(0, column) + letter + kinds.slice(column + 1)
    : kinds.padEnd(column, NO_KIND) + letter;

/** Spreadsheets write no more rows, and no row has a higher number. */
const MOST_ROWS = 1_048_576;

export interface SheetReceiver {
  openRow(row: number, hidden: boolean): void;
  /** Whether the text of the next cell is needed. If not, it is not computed. */
  wants(column: number, style: number): boolean;
  cell(column: number, text: string, kind: StoredKind): void;
  closeRow(): void;
  unknownResult?(column: number): void;
  element?(name: string, attributes: Attributes): void;
}

/** Reads `<sheetData>`, and passes on the elements outside it. A cell without a place follows the previous one. */
export class SheetReader implements XmlHandler {
  readonly #context: CellContext;
  readonly #taker: SheetReceiver;
  readonly #budget: WorkbookBudget;
  readonly #inline = new RichText();
  readonly #scanned = noCell();
  #row = 0;
  #inRow = false;
  #inCell = false;
  #column = -1;
  /** The characters of the row so far. A shared text counts for each of its cells. */
  #rowText = 0;
  #type: string | undefined;
  #style = 0;
  #stored = '';
  #hasValue = false;
  #hasFormula = false;
  #within: 'none' | 'value' | 'inline' = 'none';

  constructor(context: CellContext, taker: SheetReceiver, budget: WorkbookBudget) {
    this.#context = context;
    this.#taker = taker;
    this.#budget = budget;
  }

  whole(text: string, start: number): number {
    if (!this.#inRow || this.#inCell) return 0;
    const cell = this.#scanned;
    const end = scanCell(text, start, cell);
    if (end === 0) return 0;
    const { column, style, type, from, to } = cell;
    if (type === 'shared') {
      const shared = this.#context.strings[wholeNumberAt(text, from, to)];
      // The shared text is missing. The slow path reports it.
      if (shared === undefined) return 0;
      if (shared !== '' && this.#taker.wants(column, style)) this.#pass(column, shared, 'text');
    } else if (type !== 'none' && this.#taker.wants(column, style)) {
      const stored = text.slice(from, to);
      if (type === 'inline') this.#pass(column, unescaped(stored), 'text');
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
      this.#budget.takeText(this.#rowText);
      this.#rowText = 0;
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
    const told = Number(r);
    this.#row = told > this.#row && Number.isInteger(told) ? told : this.#row + 1;
    if (this.#row > MOST_ROWS) throw workbookTooLarge(this.#context.shownAs, `a sheet has more than ${MOST_ROWS} rows`);
    this.#inRow = true;
    this.#column = -1;
    this.#taker.openRow(this.#row, isOn(hidden));
  }

  #openCell({ r, t, s }: Attributes): void {
    this.#inCell = true;
    this.#column = r === undefined ? this.#column + 1 : columnIndex(r);
    if (this.#column < 0) throw damagedWorkbook(this.#context.shownAs, `a cell has the impossible position ${r}`);
    this.#type = t;
    this.#style = s === undefined ? 0 : Number(s);
    this.#stored = '';
    this.#hasValue = false;
    this.#hasFormula = false;
  }

  #closeCell(): void {
    this.#inCell = false;
    // Some programs write an empty result. An empty text result is valid.
    const isUnknown = !this.#hasValue || (this.#stored.trim() === '' && this.#type !== 'str');
    if (this.#hasFormula && isUnknown) this.#taker.unknownResult?.(this.#column);
    if (!this.#hasValue || this.#stored === '') return;
    if (this.#type === 'inline') this.#pass(this.#column, this.#stored, 'text');
    else this.#take(this.#column, this.#stored, this.#type, this.#style);
  }

  #pass(column: number, text: string, kind: StoredKind): void {
    this.#rowText += text.length;
    this.#taker.cell(column, text, kind);
  }

  #take(column: number, stored: string, type: string | undefined, style: number): void {
    const { text, kind } = cellValue(stored, type, style, this.#context);
    if (text !== '') this.#pass(column, text, kind);
  }
}

/** The last scanned cell. One object for all cells, because there are millions. */
interface ScannedCell {
  column: number;
  style: number;
  type: 'number' | 'shared' | 'inline' | 'none';
  from: number;
  to: number;
}

export const noCell = (): ScannedCell => ({ column: -1, style: 0, type: 'none', from: 0, to: 0 });

/**
 * Scans a cell in the common form: its place, perhaps a style and a type, and a stored value without references, or
 * nothing. Returns its end. Returns 0 for any other form, or if the text ends first, so that the XML walker reads it.
 */
export function scanCell(text: string, start: number, cell: ScannedCell): number {
  if (text.charCodeAt(start + 1) !== LOWER_C || !text.startsWith(' r="', start + 2)) return 0;
  let at = start + 6;
  let column = 0;
  let code = text.charCodeAt(at);
  for (; code >= UPPER_A && code <= UPPER_Z; code = text.charCodeAt(++at)) column = column * 26 + code - 64;
  const letters = at - start - 6;
  if (letters === 0 || letters > 3 || column > MOST_COLUMNS || !isDigit(code)) return 0;
  do code = text.charCodeAt(++at);
  while (isDigit(code));
  if (code !== QUOTE) return 0;
  cell.column = column - 1;
  cell.style = 0;
  cell.type = 'number';
  code = text.charCodeAt(++at);
  if (code === BLANK && text.startsWith('s="', at + 1)) {
    at += 4;
    for (code = text.charCodeAt(at); isDigit(code); code = text.charCodeAt(++at))
      cell.style = cell.style * 10 + code - ZERO;
    if (code !== QUOTE) return 0;
    code = text.charCodeAt(++at);
  }
  if (code === BLANK) {
    if (text.startsWith('t="s"', at + 1)) {
      cell.type = 'shared';
      at += 6;
    } else if (text.startsWith('t="n"', at + 1)) at += 6;
    else if (text.startsWith('t="inlineStr"', at + 1)) {
      cell.type = 'inline';
      at += 14;
    } else return 0;
    code = text.charCodeAt(at);
  }
  if (code === SLASH && text.charCodeAt(at + 1) === GREATER) {
    cell.type = 'none';
    return at + 2;
  }
  if (code !== GREATER) return 0;
  const isInline = cell.type === 'inline';
  if (!text.startsWith(isInline ? '<is><t>' : '<v>', at + 1)) return 0;
  cell.from = at + (isInline ? 8 : 4);
  cell.to = plainEnd(text, cell.from);
  const close = isInline ? '</t></is></c>' : '</v></c>';
  return cell.to > cell.from && text.startsWith(close, cell.to) ? cell.to + close.length : 0;
}

function wholeNumberAt(text: string, from: number, to: number): number {
  if (to - from > 9) return -1;
  let number = 0;
  for (let at = from; at < to; at++) {
    const code = text.charCodeAt(at);
    if (!isDigit(code)) return -1;
    number = number * 10 + code - ZERO;
  }
  return number;
}

/** The end of literal text: at a tag, a reference, or the first half of a line end. */
function plainEnd(text: string, from: number): number {
  const { length } = text;
  for (let at = from; at < length; at++) {
    const code = text.charCodeAt(at);
    if (code === LESS || code === AMPERSAND || code === CARRIAGE_RETURN) return at;
  }
  return length;
}

const isDigit = (code: number): boolean => code >= ZERO && code <= NINE;

/** The last column is XFD. */
const MOST_COLUMNS = 16_384;

const CARRIAGE_RETURN = 13;
const BLANK = 32;
const QUOTE = 34;
const AMPERSAND = 38;
const SLASH = 47;
const ZERO = 48;
const NINE = 57;
const LESS = 60;
const GREATER = 62;
const UPPER_A = 65;
const UPPER_Z = 90;
const LOWER_C = 99;

/** The column of a place such as `AB12`, counted from 0, or -1. */
export function columnIndex(place: string): number {
  let index = 0;
  for (let at = 0; at < place.length; at++) {
    const code = place.charCodeAt(at);
    if (code >= 65 && code <= 90) index = index * 26 + code - 64;
    else if (code >= 97 && code <= 122) index = index * 26 + code - 96;
    else if (at > 0 && code >= 48 && code <= 57) return index <= MOST_COLUMNS ? index - 1 : -1;
    else return -1;
  }
  return -1;
}
