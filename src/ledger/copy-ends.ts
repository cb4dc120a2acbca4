import type { CopiedTable, StoredRecord } from './copied-table.js';

/** Where reading begins: behind a record, or behind so many where no key tells them apart. */
export type From = { readonly after: StoredRecord } | { readonly skipped: number };

/** A ledger that is read, and held against everybody who would write to it until it is closed. */
export interface CopySource {
  /** For people; never with a password. */
  readonly name: string;
  /** In the order of the key, a few megabytes at a time. */
  batches(table: CopiedTable, from?: From): AsyncIterable<readonly StoredRecord[]>;
  /** The highest number that was ever given out in `numbered`; it may be of a record that is gone. */
  lastNumber(table: CopiedTable): Promise<number>;
  /** Is this text, as it was handed out, what is stored? An engine may put signs in the place of bytes that are no text. */
  isAsStored(table: CopiedTable, record: StoredRecord, column: number): boolean;
  close(): Promise<void>;
}

/** A copy that was begun, and is not whole. */
export interface BegunCopy {
  /** Of all that is in the ledger that it is made from. */
  readonly digest: Uint8Array;
  readonly source: string;
  readonly begunAt: number;
}

/** The ledger that is made. Until it is sealed, no other command works with it. */
export interface CopyTarget extends Omit<CopySource, 'isAsStored'> {
  /** Does it keep a text with a NUL in it? */
  readonly keepsNul: boolean;
  begun(): Promise<BegunCopy | undefined>;
  begin(copy: BegunCopy): Promise<void>;
  /** How many records are there, and the key of the last one. */
  standing(table: CopiedTable): Promise<Standing>;
  /** All of them or none. The next ones may be read meanwhile: it resolves when they are there. */
  add(table: CopiedTable, records: readonly StoredRecord[]): Promise<void>;
  /** All of this table is there; numbers that are given out go on behind this one. */
  filled(table: CopiedTable, lastNumber: number): Promise<void>;
  /** Takes away all that was copied. */
  clear(): Promise<void>;
  /** It is whole, and a ledger like any other. */
  seal(now: number): Promise<void>;
}

export interface Standing {
  readonly records: number;
  readonly last: StoredRecord | undefined;
}
