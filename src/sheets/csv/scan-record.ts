// Finds the end of a CSV record.

import { UsageError } from '../../domain/errors.js';

export interface Dialect {
  readonly delimiter: string;
  /** Lines end in CR alone. Otherwise a lone CR is an ordinary character. */
  readonly bareCr: boolean;
}

/** A position in the record that begins at `start`. Scanning continues here when more text arrives. */
export interface Cursor {
  readonly start: number;
  position: number;
  mode: 'cell_start' | 'plain' | 'quoted';
  cells: number;
  /** Line breaks inside quoted cells so far. */
  breaks: number;
  /** The start of the record's second physical line, or -1 if it has one line. */
  secondLine: number;
  /** The end of the record's text, set by outcome `record`. `position` is then the start of the next record. */
  end: number;
}

/**
 * - `record`: complete and well-formed.
 * - `more`: the text ends first.
 * - `stray_quote`: a quotation mark inside a cell that does not begin with one.
 * - `bad_close`: a quoted cell continues after its closing mark.
 * - `unterminated`: the file ends within a quoted cell.
 */
export type ScanOutcome = 'record' | 'more' | 'stray_quote' | 'bad_close' | 'unterminated';

const LF = 10;
const CR = 13;
const QUOTE = 34;

export function cursorAt(start: number): Cursor {
  return { start, position: start, mode: 'cell_start', cells: 1, breaks: 0, secondLine: -1, end: -1 };
}

/** Finds the end of the record at the cursor. On a broken quote the cursor stays at the damage. */
export function scanRecord(text: string, cursor: Cursor, dialect: Dialect, final: boolean): ScanOutcome {
  const delimiter = dialect.delimiter.charCodeAt(0);
  while (cursor.position < text.length) {
    if (cursor.mode === 'quoted') {
      const outcome = scanQuoted(text, cursor, dialect, final);
      if (outcome !== 'closed') return outcome;
    }
    let position = cursor.position;
    let mode = cursor.mode;
    let code = -1;
    for (; position < text.length; position++) {
      code = text.charCodeAt(position);
      if (code === delimiter) {
        cursor.cells++;
        mode = 'cell_start';
      } else if (code === LF || code === CR) {
        const after = afterLineEnd(text, position, dialect, final);
        if (after === 0) {
          cursor.position = position;
          cursor.mode = mode;
          return 'more';
        }
        if (after > 0) {
          cursor.end = position;
          cursor.position = after;
          return 'record';
        }
        mode = 'plain';
      } else if (code === QUOTE) {
        break;
      } else {
        mode = 'plain';
      }
    }
    cursor.position = position;
    cursor.mode = mode;
    if (position >= text.length) break;
    if (mode === 'plain') return 'stray_quote';
    cursor.mode = 'quoted';
    cursor.position = position + 1;
  }
  if (!final) return 'more';
  if (cursor.mode === 'quoted') return 'unterminated';
  cursor.end = text.length;
  return 'record';
}

/** The end of the line that contains `from`, and the start of the next. Undefined if the text ends first. */
export function lineEnd(
  text: string,
  from: number,
  dialect: Dialect,
  final: boolean,
): { readonly end: number; readonly next: number } | undefined {
  for (let position = from; position < text.length; position++) {
    const code = text.charCodeAt(position);
    if (code !== LF && code !== CR) continue;
    const next = afterLineEnd(text, position, dialect, final);
    if (next === 0) return undefined;
    if (next > 0) return { end: position, next };
  }
  return final ? { end: text.length, next: text.length } : undefined;
}

/** Leaves a quoted cell. The cursor is then at the delimiter, line end or text end after the closing mark. */
function scanQuoted(text: string, cursor: Cursor, dialect: Dialect, final: boolean): ScanOutcome | 'closed' {
  const delimiter = dialect.delimiter.charCodeAt(0);
  let position = cursor.position;
  for (; position < text.length; position++) {
    const code = text.charCodeAt(position);
    if (code === LF || code === CR) {
      const after = afterLineEnd(text, position, dialect, final);
      if (after === 0) break;
      if (after < 0) continue;
      cursor.breaks++;
      if (cursor.secondLine < 0) cursor.secondLine = after;
      position = after - 1;
    } else if (code === QUOTE) {
      if (position + 1 >= text.length && !final) break;
      const next = text.charCodeAt(position + 1);
      if (next === QUOTE) {
        position++;
        continue;
      }
      const after = next === LF || next === CR ? afterLineEnd(text, position + 1, dialect, final) : -1;
      if (after === 0) break;
      cursor.position = position;
      if (after < 0 && next !== delimiter && position + 1 < text.length) return 'bad_close';
      cursor.position = position + 1;
      cursor.mode = 'plain';
      return 'closed';
    }
  }
  cursor.position = position;
  return final ? 'unterminated' : 'more';
}

/** The position after the line ending at `position`. 0 if the next character decides, -1 if there is no line ending. */
function afterLineEnd(text: string, position: number, dialect: Dialect, final: boolean): number {
  if (text.charCodeAt(position) === LF) return position + 1;
  if (position + 1 >= text.length && !final) return 0;
  if (text.charCodeAt(position + 1) === LF) return position + 2;
  return dialect.bareCr ? position + 1 : -1;
}

const NAMES: Readonly<Record<string, string>> = {
  comma: ',',
  semicolon: ';',
  tab: '\t',
  tabulator: '\t',
  '\\t': '\t',
  pipe: '|',
  bar: '|',
  colon: ':',
  caret: '^',
  space: ' ',
};

/** The delimiter that a user gives: the character, or a word for one that is hard to type in a shell. */
export function delimiterNamed(given: string): string {
  const delimiter = NAMES[given.toLowerCase()] ?? given;
  // The scanner would see only one half of a character outside the basic plane.
  if (delimiter.length === 1 && /^[^"\r\n\p{L}\p{N}]$/u.test(delimiter)) return delimiter;
  throw new UsageError(
    'DELIMITER_INVALID',
    `${JSON.stringify(given)} is not a delimiter`,
    'Use one character (no letter, digit or quotation mark), or comma, semicolon, tab or pipe.',
  );
}
