import type { InputField } from '../../../../src/input/types.js';
import type { ExpectedCells, ExpectedFields, Reading } from './expected.js';
import type { Firm } from './firms.js';

/** A cell as a workbook stores it; a CSV has plain text alone. */
export interface StoredCell {
  /** What a person sees in it, and must be read. */
  readonly shown: string;
  readonly kind: 'number' | 'boolean' | 'error' | 'rich' | 'text-formula';
  /** As it stands in the file. */
  readonly stored: string;
  /** Index of a cell format, see `workbook.ts`. */
  readonly format?: number;
  readonly formula?: string;
}

export type Cell = string | StoredCell;

/** A line of a list as somebody made it, and what it truly is. */
export interface Line {
  readonly kind: 'above' | 'header' | 'company' | 'not a company' | 'blank';
  readonly cells: readonly Cell[];
  /** Where what must be read is not what stands in the cell. */
  readonly read?: ExpectedFields;
  readonly invalid?: string;
  readonly firm?: Firm;
}

export interface Column {
  readonly header: string;
  readonly field?: InputField;
  readonly cell: (firm: Firm, index: number) => Cell;
}

/** A list before it is written to a file: which column is what is known here, and nowhere else. */
export interface Page {
  readonly columns: readonly Column[];
  readonly lines: readonly Line[];
}

export interface PageOptions {
  /** Lines above the header. */
  readonly above?: readonly (readonly Cell[])[];
  /** Lines below the last company that are about nobody. */
  readonly below?: readonly (readonly Cell[])[];
  /** Changes the lines of companies, and may put others between them. */
  readonly change?: (line: Line, index: number) => Line | readonly Line[];
}

export function page(firms: readonly Firm[], columns: readonly Column[], options: PageOptions = {}): Page {
  const { above = [], below = [], change = (line: Line) => line } = options;
  const companies = firms.map(
    (firm, index): Line => ({
      kind: 'company',
      cells: columns.map(({ cell }) => cell(firm, index)),
      firm,
    }),
  );
  const lines: Line[] = [
    ...above.map((cells) => ({ kind: 'above' as const, cells })),
    { kind: 'header', cells: columns.map(({ header }) => header) },
    ...companies.flatMap((line, index) => change(line, index)),
    ...below.map((cells) => ({
      kind: cells.every((cell) => cell === '') ? ('blank' as const) : ('not a company' as const),
      cells,
    })),
  ];
  return { columns, lines };
}

const SHOWN = 10;

export const BLANK: Line = { kind: 'blank', cells: [] };

/** `numbers`: on which physical line each line of the page came to stand. */
export function readingOf({ columns, lines }: Page, numbers: readonly number[]): Reading {
  const mapped = columns.flatMap(({ field, header }) => (field === undefined ? [] : [[field, header.trim()] as const]));
  const at = lines.map((line, index) => ({ line, number: numbers[index] ?? 0 }));
  const companies = at.filter(({ line }) => line.kind === 'company');
  const others = at.filter(({ line }) => line.kind === 'not a company').map(({ number }) => number);
  const invalid = companies.flatMap(({ line, number }) =>
    line.invalid === undefined ? [] : [[String(number), line.invalid] as const],
  );
  // Of a long list the first, the last, and whatever is special: enough to see that nothing slipped.
  const shown = companies.filter(
    ({ line }, index) => index < SHOWN || index === companies.length - 1 || line.read !== undefined,
  );
  return {
    columns: Object.fromEntries(mapped),
    rows: companies.length,
    ...(others.length === 0 ? {} : { notCompanies: others }),
    ...(invalid.length === 0 ? {} : { invalid: Object.fromEntries(invalid) }),
    cells: shown
      .filter(({ line }) => line.invalid === undefined)
      .map(({ line, number }) => cellsOf(columns, line, number)),
  };
}

function cellsOf(columns: readonly Column[], line: Line, number: number): ExpectedCells {
  const written = columns.flatMap(({ field }, index) => {
    const text = shownIn(line.cells[index] ?? '').trim();
    return field === undefined || text === '' ? [] : [[field, text] as const];
  });
  return { line: number, ...Object.fromEntries(written), ...line.read };
}

export const shownIn = (cell: Cell): string => (typeof cell === 'string' ? cell : cell.shown);

/** Whom each line is about, where it is one of the sandbox's companies. */
export function companiesOf({ lines }: Page, numbers: readonly number[]): Record<string, string> {
  return Object.fromEntries(
    lines.flatMap(({ firm, kind }, index) =>
      kind === 'company' && firm?.v1Id !== undefined ? [[String(numbers[index]), firm.v1Id]] : [],
    ),
  );
}
