import { Worker } from 'node:worker_threads';
import type { SubjectAnswers } from '../readers/reader.js';
import type { BulkLines } from './bulk-lines.js';
import type { ExportOptions } from './options.js';

type Batch = readonly SubjectAnswers[];

/** What the second thread needs to know to do the same as the first. */
export interface BulkSetup {
  /** Its name in the list of readers. */
  readonly reader: string;
  readonly options: ExportOptions;
}

/**
 * Makes lines on this thread and on a second one, and gives them back in order. Bodies and lines go between threads as
 * bytes, which costs next to nothing; rows would cost more than they save. Small runs do without the second thread.
 * What it brings is measured in docs/performance.md, "Export".
 */
export class BulkPool {
  readonly #here: (subjects: Batch) => BulkLines;
  readonly #setup: BulkSetup | undefined;
  #other: SecondThread | undefined;

  /** Without a setup there is no second thread. */
  constructor(here: (subjects: Batch) => BulkLines, setup: BulkSetup | undefined) {
    this.#here = here;
    this.#setup = setup;
  }

  async *render(batches: AsyncIterable<Batch>): AsyncGenerator<BulkLines> {
    const queue: (BulkLines | Promise<BulkLines>)[] = [];
    let count = 0;
    for await (const batch of batches) {
      count += 1;
      if (count === BATCHES_ALONE && COMPILED && this.#setup !== undefined) this.#other = new SecondThread(this.#setup);
      const away = this.#other !== undefined && this.#other.waiting < BATCHES_AWAY;
      queue.push(away && this.#other !== undefined ? this.#other.render(batch) : this.#here(batch));
      // A message from the other thread is heard only between two of our own batches.
      if (this.#other !== undefined) await new Promise((resolve) => setImmediate(resolve));
      while (queue.length > BATCHES_HELD) yield await (queue.shift() as BulkLines | Promise<BulkLines>);
    }
    for (const lines of queue) yield await lines;
  }

  async close(): Promise<void> {
    await this.#other?.close();
  }
}

/** A thread takes longer to start than this many batches take. */
const BATCHES_ALONE = 4;
const BATCHES_AWAY = 3;
const BATCHES_HELD = 6;
/** Threads start from compiled files only. */
const COMPILED = import.meta.url.endsWith('.js');

class SecondThread {
  readonly #worker: Worker;
  readonly #waiting: { resolve: (lines: BulkLines) => void; reject: (reason: unknown) => void }[] = [];

  constructor(setup: BulkSetup) {
    this.#worker = new Worker(new URL('./bulk-worker.js', import.meta.url), { workerData: setup });
    this.#worker.on('message', (lines: BulkLines) => this.#waiting.shift()?.resolve(lines));
    const fail = (reason: unknown) => {
      for (const { reject } of this.#waiting.splice(0)) reject(reason);
    };
    this.#worker.on('error', fail);
    this.#worker.on('exit', (code) => fail(new Error(`the second thread of the export ended with ${code}`)));
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  render(batch: Batch): Promise<BulkLines> {
    const rendered = new Promise<BulkLines>((resolve, reject) => this.#waiting.push({ resolve, reject }));
    // Whoever waits for it hears of a failure; nobody may be waiting yet.
    rendered.catch(() => {});
    this.#worker.postMessage(batch);
    return rendered;
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }
}
