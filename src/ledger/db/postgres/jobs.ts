// The job queue of a shared ledger, on pg-boss.

import PgBoss from 'pg-boss';
import { ExitCode, KybatchError, TakenOverError } from '../../../domain/errors.js';
import {
  type JobStore,
  LedElsewhereError,
  type RowJob,
  type RunWithJobs,
  type WaitingRow,
} from '../../rows/workers.js';
import type { Database, Script } from '../database.js';
import { QUEUE_SCHEMA, QUEUES, queueName } from './migrate.js';
import type { Asked, Execute } from './statement.js';

/** Jobs in one transaction: at most a quarter of a million rows. */
const INSERTED_AT_ONCE = 100;

/** Deferred jobs start a little later, because clocks differ. */
const LATE_MS = 1000;

interface Leader {
  readonly queue: number;
  readonly attemptId: number;
  readonly ended: 0 | 1;
  readonly leaseUntil: number;
  readonly worker: string | null;
}

interface Released extends Pick<RowJob, 'id' | 'queue'> {
  readonly runId: string;
}

interface Counted {
  readonly ready: number;
  readonly elsewhere: number;
  readonly nextWaitIn: number | null;
}

/** pg-boss only hands out jobs. Each method is one transaction with the ledger's own records. */
export function postgresJobs(database: Database, clock: () => number): JobStore {
  const leaderOf = database.prepare<[string], Leader>(
    `SELECT queue, start_id AS attemptId, ended_at IS NOT NULL AS ended, lease_until AS leaseUntil, worker
     FROM run_queues JOIN starts ON starts.id = start_id WHERE run_queues.run_id = ?`,
  );
  const taken = database.prepare<[], number>('SELECT queue FROM run_queues').pluck();
  const takeQueue = database.prepare('INSERT INTO run_queues (queue, run_id, start_id, laid_at) VALUES (?, ?, ?, ?)');
  const endLeader = database.prepare(
    'UPDATE starts SET ended_at = lease_until, died = 1 WHERE id = ? AND id <> ? AND ended_at IS NULL',
  );
  const changePurse = database.prepare(
    'UPDATE starts SET purse_id = ? WHERE run_id = ? AND purse_id IS NOT NULL AND ended_at IS NULL AND id <> ?',
  );
  const beginNow = database.prepare('UPDATE starts SET begun_at = ? WHERE id = ?');
  const lead = database.prepare('UPDATE run_queues SET start_id = ?, laid_at = ? WHERE run_id = ?');
  const freeQueue = database.prepare('DELETE FROM run_queues WHERE run_id = ?');
  // Deferred rows of a run that has ended or was superseded are no longer needed.
  const freeEnded = database.prepare(
    `DELETE FROM run_queues WHERE ${AT_REST} AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.id = run_queues.run_id AND state = 'open')`,
  );
  // Deferred rows stay in the ledger: the next attempt queues them again.
  const freeIdle = database
    .prepare<[number], number>(
      `DELETE FROM run_queues WHERE queue = (SELECT queue FROM run_queues WHERE ${AT_REST} ORDER BY laid_at, queue LIMIT 1) RETURNING queue`,
    )
    .pluck();
  const heldRows = database.prepare<[string], string>('SELECT rows FROM held_jobs WHERE run_id = ?').pluck();
  const alive = database
    .prepare<[number], number>('SELECT id FROM starts WHERE id = ? AND ended_at IS NULL FOR SHARE')
    .pluck();
  const purseOf = database.prepare<[number], number>('SELECT coalesce(purse_id, id) FROM starts WHERE id = ?').pluck();
  const hold = database.prepare(
    'INSERT INTO held_jobs (job_id, queue, run_id, start_id, rows) VALUES (CAST(? AS UUID), ?, ?, ?, ?)',
  );
  const release = database
    .prepare<[string, number], string>(
      'DELETE FROM held_jobs WHERE job_id = CAST(? AS UUID) AND start_id = ? RETURNING run_id',
    )
    .pluck();
  const releaseEnded = database.prepare<[], Released>(
    `DELETE FROM held_jobs USING starts WHERE starts.id = held_jobs.start_id AND ended_at IS NOT NULL
     RETURNING CAST(job_id AS TEXT) AS id, queue, held_jobs.run_id AS runId`,
  );
  const releaseOfRun = database.prepare<[string], Released>(
    `DELETE FROM held_jobs USING starts WHERE starts.id = held_jobs.start_id AND ended_at IS NOT NULL AND held_jobs.run_id = ?
     RETURNING CAST(job_id AS TEXT) AS id, queue, held_jobs.run_id AS runId`,
  );
  const purge = database.prepare(`DELETE FROM ${QUEUE_SCHEMA}.job WHERE name IN (?, ?) AND state < 'active'`);
  const counted = database.prepare<[object], Counted>(
    `SELECT count(*) FILTER (WHERE start_after <= now()) AS ready,
       (SELECT count(*) FROM held_jobs WHERE run_id = @runId AND start_id <> @attemptId) AS elsewhere,
       CAST(extract(epoch FROM min(start_after) FILTER (WHERE name = @waits OR start_after > now()) - now()) * 1000 AS BIGINT) AS nextWaitIn
     FROM ${QUEUE_SCHEMA}.job WHERE name IN (@rows, @waits) AND state < 'active'`,
  );
  const withJobs = database.prepare<[number], Omit<RunWithJobs, 'leaderIsAlive'> & { alive: 0 | 1 }>(
    `SELECT run_queues.run_id AS runId, start_id AS attemptId, ended_at IS NULL AND lease_until >= ? AS alive, worker
     FROM run_queues JOIN starts ON starts.id = start_id JOIN runs ON runs.id = run_queues.run_id AND state = 'open'
     ORDER BY laid_at, queue`,
  );

  /** An attempt that was taken over neither finishes nor takes jobs. */
  function* mustBeAlive(attemptId: number): Script<void> {
    if ((yield* alive.get(attemptId)) === undefined) throw new TakenOverError();
  }

  /** If another run has the queue by now, the jobs are deleted. */
  function* giveBack(jobs: readonly Released[]): Script<void> {
    for (const { id, queue, runId } of jobs) {
      const found = yield* leaderOf.get(runId);
      const isTheirs = found !== undefined && queuesOf(found.queue).includes(queue);
      yield* isTheirs ? returnJob(queue, id) : deleteJob(queue, id);
    }
  }

  function* takeLead(runId: string, attemptId: number): Script<void> {
    const found = yield* leaderOf.get(runId);
    const now = clock();
    if (found !== undefined && found.attemptId !== attemptId && found.ended === 0 && found.leaseUntil >= now)
      throw new LedElsewhereError(runId, found.worker, found.leaseUntil);
    // Helpers know the limits of the previous leader: they notice at their next call and start over. Spending by others
    // before this moment does not count against the new leader.
    yield* changePurse.run(attemptId, runId, attemptId);
    yield* beginNow.run(now, attemptId);
    if (found !== undefined) {
      // If the old leader wakes up, it finds that it was taken over and writes nothing.
      yield* endLeader.run(found.attemptId, attemptId);
      yield* lead.run(attemptId, now, runId);
      yield* purge.run(...queuesOf(found.queue));
      return;
    }
    // A queue whose leader's record was deleted.
    yield* freeQueue.run(runId);
    yield* freeEnded.run(now);
    const used = new Set(yield* taken.all());
    const every = Array.from({ length: QUEUES }, (_, queue) => queue);
    const free = every.find((queue) => !used.has(queue)) ?? (yield* freeIdle.get(now));
    if (free === undefined) throw allQueuesTaken();
    yield* purge.run(...queuesOf(free));
    yield* takeQueue.run(free, runId, attemptId, now);
  }

  /**
   * Queues millions of rows in several transactions, so that others can write and the leader can renew its lease. False
   * if another attempt leads, which queues them all.
   */
  async function layAll(
    runId: string,
    attemptId: number,
    leader: Leader,
    jobs: readonly InsertedJob[],
  ): Promise<boolean> {
    let isTheirs = true;
    for (let from = 0; isTheirs && from < jobs.length; from += INSERTED_AT_ONCE)
      isTheirs = await database.write(function* () {
        yield* mustBeAlive(attemptId);
        if ((yield* leaderOf.get(runId))?.attemptId !== leader.attemptId) return false;
        yield* insertJobs(jobs.slice(from, from + INSERTED_AT_ONCE));
        return true;
      }, BESIDE);
    return isTheirs;
  }

  function* mayPutOff({ queue, ended, leaseUntil }: Leader, runId: string, attemptId: number): Script<boolean> {
    if (ended === 0 && leaseUntil >= clock()) return false;
    const [rows, waits] = queuesOf(queue);
    return (yield* counted.get({ runId, attemptId, rows, waits }))?.elsewhere === 0;
  }

  return {
    lead: ({ runId, attemptId }) =>
      database.write(function* () {
        // Jobs of dead attempts are queued with the rest, even if the job is gone.
        yield* giveBack(yield* releaseOfRun.all(runId));
        yield* takeLead(runId, attemptId);
        return new Set((yield* heldRows.all(runId)).flatMap(rowsOfJob));
      }),
    async enqueue({ runId, attemptId }, rows, waiting) {
      const found = await database.read(() => leaderOf.get(runId));
      if (found?.attemptId !== attemptId) throw new TakenOverError();
      const [name, waits] = queuesOf(found.queue);
      const jobs = [...cutIntoJobs(name, rows), ...jobsOfWaiting(waits, waiting, clock())];
      if (!(await layAll(runId, attemptId, found, jobs))) throw new TakenOverError();
    },
    take: (attemptId, runId, kind) =>
      database.write(function* (): Script<RowJob | undefined> {
        yield* mustBeAlive(attemptId);
        const found = yield* leaderOf.get(runId);
        // A helper that began while another took the lead does not share its limits, so it starts over.
        if (found === undefined || (yield* purseOf.get(attemptId)) !== found.attemptId) return undefined;
        const queue = queueName(kind, found.queue);
        const job = yield* fetchJob(queue);
        if (job !== undefined) yield* hold.run(job.id, queue, runId, attemptId, JSON.stringify(job.rows));
        return job;
      }, BESIDE),
    finish: (attemptId, job, { waiting, givenUp }) =>
      database.write(function* () {
        yield* mustBeAlive(attemptId);
        const runId = yield* release.get(job.id, attemptId);
        const found = runId === undefined ? undefined : yield* leaderOf.get(runId);
        // Without a leader the queue may belong to another run. The next attempt queues the rest.
        if (found !== undefined) {
          const [rows, waits] = queuesOf(found.queue);
          // Highest priority: its rows were next.
          const again = givenUp.length > 0 ? [againAtOnce(rows, givenUp)] : [];
          yield* insertJobs([...again, ...jobsOfWaiting(waits, waiting, clock())]);
        }
        yield* deleteJob(job.queue, job.id);
      }, BESIDE),
    handBack: () =>
      database.write(function* () {
        const jobs = yield* releaseEnded.all();
        yield* giveBack(jobs);
        return jobs.length;
      }, BESIDE),
    left: (runId, attemptId) =>
      database.read(function* () {
        const found = yield* leaderOf.get(runId);
        if (found === undefined) return { ready: 0, elsewhere: 0, nextWaitAt: null, leader: null };
        const [rows, waits] = queuesOf(found.queue);
        const {
          ready = 0,
          elsewhere = 0,
          nextWaitIn = null,
        } = (yield* counted.get({ runId, attemptId, rows, waits })) ?? {};
        const nextWaitAt = nextWaitIn === null ? null : clock() + nextWaitIn;
        return { ready, elsewhere, nextWaitAt, leader: found.attemptId };
      }),
    async leave({ runId, attemptId }, putOff) {
      const left = await database.write(function* (): Script<Leader | undefined> {
        const found = yield* leaderOf.get(runId);
        if (found === undefined || (found.attemptId !== attemptId && !(yield* mayPutOff(found, runId, attemptId))))
          return undefined;
        yield* purge.run(...queuesOf(found.queue));
        if (putOff === undefined) yield* freeQueue.run(runId);
        return found;
      });
      if (left === undefined || putOff === undefined) return;
      const [rows, waits] = queuesOf(left.queue);
      const now = clock();
      const later = cutIntoJobs(rows, putOff.rows, putOff.until - now + LATE_MS);
      await layAll(runId, attemptId, left, [...later, ...jobsOfWaiting(waits, putOff.waiting, now)]);
    },
    close: (runId) =>
      database.write(function* () {
        const found = yield* leaderOf.get(runId);
        if (found === undefined || (found.ended === 0 && found.leaseUntil >= clock())) return false;
        const [rows, waits] = queuesOf(found.queue);
        const left = yield* counted.get({ runId, attemptId: -1, rows, waits });
        if (left === undefined || left.ready + left.elsewhere > 0 || left.nextWaitIn !== null) return false;
        yield* freeQueue.run(runId);
        return true;
      }),
    runs: async () => {
      const found = await database.read(() => withJobs.all(clock()));
      return found.map(({ alive: isAlive, ...run }) => ({ ...run, leaderIsAlive: isAlive === 1 }));
    },
  };
}

