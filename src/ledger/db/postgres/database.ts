import { SKEW_MS } from '../../health.js';
import type { Database, Script, Snapshot, TextColumn } from '../database.js';
import {
  clocksApart,
  isReadOnly,
  isStale,
  isTransactionConflict,
  isUnreachable,
  LostConnection,
  Patience,
  type PatienceOptions,
  reasonOf,
  snapshotLost,
  toLedgerError,
} from './failures.js';
import { Session, type Walk } from './session.js';
import { postgresSql, queryOf } from './statement.js';
import { BEGIN, PostgresWriter } from './writer.js';

export interface PostgresOptions extends PatienceOptions {
  readonly url: string;
  readonly readonly: boolean;
}

interface ReaderOptions {
  readonly patience: Patience;
  readonly open: () => Promise<Session>;
}

export function postgresDatabase(options: PostgresOptions): Database {
  const { name, url, giveUp } = options;
  const open = (role: string, writes: boolean) => () =>
    Session.open({ url, applicationName: `kybatch ${role}`, writes, giveUp });
  const patience = new Patience(options);
  const writer = new PostgresWriter({ ...options, patience, open: open('writer', true) });
  const reader = new Reader({ patience, open: open('reader', false) });
  const aside = new Aside({ patience, open: open('lease', true) });
  const sql = postgresSql();
  return {
    ...sql,
    name,
    readonly: options.readonly,
    isShared: true,
    lostCommits: 0,
    version: () => null,
    acceptLoss: () => {},
    get broken() {
      return writer.broken;
    },
    mustHaveRoom: () => {},
    read: (script) => reader.read(script),
    write: (script, beside) => writer.write(beside === undefined ? 'alone' : 'beside', script, beside),
    heartbeat: (script) =>
      aside.run(function* () {
        yield* mustAgreeOnTime();
        return yield* script();
      }),
    withTempTables: (script) => writer.write('scratch', script),
    dryRun: (script) => writer.write('trial', script),
    flush: () => writer.flush(),
    snapshot: () => patience.until(() => openSnapshot(open('snapshot', false), name)),
    rewrite: () => vacuum(options, 'VACUUM (FULL, ANALYZE)'),
    async shrink() {
      await vacuum(options, 'VACUUM (ANALYZE)');
    },
    checkpoint: () => {},
    isLocked: () => null,
    hasNoWorkers: () => false,
    textColumns: () => TEXT_COLUMNS.all(),
    async close() {
      await writer.close();
      await reader.close();
      await aside.close();
    },
  };
}

const WALKED = 2000;

class Reader {
  #session: Promise<Session> | undefined;

  constructor(private readonly options: ReaderOptions) {}

  async read<T>(script: () => Script<T>): Promise<T> {
    let isFresh = false;
    return await this.options.patience.until(async () => {
      for (;;) {
        const opened = this.#connected();
        const session = await opened;
        try {
          return await session.run(script(), (asked) => this.#walk(asked));
        } catch (error) {
          const isOld = !isFresh && isStale(error);
          if (session.isLost || isOld) await this.#drop(opened);
          if (session.isLost || isUnreachable(error)) throw new LostConnection(error);
          if (!isOld) throw error;
          isFresh = true;
        }
      }
    });
  }

  /** In its own transaction on its own connection, so that others need not wait. */
  async #walk(asked: Walk): Promise<void> {
    const session = await this.options.open();
    try {
      session.send('BEGIN READ ONLY');
      for await (const rows of session.batches(asked.query, WALKED)) for (const row of rows) asked.visit(row);
    } finally {
      await session.end();
    }
  }

  async close(): Promise<void> {
    const session = await this.#session?.catch(() => undefined);
    await session?.end();
  }

  async #drop(opened: Promise<Session>): Promise<void> {
    if (this.#session === opened) this.#session = undefined;
    await (await opened).end();
  }

  #connected(): Promise<Session> {
    if (this.#session === undefined) {
      const opening = this.options.open();
      this.#session = opening;
      opening.catch(() => {
        if (this.#session === opening) this.#session = undefined;
      });
    }
    return this.#session;
  }
}

