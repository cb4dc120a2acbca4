import { createHash, type Hash } from 'node:crypto';

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
  standing(table: CopiedTable): Promise<CopyStanding>;
  /** All of them or none. The next ones may be read meanwhile: it resolves when they are there. */
  add(table: CopiedTable, records: readonly StoredRecord[]): Promise<void>;
  /** All of this table is there; numbers that are given out go on behind this one. */
  filled(table: CopiedTable, lastNumber: number): Promise<void>;
  /** Takes away all that was copied. */
  clear(): Promise<void>;
  /** It is whole, and a ledger like any other. */
  seal(now: number): Promise<void>;
}

export interface CopyStanding {
  readonly records: number;
  readonly last: StoredRecord | undefined;
}

const ROOM = 1 << 16;
const TAGS = { nothing: 0, number: 1, text: 2, bytes: 3 } as const;

/**
 * A digest over records, in the order in which they come. Each value goes in with what it is and how long it is: no two lists
 * of records look the same to it, whatever is moved from one column to the next.
 */
export class RecordDigest {
  readonly #hash: Hash;
  /** What is small is gathered: a call for each value would take longer than the digest itself. */
  readonly #gathered = Buffer.allocUnsafe(ROOM);
  #length = 0;

  constructor(table: Pick<CopiedTable, 'name' | 'columns'>) {
    this.#hash = createHash('sha256').update(
      JSON.stringify([table.name, ...table.columns.map(({ name, type }) => [name, type])]),
    );
  }

  add(record: StoredRecord): void {
    this.#head(TAGS.nothing, record.length);
    for (const value of record) {
      if (value === null) this.#head(TAGS.nothing, 0);
      else if (typeof value === 'number') this.#number(value);
      else if (typeof value === 'string') this.#text(value);
      else this.#bytes(TAGS.bytes, value);
    }
  }

  digest(): Buffer {
    this.#flush();
    return this.#hash.digest();
  }

  #number(value: number): void {
    this.#head(TAGS.number, 8);
    this.#makeRoom(8);
    this.#length = this.#gathered.writeDoubleBE(value, this.#length);
  }

  #text(value: string): void {
    // No character has more bytes than this.
    if (value.length * 3 + 5 > ROOM) {
      this.#bytes(TAGS.text, Buffer.from(value));
      return;
    }
    this.#makeRoom(value.length * 3 + 5);
    const at = this.#length;
    const bytes = this.#gathered.write(value, at + 5);
    this.#head(TAGS.text, bytes);
    this.#length = at + 5 + bytes;
  }

  #bytes(tag: number, value: Uint8Array): void {
    this.#head(tag, value.byteLength);
    if (value.byteLength > ROOM) {
      this.#flush();
      this.#hash.update(value);
      return;
    }
    this.#makeRoom(value.byteLength);
    this.#gathered.set(value, this.#length);
    this.#length += value.byteLength;
  }

  #head(tag: number, length: number): void {
    this.#makeRoom(5);
    this.#length = this.#gathered.writeUInt8(tag, this.#length);
    this.#length = this.#gathered.writeUInt32BE(length, this.#length);
  }

  #makeRoom(bytes: number): void {
    if (this.#length + bytes > ROOM) this.#flush();
  }

  #flush(): void {
    this.#hash.update(this.#gathered.subarray(0, this.#length));
    this.#length = 0;
  }
}
