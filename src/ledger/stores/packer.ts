import { Worker } from 'node:worker_threads';
import { type Packed, pack, SMALL } from './pack.js';
import { join, type PackedBatch, split } from './pack-batch.js';

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
      const batch = join(bodies);
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
    const parts = split(batch);
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
