/** A table as somebody saved it: a header, and numbered lines of cells. What the columns mean is the reader's affair. */
export interface Sheet {
  readonly path: string;
  /** Of the file's bytes. */
  readonly sha256: string;
  readonly encoding: SheetEncoding;
  readonly delimiter: string;
  /** The header's cells exactly as written: blank ones and repeated ones too. */
  readonly headers: readonly string[];
  /** The physical line on which the header starts; the file's first line is 1. */
  readonly headerLine: number;
  readonly warnings: readonly string[];
  /** Streams the lines from disk; may be called more than once. Refuses if the file has changed meanwhile. */
  lines(): AsyncIterable<NumberedLine>;
}

/** A record behind the header. Blank ones do not come, but count as lines. */
export interface NumberedLine {
  /** The physical line on which the record starts. */
  readonly line: number;
  /** Exactly as written, one per header: padded or cut if the line is ragged, split at every delimiter if its quotes are broken. */
  readonly cells: readonly string[];
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

export type SheetEncoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252';

/** What a header means to the reader, undefined if nothing: the delimiter that gives most meanings is the right one. */
export type RecogniseHeader = (header: string) => string | undefined;

export interface SheetOptions {
  /** Overrides detection: `utf-8`, `utf-16le`, `utf-16be`, `windows-1252` or a common alias of these. */
  readonly encoding?: string;
  /** Overrides detection and a `sep=` line: one character. */
  readonly delimiter?: string;
  /** Records longer than this (as UTF-8) are a problem of their line. Default 1 MiB. */
  readonly maxRecordBytes?: number;
}
