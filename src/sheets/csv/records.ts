// Splits a CSV into records and cells.

import { parse } from 'csv-parse/sync';
import { UsageError } from '../../domain/errors.js';
import type { LineProblem } from '../sheet.js';

export interface Dialect {
  readonly delimiter: string;
  /** Lines end in CR alone. Otherwise a lone CR is an ordinary character. */
  readonly bareCr: boolean;
}

/** A position in the record that begins at `start`. Scanning continues here when more text arrives. */
interface Cursor {
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
type ScanOutcome = 'record' | 'more' | 'stray_quote' | 'bad_close' | 'unterminated';

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
    if (mode === 'plain' && !isSpreadsheetText(text, cursor, delimiter)) return 'stray_quote';
    cursor.mode = 'quoted';
    cursor.position = position + 1;
  }
  if (!final) return 'more';
  if (cursor.mode === 'quoted') return 'unterminated';
  cursor.end = text.length;
  return 'record';
}

/** Before the quotation mark, the cell holds `=` alone: Excel's `="00123"`, which keeps zeros. */
const isSpreadsheetText = (text: string, { start, position }: Cursor, delimiter: number): boolean =>
  text[position - 1] === '=' && (position - 1 === start || text.charCodeAt(position - 2) === delimiter);

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

export interface RawRecord {
  readonly line: number;
  /** As in the file, without the line ending. Empty for an over-long record. */
  readonly text: string;
  readonly cells: number;
  readonly problem?: LineProblem;
}

interface RecordShape extends Dialect {
  readonly minCells: number;
  readonly maxCells: number;
  readonly maxRecordBytes: number;
}

/**
 * Splits text into records before any cell is read, so that one broken quotation mark cannot swallow the next rows.
 * - A record with broken quotes ends with its first line. Reading continues at the next line.
 * - So does a ragged or over-long record over several lines, if one of its later lines is a complete row. Then two lost
 *   quotation marks on different lines have paired up.
 * - Any other over-long record is dropped to its proper end.
 *
 * Memory holds one chunk and at most `maxRecordBytes` before it.
 */
export class RecordReader {
  readonly #shape: RecordShape;
  #text = '';
  #final = false;
  #line = 1;
  #cursor: Cursor = cursorAt(0);
  #dropping: 'no' | 'record' | 'line' = 'no';

  constructor(shape: RecordShape) {
    this.#shape = shape;
  }

