import { UsageError } from '../domain/errors.js';
import { openSheet } from '../sheets/open-sheet.js';
import type { NumberedLine } from '../sheets/sheet.js';
import { SHOWN_COLUMNS, type ShownColumn } from './compare-cells.js';

/**
 * Reads a review sheet however a spreadsheet saved it: the same reader that takes analysts' files. Of a workbook, also one of
 * results, the worksheet that has our columns; `named`: another one.
 */
export async function loadSheet(path: string, named?: string): Promise<readonly SheetLine[]> {
  const sheet = await openSheet(path, columnNamed, { sheet: named, needs: NEEDED });
  const lines: NumberedLine[] = [];
  for await (const line of sheet.lines()) lines.push(line);
  return readSheet(sheet.headers, lines);
}

export interface SheetLine {
  readonly line: number;
  /** The line cannot be read at all. */
  readonly problem?: string | undefined;
  readonly question: string;
  readonly candidate: string;
  readonly decision: string;
  /** The number that the row should have, where a person knows it. */
  readonly correctedNumber: string;
  readonly decidedBy: string;
  readonly note: string;
  readonly basis: string;
  /** The file has the column `earlier`. Without it, what somebody was not sure about was filled in already, name and all. */
  readonly hasEarlier: boolean;
  /** What the person read on the line, as far as the file has the columns. */
  readonly told: ReadonlyMap<ShownColumn, string>;
}

const NEEDED = ['question', 'candidate', 'decision'] as const;
const COLUMNS = [...NEEDED, 'corrected_number', 'decided_by', 'note', 'basis', 'earlier', ...SHOWN_COLUMNS] as const;
type Column = (typeof COLUMNS)[number];

/** Which of our columns a header names; order, case and other columns do not matter. */
function columnNamed(header: string): Column | undefined {
  const name = header
    .trim()
    .toLowerCase()
    .replace(/[\s-]+/g, '_');
  return COLUMNS.find((column) => column === name);
}

/** Finds our columns among whatever else the file holds now. */
export function readSheet(headers: readonly string[], lines: readonly NumberedLine[]): readonly SheetLine[] {
  const places = placesOf(headers);
  const missing = NEEDED.filter((name) => !places.has(name));
  if (missing.length > 0) {
    throw new UsageError(
      `the file has no column ${missing.join(', ')}: it is no review sheet`,
      '`kybatch review export` writes one; its header must stay as it is.',
    );
  }
  // A column that is empty throughout was emptied, or has nothing to say.
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

/** The first column of a name counts, but a second one for what decides is refused: no choice is right. */
function placesOf(headers: readonly string[]): ReadonlyMap<Column, number> {
  const places = new Map<Column, number>();
  for (const [index, header] of headers.entries()) {
    const column = columnNamed(header);
    if (column === undefined) continue;
    const first = places.get(column);
    if (first === undefined) places.set(column, index);
    else if (NEEDED.some((name) => name === column)) {
      throw new UsageError(
        `the column ${column} appears twice, in columns ${first + 1} and ${index + 1}`,
        'Rename or remove one.',
      );
    }
  }
  return places;
}

const UNKNOWN = 'its decision is a formula that was saved without its result';

const cellIn = (cells: readonly string[], place: number | undefined): string => clean(cells[place ?? -1] ?? '');

/** The apostrophe that kept a spreadsheet from changing the cell is not part of it. */
const clean = (cell: string) => cell.trim().replace(/^'(?=[=+\-@\d])/, '');
