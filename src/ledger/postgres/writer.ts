import { hostname } from 'node:os';
import { KybatchError, LedgerError } from '../../domain/errors.js';
import type { Clock } from '../../util/clock.js';
import type { Beside, Script } from '../database.js';
import { inPlainWords, isAway, isToRepeat, LedgerAwayError } from './failures.js';
import type { Session } from './session.js';

export interface WriterOptions {
  readonly name: string;
  readonly open: () => Promise<Session>;
  readonly clock: Clock;
  /** For so long it may be away. */
  readonly patienceMs: number;
  readonly onNote: (note: string) => void;
}

type Kind = 'alone' | 'beside' | 'scratch' | 'trial';

interface Write {
  readonly kind: Kind;
  readonly environments: readonly number[];
  readonly script: () => Script<unknown>;
  readonly resolve: (result: unknown) => void;
  readonly reject: (reason: unknown) => void;
}

/** Of everybody who writes to any ledger of this kind, in one database: who writes alone, and who beside others. */
export const LOCK = 0x6b79_6261;
/** So many share a commit: a row lock is held until then. */
const AT_MOST = 64;
const REPEATED_AT_MOST = 10;

/**
 * Group commit on one connection. What waits when the last commit is done is written in one transaction, one after the other,
 * and only then is anybody told. A lost connection is found again with patience, and what was not committed is done anew; of a
 * commit whose answer was lost the database itself tells what became of it.
 */
export class PostgresWriter {
  readonly #options: WriterOptions;
  #session: Session | undefined;
  #waiting: Write[] = [];
  #working: Promise<void> | undefined;
  /** Its line in `writers`, and the number of its last transaction. */
  #id: number | undefined;
  #batch = 0;
  #broken: LedgerError | undefined;

  constructor(options: WriterOptions) {
    this.#options = options;
  }

  get broken(): LedgerError | undefined {
    return this.#broken;
  }

  write<T>(kind: Kind, script: () => Script<T>, beside?: Beside): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({
        kind,
        environments: beside?.environments ?? [],
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
    if (this.#id !== undefined && this.#session !== undefined && !this.#session.isLost)
      await this.#session.command('DELETE FROM writers WHERE id = $1', [this.#id]).catch(() => undefined);
    await this.#session?.end();
  }

  async #work(): Promise<void> {
    // What this round of the event loop hands in goes out together.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#waiting.length > 0) await this.#writeTogether(this.#take());
    this.#working = undefined;
  }

  /** Those at the front that can share a transaction. */
  #take(): readonly Write[] {
    const kind = this.#waiting[0]?.kind;
    const end = this.#waiting.findIndex((write) => write.kind !== kind);
    const same = end === -1 ? this.#waiting.length : end;
    return this.#waiting.splice(0, kind === 'trial' ? 1 : Math.min(same, AT_MOST));
  }