  /** The records that this text completes. Records without any character are left out. */
  push(text: string, final = false): RawRecord[] {
    this.#text += text;
    this.#final = final;
    const records: RawRecord[] = [];
    while (this.#cursor.start < this.#text.length) {
      const line = this.#line;
      if (this.#dropping !== 'no') {
        if (!this.#drop()) break;
        continue;
      }
      const outcome = scanRecord(this.#text, this.#cursor, this.#shape, final);
      const record = this.#settle(outcome, line);
      if (record === undefined) break;
      if (record.text !== '' || record.problem !== undefined) records.push(record);
    }
    this.#forget();
    return records;
  }

  #settle(outcome: ScanOutcome, line: number): RawRecord | undefined {
    const { start, end, cells, position, secondLine } = this.#cursor;
    if (position - start > this.#shape.maxRecordBytes + LINE_ENDING) return this.#tooLong(outcome, line);
    if (outcome === 'more') return undefined;
    if (outcome !== 'record') return this.#broken(outcome, line);
    const text = this.#text.slice(start, end);
    if (this.#exceeds(text)) return this.#tooLong(outcome, line);
    if (secondLine >= 0 && !this.#isWhole(cells) && this.#swallowsRows(end)) return this.#broken('unterminated', line);
    this.#next(position, this.#cursor.breaks + 1);
    return { line, text, cells };
  }

  #broken(outcome: Exclude<ScanOutcome, 'record' | 'more'>, line: number): RawRecord | undefined {
    const { start, secondLine } = this.#cursor;
    const ending = lineEnd(this.#text, start, this.#shape, this.#final);
    if (ending === undefined) {
      return this.#text.length - start > this.#shape.maxRecordBytes + LINE_ENDING ? this.#dropLine(line) : undefined;
    }
    const text = this.#text.slice(start, ending.end);
    this.#next(ending.next, 1);
    if (this.#exceeds(text)) return { line, text: '', cells: 0, problem: this.#overLong() };
    // The damage shows on a later line, but it began on this one.
    const seen = secondLine >= 0 ? 'unterminated' : outcome;
    return { line, text, cells: 0, problem: { code: 'BROKEN_QUOTES', message: BROKEN_QUOTES[seen] } };
  }

  #tooLong(outcome: ScanOutcome, line: number): RawRecord | undefined {
    const { start, end, position, breaks, secondLine } = this.#cursor;
    const horizon = Math.min(outcome === 'record' ? end : this.#text.length, start + this.#shape.maxRecordBytes);
    if (secondLine >= 0 && this.#swallowsRows(horizon)) return this.#broken('unterminated', line);
    if (outcome === 'record') this.#next(position, breaks + 1);
    else if (outcome === 'more') this.#dropping = 'record';
    else return this.#dropLine(line);
    return { line, text: '', cells: 0, problem: this.#overLong() };
  }

  #dropLine(line: number): RawRecord {
    this.#dropping = 'line';
    return { line, text: '', cells: 0, problem: this.#overLong() };
  }

  /** Continues to drop. False if the text ends first. */
  #drop(): boolean {
    if (this.#dropping === 'record') {
      const outcome = scanRecord(this.#text, this.#cursor, this.#shape, this.#final);
      if (outcome === 'more') return false;
      if (outcome !== 'record') this.#dropping = 'line';
      else this.#next(this.#cursor.position, this.#cursor.breaks + 1);
      return true;
    }
    const ending = lineEnd(this.#text, this.#cursor.position, this.#shape, this.#final);
    if (ending === undefined) {
      // The last character stays: it may be the CR of a CRLF.
      this.#cursor.position = Math.max(this.#cursor.position, this.#text.length - 1);
      return false;
    }
    this.#next(ending.next, this.#cursor.breaks + 1);
    return true;
  }

  /** Whether a later line of this record, up to `limit`, is a complete row. */
  #swallowsRows(limit: number): boolean {
    let from = this.#cursor.secondLine;
    while (from < limit) {
      const ending = lineEnd(this.#text, from, this.#shape, true);
      if (ending === undefined || ending.end > limit) return false;
      const line = this.#text.slice(from, ending.end);
      const cursor = cursorAt(0);
      if (
        scanRecord(line, cursor, this.#shape, true) === 'record' &&
        this.#isWhole(cursor.cells) &&
        line.trim() !== ''
      ) {
        return true;
      }
      from = ending.next;
    }
    return false;
  }

  #isWhole(cells: number): boolean {
    return cells >= this.#shape.minCells && cells <= this.#shape.maxCells;
  }

  #exceeds(text: string): boolean {
    const limit = this.#shape.maxRecordBytes;
    return text.length * 3 > limit && Buffer.byteLength(text) > limit;
  }

  #overLong(): LineProblem {
    return { code: 'OVER_LONG', message: `the record is longer than ${this.#shape.maxRecordBytes} bytes` };
  }

  #next(position: number, lines: number): void {
    this.#line += lines;
    this.#cursor = cursorAt(position);
    this.#dropping = 'no';
  }

  #forget(): void {
    const done = this.#dropping === 'no' ? this.#cursor.start : this.#cursor.position;
    if (done === 0) return;
    this.#text = this.#text.slice(done);
    const { start, position, secondLine } = this.#cursor;
    this.#cursor = {
      ...this.#cursor,
      start: Math.max(0, start - done),
      position: position - done,
      secondLine: secondLine < 0 ? -1 : Math.max(0, secondLine - done),
    };
  }
}

/** The line ending does not count, so this many characters beyond the limit are allowed. */
const LINE_ENDING = 2;

export const BROKEN_QUOTES = {
  stray_quote: 'a quotation mark is inside a plain cell',
  bad_close: 'text follows a closing quotation mark. Marks inside a cell must be doubled',
  unterminated: 'a quotation mark is not closed',
};

/** A quoted cell with or without the `=` before it. */
const QUOTED = /=?("(?:[^"]|"")*")/g;

/**
 * The cells of well-formed records, neither cast nor trimmed. `="00123"` is its text. Ordinary records are split at the delimiters: csv-parse
 * gives the same cells at a sixth of the speed.
 */
export function parseCells(written: readonly string[], delimiter: string): string[][] {
  const records = written.map((record) => (record.includes('="') ? record.replace(QUOTED, '$1') : record));
  const ordinary = records.map((record) => splitOrdinary(record, delimiter));
  const others = records.filter((_, at) => ordinary[at] === undefined);
  const parsed = others.length === 0 ? [] : parseQuoted(others, delimiter);
  let next = 0;
  return ordinary.map((cells) => cells ?? (parsed[next++] as string[]));
}

/** Undefined if a quoted cell contains a delimiter or a quotation mark. */
function splitOrdinary(record: string, delimiter: string): string[] | undefined {
  const cells = record.split(delimiter);
  if (!record.includes('"')) return cells;
  for (const [at, cell] of cells.entries()) {
    if (!cell.includes('"')) continue;
    if (cell[0] !== '"' || cell.length < 2 || cell.indexOf('"', 1) !== cell.length - 1) return undefined;
    cells[at] = cell.slice(1, -1);
  }
  return cells;
}

function parseQuoted(records: readonly string[], delimiter: string): string[][] {
  const parsed = parse(records.join('\n'), { delimiter, record_delimiter: ['\n'], relax_column_count: true });
  if (parsed.length !== records.length) {
    throw new Error(`csv-parse gave ${parsed.length} records for ${records.length}`);
  }
  return parsed;
}
