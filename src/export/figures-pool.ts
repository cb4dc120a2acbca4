import { Worker } from 'node:worker_threads';
import type { SnapshotAnswer } from '../ledger/snapshot.js';
import { type Figures, type FiguresSetup, figuresRenderer } from './figures.js';

type Batch = readonly SnapshotAnswer[];

/**
 * Makes lines on this thread and on a second one, and gives them back in order. Bodies and lines go between threads as
 * bytes, which costs next to nothing; rows would cost more than they save. Small runs do without the second thread.
 */
export class FiguresPool {
  readonly #setup: FiguresSetup;
  readonly #here: (answers: Batch) => Figures;
  #other: SecondThread | undefined;

  constructor(setup: FiguresSetup) {
    this.#setup = setup;
    this.#here = figuresRenderer(setup);
  }

  async *render(batches: AsyncIterable<Batch>): AsyncGenerator<Figures> {
    const queue: (Figures | Promise<Figures>)[] = [];
    let count = 0;
    for await (const batch of batches) {
      count += 1;
      if (count === BATCHES_ALONE && COMPILED) this.#other = new SecondThread(this.#setup);
      const away = this.#other !== undefined && this.#other.waiting < BATCHES_AWAY;
      queue.push(away && this.#other !== undefined ? this.#other.render(batch) : this.#here(batch));
      // A message from the other thread is heard only between two of our own batches.
      if (this.#other !== undefined) await new Promise((resolve) => setImmediate(resolve));
      while (queue.length > BATCHES_HELD) yield await (queue.shift() as Figures | Promise<Figures>);
    }
    for (const figures of queue) yield await figures;
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
  readonly #waiting: { resolve: (figures: Figures) => void; reject: (reason: unknown) => void }[] = [];

  constructor(setup: FiguresSetup) {
    this.#worker = new Worker(new URL('./figures-worker.js', import.meta.url), { workerData: setup });
    this.#worker.on('message', (figures: Figures) => this.#waiting.shift()?.resolve(figures));
    const fail = (reason: unknown) => {
      for (const { reject } of this.#waiting.splice(0)) reject(reason);
    };
    this.#worker.on('error', fail);
    this.#worker.on('exit', (code) => fail(new Error(`the second thread of the export ended with ${code}`)));
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  render(batch: Batch): Promise<Figures> {
    const rendered = new Promise<Figures>((resolve, reject) => this.#waiting.push({ resolve, reject }));
    // Whoever waits for it hears of a failure; nobody may be waiting yet.
    rendered.catch(() => {});
    this.#worker.postMessage(batch);
    return rendered;
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }
}
