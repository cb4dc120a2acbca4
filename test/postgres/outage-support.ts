import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../src/ledger/db/database.js';
import { type PostgresOptions, postgresDatabase } from '../../src/ledger/db/postgres/database.js';
import { systemClock } from '../../src/util/clock.js';
import type { Message } from '../../src/util/message-parts.js';
import { withClient, withPostgres } from './server.js';

/** A table without a key, so that repeated writes are visible. `at` gives their order. */
const TABLE = `CREATE TABLE kybatch.told (at bigint GENERATED ALWAYS AS IDENTITY, writer text NOT NULL, n bigint NOT NULL)`;

export interface Place {
  /** Straight to the server. */
  readonly url: string;
  /** The written values in order, as `writer n`. */
  written(): Promise<readonly string[]>;
  sql(text: string, values?: readonly unknown[]): Promise<readonly Record<string, unknown>[]>;
  /** Ends the backends of this name that are busy, or idle. */
  kill(applicationName: string): Promise<number>;
}

export function placeAt(url: string): Place {
  const sql: Place['sql'] = (text, values = []) =>
    withClient(url, async (client) => (await client.query(text, [...values])).rows);
  return {
    url,
    sql,
    written: async () =>
      (await sql('SELECT writer, n FROM kybatch.told ORDER BY at')).map(({ writer, n }) => `${writer} ${n}`),
    kill: async (applicationName) =>
      (
        await sql(
          'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1 AND datname = current_database()',
          [applicationName],
        )
      ).length,
  };
}

export const withPlace = <T>(use: (place: Place) => Promise<T>): Promise<T> =>
  withPostgres(async (url) => {
    await withClient(url, (client) => client.query(TABLE));
    return await use(placeAt(url));
  });

export const makeTable = (url: string): Promise<unknown> => withClient(url, (client) => client.query(TABLE));

export interface Opened {
  readonly database: Database;
  readonly notes: Message[];
  /** One write of its own. */
  write(n: number): Promise<void>;
}

export async function withOpened<T>(
  url: string,
  use: (opened: Opened) => Promise<T>,
  { writer = 'a', ...options }: Partial<PostgresOptions> & { readonly writer?: string } = {},
): Promise<T> {
  const notes: Message[] = [];
  const database = postgresDatabase({
    url,
    name: 'postgres://here/db',
    readonly: false,
    clock: systemClock,
    patienceMs: 20_000,
    onNote: (note) => notes.push(note),
    ...options,
  });
  const insert = database.prepare<[string, number], never>('INSERT INTO told (writer, n) VALUES (?, ?)');
  const write = (n: number) => database.write(() => insert.run(writer, n), { environments: [] });
  try {
    return await use({ database, notes, write });
  } finally {
    await database.close();
  }
}

/** Less than the limit of a test, so that a hanging step is named even on a busy machine. */
const HANGS_MS = 200_000;

/** `ended` is the process that causes it. If the process ends first, the wait ends, too. */
export async function until(isSo: () => boolean | Promise<boolean>, ended?: Promise<unknown>): Promise<void> {
  const begun = Date.now();
  let end: { readonly how: unknown } | undefined;
  void ended?.then((how) => {
    end = { how };
  });
  while (!(await isSo())) {
    if (end !== undefined) throw new Error(`the process ended before: ${JSON.stringify(end.how)}`);
    if (Date.now() - begun > HANGS_MS) throw new Error('it did not come to that');
    await sleep(20);
  }
}

export const upTo = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index);
