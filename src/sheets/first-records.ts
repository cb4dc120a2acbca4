import { parseCells } from './parse-cells.js';
import { cursorAt, type Dialect, lineEnd, scanRecord } from './scan-record.js';

export interface FirstRecord {
  /** The physical line on which it starts. */
  readonly line: number;
  /** Undefined where its quotation marks do not match: it then ends with its line. */
  readonly cells: readonly string[] | undefined;
}

/** A line of delimiters alone is as blank as one without. */
const SAYS_SOMETHING = /[^\s,;|"]/;

/** The first records of a text that are not blank, at least `most` where there are so many, and up to the line `upTo`. */
export function firstRecords(
  text: string,
  dialect: Dialect,
  final: boolean,
  most: number,
  upTo = 0,
): readonly FirstRecord[] {
  const records: FirstRecord[] = [];
  let start = 0;
  let line = 1;
  while (start < text.length && (records.length < most || line <= upTo + most)) {
    const cursor = cursorAt(start);
    const outcome = scanRecord(text, cursor, dialect, final);
    if (outcome === 'record') {
      const content = text.slice(start, cursor.end);
      if (SAYS_SOMETHING.test(content)) records.push({ line, cells: parseCells([content], dialect.delimiter)[0] });
      line += cursor.breaks + 1;
      start = cursor.position;
      continue;
    }
    const ending = lineEnd(text, start, dialect, final);
    // The text ends first: what is not here whole is not looked at, unless there is nothing else.
    if (ending === undefined || (outcome === 'more' && records.length > 0)) return records;
    records.push({ line, cells: undefined });
    line++;
    start = ending.next;
  }
  return records;
}
