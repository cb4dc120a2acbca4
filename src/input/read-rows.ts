// Reads the rows of a list: fills ditto marks and merged cells, skips lines that are not companies, collects remarks.

import { isBlank, type MergedRows, type NumberedLine, type OnProgress, type Sheet, trimCell } from '../sheets/sheet.js';
import { isFilled } from './column-content.js';
import { indicesIn, isDitto, isHeadings } from './field-text.js';
import type { UnreadLeads } from './header-meaning.js';
import { headingIn, nonCompanyLineDetector, remarkDetector } from './non-company-lines.js';
import type {
  EmptiedCells,
  FilledBy,
  FilledCells,
  InputField,
  InputRemarks,
  InputRow,
  InputTable,
  LeftOutKind,
  LeftOutLine,
} from './types.js';
import { CELLS_MAY_BE_SHIFTED, validateRow } from './validate-row.js';

export function rowsIn(
  sheet: Sheet,
  mapping: InputTable['mapping'],
  unread: UnreadLeads,
  country: string | null,
): Pick<InputTable, 'rows' | 'remarks'> {
  let latest = new RemarksTally();
  const rows: InputTable['rows'] = (onShare) => {
    latest = new RemarksTally();
    return readRows(sheet, mapping, unread, country, latest, onShare);
  };
  return { rows, remarks: () => latest.all() };
}

async function* readRows(
  sheet: Sheet,
  mapping: InputTable['mapping'],
  unread: UnreadLeads,
  country: string | null,
  remarks: RemarksTally,
  onShare: OnProgress | undefined,
): AsyncGenerator<InputRow, void, undefined> {
  const leftOut = nonCompanyLineDetector(sheet.headers, mapping);
  const fillDown = new FillDown(mapping, sheet.merged ?? [], sheet.headers.length);
  const isRemark = remarkDetector(mapping);
  let row = 0;
  const read = function* (line: NumberedLine, other: LeftOutKind | undefined): Generator<InputRow, void, undefined> {
    const kind = fillDown.takesHeading(line, other) ? 'heading' : other;
    if (kind !== undefined) {
      remarks.leftOut(kind, line.line, line.cells);
      return;
    }
    const whole = fillDown.read(line);
    const judged = validateRow(line, ++row, mapping, unread, whole.country ?? country, whole.cells);
    if (judged.problem === undefined) remarks.filled(whole.filled, row, line.line);
    remarks.name(judged.fields.name ?? '', row, line.line);
    if (judged.emptied !== undefined) remarks.emptied(judged.emptied, row, line.line);
    // An invalid row reports this itself.
    if (line.surplus !== undefined && judged.problem === undefined) remarks.surplus(line.line, line.surplus);
    yield judged;
  };
  // The last lines, as long as no row follows them.
  let held: NumberedLine[] = [];
  let isTable = false;
  for await (const line of sheet.lines(onShare)) {
    isTable ||= line.cells.filter((cell) => !isBlank(cell)).length > 1;
    const mayEnd = isTable && held.length < REMARKS_AT_MOST;
    if (mayEnd && (isRemark(line) || (held.length > 0 && leftOut(line) !== undefined))) {
      held.push(line);
      continue;
    }
    for (const before of held) yield* read(before, leftOut(before));
    held = [];
    yield* read(line, leftOut(line));
  }
  for (const line of held) yield* read(line, leftOut(line) ?? (isRemark(line) ? 'footer' : undefined));
}

/** More lines of one cell are a list. */
const REMARKS_AT_MOST = 10;

/**
 * Fields that lists write once for several rows. Numbers and keys are never filled, because they belong to one company.
 */
const PLACES = ['country', 'state', 'city'] as const satisfies InputField[];

export type FilledCell = Pick<FilledCells, 'field' | 'by' | 'text'>;

/** A line after filling from the lines above. Its own cells stay unchanged. */
interface FilledLine {
  readonly cells: readonly string[];
  readonly filled: readonly FilledCell[];
  readonly country?: string;
}

