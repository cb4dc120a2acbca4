import pg from 'pg';
import type { Script } from '../database.js';
import type { Asked, Query } from './statement.js';

export interface SessionOptions {
  readonly url: string;
  /** What `pg_stat_activity` shows. */
  readonly applicationName: string;
  readonly connectMs?: number;
}

export type Walk = Extract<Asked, { how: 'walk' }>;

/** Rows that are fetched at a time where there may be many. */
const FETCHED = 2000;

/**
 * Somebody who is frozen, or whose machine is gone, in the middle of a transaction holds its locks: they are let go before
 * anybody has to wait for longer than a lease. Every text is compared byte by byte, every number is as it was written.
 */
const SET_UP = `SET search_path = kybatch; SET idle_in_transaction_session_timeout = '15s'; SET tcp_keepalives_idle = 10;
  SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 2; SET client_min_messages = warning; SET jit = off`;

/** One connection. What is sent on it goes out at once, and is done in that order. */
export class Session {
  readonly #client: pg.Client;
  #lost: unknown;
  #sent: Promise<unknown>[] = [];
  #failed: { readonly reason: unknown } | undefined;
  #cursors = 0;

  private constructor(client: pg.Client) {
    this.#client = client;
    // Told also while nothing is asked: whoever asks next is refused by the driver.
    client.on('error', (error) => {
      this.#lost ??= error;
    });
    client.on('end', () => {
      this.#lost ??= new Error('Connection terminated');
    });
  }

  static async open({ url, applicationName, connectMs = 10_000 }: SessionOptions): Promise<Session> {
    const client = new pg.Client({
      connectionString: url,
      application_name: applicationName,
      connectionTimeoutMillis: connectMs,
      keepAlive: true,
      pipeline: true,
      types: { getTypeParser },
    });
    const session = new Session(client);
    try {
      await client.connect();
      await client.query(SET_UP);
      return session;
    } catch (error) {
      await session.end();
      throw error;
    }
  }

  get isLost(): boolean {
    return this.#lost !== undefined;
  }

  /**
   * Runs a script to its end. What it sent without waiting is done when `settled` resolves. Many records are read with a
   * cursor, which lives in a transaction: outside of one `walk` reads them.
   */
  async run<T>(script: Script<T>, walk = this.#walk.bind(this)): Promise<T> {
    let step = script.next();
    while (!step.done) {
      const asked = step.value as Asked;
      if (asked.how === 'run') {
        this.#send(asked.query);
        step = script.next();
        continue;
      }
      let answer: unknown;
      try {
        answer = asked.how === 'walk' ? await walk(asked) : await this.#answer(asked);
      } catch (error) {
        step = script.throw(this.#failed?.reason ?? error);
        continue;
      }
      step = script.next(answer);
    }
    return step.value;
  }

  /** All that nobody waited for is done, or the first failure of it is thrown. */
  async settled(): Promise<void> {
    const sent = this.#sent;
    this.#sent = [];
    await Promise.all(sent);
    const failed = this.#failed;
    this.#failed = undefined;
    if (failed !== undefined) throw failed.reason;
  }

  /** A command without parameters that nobody waits for. */
  send(text: string): void {
    this.#note(this.#client.query(text));
  }

  sendQuery(text: string, values: readonly unknown[]): void {
    this.#note(this.#client.query(text, [...values]));
  }

  async command(text: string, values: readonly unknown[] = []): Promise<readonly Record<string, unknown>[]> {
    const result = await this.#client.query<Record<string, unknown>>(
      values.length === 0 ? { text } : { text, values: [...values] },
    );
    return Array.isArray(result) ? [] : result.rows;
  }

  /** Records of one query in batches, inside of a transaction. */
  async *batches(query: Query, size: number): AsyncGenerator<readonly unknown[]> {
    this.#cursors += 1;
    const cursor = `kybatch_${this.#cursors}`;
    await this.#client.query({
      text: `DECLARE ${cursor} NO SCROLL CURSOR FOR ${query.text}`,
      values: [...query.values],
    });
    const fetch = { text: `FETCH ${size} FROM ${cursor}`, ...(query.rowMode && { rowMode: query.rowMode }) };
    for (;;) {
      const { rows } = await this.#client.query(fetch as pg.QueryConfig);
      if (rows.length > 0) yield rows;
      if (rows.length < size) break;
    }
    await this.#client.query(`CLOSE ${cursor}`);
  }

  onNotification(told: (channel: string, payload: string) => void): void {
    this.#client.on('notification', ({ channel, payload }) => told(channel, payload ?? ''));
  }

  async end(): Promise<void> {
    await this.#client.end().catch(() => undefined);
  }

  #send({ name, text, values, rowMode }: Query): void {
    this.#note(this.#client.query({ name, text, values: [...values], ...(rowMode && { rowMode }) }));
  }

  /** The first failure is the reason of those that follow. */
  #note(done: Promise<unknown>): void {
    this.#sent.push(
      done.catch((reason: unknown) => {
        this.#failed ??= { reason };
      }),
    );
  }

  async #walk({ query, visit }: Walk): Promise<void> {
    for await (const rows of this.batches(query, FETCHED)) for (const row of rows) visit(row);
  }

  async #answer(asked: Exclude<Asked, { how: 'run' | 'walk' }>): Promise<unknown> {
    if (asked.how === 'call') return await asked.work((text, values) => this.command(text, values));
    if (asked.how === 'exec') return void (await this.#client.query(asked.text));
    const { query } = asked;
    const { name, text, values, rowMode } = query;
    const result = await this.#client.query({
      name,
      text,
      values: [...values],
      ...(rowMode && { rowMode }),
    } as pg.QueryConfig);
    return asked.how === 'rows' ? result.rows : (result.rowCount ?? 0);
  }
}

const asNumber = (text: string): number => Number(text);
const asText = (text: string): string => text;

/** As SQLite hands them out: every number is one, a truth is 1 or 0, JSON is a text. */
const PARSERS: ReadonlyMap<number, (text: string) => unknown> = new Map<number, (text: string) => unknown>([
  [16, (text) => (text === 't' ? 1 : 0)],
  [20, asNumber],
  [21, asNumber],
  [23, asNumber],
  [700, asNumber],
  [701, asNumber],
  [1700, asNumber],
  [17, (text) => Buffer.from(text.slice(2), 'hex')],
  [114, asText],
  [3802, asText],
]);

const getTypeParser = (oid: number): ((text: string) => unknown) => PARSERS.get(oid) ?? asText;
