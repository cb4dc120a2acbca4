// The SQLite engine: statements, group commit, snapshots and free space.

import { close, fdatasync, openSync, statSync } from 'node:fs';
import { promisify } from 'node:util';
import { hintFor, LedgerError, systemFailure } from '../../../domain/errors.js';
import { freeBytes, SPACE } from '../../../util/files.js';
import { bytesInWords } from '../../../util/message-parts.js';
import type { Database, Script, Snapshot, Sql, Statement, TextColumn } from '../database.js';
import {
  CommitCount,
  type Connection,
  commitsOf,
  connect,
  isFree,
  isLocked,
  lostCommits,
  type Statement as Native,
} from './connection.js';

export interface SqliteOptions {
  /** Its lock tells whether a process works. The file read may be a copy. */
  readonly dataDir: string;
  readonly freeBytes?: ((path: string) => number | undefined) | undefined;
  readonly onClose: () => void;
}

export function sqliteDatabase(connection: Connection, { dataDir, freeBytes: free, onClose }: SqliteOptions): Database {
  const writer = new Writer(connection);
  const room = new FreeSpaceGuard(connection, free);
  const path = connection.name;
  return {
    ...sqlOn(connection),
    name: path,
    readonly: connection.readonly,
    isShared: false,
    get broken() {
      return writer.broken;
    },
    get lostCommits() {
      return writer.commits?.lost ?? lostCommits(connection);
    },
    acceptLoss: () => writer.commits?.acceptLoss(),
    // After a loss commits are not counted.
    version: () => (lostCommits(connection) > 0 ? null : commitsOf(connection)),
    mustHaveRoom: () => room.mustBeThere(),
    read: async (script) => runNow(script()),
    write: (script) => writer.write(() => runNow(script(false))),
    heartbeat: (script) => writer.write(() => runNow(script())),
    withTempTables: async (script) => (connection.inTransaction ? runNow(script()) : inTransaction(connection, script)),
    async dryRun(script) {
      await writer.flush();
      connection.exec('BEGIN IMMEDIATE');
      try {
        return runNow(script());
      } finally {
        // A full disk has rolled it back already.
        if (connection.inTransaction) connection.exec('ROLLBACK');
      }
    },
    flush: () => writer.flush(),
    snapshot: async () => openSnapshot(path),
    async rewrite() {
      try {
        connection.exec('VACUUM');
        const [{ busy = 0 } = {}] = connection.pragma('wal_checkpoint(TRUNCATE)') as { readonly busy?: number }[];
        return busy === 0 ? null : 'another process is reading the ledger';
      } catch (error) {
        return systemFailure(error)?.what ?? String(error);
      }
    },
    async shrink() {
      // VACUUM needs the file's size again. Without that space, later purchases reuse the freed pages.
      const left = freeBytes(path);
      if (left !== undefined && left <= 2 * statSync(path).size) return;
      connection.exec('VACUUM');
      connection.pragma('wal_checkpoint(TRUNCATE)');
    },
    checkpoint: () => void connection.pragma('wal_checkpoint(PASSIVE)'),
    isLocked: () => isLocked(dataDir),
    hasNoWorkers: () => isFree(dataDir),
    textColumns: () => sqlOn(connection).prepare<[], TextColumn>(TEXT_COLUMNS).all(),
    async close() {
      await writer.close();
      connection.close();
      onClose();
    },
  };
}

function inTransaction<T>(connection: Connection, script: () => Script<T>): T {
  return connection.transaction(() => runNow(script()))();
}

/** A separate connection in one read transaction: SQLite shows it the database as of its beginning. */
function openSnapshot(path: string): Snapshot {
  const connection = connect(path, { readonly: true, timeout: 10_000 });
  connection.exec('BEGIN');
  return {
    ...sqlOn(connection),
    read: async (script) => runNow(script()),
    batches: (sql, parameters, size) => inBatches(connection, sql, parameters, size),
    async close() {
      connection.exec('COMMIT');
      connection.close();
    },
  };
}

/** Input rows may be large. */
const CHARACTERS = 4 << 20;

