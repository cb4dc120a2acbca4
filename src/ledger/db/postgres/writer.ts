// Group commit for PostgreSQL.

import { hostname } from 'node:os';
import { KybatchError, LedgerError, TakenOverError } from '../../../domain/errors.js';
import type { Clock } from '../../../util/clock.js';
import { AssumptionFailed, type Script, type WriteOptions } from '../database.js';
import {
  codeOf,
  confirmedWritesLost,
  isReadOnly,
  isStale,
  isTransactionConflict,
  isUnreachable,
  LostConnection,
  type Patience,
  ReadOnlyServer,
  scratchLost,
  toLedgerError,
} from './failures.js';
import type { Session } from './session.js';
import type { Query } from './statement.js';

export interface WriterOptions {
  readonly name: string;
  readonly open: () => Promise<Session>;
  readonly clock: Clock;
  readonly patience: Patience;
}

interface Waiting extends Write {
  readonly resolve: (result: unknown) => void;
  readonly reject: (reason: unknown) => void;
}

/** A commit that was sent, and the results it would have. */
interface UnconfirmedCommit {
  readonly batch: number;
  readonly results: readonly unknown[];
}

/** Writes per commit: row locks are held until then. */
const AT_MOST = 64;
const REPEATED_AT_MOST = 10;

/** Commits without guessing after a wrong guess, because others are likely to be refused too. */
const CAREFUL = 8;

/** The script refused. The database is fine. */
const isOfScript = (error: unknown): boolean =>
  error instanceof TakenOverError || (error instanceof KybatchError && !(error instanceof LedgerError));

/**
 * Group commit on one connection. Writes that wait when a commit is done run in one transaction, in order, and resolve
 * after it. A lost connection is opened again, and uncommitted writes are repeated.
 *
 * If the answer to a commit is lost, this writer's row in `writers` tells whether it happened. Its lock is awaited,
 * because the lost connection may still commit. If the batch is not recorded, a later number is: should the server
 * process the lost transaction only then, it rolls back.
 */
export class PostgresWriter {
  #session: Session | undefined;
  #waiting: Waiting[] = [];
  #working: Promise<void> | undefined;
  /** Its row in `writers`. */
  #id: number | undefined;
  /** The number of the last tried transaction. The next number records that it did not happen. */
  #batch = 0;
  /** The highest number known to be recorded. */
  #noted = 0;
  #doubt: UnconfirmedCommit | undefined;
  /** Commits to be made without guessing. */
  #careful = 0;
  /** Temporary tables belong to one connection. */
  #scratch: 'none' | 'there' | 'lost' = 'none';
  #broken: LedgerError | undefined;

  constructor(private readonly options: WriterOptions) {}

  get broken(): LedgerError | undefined {
    return this.#broken;
  }

