// Checks each line of a table for problems.

import type { RawRecord } from './csv/records.js';
import { isBlank, type LineProblem, type NumberedLine } from './sheet.js';

/** DOS programs end a text with it. */
const END_OF_DOS_FILE = '\x1a';

const MAX_CELL_CHARACTERS = 10_000;

export interface LineRules {
  readonly headers: readonly string[];
  /** A line may leave out the columns after this many, which have no header. */
  readonly minCells: number;
  readonly delimiter: string;
  /** The file has bytes that are not valid in its encoding. They were read as U+FFFD. */
  readonly damaged: boolean;
}

/** The line of a record, or undefined for a blank one. `cells` is missing if the record is broken. */
export function checkLine(
  record: RawRecord,
  cells: readonly string[] | undefined,
  rules: LineRules,
): NumberedLine | undefined {
  const { line } = record;
  const width = rules.headers.length;
  if (record.problem !== undefined || cells === undefined) {
    const pieces = padOrCut(record.text === '' ? [] : record.text.split(rules.delimiter), width);
    return { line, cells: pieces, ...(record.problem && { problem: record.problem }) };
  }
  if (record.text === END_OF_DOS_FILE || cells.every(isBlank)) return undefined;
  const fitted = padOrCut(cells, width);
  const problem = raggedness(cells, rules) ?? unreadable(record.text, fitted, rules);
  if (problem === undefined) return { line, cells: fitted };
  const surplus = cells.slice(width);
  return { line, cells: fitted, ...(!surplus.every(isBlank) && { surplus }), problem };
}

/** Cells beyond the headers are accepted if they are blank, as spreadsheets leave them. */
function raggedness(cells: readonly string[], { headers, minCells }: LineRules): LineProblem | undefined {
  if (cells.length >= minCells && cells.length <= headers.length) return undefined;
  if (cells.length > headers.length && cells.slice(headers.length).every(isBlank)) return undefined;
  return {
    code: 'RAGGED',
    message: `the row has ${cells.length === 1 ? '1 cell' : `${cells.length} cells`}, the header ${headers.length}`,
  };
}

function unreadable(text: string, cells: readonly string[], { headers, damaged }: LineRules): LineProblem | undefined {
  if (text.includes('\0')) return NUL_CHARACTER;
  if (damaged && text.includes('\ufffd')) {
    return {
      code: 'BAD_ENCODING',
      message:
        'the row has bytes that are not valid in the encoding of the file. Name another encoding with --encoding',
    };
  }
  return text.length <= MAX_CELL_CHARACTERS ? undefined : tooLongCell(cells, headers);
}

const NUL_CHARACTER: LineProblem = { code: 'NUL_CHARACTER', message: 'the row has a NUL character' };

/** The problem of a workbook's row, whose cells need no parsing. */
export function cellProblem(cells: readonly string[], headers: readonly string[]): LineProblem | undefined {
  return cells.some((cell) => cell.includes('\0')) ? NUL_CHARACTER : tooLongCell(cells, headers);
}

function tooLongCell(cells: readonly string[], headers: readonly string[]): LineProblem | undefined {
  const index = cells.findIndex((cell) => cell.length > MAX_CELL_CHARACTERS);
  if (index < 0) return undefined;
  const name = headers[index]?.trim() || `column_${index + 1}`;
  return {
    code: 'CELL_TOO_LONG',
    message: `the cell "${name}" has ${cells[index]?.length} characters. At most ${MAX_CELL_CHARACTERS} are allowed`,
  };
}

export function padOrCut(cells: readonly string[], width: number): readonly string[] {
  if (cells.length === width) return cells;
  return Array.from({ length: width }, (_, index) => cells[index] ?? '');
}