/** No process works on the run. */
const AT_REST =
  'NOT EXISTS (SELECT 1 FROM starts WHERE starts.run_id = run_queues.run_id AND ended_at IS NULL AND lease_until >= ?)';

/** No lock is needed: the attempt's ID fences the write. */
const BESIDE = { environments: [] };

const queuesOf = (queue: number): [rows: string, waits: string] => [
  queueName('rows', queue),
  queueName('waits', queue),
];

const allQueuesTaken = () =>
  new KybatchError(`${QUEUES} runs are running, which is the maximum`, {
    code: 'NO_QUEUE',
    hint: 'Wait until one of them ends. List them: `kybatch runs`',
    exit: ExitCode.locked,
  });

/** A living attempt keeps its job for any time. A dead one returns it any number of times. */
const KEPT = { expireInSeconds: 86_399, retryLimit: 1_000_000 } as const;

/** With more jobs than this, pg-boss sorts them for each fetch. */
const JOBS = 400;
const ROWS_AT_LEAST = 5;
const ROWS_AT_MOST = 2500;

/** Waiting rows due within a few seconds share a job. */
const TOGETHER_MS = 5000;

export type InsertedJob = PgBoss.JobInsert<{ readonly rows: readonly number[] }>;

/** Only pg-boss's statements are used: no connection, no timer, nothing on its own. */
const boss = new PgBoss({
  db: { executeSql: () => Promise.reject(new Error('pg-boss was asked outside of a transaction')) },
  schema: QUEUE_SCHEMA,
  migrate: false,
  supervise: false,
  schedule: false,
});

