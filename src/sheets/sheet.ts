/** A table as somebody saved it: a header, and numbered lines of cells. What the columns mean is the reader's affair. */
export interface Sheet {
  /** As messages call it. */
  readonly path: string;
  /** Of the file's bytes. */
  readonly sha256: string;
  readonly kind: SheetKind;
  /** Null for a workbook, as is the delimiter. */
  readonly encoding: SheetEncoding | null;
  readonly delimiter: string | null;
  /** The name of the worksheet that is read; null for text. */
  readonly sheet: string | null;
  /** The names of all worksheets that are not hidden, in their order. */
  readonly sheets: readonly string[];
  /** The header's cells exactly as written: blank ones and repeated ones too. */
  readonly headers: readonly string[];
  /** For each header, what the line right above stands over it with (`Parent company`); empty: nothing. */
  readonly groups: readonly string[];
  /** The physical line, or worksheet row, on which the header starts; the file's first line is 1, and 0 says that there is none. */
  readonly headerLine: number;
  /** Cells that a workbook has merged over several rows behind the header: only the first row holds their text. */
  readonly merged?: readonly MergedRows[];
  readonly warnings: readonly string[];
  /**
   * Streams the lines from disk; may be called more than once. Refuses if the file has changed meanwhile. `onShare` is told how
   * much of the file has been read, from 0 to 1; a workbook does not tell.
   */
  lines(onShare?: OnShare): AsyncIterable<NumberedLine>;
}

/** One column of such a cell, with its first and last row. */
export interface MergedRows {
  readonly column: number;
  readonly first: number;
  readonly last: number;
}

export type OnShare = (share: number) => void;

/** A record behind the header. Blank ones do not come, but count as lines. */
export interface NumberedLine {
  /** The physical line on which the record starts; the worksheet row in a workbook. */
  readonly line: number;
  /** Exactly as written, one per header: padded or cut if the line is ragged, split at every delimiter if its quotes are broken. */
  readonly cells: readonly string[];
  /**
   * What cells of a workbook were stored as, a letter each: `n` a number, `d` a day, `-` anything else. What is behind the last number or
   * day is left out; without any, and in text, all of it.
   */
  readonly kinds?: string;
  /** The places of cells that hold a formula whose result was not saved: they are read as empty. */
  readonly unknown?: readonly number[];
  /** What stands behind the last header, if anything does. In text, where a delimiter may be astray, the line is then a problem. */
  readonly surplus?: readonly string[];
  /** The line cannot be taken as it stands, and why. */
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

export type SheetKind = 'csv' | 'xlsx';

/** The encodings that can be named; not all of them are found without being asked for. */
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

/** What a header means to the reader, undefined if nothing: the delimiter that gives most meanings is the right one. */
export type RecogniseHeader = (header: string) => string | undefined;

export interface SheetOptions {
  /** Overrides detection: one of `SHEET_ENCODINGS` or a common alias. */
  readonly encoding?: string | undefined;
  /** Overrides detection and a `sep=` line: one character, or its name (`tab`, `semicolon`). */
  readonly delimiter?: string | undefined;
  /** The line, or worksheet row, of the header: overrides detection. 0: there is none, and all headers are blank. */
  readonly headerLine?: number | undefined;
  /** The name of the worksheet to read, or its number: overrides the choice. */
  readonly sheet?: string | undefined;
  /** Meanings that a table must have: where several worksheets have all of them, none is chosen for the user. */
  readonly needs?: readonly string[] | undefined;
  /** What messages call the file; its path without it. */
  readonly shownAs?: string | undefined;
  /** Records longer than this (as UTF-8) are a problem of their line. Default 1 MiB. */
  readonly maxRecordBytes?: number;
  /** A monotonic clock, in milliseconds: opening a workbook is bounded in time. */
  readonly now?: () => number;
}

/** Zero-width characters, pasted along from web pages, are white space to a reader but not to `String.trim`. */
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
