import { hash } from 'node:crypto';
import { systemFailure } from '../../domain/system-failure.js';
import type { Connection } from './driver.js';
import { type Packed, unpack } from './pack.js';

/** Raw bodies by their SHA-256: the same bytes are kept once. */
export class Bodies {
  readonly #insert;
  readonly #read;

  constructor(database: Connection) {
    this.#insert = database.prepare<[string, string, number, Uint8Array, number]>(
      'INSERT INTO bodies (sha256, encoding, size, bytes, stored_at) VALUES (unhex(?), ?, ?, ?, ?) ON CONFLICT DO NOTHING',
    );
    this.#read = database.prepare<[string], { encoding: string; bytes: Buffer }>(
      'SELECT encoding, bytes FROM bodies WHERE sha256 = unhex(?)',
    );
  }

  store({ sha256, encoding, size, bytes }: Packed, now: number): void {
    this.#insert.run(sha256, encoding, size, bytes, now);
  }

  read(sha256: string): Buffer | undefined {
    const found = this.#read.get(sha256);
    return found && unpack(found);
  }

  /** Only if it is, to the byte, what was stored: bytes rot, and what is bought is signed for. */
  readSound(sha256: string): Buffer | undefined {
    try {
      const body = this.read(sha256);
      return body !== undefined && hash('sha256', body) === sha256 ? body : undefined;
    } catch (error) {
      // What does not unpack. What SQLite cannot read is the file's trouble, and told as that.
      if (systemFailure(error) !== undefined) throw error;
      return undefined;
    }
  }
}
