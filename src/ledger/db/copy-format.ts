// The records, interfaces and digest for copying a ledger between engines.

import type { Hash } from 'node:crypto';

/** A value in both engines. Every number is an integer that JavaScript represents exactly. */
export type StoredValue = number | string | Uint8Array | null;

/** The values of one record, in column order. */
export type StoredRecord = readonly StoredValue[];

export interface CopiedColumn {
  readonly name: string;
  readonly type: 'INTEGER' | 'TEXT' | 'BLOB';
}

export interface CopiedTable {
  readonly name: string;
  readonly columns: readonly CopiedColumn[];
  /** The unique key. Empty if there is none: then all columns give the order. */
  readonly key: readonly string[];
  /** The column whose numbers the engine assigns. */
  readonly numbered: string | undefined;
}

/** The columns to order by. Both engines compare texts and bytes byte by byte, so the order is the same. */
const orderOf = ({ key, columns }: CopiedTable): readonly string[] =>
  key.length > 0 ? key : columns.map(({ name }) => name);

export const quoted = (name: string): string => `"${name}"`;

/** NULLS FIRST appears only without a key: otherwise PostgreSQL would not use the key's index. */
export const orderBy = (table: CopiedTable): string =>
  orderOf(table)
    .map((name) => (table.key.length > 0 ? quoted(name) : `${quoted(name)} ASC NULLS FIRST`))
    .join(', ');

export const keyIn = (table: CopiedTable, record: StoredRecord): StoredRecord =>
  table.key.map((name) => record[table.columns.findIndex((column) => column.name === name)] ?? null);

/** The size of the values without the engine's overhead. */
export function bytesOf(record: StoredRecord): number {
  let bytes = 0;
  for (const value of record)
    bytes +=
      typeof value === 'string' ? Buffer.byteLength(value) : typeof value === 'number' ? 8 : (value?.byteLength ?? 0);
  return bytes;
}

/** The limits of a batch, so that memory does not depend on the ledger's size. One record may be larger. */
export const BATCH_RECORDS = 2000;
export const BATCH_BYTES = 4 << 20;

/** The ledger to copy from, locked against writes until it is closed. */
export interface CopySource {
  /** For people. Never with a password. */
  readonly name: string;
  /** In key order, a few megabytes at a time. */
  batches(table: CopiedTable): AsyncIterable<readonly StoredRecord[]>;
  count(table: CopiedTable): Promise<number>;
  /** The highest number ever assigned in `numbered`, possibly of a deleted record. */
  lastNumber(table: CopiedTable): Promise<number>;
  /** Is the text as stored? An engine may replace bytes that are not valid text. */
  isAsStored(table: CopiedTable, record: StoredRecord, column: number): boolean;
  close(): Promise<void>;
}

/** The ledger to copy to. Until it is sealed, other commands refuse it. */
export interface CopyTarget extends Omit<CopySource, 'isAsStored'> {
  /** Can it store a text with a NUL? */
  readonly keepsNul: boolean;
  /** Was an earlier copy interrupted? */
  isPartial(): Promise<boolean>;
  begin(source: string, now: number): Promise<void>;
  /** Adds all or none. It resolves when they are stored, so the next batch can be read meanwhile. */
  add(table: CopiedTable, records: readonly StoredRecord[]): Promise<void>;
  /** The table is complete. New numbers continue after this one. */
  filled(table: CopiedTable, lastNumber: number): Promise<void>;
  /** Deletes everything copied. */
  clear(): Promise<void>;
  /** Makes the complete copy a usable ledger. */
  seal(now: number): Promise<void>;
}

/**
 * Adds a record to a digest. JSON tells where each value ends. A list with the length stands for bytes, which follow as
 * they are.
 */
export function addRecord(digest: Hash, record: StoredRecord): void {
  digest.update(JSON.stringify(record.map((value) => (value instanceof Uint8Array ? [value.byteLength] : value))));
  for (const value of record) if (value instanceof Uint8Array) digest.update(value);
}
