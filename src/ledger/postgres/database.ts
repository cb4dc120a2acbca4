import type { Clock } from '../../util/clock.js';
import type { Database, Script, Snapshot, StoredTexts } from '../database.js';
import { inPlainWords, isAway, reasonOf } from './failures.js';
import { Session, type Walk } from './session.js';
import { postgresSql, queryOf } from './statement.js';
import { PostgresWriter, type WriterOptions, withPatience } from './writer.js';

export interface PostgresOptions {
  readonly url: string;
  /** Without password. */
  readonly name: string;
  readonly readonly: boolean;
  readonly clock: Clock;
  readonly patienceMs: number;
  readonly onNote: (note: string) => void;
}

export function postgresDatabase(options: PostgresOptions): Database {
  const { name, url } = options;
  const open = (role: string) => () => Session.open({ url, applicationName: `kybatch ${role}` });
  const writer = new PostgresWriter({ ...options, open: open('writer') });
  const reader = new Reader({ ...options, open: open('reader') });
  const sql = postgresSql();
  return {
    ...sql,
    name,
    readonly: options.readonly,
    isShared: true,
    get broken() {
      return writer.broken;
    },
    mustHaveRoom: () => {},
    read: (script) => reader.read(script),
    write: (script, beside) => writer.write(beside === undefined ? 'alone' : 'beside', script, beside),
    scratch: (script) => writer.write('scratch', script),
    trial: (script) => writer.write('trial', script),
    flush: () => writer.flush(),
    snapshot: () => openSnapshot(options),
    rewrite: () => vacuum(options, 'VACUUM (FULL, ANALYZE)'),
    async shrink() {
      await vacuum(options, 'VACUUM (ANALYZE)');
    },
    secure: () => {},
    isLocked: () => null,
    isFree: () => false,
    stored: STORED,
    async close() {
      await writer.close();
      await reader.close();
    },
  };
}

const WALKED = 2000;

/** One connection for all who look: what they ask is answered in that order. */
class Reader {
  readonly #options: WriterOptions;
  #session: Promise<Session> | undefined;

  constructor(options: WriterOptions) {
    this.#options = options;
  }

  async read<T>(script: () => Script<T>): Promise<T> {
    for (;;) {
      const opened = this.#connected();
      const session = await opened;
      try {
        return await session.run(script(), (asked) => this.#walk(asked));
      } catch (error) {
        if (!isAway(error) && !session.isLost) throw inPlainWords(error, this.#options.name);
        if (this.#session === opened) this.#session = undefined;
        await session.end();
      }
    }
  }

  /** In a transaction of its own, on a connection of its own: the others need not wait. */
  async #walk(asked: Walk): Promise<void> {
    const session = await withPatience(this.#options);
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

  #connected(): Promise<Session> {
    if (this.#session === undefined) {
      const opening = withPatience(this.#options);
      this.#session = opening;
      opening.catch(() => {
        if (this.#session === opening) this.#session = undefined;
      });
    }
    return this.#session;
  }
}

/** A connection of its own that sees the database as it was when it was opened. */
async function openSnapshot({ url, name }: PostgresOptions): Promise<Snapshot> {
  const session = await Session.open({ url, applicationName: 'kybatch snapshot' }).catch((error: unknown) => {
    throw inPlainWords(error, name);
  });
  // It may rest between two batches for as long as a file takes to write.
  session.send('SET idle_in_transaction_session_timeout = 0; BEGIN ISOLATION LEVEL REPEATABLE READ');
  await session.settled();
  const sql = postgresSql();
  return {
    ...sql,
    stored: STORED,
    async read(script) {
      const result = await session.run(script());
      await session.settled();
      return result;
    },
    batches: <T>(text: string, parameters: readonly unknown[], size: number) =>
      session.batches(queryOf(text, parameters), size) as AsyncGenerator<readonly T[]>,
    async close() {
      session.send('ROLLBACK');
      await session.settled().catch(() => undefined);
      await session.end();
    },
  };
}

/** Why it was not done; null: it was. Only the owner of a table may write it anew. */
async function vacuum({ url, name }: PostgresOptions, command: string): Promise<string | null> {
  const session = await Session.open({ url, applicationName: 'kybatch vacuum' }).catch((error: unknown) => {
    throw inPlainWords(error, name);
  });
  try {
    const tables = await session.command(
      `SELECT relname AS name, pg_has_role(relowner, 'USAGE') AS owned FROM pg_class
       WHERE relnamespace = 'kybatch'::regnamespace AND relkind = 'r' ORDER BY relname`,
    );
    for (const table of tables)
      if (table.owned === 1) await session.command(`${command} kybatch."${String(table.name)}"`);
    return tables.every(({ owned }) => owned === 1)
      ? null
      : `this user does not own the tables: let their owner run ${command} on the schema kybatch`;
  } catch (error) {
    return reasonOf(error);
  } finally {
    await session.end();
  }
}

const TEXT_COLUMNS = postgresSql().prepare<[], { readonly table: string; readonly column: string }>(
  `SELECT table_name AS "table", column_name AS "column" FROM information_schema.columns
   WHERE table_schema = 'kybatch' AND data_type = 'text' ORDER BY 1, ordinal_position`,
);

/** PostgreSQL takes no text that is none, and checks its pages itself. */
const STORED: StoredTexts = {
  isSound: () => true,
  damagedTimes: () => [],
  damagedTexts: () => [],
  textColumns: () => TEXT_COLUMNS.all(),
};
