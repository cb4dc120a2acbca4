import { UsageError } from '../domain/errors.js';

/** A line of the file as it came back, cells by position. */
export interface RawLine {
  readonly line: number;
  readonly values: readonly string[];
  /** The line cannot be read at all. */
  readonly problem?: string | undefined;
}

export interface SheetLine {
  readonly line: number;
  readonly problem?: string | undefined;
  readonly question: string;
  readonly candidate: string;
  readonly decision: string;
  readonly decidedBy: string;
  readonly note: string;
  readonly basis: string;
}

const NEEDED = ['question', 'candidate', 'decision'] as const;

/** Finds our columns among whatever else the file holds now; order and case do not matter. */
export function readSheet(columns: readonly string[], lines: readonly RawLine[]): readonly SheetLine[] {
  const places = new Map<string, number>();
  for (const [index, column] of columns.entries()) {
    const name = fold(column);
    if (!places.has(name)) places.set(name, index);
  }
  const missing = NEEDED.filter((name) => !places.has(name));
  if (missing.length > 0) {
    throw new UsageError(
      `the file has no column ${missing.join(', ')}: it is no review sheet`,
      '`kybatch review export` writes one; its header must stay as it is.',
    );
  }
  return lines.map(({ line, values, problem }) => {
    const cell = (name: string) => clean(values[places.get(name) ?? -1] ?? '');
    return {
      line,
      problem,
      question: cell('question'),
      candidate: cell('candidate'),
      decision: cell('decision'),
      decidedBy: cell('decided_by'),
      note: cell('note'),
      basis: cell('basis'),
    };
  });
}

const fold = (header: string) =>
  header
    .trim()
    .toLowerCase()
    .replace(/[\s-]+/g, '_');

/** The apostrophe that kept a spreadsheet from changing the cell is not part of it. */
const clean = (cell: string) => cell.trim().replace(/^'(?=[=+\-@\d])/, '');
