import type { Cell } from './table.js';

export type Row = Readonly<Record<string, Cell>>;

/** A table on its way to disk. Until it is finished there is nothing to be read. */
export interface TableFile {
  write(rows: readonly Row[], country: string | null): void;
  finish(): Promise<readonly FileFacts[]>;
}

export interface FileFacts {
  readonly path: string;
  readonly rows: number;
  readonly bytes: number;
  readonly sha256: string;
}