/** Batches for asynchronous readers, from one statement read to its end. */
async function* inBatches<T>(
  connection: Connection,
  sql: string,
  parameters: readonly unknown[],
  size: number,
): AsyncGenerator<readonly T[]> {
  let batch: T[] = [];
  let characters = 0;
  for (const record of connection.prepare<unknown[], T>(sql).iterate(...parameters)) {
    batch.push(record);
    characters += textIn(record);
    if (batch.length < size && characters < CHARACTERS) continue;
    yield batch;
    batch = [];
    characters = 0;
  }
  if (batch.length > 0) yield batch;
}

function textIn(record: unknown): number {
  let characters = 0;
  for (const value of Object.values(record as object)) if (typeof value === 'string') characters += value.length;
  return characters;
}

/** Like any script, it runs when it is first asked. */
// biome-ignore lint/correctness/useYield: a script of SQLite never rests
function* atOnce<T>(work: () => T): Script<T> {
  return work();
}

/** Answers at once. SQLite prepares the statement on first use, because most commands need few of many. */
export class SqliteStatement<Parameters extends unknown[], Row> implements Statement<Parameters, Row> {
  #prepared: Native<Parameters, Row> | undefined;

  constructor(
    private readonly database: Connection,
    private readonly sql: string,
    private readonly shape?: 'pluck' | 'raw',
  ) {}