/**
 * Runs in the script's transaction. pg-boss treats an error of `fetch` as an empty queue, so the error is kept and
 * thrown.
 */
function* call<T>(work: (db: PgBoss.Db) => Promise<T>): Script<T> {
  const asked: Asked = {
    how: 'call',
    async work(execute: Execute) {
      let failed: { readonly reason: unknown } | undefined;
      const result = await work({
        async executeSql(text, values) {
          try {
            return { rows: [...(await execute(text, values))] };
          } catch (reason) {
            failed ??= { reason };
            throw reason;
          }
        },
      });
      if (failed !== undefined) throw failed.reason;
      return result;
    },
  };
  return (yield asked) as T;
}

function* insertJobs(jobs: readonly InsertedJob[]): Script<void> {
  if (jobs.length > 0) yield* call((db) => boss.insert([...jobs], { db }));
}

function* fetchJob(queue: string): Script<RowJob | undefined> {
  const [job] = yield* call((db) => boss.fetch<unknown>(queue, { batchSize: 1, db }));
  return job && { id: job.id, queue, rows: rowsOfJob((job.data as { readonly rows?: unknown } | string | null) ?? '') };
}

/** The job is ready again. */
function* returnJob(queue: string, id: string): Script<void> {
  yield* call((db) => boss.fail(queue, id, {}, { db }));
}

