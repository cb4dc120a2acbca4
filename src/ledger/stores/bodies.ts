import { hash } from 'node:crypto';
import { systemFailure } from '../../domain/system-failure.js';
import type { Script, Sql } from '../database.js';
import { type Packed, unpack } from './pack.js';

/** Raw bodies by their SHA-256: the same bytes are kept once. */
export class Bodies {
  readonly #insert;
  readonly #read;

  constructor(database: Sql) {
    this.#insert = database.prepare<[string, string, number, Uint8Array, number], never>(
      'INSERT INTO bodies (sha256, encoding, size, bytes, stored_at) VALUES (unhex(?), ?, ?, ?, ?) ON CONFLICT DO NOTHING',
    );
    this.#read = database.prepare<[string], { encoding: string; bytes: Buffer }>(
      'SELECT encoding, bytes FROM bodies WHERE sha256 = unhex(?)',
    );
  }

  store({ sha256, encoding, size, bytes }: Packed, now: number): Script<void> {
    return this.#insert.run(sha256, encoding, size, bytes, now);
  }

  *read(sha256: string): Script<Buffer | undefined> {
    const found = yield* this.#read.get(sha256);
    return found && unpack(found);
  }

  /** Only if it is, to the byte, what was stored: bytes rot, and what is bought is signed for. */
  *readSound(sha256: string): Script<Buffer | undefined> {
    // What the database cannot read is its own trouble, and told as that: such a body is not damaged.
    const found = yield* this.#read.get(sha256);
    if (found === undefined) return undefined;
    try {
      const body = unpack(found);
      return hash('sha256', body) === sha256 ? body : undefined;
    } catch (error) {
      // What does not unpack.
      if (systemFailure(error) !== undefined) throw error;
      return undefined;
    }
  }
}
