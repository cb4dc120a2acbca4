import type { Cell } from './table.js';

export type Row = Readonly<Record<string, Cell>>;

/** Rows as the bytes that stand in the file. They may have been made on another thread. */
export interface Rendered {
  readonly bytes: Uint8Array;
  readonly rows: number;
  /** In characters. */
  readonly longestLine: number;
}

/** Makes the lines of a table; it knows the columns, and no file. */
export interface TableText {
  render(rows: readonly Row[], country: string | null): string;
  /** The longest line it has made so far, in characters. */
  readonly longestLine: number;
}

/** A table on its way to disk. Until it is finished there is nothing to be read. */
export interface TableFile {
  write(rows: readonly Row[], country: string | null): void;
  /** Lines that were made elsewhere, after everything written so far. */
  append(rendered: Rendered): void;
  finish(): Promise<readonly FileFacts[]>;
}

export interface FileFacts {
  readonly path: string;
  readonly rows: number;
  readonly bytes: number;
  readonly sha256: string;
}
