// One connection to PostgreSQL: pipelined statements, and detection of a dead server.

import { Socket } from 'node:net';
import pg from 'pg';
import type { Script } from '../database.js';
import { isUnreachable, ReadOnlyServer } from './failures.js';
import { type Asked, type Query, readerOf } from './statement.js';

export interface SessionOptions {
  readonly url: string;
  /** Shown in `pg_stat_activity`. */
  readonly applicationName: string;
  readonly connectMs?: number;
  /** Refuses a read-only server. */
  readonly writes?: boolean;
  /** How often to check for a dead server while an answer is due. */
  readonly lookMs?: number;
  /** Aborted: shorten all waits. */
  readonly giveUp?: AbortSignal | undefined;
}

export type Walk = Extract<Asked, { how: 'walk' }>;
type Answered = Exclude<Asked, { how: 'run' | 'walk' }>;

const FETCHED = 2000;
const CONNECT_MS = 10_000;
const LOOK_MS = 10_000;

/** Time limit for closing the connection. */
const END_MS = 2000;

/**
 * Overrides settings of server, database and role. Statements may take their time. But a frozen or lost process inside
 * a transaction holds its locks: they are released within the time of a lease. A confirmed commit is on disk. Texts,
 * bytes and numbers are returned as written.
 */
const SET_UP = `SET search_path = kybatch; SET client_encoding = 'UTF8'; SET client_min_messages = warning; SET jit = off;
  SET standard_conforming_strings = on; SET bytea_output = hex; SET extra_float_digits = 1; SET array_nulls = on;
  SET statement_timeout = 0; SET lock_timeout = 0; SET idle_in_transaction_session_timeout = '15s';
  SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 2;
  SELECT set_config(name, '0', false) FROM (VALUES ('transaction_timeout'), ('idle_session_timeout')) AS later (name)
    WHERE current_setting(name, true) IS NOT NULL;
  SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off';
  SELECT pg_backend_pid() AS backend, current_setting('transaction_read_only') = 'on' AS readonly`;

/** One connection. Statements are sent at once and run in order. */
export class Session {
  readonly #client: pg.Client;
  readonly #socket: Socket;
  #endWatch: () => void = () => {};
  #lost: unknown;
  /** The numbers of statements and answers. */
  #asked = 0;
  #answered = 0;
  /** Resolves with the last statement that was sent without waiting. */
  #last: Promise<void> | undefined;
  #failed: { readonly reason: unknown } | undefined;
  #cursors = 0;
  #isGathering = false;