function* deleteJob(queue: string, id: string): Script<void> {
  yield* call((db) => boss.deleteJob(queue, id, { db }));
}

const againAtOnce = (name: string, rows: readonly number[]): InsertedJob => ({ name, data: { rows }, ...KEPT });

/** Jobs of one insert are taken by priority alone, and deferred jobs not before their time. */
function cutIntoJobs(name: string, rows: readonly number[], inMs?: number): readonly InsertedJob[] {
  const size = Math.min(ROWS_AT_MOST, Math.max(ROWS_AT_LEAST, Math.ceil(rows.length / JOBS)));
  const parts = Array.from({ length: Math.ceil(rows.length / size) }, (_, nth) =>
    rows.slice(nth * size, (nth + 1) * size),
  );
  const time = inMs === undefined ? {} : { startAfter: from(inMs) };
  return parts.map((part, nth) => ({ name, data: { rows: part }, priority: -nth, ...time, ...KEPT }));
}

function jobsOfWaiting(name: string, waiting: readonly WaitingRow[], now: number): readonly InsertedJob[] {
  const byTime = new Map<number, number[]>();
  for (const { row, nextAt } of waiting) {
    const at = Math.ceil(nextAt / TOGETHER_MS) * TOGETHER_MS;
    const together = byTime.get(at);
    if (together === undefined) byTime.set(at, [row]);
    else together.push(row);
  }
  return [...byTime].map(([at, rows]) => ({ name, data: { rows }, startAfter: from(at - now), ...KEPT }));
}

/** A duration by our clock, because the server's may differ. */
const from = (ms: number): string => `${Math.max(0, ms)} milliseconds`;

/** The row numbers of a job, from pg-boss or from our own record. */
function rowsOfJob(data: string | { readonly rows?: unknown }): readonly number[] {
  const parsed: unknown = typeof data === 'string' ? JSON.parse(data || '[]') : data;
  const rows = Array.isArray(parsed) ? parsed : (parsed as { readonly rows?: unknown } | null)?.rows;
  return Array.isArray(rows) ? rows.filter((row) => typeof row === 'number') : [];
}
