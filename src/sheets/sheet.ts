import type { Message } from '../util/message-parts.js';

/** Of a list. Each header is compared with all others. */
export const MOST_COLUMNS = 2_000;

/** A table as saved: a header, and numbered lines of cells. The reader decides the meaning of the columns. */
export interface Sheet {
  readonly path: string;
  readonly sha256: string;
  readonly kind: 'csv' | 'xlsx';
  /** Null for a workbook, like the delimiter. */
  readonly encoding: SheetEncoding | null;
  readonly delimiter: string | null;
  readonly sheet: string | null;
  /** The header's cells exactly as written, including blank and repeated ones. */
  readonly headers: readonly string[];
  /** The text above each header (`Parent company`), or an empty text. */
  readonly groups: readonly string[];
  /** The physical line or worksheet row of the header. The first line is 1, and 0 means no header. */
  readonly headerLine: number;
  /** Cells merged over several rows below the header. Only the first row has their text. */
  readonly merged?: readonly MergedRows[];
  readonly warnings: readonly Message[];
  /**
   * Streams the lines from disk, and may be called again. Refuses if the file has changed meanwhile. `onShare` gets the
   * share of the file read so far, from 0 to 1, but not for a workbook.
   */
  lines(onShare?: OnProgress): AsyncIterable<NumberedLine>;
}

export interface MergedRows {
  readonly column: number;
  readonly first: number;
  readonly last: number;
}

export type OnProgress = (share: number) => void;

/** A record below the header. Blank ones are left out, but count as lines. */
export interface NumberedLine {
  /** The physical line on which the record starts, or the worksheet row. */
  readonly line: number;
  /**
   * Exactly as written, one per header. Ragged lines are padded or cut. Lines with broken quotes are split at every
   * delimiter.
   */
  readonly cells: readonly string[];
  /**
   * How a workbook stored the cells, one letter each: `n` a number, `d` a day, `-` anything else. Letters after the
   * last number or day are left out. Absent if there is none, and in text.
   */
  readonly kinds?: string;
  /** The columns of formulas without a saved result. They are read as empty. */
  readonly unknown?: readonly number[];
  /**
   * The cells beyond the last header, if any. In text the line is then a problem, because a delimiter may be misplaced.
   */
  readonly surplus?: readonly string[];
  readonly problem?: LineProblem;
}

export type LineProblemCode =
  | 'BROKEN_QUOTES'
  | 'OVER_LONG'
  | 'RAGGED'
  | 'NUL_CHARACTER'
  | 'BAD_ENCODING'
  | 'CELL_TOO_LONG';

export interface LineProblem {
  readonly code: LineProblemCode;
  readonly message: string;
}

/** The encodings that a user can name. Not all of them are detected. */
export const SHEET_ENCODINGS = [
  'utf-8',
  'utf-16le',
  'utf-16be',
  'windows-1250',
  'windows-1251',
  'windows-1252',
  'windows-1253',
  'windows-1254',
  'windows-1255',
  'windows-1256',
  'windows-1257',
  'windows-1258',
  'windows-874',
  'iso-8859-2',
  'iso-8859-5',
  'iso-8859-6',
  'iso-8859-7',
  'iso-8859-13',
  'iso-8859-15',
  'koi8-r',
  'koi8-u',
  'cp437',
  'cp737',
  'cp775',
  'cp850',
  'cp852',
  'cp855',
  'cp857',
  'cp858',
  'cp862',
  'cp866',
  'macintosh',
  'x-mac-cyrillic',
  'shift_jis',
  'euc-jp',
  'iso-2022-jp',
  'gb18030',
  'big5',
  'euc-kr',
] as const;

export type SheetEncoding = (typeof SHEET_ENCODINGS)[number];

/** The meaning of a header, or undefined. The delimiter that gives most meanings is the right one. */
export type RecogniseHeader = (header: string) => string | undefined;

export interface SheetOptions {
  /** Overrides detection: one of `SHEET_ENCODINGS` or a common alias. */
  readonly encoding?: string | undefined;
  /** Overrides detection and a `sep=` line: one character, or its name (`tab`, `semicolon`). */
  readonly delimiter?: string | undefined;
  /**
   * The line or worksheet row of the header, which overrides detection. 0: there is no header, and all headers are
   * blank.
   */
  readonly headerLine?: number | undefined;
  /** The name or number of the worksheet, which overrides detection. */
  readonly sheet?: string | undefined;
  /** Meanings that a table must have. If several worksheets have all of them, the user must choose. */
  readonly needs?: readonly string[] | undefined;
  /** The name of the file in messages. Default: its path. */
  readonly shownAs?: string | undefined;
  /** Records longer than this (as UTF-8) are a problem of their line. Default 1 MiB. */
  readonly maxRecordBytes?: number;
  /** A monotonic clock in milliseconds, because opening a workbook has a time limit. */
  readonly now?: () => number;
}

/** Zero-width characters, often pasted from web pages, look like white space, but `String.trim` keeps them. */
export function trimCell(cell: string): string {
  const trimmed = cell.trim();
  if (!isZeroWidth(trimmed.charCodeAt(0)) && !isZeroWidth(trimmed.charCodeAt(trimmed.length - 1))) return trimmed;
  let [from, to] = [0, trimmed.length];
  while (from < to && isGap(trimmed, from)) from++;
  while (to > from && isGap(trimmed, to - 1)) to--;
  return trimmed.slice(from, to);
}

export function isBlank(cell: string): boolean {
  return trimCell(cell) === '';
}

const isGap = (text: string, at: number): boolean => isZeroWidth(text.charCodeAt(at)) || text.charAt(at).trim() === '';

function isZeroWidth(code: number): boolean {
  return code === 0x200b || code === 0x2060;
}
