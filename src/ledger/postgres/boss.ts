import PgBoss from 'pg-boss';
import type { Script } from '../database.js';
import type { RowJob, WaitingRow } from '../jobs.js';
import { QUEUE_SCHEMA } from './migrate.js';
import type { Asked, Execute } from './statement.js';

/** Nobody takes a job away from a start that lives, however long it has it; one that died gives it back, however often. */
const KEPT = { expireInSeconds: 86_399, retryLimit: 1_000_000 } as const;
/** More jobs than these are sorted by pg-boss each time that one is taken. */
const JOBS = 400;
const ROWS_AT_LEAST = 5;
const ROWS_AT_MOST = 2500;
/** Rows that wait are looked at together where a few seconds do not matter. */
const TOGETHER_MS = 5000;

export type InsertedJob = PgBoss.JobInsert<{ readonly rows: readonly number[] }>;

/** Of pg-boss only its statements are used: no connection, no timer, nothing that it does by itself. */
const boss = new PgBoss({
  db: { executeSql: () => Promise.reject(new Error('pg-boss was asked outside of a transaction')) },
  schema: QUEUE_SCHEMA,
  migrate: false,
  supervise: false,
  schedule: false,
});

/** In the transaction of the script. pg-boss takes an error of `fetch` for an empty queue: it is kept, and thrown. */
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

export function* insertJobs(jobs: readonly InsertedJob[]): Script<void> {
  if (jobs.length > 0) yield* call((db) => boss.insert([...jobs], { db }));
}

export function* fetchJob(queue: string): Script<RowJob | undefined> {
  const [job] = yield* call((db) => boss.fetch<unknown>(queue, { batchSize: 1, db }));
  return job && { id: job.id, queue, rows: rowsOfJob((job.data as { readonly rows?: unknown } | string | null) ?? '') };
}

/** It is ready again, for whoever takes it next. */
export function* returnJob(queue: string, id: string): Script<void> {
  yield* call((db) => boss.fail(queue, id, {}, { db }));
}

export function* deleteJob(queue: string, id: string): Script<void> {
  yield* call((db) => boss.deleteJob(queue, id, { db }));
}

export const againAtOnce = (name: string, rows: readonly number[]): InsertedJob => ({ name, data: { rows }, ...KEPT });

/** Jobs of one insert are taken in the order of their priority alone; those with a time, not before it. */
export function cutIntoJobs(name: string, rows: readonly number[], inMs?: number): readonly InsertedJob[] {
  const size = Math.min(ROWS_AT_MOST, Math.max(ROWS_AT_LEAST, Math.ceil(rows.length / JOBS)));
  const parts = Array.from({ length: Math.ceil(rows.length / size) }, (_, nth) =>
    rows.slice(nth * size, (nth + 1) * size),
  );
  const time = inMs === undefined ? {} : { startAfter: from(inMs) };
  return parts.map((part, nth) => ({ name, data: { rows: part }, priority: -nth, ...time, ...KEPT }));
}

export function jobsOfWaiting(name: string, waiting: readonly WaitingRow[], now: number): readonly InsertedJob[] {
  const byTime = new Map<number, number[]>();
  for (const { row, nextAt } of waiting) {
    const at = Math.ceil(nextAt / TOGETHER_MS) * TOGETHER_MS;
    const together = byTime.get(at);
    if (together === undefined) byTime.set(at, [row]);
    else together.push(row);
  }
  return [...byTime].map(([at, rows]) => ({ name, data: { rows }, startAfter: from(at - now), ...KEPT }));
}

/** How long it takes until then, by our clock: that of the server may be another. */
const from = (ms: number): string => `${Math.max(0, ms)} milliseconds`;

/** The numbers in a job, as it comes from pg-boss or was noted by us. */
export function rowsOfJob(data: string | { readonly rows?: unknown }): readonly number[] {
  const parsed: unknown = typeof data === 'string' ? JSON.parse(data || '[]') : data;
  const rows = Array.isArray(parsed) ? parsed : (parsed as { readonly rows?: unknown } | null)?.rows;
  return Array.isArray(rows) ? rows.filter((row) => typeof row === 'number') : [];
}
