import { close, fdatasync, openSync } from 'node:fs';
import { promisify } from 'node:util';
import { LedgerError } from '../../domain/errors.js';
import type { Connection } from './driver.js';

/**
 * Group commit. What is asked for in one round of the event loop, or while the commit before it is being synced, is
 * written in one transaction. Nobody is told before it is on disk, and no commit begins before the one before it is.
 * The sync goes on beside the event loop: a slow disk must not keep answers waiting (docs/performance.md, "What the books
 * cost").
 */
export class Writer {
  readonly #database: Connection;
  readonly #begin: () => void;
  readonly #commit: () => void;
  readonly #log: SyncedLog | undefined;
  #waiting: Write[] = [];
  #isBusy = false;
  #broken: LedgerError | undefined;

  constructor(database: Connection, sync = promisify(fdatasync)) {
    this.#database = database;
    const begin = database.prepare('BEGIN IMMEDIATE');
    const commit = database.prepare('COMMIT');
    this.#begin = () => begin.run();
    this.#commit = () => commit.run();
    const isLogged = !database.readonly && database.pragma('journal_mode', { simple: true }) === 'wal';
    if (isLogged) this.#log = new SyncedLog(database, sync);
  }

  /** Runs `work` with all that are asked for meanwhile, in this order; resolves with its result when it is on disk. */
  write<T>(work: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      let result: T;
      const run = () => {
        result = work();
      };
      this.#waiting.push({ run, tell: () => resolve(result), reject });
      if (!this.#isBusy) this.#flushSoon();
    });
  }

  /** What the machine refused to write, if it has: from then on nothing may be begun that costs money. */
  get broken(): LedgerError | undefined {
    return this.#broken;
  }

  /** Everything written so far is on disk when this resolves. */
  flush(): Promise<void> {
    return this.#isBusy ? this.write(() => undefined) : Promise.resolve();
  }

  async close(): Promise<void> {
    await this.flush().catch(() => {});
    await this.#log?.close();
  }

  #flushSoon(): void {
    this.#isBusy = true;
    setImmediate(() => void this.#flush());
  }

  /** One failed write (a full disk, a defect) fails the whole commit: nobody is told of a half. */
  async #flush(): Promise<void> {
    const writes = this.#waiting;
    this.#waiting = [];
    try {
      this.#begin();
      for (const { run } of writes) run();
      this.#commit();
      await this.#log?.sync();
      for (const { tell } of writes) tell();
    } catch (cause) {
      const error = this.#fail(cause);
      for (const { reject } of writes) reject(error);
    }
    if (this.#waiting.length > 0) this.#flushSoon();
    else this.#isBusy = false;
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

/** The write-ahead log, which is synced here after each commit instead of by SQLite within it. */
class SyncedLog {
  readonly #path: string;
  readonly #sync: (file: number) => Promise<void>;
  #file: number | undefined;

  constructor(database: Connection, sync: (file: number) => Promise<void>) {
    // Checkpoints are still synced by SQLite, before and after.
    database.pragma('synchronous = NORMAL');
    this.#path = `${database.name}-wal`;
    this.#sync = sync;
  }

  async sync(): Promise<void> {
    // SQLite makes the file with the first commit, and keeps it until the database is closed.
    this.#file ??= openSync(this.#path, 'r+');
    await this.#sync(this.#file);
  }

  async close(): Promise<void> {
    if (this.#file !== undefined) await promisify(close)(this.#file);
  }
}
