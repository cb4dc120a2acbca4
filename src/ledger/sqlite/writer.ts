import { LedgerError } from '../../domain/errors.js';
import type { Connection } from './driver.js';

/**
 * Group commit. What the event loop hands out in one round is written in one transaction with one fsync, and only then is
 * anybody told. The writes of a round run one after the other at its end, which is faster than scattered among other
 * work (docs/performance.md, "What the books cost").
 */
export class Writer {
  readonly #database: Connection;
  readonly #begin: () => void;
  readonly #commit: () => void;
  #waiting: Write[] = [];
  #broken: LedgerError | undefined;

  constructor(database: Connection) {
    this.#database = database;
    const begin = database.prepare('BEGIN IMMEDIATE');
    const commit = database.prepare('COMMIT');
    this.#begin = () => begin.run();
    this.#commit = () => commit.run();
  }

  /** Runs `work` with all that are asked for meanwhile, in this order; resolves with its result when it is on disk. */
  write<T>(work: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.length === 0) setImmediate(() => this.#flush());
      let result: T;
      const run = () => {
        result = work();
      };
      this.#waiting.push({ run, tell: () => resolve(result), reject });
    });
  }

  /** What the machine refused to write, if it has: from then on nothing may be begun that costs money. */
  get broken(): LedgerError | undefined {
    return this.#broken;
  }

  /** Everything written so far is on disk when this resolves. */
  flush(): Promise<void> {
    return this.#waiting.length > 0 ? this.write(() => undefined) : Promise.resolve();
  }

  /** One failed write (a full disk, a defect) fails the whole commit: nobody is told of a half. */
  #flush(): void {
    const writes = this.#waiting;
    this.#waiting = [];
    try {
      this.#begin();
      for (const { run } of writes) run();
      this.#commit();
    } catch (cause) {
      const error = this.#fail(cause);
      for (const { reject } of writes) reject(error);
      return;
    }
    for (const { tell } of writes) tell();
  }

  #fail(cause: unknown): LedgerError {
    const error = new LedgerError(cause, this.#database.name);
    if (error.code !== 'INTERNAL') this.#broken ??= error;
    if (this.#database.inTransaction) this.#database.exec('ROLLBACK');
    return error;
  }
}

interface Write {
  readonly run: () => void;
  readonly tell: () => void;
  readonly reject: (reason: unknown) => void;
}
