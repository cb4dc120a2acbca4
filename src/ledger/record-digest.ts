import { createHash, type Hash } from 'node:crypto';
import type { CopiedTable, StoredRecord } from './copied-table.js';

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
