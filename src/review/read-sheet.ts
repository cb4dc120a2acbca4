import { UsageError } from '../domain/errors.js';
import { openSheet } from '../sheets/open-sheet.js';
import type { NumberedLine } from '../sheets/sheet.js';
import { headingOf, type ReviewColumn, SHOWN_COLUMNS, type ShownColumn } from './sheet-columns.js';

/**
 * Reads a review sheet in any form a spreadsheet saves, with the reader for input files. In a workbook, also of
 * results, it finds the worksheet with our columns. `named`: another worksheet.
 */
export async function loadSheet(path: string, named?: string): Promise<readonly SheetLine[]> {
  const sheet = await openSheet(path, columnNamed, { sheet: named, needs: NEEDED });
  const lines: NumberedLine[] = [];
  for await (const line of sheet.lines()) lines.push(line);
  return readSheet(sheet.headers, lines);
}

export interface SheetLine {
  readonly line: number;
  readonly problem?: string | undefined;
  readonly question: string;
  readonly candidate: string;
  readonly decision: string;
  /** The corrected number of the row, if a person knows it. */
  readonly correctedNumber: string;
  readonly decidedBy: string;
  readonly note: string;
  readonly basis: string;
  /** The file has the column `earlier`. Older files had the name of an unsure person filled in already. */
  readonly hasEarlier: boolean;
  /** The visible cells of the line, as far as the file has the columns. */
  readonly told: ReadonlyMap<ShownColumn, string>;
}

const NEEDED = ['question', 'candidate', 'decision'] as const satisfies readonly ReviewColumn[];
const OTHERS = [
  'corrected_number',
  'decided_by',
  'note',
  'basis',
  'earlier',
] as const satisfies readonly ReviewColumn[];
const COLUMNS = [...NEEDED, ...OTHERS, ...SHOWN_COLUMNS] as const;
type Column = (typeof COLUMNS)[number];

/** Our column for a heading, also of an older sheet. Order, case and other columns do not matter. */
function columnNamed(header: string): Column | undefined {
  const name = folded(header);
  return COLUMNS.find((column) => column === name || folded(headingOf(column)) === name);
}

const folded = (header: string): string =>
  header
    .trim()
    .toLowerCase()
    .replace(/[\s-]+/g, '_');

export function readSheet(headers: readonly string[], lines: readonly NumberedLine[]): readonly SheetLine[] {
  const places = placesOf(headers);
  const missing = NEEDED.filter((name) => !places.has(name));
  if (missing.length > 0) {
    throw new UsageError(
      'NOT_A_REVIEW_SHEET',
      `not a review sheet. Missing columns: ${missing.map(headingOf).join(', ')}`,
      'Write a new sheet: `kybatch review export`',
    );
  }
  // A column that is empty throughout was emptied or has no content.
  const told = SHOWN_COLUMNS.filter((column) => lines.some(({ cells }) => cellIn(cells, places.get(column)) !== ''));
  return lines.map(({ line, cells, problem, unknown = [] }) => {
    const cell = (column: Column) => cellIn(cells, places.get(column));
    return {
      line,
      problem: problem?.message ?? (unknown.includes(places.get('decision') ?? -1) ? UNKNOWN : undefined),
      question: cell('question'),
      candidate: cell('candidate'),
      decision: cell('decision'),
      correctedNumber: cell('corrected_number'),
      decidedBy: cell('decided_by'),
      note: cell('note'),
      basis: cell('basis'),
      hasEarlier: places.has('earlier'),
      told: new Map(told.map((column) => [column, cell(column)])),
    };
  });
}

/** The first column of a name counts. A second `decision` column is refused, because either choice may be wrong. */
function placesOf(headers: readonly string[]): ReadonlyMap<Column, number> {
  const places = new Map<Column, number>();
  for (const [index, header] of headers.entries()) {
    const column = columnNamed(header);
    if (column === undefined) continue;
    const first = places.get(column);
    if (first === undefined) places.set(column, index);
    else if (NEEDED.some((name) => name === column)) {
      throw new UsageError(
        'COLUMN_REPEATED',
        `the column ${headingOf(column)} appears twice, in columns ${first + 1} and ${index + 1}`,
        'Rename or remove one.',
      );
    }
  }
  return places;
}

const UNKNOWN = 'the decision is a formula without a stored result. Type the decision instead';

const cellIn = (cells: readonly string[], place: number | undefined): string => clean(cells[place ?? -1] ?? '');

/** The apostrophe that protects a cell from the spreadsheet is not part of it. */
const clean = (cell: string) => cell.trim().replace(/^'(?=[=+\-@\d])/, '');