  write<T>(kind: Kind, script: (mayGuess: boolean) => Script<T>, beside?: WriteOptions): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({
        kind,
        beside,
        script,
        resolve: resolve as (result: unknown) => void,
        reject,
      });
      this.#working ??= this.#work();
    });
  }

  async flush(): Promise<void> {
    while (this.#working !== undefined) await this.#working;
  }

  async close(): Promise<void> {
    await this.flush();
    const session = this.#session;
    this.#session = undefined;
    if (session === undefined) return;
    // With an unconfirmed commit the row stays for inspection.
    if (this.#id !== undefined && this.#doubt === undefined)
      session.sendQuery(queryNamed('leave', 'DELETE FROM writers WHERE id = $1', [this.#id]));
    await session.end();
  }

  async #work(): Promise<void> {
    // Writes of this event-loop turn are sent together.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#waiting.length > 0) await this.#writeTogether(this.#take());
    this.#working = undefined;
  }

  /** The writes at the front that can share a transaction. */
  #take(): readonly Waiting[] {
    const kind = this.#waiting[0]?.kind;
    const end = this.#waiting.findIndex((write) => write.kind !== kind);
    const same = end === -1 ? this.#waiting.length : end;
    return this.#waiting.splice(0, kind === 'trial' ? 1 : Math.min(same, AT_MOST));
  }

  async #writeTogether(writes: readonly Waiting[]): Promise<void> {
    try {
      const results = await this.#commit(writes);
      for (const [index, { resolve }] of writes.entries()) resolve(results[index]);
    } catch (error) {
      // One script's refusal must not reach the others.
      if (writes.length > 1 && isOfScript(error)) for (const write of writes) await this.#writeTogether([write]);
      else {
        const reason = this.#asFailure(error);
        for (const { reject } of writes) reject(reason);
      }
    }
  }

  /** As with a file: a defect fails its own write. Any other failure ends all spending. */
  #asFailure(error: unknown): KybatchError {
    const { name } = this.options;
    const told = toLedgerError(error, name);
    const failure = told instanceof KybatchError ? told : new LedgerError(told, name);
    if (failure instanceof LedgerError && failure.code !== 'INTERNAL' && !isOfScript(failure)) this.#broken ??= failure;
    return failure;
  }

  async #commit(writes: readonly Waiting[]): Promise<readonly unknown[]> {
    let tried = 0;
    let doubt: UnconfirmedCommit | undefined;
    return await this.options.patience.until(async () => {
      for (;;) {
        const session = await this.#connected();
        // The row was read when the connection was opened again.
        if (doubt !== undefined && doubt.batch === this.#noted) return doubt.results;
        doubt = undefined;
        const outcome = await this.#try(session, writes);
        if ('results' in outcome) return outcome.results;
        const { error } = outcome;
        if (session.isLost || isUnreachable(error) || isReadOnly(error)) {
          doubt = this.#doubt;
          await this.#drop(session);
          throw isReadOnly(error) ? new ReadOnlyServer() : new LostConnection(error);
        }
        await this.#takeBack(session, error);
        if (error instanceof AssumptionFailed && this.#careful === 0) {
          this.#careful = CAREFUL;
          continue;
        }
        tried += 1;
        if (tried < REPEATED_AT_MOST && (isTransactionConflict(error) || isStale(error) || codeOf(error) === NOT_NOTED))
          continue;
        throw this.#scratch === 'lost' && codeOf(error) === '42P01' ? scratchLost(error, this.options.name) : error;
      }
    });
  }

  async #try(
    session: Session,
    writes: readonly Waiting[],
  ): Promise<{ readonly results: readonly unknown[] } | { readonly error: unknown }> {
    const kind = writes[0]?.kind;
    const isNoted = kind === 'alone' || kind === 'beside';
    this.#batch += 2;
    const batch = this.#batch;
    try {
      // Outside of the transaction, so that a rollback keeps the row.
      const writer = kind === 'scratch' ? undefined : (this.#id ?? (await this.#enter(session)));
      const noted = writer === undefined ? undefined : { batch, writer, now: this.options.clock.now() };
      const results = await runBatch(session, writes, { noted, mayGuess: this.#careful === 0 });
      if (kind === 'trial') {
        session.send('ROLLBACK');
        await session.settled();
        return { results };
      }
      if (isNoted) this.#doubt = { batch, results };
      await session.commit();
      if (this.#careful > 0) this.#careful -= 1;
      if (isNoted) this.#noted = batch;
      else this.#scratch = 'there';
      this.#doubt = undefined;
      return { results };
    } catch (error) {
      return { error };
    }
  }

  async #enter(session: Session): Promise<number> {
    const now = this.options.clock.now();
    const [made] = await session.command(
      'INSERT INTO writers (host, pid, begun_at, seen_at) VALUES ($1, $2, $3, $3) RETURNING id',
      [hostname(), process.pid, now],
    );
    this.#id = Number(made?.id);
    return this.#id;
  }

  /** A new connection is usable once the fate of the last commit is known, and nothing of it can still happen. */
  async #connected(): Promise<Session> {
    if (this.#session !== undefined) {
      if (!this.#session.isLost) return this.#session;
      await this.#drop(this.#session);
    }
    const session = await this.options.open();
    try {
      if (this.#id !== undefined) await this.#lookBack(session, this.#id);
    } catch (error) {
      const isLost = session.isLost || isUnreachable(error) || isTransactionConflict(error);
      await session.end();
      throw isLost ? new LostConnection(error) : error;
    }
    this.#session = session;
    return session;
  }

  async #lookBack(session: Session, id: number): Promise<void> {
    session.send(BEGIN);
    const [line] = await session.command('SELECT batch FROM writers WHERE id = $1 FOR UPDATE', [id]);
    const batch = Number(line?.batch ?? -1);
    // If no write was confirmed, another row is as good.
    if (batch < this.#noted && (this.#noted > 0 || this.#doubt !== undefined))
      throw confirmedWritesLost(this.options.name);
    if (line === undefined) this.#id = undefined;
    const isNeeded = this.#doubt !== undefined && batch !== this.#doubt.batch;
    const noted = isNeeded ? (this.#doubt?.batch ?? 0) + 1 : batch;
    if (isNeeded)
      session.sendQuery(queryNamed('look_back', 'UPDATE writers SET batch = $1 WHERE id = $2', [noted, id]));
    await session.commit();
    this.#noted = Math.max(noted, 0);
    this.#doubt = undefined;
  }

  /** The transaction is over, or the connection is no longer used. */
  async #takeBack(session: Session, error: unknown): Promise<void> {
    this.#doubt = undefined;
    session.send('ROLLBACK');
    await session.settled().catch(() => undefined);
    if (!session.isAtRest || isStale(error) || codeOf(error) === NOT_NOTED) await this.#drop(session);
  }

  async #drop(session: Session): Promise<void> {
    if (this.#session === session) this.#session = undefined;
    if (this.#scratch === 'there') this.#scratch = 'lost';
    await session.settled().catch(() => undefined);
    await session.end();
  }
}

/**
 * - `alone`: no other process writes meanwhile.
 * - `beside`: others may write, except to locked environments.
 * - `scratch`: in temporary tables, which only this connection sees.
 * - `trial`: runs alone and is rolled back.
 */
export type Kind = 'alone' | 'beside' | 'scratch' | 'trial';

interface Write {
  readonly kind: Kind;
  readonly beside: WriteOptions | undefined;
  readonly script: (mayGuess: boolean) => Script<unknown>;
}

/** A transaction's number, and the writer's row in which it is recorded. */
interface Noted {
  readonly batch: number;
  readonly writer: number;
  readonly now: number;
}

/** The advisory lock of all writers of a ledger in one database: exclusive for `alone`, shared for `beside`. */
export const LOCK = 0x6b79_6261;

/**
 * Each transaction records its number in its writer's row, and takes the lock. If a later number is recorded, a
 * division by zero rolls it back.
 */
const NOTE = (lock: string) => `WITH noted AS (UPDATE writers SET batch = $1, seen_at = $2
    WHERE id = $3 AND batch < $1 RETURNING 1)
  SELECT 1 / count(*), ${lock}(${LOCK}) FROM noted`;
const NOTE_BESIDE = NOTE('pg_advisory_xact_lock_shared');
const NOTE_ALONE = NOTE('pg_advisory_xact_lock');
const NOT_NOTED = '22012';
const LOCK_ENVIRONMENTS = 'SELECT id FROM environments WHERE id = ANY($1::bigint[]) ORDER BY id FOR NO KEY UPDATE';

/** Independent of the server's default: after waiting for a lock, a transaction sees what was committed. */
export const BEGIN = 'BEGIN ISOLATION LEVEL READ COMMITTED';

const queryNamed = (name: string, text: string, values: readonly unknown[]): Query => ({
  name,
  text,
  values,
  rowMode: undefined,
});

/** Runs writes of one kind in one transaction, up to its commit. Returns their results. */
async function runBatch<W extends Write>(
  session: Session,
  writes: readonly W[],
  { noted, mayGuess }: { readonly noted: Noted | undefined; readonly mayGuess: boolean },
): Promise<readonly unknown[]> {
  const isBeside = writes[0]?.kind === 'beside';
  session.send(BEGIN);
  if (noted !== undefined) {
    const values = [noted.batch, noted.now, noted.writer];
    session.sendQuery(
      isBeside ? queryNamed('note_beside', NOTE_BESIDE, values) : queryNamed('note_alone', NOTE_ALONE, values),
    );
    // Always in the same order, so that no deadlock occurs.
    const environments = [...new Set(writes.flatMap(({ beside }) => beside?.environments ?? []))].sort((a, b) => a - b);
    if (environments.length > 0)
      session.sendQuery(queryNamed('lock_environments', LOCK_ENVIRONMENTS, [`{${environments.join()}}`]));
  }
  const results = new Map<W, unknown>();
  const waiting = isBeside && mayGuess ? await runInStep(session, writes, results) : writes;
  for (const write of waiting) results.set(write, await session.run(write.script(false)));
  return writes.map((write) => results.get(write));
}

/** Each answer is a round trip, so independent writes run in parallel. */
async function runInStep<W extends Write>(
  session: Session,
  writes: readonly W[],
  results: Map<W, unknown>,
): Promise<readonly W[]> {
  for (const turn of [undefined, 'guess'] as const) {
    let failed: { readonly reason: unknown } | undefined;
    const runs = writes
      .filter(({ beside }) => beside?.turn === turn)
      .map(async (write) => {
        try {
          results.set(write, await session.run(write.script(true)));
        } catch (reason) {
          // Answers come in order, so the first failure causes the others.
          failed ??= { reason };
        }
      });
    await Promise.all(runs);
    if (failed !== undefined) throw failed.reason;
  }
  return writes.filter(({ beside }) => beside?.turn === 'own');
}