  private constructor({ url, applicationName }: SessionOptions) {
    this.#socket = new Socket();
    this.#client = new pg.Client({
      connectionString: url,
      application_name: applicationName,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
      pipeline: true,
      types: { getTypeParser: readerOf },
      stream: () => this.#socket,
    });
    // Called also while idle. The driver refuses the next query.
    this.#client.on('error', (error) => {
      this.#lost ??= error;
    });
    this.#client.on('end', () => {
      this.#lost ??= new Error('Connection terminated');
    });
  }

  static async open(options: SessionOptions): Promise<Session> {
    const { url, connectMs = CONNECT_MS, lookMs = LOOK_MS, writes = false, giveUp } = options;
    const session = new Session(options);
    const expire = () => session.#socket.destroy(new Error('timeout expired'));
    const endWait = abortableTimer(giveUp, connectMs, (ms) => setTimeout(expire, ms));
    try {
      await session.#client.connect();
      const results = (await session.#query({ text: SET_UP })) as unknown as readonly pg.QueryResult[];
      const at = results.at(-1)?.rows[0] as { readonly backend: number; readonly readonly: 0 | 1 } | undefined;
      if (writes && at?.readonly === 1) throw new ReadOnlyServer();
      session.#endWatch = startLivenessCheck({
        url,
        backend: at?.backend ?? 0,
        socket: session.#socket,
        lookMs,
        giveUp,
        isOwed: () => !session.isLost && session.#asked !== session.#answered,
      });
      return session;
    } catch (error) {
      await session.end();
      throw error;
    } finally {
      endWait();
    }
  }

  get isLost(): boolean {
    return this.#lost !== undefined;
  }

  /** No transaction is open, as of the last answer. */
  get isAtRest(): boolean {
    return !this.isLost && this.#asked === this.#answered && this.#client.getTransactionStatus() === 'I';
  }

  /**
   * Runs a script to its end. Statements sent without waiting are done when `settled` resolves. Large results use a
   * cursor, which needs a transaction: a script that only reads, outside of one, has `walk` for them.
   */
  async run<T>(script: Script<T>, walk?: (asked: Walk) => Promise<void>): Promise<T> {
    let step = script.next();
    while (!step.done) {
      const asked = step.value as Asked;
      if (asked.how === 'run') {
        if (walk !== undefined) throw new Error('a reading transaction tried to change the ledger');
        this.sendQuery(asked.query);
        step = script.next();
        continue;
      }
      let answer: unknown;
      try {
        answer = asked.how === 'walk' ? await (walk ?? this.#walk.bind(this))(asked) : await this.#answer(asked);
      } catch (error) {
        step = script.throw(this.#failed?.reason ?? error);
        continue;
      }
      step = script.next(answer);
    }
    return step.value;
  }

  /** Resolves when all statements sent without waiting are done, or throws their first failure. */
  async settled(): Promise<void> {
    await this.#last;
    this.#last = undefined;
    const failed = this.#failed;
    this.#failed = undefined;
    if (failed !== undefined) throw failed.reason;
  }

  /** The same for a transaction. PostgreSQL rolls back a transaction with a failed part without reporting an error. */
  async commit(): Promise<void> {
    let command = '';
    this.#send((resolve, reject) =>
      this.#ask(
        { text: 'COMMIT' },
        (result) => {
          command = result.command;
          resolve();
        },
        reject,
      ),
    );
    await this.settled();
    if (command !== 'COMMIT') throw new Error('PostgreSQL took the transaction back without a reason');
  }

  /** Sends a command without parameters and without waiting. */
  send(text: string): void {
    this.#send((resolve, reject) => this.#ask({ text }, resolve, reject));
  }

  sendQuery(query: Query): void {
    this.#send((resolve, reject) => this.#ask(toConfig(query), resolve, reject));
  }

  async command(text: string, values: readonly unknown[] = []): Promise<readonly Record<string, unknown>[]> {
    const result = await this.#query(values.length === 0 ? { text } : { text, values: [...values] });
    return Array.isArray(result) ? [] : result.rows;
  }

  /** Records of one query in batches, inside a transaction. */
  async *batches(query: Query, size: number): AsyncGenerator<readonly unknown[]> {
    this.#cursors += 1;
    const cursor = `kybatch_${this.#cursors}`;
    await this.#query({
      text: `DECLARE ${cursor} NO SCROLL CURSOR FOR ${query.text}`,
      values: [...query.values],
    });
    const fetch = { text: `FETCH ${size} FROM ${cursor}`, ...(query.rowMode && { rowMode: query.rowMode }) };
    for (;;) {
      const { rows } = await this.#query(fetch);
      if (rows.length > 0) yield rows;
      if (rows.length < size) break;
    }
    await this.#query({ text: `CLOSE ${cursor}` });
  }

  onNotification(told: (channel: string, payload: string) => void): void {
    this.#client.on('notification', ({ channel, payload }) => told(channel, payload ?? ''));
  }

  /** Waits shortly for statements in progress, because a dead connection never answers. */
  async end(): Promise<void> {
    this.#endWatch();
    if (this.isLost) this.#socket.destroy();
    const late = setTimeout(() => this.#socket.destroy(), END_MS);
    await this.#client.end().catch(() => undefined);
    clearTimeout(late);
  }

  #query(config: pg.QueryConfig): Promise<pg.QueryResult<Record<string, unknown>>> {
    return new Promise((resolve, reject) => this.#ask(config, resolve, reject));
  }

  /** The first failure causes the following ones. Answers come in order, so the last one is the end. */
  #send(ask: (resolve: () => void, reject: (reason: unknown) => void) => void): void {
    this.#last = new Promise((resolve) => {
      ask(resolve, (reason) => {
        this.#failed ??= { reason };
        resolve();
      });
    });
  }

  #ask(
    config: pg.QueryConfig,
    resolve: (result: pg.QueryResult<Record<string, unknown>>) => void,
    reject: (reason: unknown) => void,
  ): void {
    this.#asked += 1;
    this.#gather();
    this.#client.query(config, (error: Error | null, result: pg.QueryResult<Record<string, unknown>>) => {
      this.#answered += 1;
      if (!error) return resolve(result);
      this.#mayBeLost(error);
      reject(error);
    });
  }

  /** Set before the socket closes, so that nothing begins on it. */
  #mayBeLost(error: unknown): void {
    if (isUnreachable(error)) this.#lost ??= error;
  }

  /** Statements of one turn are sent in one packet: a packet each costs more than the statement. */
  #gather(): void {
    if (this.#isGathering) return;
    this.#isGathering = true;
    const { stream } = this.#client.connection;
    stream.cork();
    process.nextTick(() => {
      this.#isGathering = false;
      stream.uncork();
    });
  }

  async #walk({ query, visit }: Walk): Promise<void> {
    for await (const rows of this.batches(query, FETCHED)) for (const row of rows) visit(row);
  }

  async #answer(asked: Answered): Promise<unknown> {
    if (asked.how === 'together') return await Promise.all(asked.asked.map((one) => this.#answer(one as Answered)));
    if (asked.how === 'exec') return void (await this.#query({ text: asked.text }));
    const { rows, rowCount } = await this.#query(toConfig(asked.query));
    return asked.how === 'rows' ? rows : (rowCount ?? 0);
  }
}

const toConfig = ({ rowMode, values, ...query }: Query): pg.QueryConfig => ({
  ...query,
  values: [...values],
  ...(rowMode && { rowMode }),
});

interface Watched {
  readonly url: string;
  readonly backend: number;
  readonly socket: Socket;
  /** Interval and time limit of a check. */
  readonly lookMs: number;
  readonly giveUp: AbortSignal | undefined;
  readonly isOwed: () => boolean;
}

/**
 * If a machine is gone, the system retries for a quarter of an hour. While an answer is due and nothing arrives, a
 * second connection asks whether the first is still known to the server. A session that waits for a lock is. Returns a
 * function that stops the check.
 */
function startLivenessCheck({ url, backend, socket, lookMs, giveUp, isOwed }: Watched): () => void {
  let heard = -1;
  let isLooking = false;
  const look = async (withinMs: number) => {
    const bytes = socket.bytesRead;
    if (!isOwed()) heard = -1;
    else if (heard !== bytes) heard = bytes;
    else if (!(await isKnown(url, backend, withinMs)) && bytes === socket.bytesRead)
      socket.destroy(new Error('Connection terminated: it does not answer any more'));
  };
  return abortableTimer(giveUp, lookMs, (ms) =>
    setInterval(() => {
      if (isLooking) return;
      isLooking = true;
      void look(ms).finally(() => {
        isLooking = false;
      });
    }, ms).unref(),
  );
}

/** Does the server still have this backend? If it refuses the connection for another reason, assume yes. */
async function isKnown(url: string, backend: number, connectMs: number): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: connectMs, query_timeout: connectMs });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query('SELECT 1 FROM pg_stat_activity WHERE pid = $1', [backend]);
    return rows.length > 0;
  } catch (error) {
    return !isUnreachable(error) || ('code' in (error as Error) && (error as { code: unknown }).code === '53300');
  } finally {
    void client.end().catch(() => undefined);
  }
}

/** The time limit of an answer after an abort. */
const HURRIED_MS = 1000;

/** A timer that an abort shortens. Returns a function that stops it. */
function abortableTimer(giveUp: AbortSignal | undefined, ms: number, set: (ms: number) => NodeJS.Timeout): () => void {
  const hurriedMs = Math.min(HURRIED_MS, ms);
  let timer = set(giveUp?.aborted === true ? hurriedMs : ms);
  const hurry = () => {
    clearTimeout(timer);
    timer = set(hurriedMs);
  };
  giveUp?.addEventListener('abort', hurry, { once: true });
  return () => {
    clearTimeout(timer);
    giveUp?.removeEventListener('abort', hurry);
  };
}