  get #native(): Native<Parameters, Row> {
    if (this.#prepared === undefined) {
      const native = this.database.prepare<Parameters, Row>(this.sql);
      this.#prepared = this.shape === undefined ? native : native[this.shape]();
    }
    return this.#prepared;
  }

  get(...parameters: Parameters): Script<Row | undefined> {
    return atOnce(() => this.#native.get(...parameters));
  }

  all(...parameters: Parameters): Script<Row[]> {
    return atOnce(() => this.#native.all(...parameters));
  }

  run(...parameters: Parameters): Script<void> {
    return atOnce(() => void this.#native.run(...parameters));
  }

  change(...parameters: Parameters): Script<number> {
    return atOnce(() => this.#native.run(...parameters).changes);
  }

  walk(visit: (row: Row) => void, ...parameters: Parameters): Script<void> {
    return atOnce(() => {
      for (const row of this.#native.iterate(...parameters)) visit(row);
    });
  }

  pluck(): Statement<Parameters, Row> {
    return new SqliteStatement(this.database, this.sql, 'pluck');
  }

  raw(): Statement<Parameters, Row> {
    return new SqliteStatement(this.database, this.sql, 'raw');
  }
}

export const sqlOn = (database: Connection): Sql => ({
  prepare: (sql) => new SqliteStatement(database, sql),
  exec: (sql) => atOnce(() => void database.exec(sql)),
  together: <T extends readonly unknown[]>(...scripts: { readonly [K in keyof T]: Script<T[K]> }) =>
    atOnce(() => scripts.map((script) => runNow(script)) as unknown as T),
});

/** Runs a script to its end, which SQLite reaches at once. */
export function runNow<T>(script: Script<T>): T {
  const { done, value } = script.next();
  if (!done) throw new Error('a script used a statement that this database does not have');
  return value;
}

/**
 * Group commit. Writes of one event-loop turn, or made while the previous commit is synced, share a transaction. Each
 * resolves only when it is on disk, and commits do not overlap. The sync runs beside the event loop, so that a slow
 * disk does not delay answers (docs/developers/performance.md, "Cost of the ledger").
 */
export class Writer {
  readonly #begin: () => void;
  readonly #commit: () => void;
  readonly #log: SyncedLog | undefined;
  readonly commits: CommitCount | undefined;
  #waiting: Write[] = [];
  #isBusy = false;
  #broken: LedgerError | undefined;

  constructor(
    private readonly database: Connection,
    sync = promisify(fdatasync),
  ) {
    const begin = database.prepare('BEGIN IMMEDIATE');
    const commit = database.prepare('COMMIT');
    this.#begin = () => begin.run();
    this.#commit = () => commit.run();
    const isLogged = !database.readonly && database.pragma('journal_mode', { simple: true }) === 'wal';
    if (isLogged) this.#log = new SyncedLog(database, sync);
    if (isLogged) this.commits = new CommitCount(database);
  }

  /** Runs `work` in the next commit, in order. Resolves with its result when it is on disk. */
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

  /** The first failed write. From then on kybatch begins nothing that costs money. */
  get broken(): LedgerError | undefined {
    return this.#broken;
  }

  /** Resolves when all earlier writes are on disk. */
  flush(): Promise<void> {
    return this.#isBusy ? this.write(() => undefined) : Promise.resolve();
  }

  async close(): Promise<void> {
    await this.flush().catch(() => {});
    await this.#log?.close();
    this.commits?.close();
  }

  #flushSoon(): void {
    this.#isBusy = true;
    setImmediate(() => void this.#flush());
  }

  /** One failed write fails the whole commit, so that no partial result is reported. */
  async #flush(): Promise<void> {
    const writes = this.#waiting;
    this.#waiting = [];
    try {
      this.#begin();
      for (const { run } of writes) run();
      this.commits?.add();
      this.#commit();
      await this.#log?.sync();
      this.commits?.note();
      for (const { tell } of writes) tell();
    } catch (cause) {
      const error = this.#fail(cause);
      for (const { reject } of writes) reject(error);
    }
    if (this.#waiting.length > 0) this.#flushSoon();
    else this.#isBusy = false;
  }

  #fail(cause: unknown): LedgerError {
    const error = cause instanceof LedgerError ? cause : new LedgerError(cause, this.database.name);
    if (error.code !== 'INTERNAL') this.#broken ??= error;
    if (this.database.inTransaction) this.database.exec('ROLLBACK');
    return error;
  }
}

interface Write {
  readonly run: () => void;
  readonly tell: () => void;
  readonly reject: (reason: unknown) => void;
}

/** Syncs the write-ahead log after each commit, instead of SQLite within it. */
class SyncedLog {
  readonly #path: string;
  readonly #sync: (file: number) => Promise<void>;
  #file: number | undefined;

  constructor(database: Connection, sync: (file: number) => Promise<void>) {
    // SQLite still syncs before and after checkpoints.
    database.pragma('synchronous = NORMAL');
    this.#path = `${database.name}-wal`;
    this.#sync = sync;
  }

  async sync(): Promise<void> {
    // SQLite creates the file with the first commit and keeps it until the database is closed.
    this.#file ??= openSync(this.#path, 'r+');
    await this.#sync(this.#file);
  }

  async close(): Promise<void> {
    if (this.#file !== undefined) await promisify(close)(this.#file);
  }
}

/**
 * Reserves space for answers in flight. A call sent with a nearly full disk is paid for and cannot be stored. On a disk
 * of 24 MB that happened to 49 of 64 calls in flight.
 */
export class FreeSpaceGuard {
  #asked = 0;
  #none: LedgerError | undefined;

  constructor(
    private readonly database: Connection,
    private readonly free = freeBytes,
  ) {}

  /** Throws once there is too little space, and from then on always, so that calls in flight finish and none begins. */
  mustBeThere(): void {
    if (this.#none !== undefined) throw this.#none;
    this.#asked += 1;
    if (this.#asked % LOOK_EVERY !== 1) return;
    const path = this.database.name;
    if (!this.#isLow(path)) return;
    shrinkWal(this.database);
    if (!this.#isLow(path)) return;
    const { floor, reserved } = SPACE;
    this.#none = new LedgerError(undefined, path, {
      message: `the disk of the ledger ${path} is nearly full: the last ${bytesInWords(reserved)} are reserved for calls in flight`,
      code: 'DISK_FULL',
      hint: `A run starts with ${bytesInWords(floor)} or more. ${hintFor('DISK_FULL')}`,
    });
    throw this.#none;
  }

  #isLow(path: string): boolean {
    return (this.free(path) ?? SPACE.reserved) < SPACE.reserved;
  }
}

/** The write-ahead log grows to 32 MB before SQLite reuses it. Waits for no reader, and a failure changes nothing. */
function shrinkWal(database: Connection): void {
  const patience = database.pragma('busy_timeout', { simple: true });
  try {
    database.pragma('busy_timeout = 0');
    database.pragma('wal_checkpoint(TRUNCATE)');
  } catch (error) {
    if (systemFailure(error) === undefined) throw error;
  } finally {
    database.pragma(`busy_timeout = ${patience}`);
  }
}

/** A check costs a few microseconds. A hundred answers do not fill the reserve. */
const LOOK_EVERY = 16;

const TEXT_COLUMNS = `SELECT tables.name AS "table", columns.name AS "column"
  FROM sqlite_master AS tables, pragma_table_info(tables.name) AS columns
  WHERE tables.type = 'table' AND tables.name NOT LIKE 'sqlite_%' AND columns.type = 'TEXT'`;
