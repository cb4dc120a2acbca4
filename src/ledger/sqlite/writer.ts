import { LedgerError } from '../../domain/errors.js';
import type { Connection } from './driver.js';

/**
 * Group commit. Writes run at once, inside a transaction that stays open until the event loop has handed out what it
 * has; then they are committed together with one fsync, and only then is anybody told. Reads on the same connection
 * see them in the meantime.
 */
export class Writer {
  readonly #database: Connection;
  readonly #begin: () => void;
  readonly #commit: () => void;
  #waiting: { resolve: () => void; reject: (reason: unknown) => void }[] = [];
  #open = false;
  #broken: LedgerError | undefined;

  constructor(database: Connection) {
    this.#database = database;
    const begin = database.prepare('BEGIN IMMEDIATE');
    const commit = database.prepare('COMMIT');
    this.#begin = () => begin.run();
    this.#commit = () => commit.run();
  }

  /** Runs `work` now; resolves with its result when it is on disk. */
  write<T>(work: () => T): Promise<T> {
    let result: T;
    try {
      if (!this.#open) {
        this.#begin();
        this.#open = true;
        setImmediate(() => this.#flush());
      }
      result = work();
    } catch (cause) {
      return Promise.reject(this.#fail(cause));
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve: () => resolve(result), reject });
    });
  }

  /** What the machine refused to write, if it has: from then on nothing may be begun that costs money. */
  get broken(): LedgerError | undefined {
    return this.#broken;
  }

  /** Everything written so far is on disk when this resolves. */
  flush(): Promise<void> {
    return this.#open ? this.write(() => undefined) : Promise.resolve();
  }

  #flush(): void {
    if (!this.#open) return;
    try {
      this.#commit();
    } catch (error) {
      this.#fail(error);
      return;
    }
    this.#open = false;
    const told = this.#waiting;
    this.#waiting = [];
    for (const { resolve } of told) resolve();
  }

  /** One failed write (a full disk, a defect) fails the whole commit: nobody is told of a half. */
  #fail(cause: unknown): LedgerError {
    const error = new LedgerError(cause, this.#database.name);
    if (error.code !== 'INTERNAL') this.#broken ??= error;
    if (this.#database.inTransaction) this.#database.exec('ROLLBACK');
    this.#open = false;
    const told = this.#waiting;
    this.#waiting = [];
    for (const { reject } of told) reject(error);
    return error;
  }
}
