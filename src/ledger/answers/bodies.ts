import { hash } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import { systemFailure } from '../../domain/errors.js';
import type { Script, Sql } from '../db/database.js';

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

/**
 * Packs bodies. To hash and compress a large one takes longer than to write down all there is about its call, so a
 * second thread does it once there are many; small ones are not worth the way there and back. What that brings is
 * measured in docs/performance.md, "pipeline".
 */
export class Packer {
  #large = 0;
  #thread: PackThread | undefined;

  /** `alone`: so many large bodies are packed here before a thread is started. */
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

/** A thread takes longer to start than this many bodies take. */
const ALONE = 100;

/** Threads start from compiled files only. */
const COMPILED = import.meta.url.endsWith('.js');

interface Waiting {
  readonly body: Buffer;
  readonly resolve: (packed: Packed) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * One batch is away at a time; what comes meanwhile is the next one. The process stays alive only for a batch away. An
 * answer is paid for, so a thread that dies loses none: what it had is packed here.
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

/** A raw body as it is kept: under the SHA-256 of its exact bytes, and compressed where that pays. */
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

/** Below this a body does not shrink enough to be worth the time. */
const SMALL = 4_096;

/** Measured against its neighbours: docs/performance.md. */
const FASTEST = { [constants.BROTLI_PARAM_QUALITY]: 0, [constants.BROTLI_PARAM_LGWIN]: 18 } as const;

/** Bodies on their way between threads: one piece of memory, which moves, and where it is to be cut. */
export interface Batch {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly lengths: readonly number[];
}

export interface PackedBatch extends Batch {
  readonly heads: readonly Omit<Packed, 'bytes'>[];
}

/** Puts the parts one after another. */
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
