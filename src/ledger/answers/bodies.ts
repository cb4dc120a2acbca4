// Stores the raw bodies of answers, packed in a second thread if they are large and many.

import { hash } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import { systemFailure } from '../../domain/errors.js';
import type { Script, Sql } from '../db/database.js';

/** Raw bodies by their SHA-256: equal bytes are stored once. */
export class Bodies {
  readonly #insert;
  readonly #read;

  constructor(private readonly database: Sql) {
    this.#insert = database.prepare<[string, string, number, Uint8Array, number], never>(
      'INSERT INTO bodies (sha256, encoding, size, bytes, stored_at) VALUES (unhex(?), ?, ?, ?, ?) ON CONFLICT DO NOTHING',
    );
    this.#read = database.prepare<[string], { encoding: string; bytes: Buffer }>(
      'SELECT encoding, bytes FROM bodies WHERE sha256 = unhex(?)',
    );
  }

  digests(): Script<readonly string[]> {
    const all = this.database.prepare<[], string>('SELECT lower(hex(sha256)) FROM bodies ORDER BY sha256');
    return all.pluck().all();
  }

  store({ sha256, encoding, size, bytes }: Packed, now: number): Script<void> {
    return this.#insert.run(sha256, encoding, size, bytes, now);
  }

  /** Returns the body only if its hash still matches: stored bytes can rot. */
  *readSound(sha256: string): Script<Buffer | undefined> {
    // A failure to read the database is an error. The body is not damaged.
    const found = yield* this.#read.get(sha256);
    if (found === undefined) return undefined;
    try {
      const body = unpack(found);
      return hash('sha256', body) === sha256 ? body : undefined;
    } catch (error) {
      // The bytes cannot be unpacked.
      if (systemFailure(error) !== undefined) throw error;
      return undefined;
    }
  }
}

/**
 * Hashing and compressing a large body takes longer than writing its call, so a second thread does it once there are
 * many. Small bodies are not worth the transfer. docs/developers/performance.md, "pipeline", has the measurement.
 */
export class Packer {
  #large = 0;
  #thread: PackThread | undefined;

  /** `alone`: the number of large bodies packed here before the thread starts. */
  constructor(private readonly alone = ALONE) {}

  pack(body: Buffer): Packed | Promise<Packed> {
    if (body.length < SMALL || !COMPILED) return pack(body);
    this.#large += 1;
    if (this.#large <= this.alone) return pack(body);
    this.#thread ??= new PackThread();
    return this.#thread.ended ? pack(body) : this.#thread.pack(body);
  }

  async close(): Promise<void> {
    await this.#thread?.close();
  }
}

/** Starting a thread takes longer than packing this many bodies. */
const ALONE = 100;

/** Threads start from compiled files only. */
const COMPILED = import.meta.url.endsWith('.js');

interface Waiting {
  readonly body: Buffer;
  readonly resolve: (packed: Packed) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * Sends one batch at a time and collects the next meanwhile. The process stays alive only while a batch is away.
 * Answers are paid for, so bodies of a dead thread are packed here.
 */
class PackThread {
  readonly #worker = new Worker(new URL('./pack-worker.js', import.meta.url));
  #away: Waiting[] = [];
  #next: Waiting[] = [];
  ended = false;

  constructor() {
    this.#worker.on('message', (batch: PackedBatch) => this.#receive(batch));
    for (const event of ['error', 'messageerror', 'exit']) this.#worker.on(event, () => this.#end());
    this.#worker.unref();
  }

  pack(body: Buffer): Promise<Packed> {
    return new Promise((resolve, reject) => {
      this.#next.push({ body, resolve, reject });
      if (this.#next.length === 1 && this.#away.length === 0) setImmediate(() => this.#send());
    });
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }

  #send(): void {
    if (this.#away.length > 0 || this.#next.length === 0) return;
    this.#away = this.#next;
    this.#next = [];
    try {
      const bodies = this.#away.map(({ body }) => body);
      const batch = joinBodies(bodies);
      this.#worker.ref();
      this.#worker.postMessage(batch, [batch.bytes.buffer]);
    } catch {
      this.#end();
    }
  }

  #receive(batch: PackedBatch): void {
    const done = this.#away;
    this.#away = [];
    this.#worker.unref();
    const parts = splitBodies(batch);
    for (const [index, { resolve }] of done.entries())
      resolve({ ...(batch.heads[index] as PackedBatch['heads'][number]), bytes: parts[index] as Uint8Array });
    setImmediate(() => this.#send());
  }

  #end(): void {
    this.ended = true;
    this.#worker.unref();
    for (const { body, resolve, reject } of [...this.#away.splice(0), ...this.#next.splice(0)]) {
      try {
        resolve(pack(body));
      } catch (error) {
        reject(error);
      }
    }
  }
}

/** A stored body: keyed by the SHA-256 of its exact bytes, compressed if that saves space. */
export interface Packed {
  readonly sha256: string;
  readonly size: number;
  readonly encoding: 'identity' | 'brotli';
  readonly bytes: Uint8Array;
}

export function pack(body: Uint8Array): Packed {
  const sha256 = hash('sha256', body);
  const size = body.length;
  if (size >= SMALL) {
    const bytes = brotliCompressSync(body, { params: FASTEST });
    if (bytes.length < size) return { sha256, size, encoding: 'brotli', bytes };
  }
  return { sha256, size, encoding: 'identity', bytes: body };
}

export const unpack = ({ encoding, bytes }: { readonly encoding: string; readonly bytes: Buffer }): Buffer =>
  encoding === 'brotli' ? brotliDecompressSync(bytes) : bytes;

/** Smaller bodies do not shrink enough to be worth the time. */
const SMALL = 4_096;

/** Measured against other settings: docs/developers/performance.md. */
const FASTEST = { [constants.BROTLI_PARAM_QUALITY]: 0, [constants.BROTLI_PARAM_LGWIN]: 18 } as const;

/** Bodies for the other thread: one transferable buffer and the lengths to cut it by. */
export interface Batch {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly lengths: readonly number[];
}

export interface PackedBatch extends Batch {
  readonly heads: readonly Omit<Packed, 'bytes'>[];
}

export function joinBodies(parts: readonly Uint8Array[]): Batch {
  const lengths = parts.map((part) => part.length);
  const bytes = Buffer.allocUnsafeSlow(lengths.reduce((sum, length) => sum + length, 0));
  let offset = 0;
  for (const part of parts) {
    bytes.set(part, offset);
    offset += part.length;
  }
  return { bytes, lengths };
}

export function splitBodies({ bytes, lengths }: Batch): readonly Uint8Array[] {
  let offset = 0;
  return lengths.map((length) => {
    offset += length;
    return bytes.subarray(offset - length, offset);
  });
}