  async #writeTogether(writes: readonly Write[]): Promise<void> {
    try {
      const results = await this.#commit(writes);
      for (const [index, { resolve }] of writes.entries()) resolve(results[index]);
    } catch (error) {
      const reason = this.#asFailure(error);
      for (const { reject } of writes) reject(reason);
    }
  }

  #asFailure(error: unknown): unknown {
    const told = inPlainWords(error, this.#options.name);
    if (told instanceof LedgerError) this.#broken ??= told;
    return told instanceof KybatchError ? told : new LedgerError(told, this.#options.name);
  }

  async #commit(writes: readonly Write[]): Promise<readonly unknown[]> {
    const batch = ++this.#batch;
    for (let tried = 1; ; tried++) {
      const session = await this.#connected();
      let isSent = false;
      let results: readonly unknown[] = [];
      try {
        results = await this.#runAll(session, writes, batch);
        isSent = writes[0]?.kind !== 'trial';
        session.send(isSent ? 'COMMIT' : 'ROLLBACK');
        await session.settled();
        return results;
      } catch (error) {
        if (isAway(error) || session.isLost) {
          await this.#drop(session);
          if (isSent && (await this.#wasCommitted(batch))) return results;
          continue;
        }
        await this.#takeBack(session);
        if (isToRepeat(error) && tried < REPEATED_AT_MOST) continue;
        throw error;
      }
    }
  }

  async #runAll(session: Session, writes: readonly Write[], batch: number): Promise<readonly unknown[]> {
    const kind = writes[0]?.kind;
    // Outside of the transaction: its line stays when that is taken back.
    const writer = kind === 'scratch' ? undefined : await this.#writerId(session);
    session.send('BEGIN');
    if (writer !== undefined) {
      const lock = kind === 'beside' ? 'pg_advisory_xact_lock_shared' : 'pg_advisory_xact_lock';
      session.send(`SELECT ${lock}(${LOCK})`);
      // In one order, whoever locks them: nobody waits in a circle.
      const environments = [...new Set(writes.flatMap((write) => write.environments))].sort((a, b) => a - b);
      if (environments.length > 0)
        session.sendQuery('SELECT id FROM environments WHERE id = ANY($1::bigint[]) ORDER BY id FOR NO KEY UPDATE', [
          environments,
        ]);
      session.sendQuery('UPDATE writers SET batch = $1, seen_at = $2 WHERE id = $3', [
        batch,
        this.#options.clock.now(),
        writer,
      ]);
    }
    const results: unknown[] = [];
    for (const { script } of writes) results.push(await session.run(script()));
    return results;
  }

  async #writerId(session: Session): Promise<number> {
    if (this.#id !== undefined) return this.#id;
    const now = this.#options.clock.now();
    const [made] = await session.command(
      'INSERT INTO writers (host, pid, begun_at, seen_at) VALUES ($1, $2, $3, $3) RETURNING id',
      [hostname(), process.pid, now],
    );
    this.#id = Number(made?.id);
    return this.#id;
  }

  /** Waits for whoever still holds the line of this writer: the lost connection may be about to commit. */
  async #wasCommitted(batch: number): Promise<boolean> {
    for (;;) {
      const session = await this.#connected();
      try {
        session.send('BEGIN');
        const [found] = await session.command('SELECT batch FROM writers WHERE id = $1 FOR UPDATE', [this.#id ?? -1]);
        session.send('ROLLBACK');
        await session.settled();
        return Number(found?.batch ?? -1) >= batch;
      } catch (error) {
        if (!isAway(error) && !session.isLost) throw error;
        await this.#drop(session);
      }
    }
  }

  async #takeBack(session: Session): Promise<void> {
    try {
      session.send('ROLLBACK');
      await session.settled().catch(() => undefined);
    } catch {
      await this.#drop(session);
    }
  }

  async #drop(session: Session): Promise<void> {
    if (this.#session === session) this.#session = undefined;
    await session.settled().catch(() => undefined);
    await session.end();
  }

  async #connected(): Promise<Session> {
    if (this.#session !== undefined && !this.#session.isLost) return this.#session;
    this.#session = await withPatience(this.#options);
    return this.#session;
  }
}

/** Tries again, ever more slowly, until it is there or patience ends. */
export async function withPatience({ name, open, clock, patienceMs, onNote }: WriterOptions): Promise<Session> {
  const since = clock.now();
  for (let tried = 0; ; tried++) {
    try {
      const session = await open();
      if (tried > 0) onNote(`the ledger ${name} is back after ${Math.round((clock.now() - since) / 1000)} s`);
      return session;
    } catch (error) {
      if (!isAway(error)) throw error;
      const waited = clock.now() - since;
      if (waited >= patienceMs) throw new LedgerAwayError(name, error, waited);
      if (tried === 0)
        onNote(
          `the ledger ${name} is away: nothing is sent until it is back, for ${Math.round(patienceMs / 1000)} s at the most`,
        );
      await clock.sleep(Math.min(250 * 2 ** tried, 5000, Math.max(1, patienceMs - waited)));
    }
  }
}
