import type { InvalidReason } from '../../domain/invalid-reason.js';
import { count, withCommas } from './text.js';

/** Why rows are invalid, by reason, each with its first row and what can be done about it. */
export function invalidInWords(reasons: readonly InvalidReason[], rows: number): readonly string[] {
  const invalid = reasons.reduce((sum, reason) => sum + reason.rows, 0);
  if (invalid === 0) return [];
  const all = invalid === rows ? (rows === 1 ? 'The only row is' : `All ${withCommas(rows)} rows are`) : undefined;
  return [
    `${all ?? `${count(invalid, 'row')} ${invalid === 1 ? 'is' : 'are'}`} invalid${all === undefined ? '' : ': there is nothing to search for'}`,
    ...reasons.flatMap(({ code, rows: alike, row, line, message }) => [
      `  ${withCommas(alike).padStart(7)}  ${alike === 1 ? '' : 'the first in '}row ${row}, line ${line}: ${message}`,
      ...whatToDo(code, alike * 2 >= rows).map((words) => `           ${words}`),
    ]),
  ];
}

/** Where a few rows lack something it is theirs; where most do, it is the way the file was read. */
const whatToDo = (code: string, areMost: boolean): readonly string[] =>
  [(areMost ? IF_MOST[code] : undefined) ?? WHAT_TO_DO[code]].flatMap((words) => words ?? []);

const WHAT_TO_DO: Readonly<Record<string, string>> = {
  NO_COUNTRY: 'Fill it in, or give one country for all such rows with --country CC.',
  BAD_COUNTRY: 'Write an ISO code (DE) or the name of the country.',
  NO_IDENTIFIER: 'Fill in one of them, or leave the row out.',
  RAGGED: 'Put cells that hold the delimiter in quotation marks; another delimiter is named with --delimiter.',
  BROKEN_QUOTES: 'Double the quotation marks inside a cell ("").',
  BAD_ENCODING: 'Name the encoding of the file with --encoding.',
  NUL_CHARACTER: 'Save the file again from the program that it came from.',
};

const IF_MOST: Readonly<Record<string, string>> = {
  NO_COUNTRY: 'Give one country for all such rows with --country CC, or name its column with --map country="HEADER".',
  BAD_COUNTRY:
    'Write an ISO code (DE) or the name of the country; another column is named with --map country="HEADER".',
  NO_IDENTIFIER: 'Name the columns with --map name="HEADER" or --map registration_number="HEADER".',
};
