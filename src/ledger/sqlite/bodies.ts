import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { type BrotliOptions, brotliCompress, brotliDecompressSync, constants } from 'node:zlib';
import type { Connection } from './open.js';

/** Raw bodies by their SHA-256: the same bytes are kept, and compressed, once. */
export class Bodies {
  readonly #find;
  readonly #insert;
  readonly #read;

  constructor(database: Connection) {
    this.#find = database.prepare<[string], number>('SELECT 1 FROM bodies WHERE sha256 = ?').pluck();
    this.#insert = database.prepare<[string, string, number, Buffer, number]>(
      'INSERT INTO bodies (sha256, encoding, size, bytes, stored_at) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING',
    );
    this.#read = database.prepare<[string], { encoding: string; bytes: Buffer }>(
      'SELECT encoding, bytes FROM bodies WHERE sha256 = ?',
    );
  }

  /**
   * Makes a body ready to be stored. Compressing is the dear part of a settlement, so it is done on Node's pool while
   * the main thread goes on (docs/performance.md).
   */
  async pack(body: Buffer): Promise<PackedBody> {
    const sha256 = createHash('sha256').update(body).digest('hex');
    const size = body.length;
    if (size < SMALL || this.#find.get(sha256) !== undefined)
      return { sha256, size, encoding: 'identity', bytes: body };
    const bytes = await compress(body, { params: FASTEST });
    return bytes.length < size
      ? { sha256, size, encoding: 'brotli', bytes }
      : { sha256, size, encoding: 'identity', bytes: body };
  }

  store({ sha256, size, encoding, bytes }: PackedBody, now: number): void {
    this.#insert.run(sha256, encoding, size, bytes, now);
  }

  read(sha256: string): Buffer | undefined {
    const found = this.#read.get(sha256);
    if (found === undefined) return undefined;
    return found.encoding === 'brotli' ? brotliDecompressSync(found.bytes) : found.bytes;
  }
}

export interface PackedBody {
  readonly sha256: string;
  readonly size: number;
  readonly encoding: 'identity' | 'brotli';
  readonly bytes: Buffer;
}

const compress = promisify<Buffer, BrotliOptions, Buffer>(brotliCompress);

/** Below this a body does not shrink enough to be worth the time. */
const SMALL = 512;
const FASTEST = { [constants.BROTLI_PARAM_QUALITY]: 1 } as const;