/** Fills ditto marks, cells merged over several rows, and countries of group headings. Lines come in order. */
class FillDown {
  readonly #columns: ReadonlyMap<number, InputField>;
  readonly #numbers: readonly number[];
  /** By column, in row order. Ranges that end above the line are removed. */
  readonly #merged = new Map<number, (MergedRows & { text?: string })[]>();
  readonly #above = new Map<number, string>();
  readonly #hasHeadings: boolean;
  readonly #codes: readonly number[];
  readonly #width: number;
  #heading: string | undefined;

  constructor(mapping: InputTable['mapping'], merged: readonly MergedRows[], width: number) {
    const places = PLACES.flatMap((field) => indicesIn(mapping[field] ?? []).map((index) => [index, field] as const));
    const names = indicesIn(mapping.name ?? []).map((index) => [index, 'name'] as const);
    this.#columns = new Map([...names, ...places]);
    this.#numbers = [mapping.registration_number, mapping.vat_number].flatMap((source) => indicesIn(source ?? []));
    for (const index of this.#columns.keys()) {
      const ranges = merged.filter(({ column }) => column === index).sort((a, b) => a.first - b.first);
      if (ranges.length > 0)
        this.#merged.set(
          index,
          ranges.map((range) => ({ ...range })),
        );
    }
    this.#hasHeadings = isHeadings(mapping.country);
    this.#codes = [...this.#numbers, ...indicesIn(mapping.id ?? [])];
    this.#width = width;
  }

  /**
   * Whether the line is a heading with the country of the rows below. Any other line of one text ends the group, so that
   * a heading in an unknown style never gives its rows the country of the group above. It stays a row unless it is
   * left out (`kind`), because it may be a company. A plain subtotal ends no group.
   */
  takesHeading({ cells, surplus }: NumberedLine, kind: LeftOutKind | undefined): boolean {
    if (!this.#hasHeadings || surplus !== undefined) return false;
    const filled = cells.flatMap((cell, index) => (isBlank(cell) ? [] : [index]));
    const [at = -1] = filled;
    const text = cells[at] ?? '';
    if (filled.length !== 1 || (this.#codes.includes(at) && isCode(text))) return false;
    const heading = headingIn(cells, this.#width);
    if (heading !== undefined || (kind !== undefined && kind !== 'totals' && /\p{L}/u.test(text)))
      this.#heading = heading?.country;
    return heading?.country !== undefined;
  }

  read({ line, cells, problem }: NumberedLine): FilledLine {
    if (problem !== undefined && CELLS_MAY_BE_SHIFTED[problem.code]) {
      this.#above.clear();
      return { cells, filled: [] };
    }
    const filled: FilledCell[] = [];
    let told = cells;
    const fill = (index: number, by: FilledBy, text: string) => {
      const field = this.#columns.get(index);
      if (field === undefined) return;
      told = told.with(index, text);
      if (text !== '') filled.push({ field, by, text });
    };
    this.#fillMerged(line, cells, fill);
    for (const [index, field] of this.#columns) {
      if (field === 'name') continue;
      const above = this.#above.get(index);
      // Below a damaged line the meaning is unknown: the mark stays, and is not a country.
      if (isDitto(told[index] ?? '')) {
        if (above !== undefined) fill(index, 'ditto', above);
      } else this.#above.set(index, trimCell(told[index] ?? ''));
    }
    const heading = this.#heading;
    if (heading === undefined) return { cells: told, filled };
    return { cells: told, filled: [...filled, { field: 'country', by: 'heading', text: heading }], country: heading };
  }

  #fillMerged(line: number, cells: readonly string[], fill: (index: number, by: FilledBy, text: string) => void): void {
    for (const [column, ranges] of this.#merged) {
      while ((ranges[0]?.last ?? line) < line) ranges.shift();
      const [range] = ranges;
      if (range === undefined || range.first > line) continue;
      if (range.first === line) range.text = trimCell(cells[column] ?? '');
      else if (isBlank(cells[column] ?? '') && this.#mayFill(column, cells)) fill(column, 'merged', range.text ?? '');
    }
  }

  /** A name is filled into a further row only if that row has its own number. */
  #mayFill(column: number, cells: readonly string[]): boolean {
    return this.#columns.get(column) !== 'name' || this.#numbers.some((index) => isFilled(cells[index] ?? ''));
  }
}

/** A key or number is a row of its own: `K017`, `HRB 9988`. `Page 2: France` has more letters. */
const isCode = (text: string): boolean =>
  text.replace(/\P{N}/gu, '').length >= Math.max(1, text.replace(/\P{L}/gu, '').length);

const KINDS_AT_MOST = 200;
const LINES_AT_MOST = 20;

/** `M?ller`, `?koda`, `Nestl? SA`, `MÃ¼ller`. `Who? Ltd` is a name. */
const LOST_LETTERS = /\p{L}\?\p{L}|(?<!\S)\?\p{L}|\p{Ll}\? \p{Lu}{2}|\ufffd|Ã[\u0080-\u00bf]/u;

/** Counts remarks line by line, so that memory does not grow with the file. */
export class RemarksTally {
  readonly #emptied = new Map<string, EmptiedCells>();
  readonly #filled = new Map<string, FilledCells>();
  readonly #damagedNames = new FirstLines<InputRemarks['damagedNames'][number]>();
  readonly #leftOut = new FirstLines<LeftOutLine>();
  readonly #surplus = new FirstLines<InputRemarks['surplus'][number]>();

  emptied(cells: readonly { readonly field: InputField; readonly text: string }[], row: number, line: number): void {
    for (const { field, text } of cells)
      countIn(this.#emptied, `${field} ${text}`, { field, text, cells: 1, row, line });
  }

  filled(cells: readonly FilledCell[], row: number, line: number): void {
    for (const { field, by, text } of cells)
      countIn(this.#filled, `${field} ${by} ${text}`, { field, by, text, cells: 1, row, line });
  }

  /** Notes a name in which a program wrote `?` for an unknown letter, or read UTF-8 as another encoding. */
  name(text: string, row: number, line: number): void {
    if (LOST_LETTERS.test(text)) this.#damagedNames.add(() => ({ row, line, text }));
  }

  leftOut(kind: LeftOutKind, line: number, cells: readonly string[]): void {
    this.#leftOut.add(() => ({ line, kind, text: filledTexts(cells)[0] ?? '' }));
  }

  surplus(line: number, cells: readonly string[]): void {
    this.#surplus.add(() => ({ line, text: filledTexts(cells).join(', ') }));
  }

  all(): InputRemarks {
    const emptied = [...this.#emptied.values()].sort((a, b) => b.cells - a.cells || a.line - b.line);
    return {
      emptied,
      filled: [...this.#filled.values()],
      damagedNames: this.#damagedNames.first,
      damagedNameRows: this.#damagedNames.count,
      leftOut: this.#leftOut.first,
      leftOutLines: this.#leftOut.count,
      surplus: this.#surplus.first,
      surplusLines: this.#surplus.count,
    };
  }
}

const filledTexts = (cells: readonly string[]): readonly string[] => cells.map(trimCell).filter((cell) => cell !== '');

function countIn<T extends EmptiedCells>(kinds: Map<string, T>, key: string, one: T): void {
  const known = kinds.get(key);
  if (known !== undefined) kinds.set(key, { ...known, cells: known.cells + 1 });
  else if (kinds.size < KINDS_AT_MOST) kinds.set(key, one);
}

class FirstLines<T> {
  readonly first: T[] = [];
  count = 0;

  add(line: () => T): void {
    this.count += 1;
    if (this.first.length < LINES_AT_MOST) this.first.push(line());
  }
}
