import { createHash } from 'node:crypto';
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import type { Connection } from './open.js';

/** Raw bodies by their SHA-256: the same bytes are kept, and compressed, once. */
export class Bodies {
  readonly #find;
  readonly #insert;
  readonly #read;

  constructor(database: Connection) {
    this.#find = database.prepare<[string], number>('SELECT 1 FROM bodies WHERE sha256 = ?').pluck();
    this.#insert = database.prepare<[string, string, number, Buffer, number]>(
      'INSERT INTO bodies (sha256, encoding, size, bytes, stored_at) VALUES (?, ?, ?, ?, ?)',
    );
    this.#read = database.prepare<[string], { encoding: string; bytes: Buffer }>(
      'SELECT encoding, bytes FROM bodies WHERE sha256 = ?',
    );
  }

  /** Compressed on the main thread: Node's pool was no faster when it was measured (docs/performance.md). */
  store(body: Buffer, now: number): string {
    const sha256 = createHash('sha256').update(body).digest('hex');
    if (this.#find.get(sha256) !== undefined) return sha256;
    const packed = body.length < SMALL ? body : brotliCompressSync(body, { params: FASTEST });
    const smaller = packed.length < body.length;
    this.#insert.run(sha256, smaller ? 'brotli' : 'identity', body.length, smaller ? packed : body, now);
    return sha256;
  }

  read(sha256: string): Buffer | undefined {
    const found = this.#read.get(sha256);
    if (found === undefined) return undefined;
    return found.encoding === 'brotli' ? brotliDecompressSync(found.bytes) : found.bytes;
  }
}

/** Below this a body does not shrink enough to be worth the time. */
const SMALL = 4_096;
const FASTEST = { [constants.BROTLI_PARAM_QUALITY]: 1 } as const;
