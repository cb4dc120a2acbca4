// The records, interfaces and digest for copying a ledger between engines.

import type { Hash } from 'node:crypto';

/** A value in both engines. Every number is an integer that JavaScript represents exactly. */
export type StoredValue = number | string | Uint8Array | null;

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

export const quoted = (name: string): string => `"${name}"`;

/** All records in order. Both engines compare texts and bytes byte by byte, so the order is the same. */
export function selectAll({ name, columns, key }: CopiedTable): string {
  // NULLS FIRST appears only without a key: otherwise PostgreSQL would not use the key's index.
  const order = key.length > 0 ? key.map(quoted) : columns.map((column) => `${quoted(column.name)} ASC NULLS FIRST`);
  return `SELECT ${namesOf(columns)} FROM ${quoted(name)} ORDER BY ${order.join(', ')}`;
}

export const namesOf = (columns: readonly CopiedColumn[]): string => columns.map(({ name }) => quoted(name)).join(', ');

/** The size of the values without the engine's overhead. */
export function bytesOf(record: StoredRecord): number {
  let bytes = 0;
  for (const value of record)
    bytes +=
      typeof value === 'string' ? Buffer.byteLength(value) : typeof value === 'number' ? 8 : (value?.byteLength ?? 0);
  return bytes;
}

/** Few, because one may have a large answer. */
export const BATCH_RECORDS = 200;

/** The ledger to copy from, locked against writes until it is closed. */
export interface CopySource {
  /** For people. Never with a password. */
  readonly name: string;
  /** In key order. */
  batches(table: CopiedTable): AsyncIterable<readonly StoredRecord[]>;
  count(table: CopiedTable): Promise<number>;
  /** The highest number ever assigned in `numbered`, possibly of a deleted record. */
  lastNumber(table: CopiedTable): Promise<number>;
  close(): Promise<void>;
}

/** The ledger to copy to. Closed before it is sealed, it leaves nothing behind. */
export interface CopyTarget extends CopySource {
  /** It resolves when they are stored, so the next batch can be read meanwhile. */
  add(table: CopiedTable, records: readonly StoredRecord[]): Promise<void>;
  /** The table is complete. New numbers continue after this one. */
  filled(table: CopiedTable, lastNumber: number): Promise<void>;
  seal(): Promise<void>;
}

/**
 * Adds a record to a digest. JSON tells where each value ends. A list with the length stands for bytes, which follow as
 * they are.
 */
export function addRecord(digest: Hash, record: StoredRecord): void {
  digest.update(JSON.stringify(record.map((value) => (value instanceof Uint8Array ? [value.byteLength] : value))));
  for (const value of record) if (value instanceof Uint8Array) digest.update(value);
}
