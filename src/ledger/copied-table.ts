/** A value as both engines keep it. Every number is whole, and small enough to be exact. */
export type Stored = number | string | Uint8Array | null;

/** The values of one record, in the order of the table's columns. */
export type StoredRecord = readonly Stored[];

export interface CopiedColumn {
  readonly name: string;
  readonly type: 'INTEGER' | 'TEXT' | 'BLOB';
}

export interface CopiedTable {
  readonly name: string;
  readonly columns: readonly CopiedColumn[];
  /** Tells records apart. Empty where nothing does: they are ordered by all that they say. */
  readonly key: readonly string[];
  /** The column whose numbers the engine gives out. */
  readonly numbered: string | undefined;
}

/** Those by which records are read: the same order in both engines, which compare texts and bytes byte by byte. */
const orderOf = ({ key, columns }: CopiedTable): readonly string[] =>
  key.length > 0 ? key : columns.map(({ name }) => name);

export const quoted = (name: string): string => `"${name}"`;

/** In a statement. Nulls are named only where there are some: PostgreSQL would not go by the index of the key otherwise. */
export const orderBy = (table: CopiedTable): string =>
  orderOf(table)
    .map((name) => (table.key.length > 0 ? quoted(name) : `${quoted(name)} ASC NULLS FIRST`))
    .join(', ');

/** What the key of a record says. */
export const keyIn = (table: CopiedTable, record: StoredRecord): StoredRecord =>
  table.key.map((name) => record[table.columns.findIndex((column) => column.name === name)] ?? null);

/** Bytes that are carried, without what an engine adds. A number counts as it is kept. */
export function bytesOf(record: StoredRecord): number {
  let bytes = 0;
  for (const value of record)
    bytes +=
      typeof value === 'string' ? Buffer.byteLength(value) : typeof value === 'number' ? 8 : (value?.byteLength ?? 0);
  return bytes;
}

/** So much is in memory at a time, however large the ledger is; one record may be larger. */
export const BATCH_RECORDS = 2000;
export const BATCH_BYTES = 4 << 20;