const SERVER_TIME = postgresSql()
  .prepare<[], number>('SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)')
  .pluck();

/** Leases are compared across machines, so a clock that goes wrong is detected before the next lease. */
function* mustAgreeOnTime(): Script<void> {
  const asked = Date.now();
  const theirs = (yield* SERVER_TIME.get()) ?? asked;
  // This process may have been frozen between question and answer.
  const ahead = theirs < asked ? theirs - asked : Math.max(0, theirs - Date.now());
  if (Math.abs(ahead) > SKEW_MS) throw clocksApart(ahead);
}

/** A separate connection for heartbeats: a process that waits for a lock is still alive. */
class Aside {
  #session: Session | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(private readonly options: ReaderOptions) {}

  run<T>(script: () => Script<T>): Promise<T> {
    const mine = this.#last.then(() => this.options.patience.until(() => this.#try(script)));
    this.#last = mine.catch(() => {});
    return mine;
  }

  async #try<T>(script: () => Script<T>): Promise<T> {
    this.#session ??= await this.options.open();
    const session = this.#session;
    try {
      session.send(BEGIN);
      const result = await session.run(script());
      await session.commit();
      return result;
    } catch (error) {
      const isLost = session.isLost || isUnreachable(error) || isReadOnly(error) || isTransactionConflict(error);
      await this.close();
      throw isLost ? new LostConnection(error) : error;
    }
  }

  async close(): Promise<void> {
    const session = this.#session;
    this.#session = undefined;
    await session?.settled().catch(() => undefined);
    await session?.end();
  }
}

/** A connection that sees the database as of its opening. After a failure it cannot be opened again. */
async function openSnapshot(open: () => Promise<Session>, name: string): Promise<Snapshot> {
  const session = await open();
  try {
    // It may idle between two batches while a file is written. The first query fixes the moment.
    await session.command('SET idle_in_transaction_session_timeout = 0');
    await session.command('BEGIN ISOLATION LEVEL REPEATABLE READ');
    await session.command('SELECT 1');
  } catch (error) {
    await session.end();
    throw error;
  }
  const told = (error: unknown): unknown =>
    session.isLost || isUnreachable(error) ? snapshotLost(error, name) : toLedgerError(error, name);
  const sql = postgresSql();
  return {
    ...sql,
    async read(script) {
      try {
        const result = await session.run(script());
        await session.settled();
        return result;
      } catch (error) {
        throw told(error);
      }
    },
    async *batches<T>(text: string, parameters: readonly unknown[], size: number) {
      try {
        yield* session.batches(queryOf(text, parameters), size) as AsyncGenerator<readonly T[]>;
      } catch (error) {
        throw told(error);
      }
    },
    close: () => session.end(),
  };
}

/** Returns why it failed, or null. Only the owner of a table may rewrite it. */
async function vacuum({ url, name }: PostgresOptions, command: string): Promise<string | null> {
  const session = await Session.open({ url, applicationName: 'kybatch vacuum', writes: true }).catch(
    (error: unknown) => {
      throw toLedgerError(error, name);
    },
  );
  try {
    const tables = await session.command(
      `SELECT relname AS name, pg_has_role(relowner, 'USAGE') AS owned FROM pg_class
       WHERE relnamespace = 'kybatch'::regnamespace AND relkind = 'r' ORDER BY relname`,
    );
    for (const table of tables)
      if (table.owned === 1) await session.command(`${command} kybatch."${String(table.name)}"`);
    return tables.every(({ owned }) => owned === 1)
      ? null
      : `this user does not own the tables. Their owner must run ${command} on the schema kybatch`;
  } catch (error) {
    return reasonOf(error);
  } finally {
    await session.end();
  }
}

const TEXT_COLUMNS = postgresSql().prepare<[], TextColumn>(
  `SELECT table_name AS "table", column_name AS "column" FROM information_schema.columns
   WHERE table_schema = 'kybatch' AND data_type = 'text' ORDER BY 1, ordinal_position`,
);
