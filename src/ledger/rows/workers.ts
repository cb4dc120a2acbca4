import { ExitCode, KybatchError } from '../../domain/errors.js';
import type { Database, Script, Sql } from '../db/database.js';
import type { CallStore } from '../money/calls.js';

/**
 * Rows of runs, handed out to whoever works on them, on whatever machine. Who works is told here; what may be paid for is told by
 * the intents alone. A job that is lost delays its rows and loses none: what can move is in the ledger, and is laid out anew.
 */
export interface JobStore {
  /**
   * The start leads the run from now on, of which nothing is laid out any more. Returns the rows in jobs that others hold: what
   * becomes of those is told by whoever holds them. Throws where somebody else leads it, and is alive.
   */
  lead(lead: RunLead): Promise<ReadonlySet<number>>;
  /** Cuts rows into jobs, in this order. For whoever leads. */
  enqueue(lead: RunLead, rows: readonly number[], waiting: readonly WaitingRow[]): Promise<void>;
  /** The next job of a run for this start, which holds it from then on; undefined: none is ready. */
  take(startId: number, runId: string, kind: JobKind): Promise<RowJob | undefined>;
  /** All rows of it have come home, but for what is left: that is a job again. */
  finish(startId: number, job: RowJob, left: LeftOfJob): Promise<void>;
  left(runId: string, startId: number): Promise<JobsLeft>;
  /**
   * The start leads the run no more, and no job of it is handed out, but for what is put off: those who are there then take it,
   * out of the same purse. Jobs that are held come home. Who helps may say so too, where nobody leads any more and no other
   * holds a job.
   */
  leave(lead: RunLead, putOff: DeferredRows | undefined): Promise<void>;
  /** Runs that have jobs, the oldest first. */
  runs(): Promise<readonly RunWithJobs[]>;
  /** Jobs of starts that have ended, or were found dead, are free again. Returns how many. */
  handBack(): Promise<number>;
  /** The run whose jobs are all done, and whose leader has died, has none any more. True if that was so. */
  close(runId: string): Promise<boolean>;
}

export interface RunLead {
  readonly runId: string;
  readonly startId: number;
}

/** `waits`: rows that have set out, and are to be looked at again at a time. */
export type JobKind = 'rows' | 'waits';

export interface RowJob {
  readonly id: string;
  readonly queue: string;
  readonly rows: readonly number[];
}

export interface WaitingRow {
  readonly row: number;
  readonly nextAt: number;
}

/** Rows that can do nothing before a time, in their order. */
export interface DeferredRows {
  readonly rows: readonly number[];
  readonly until: number;
  /** Those that wait for something else, each until its own time. */
  readonly waiting: readonly WaitingRow[];
}

export interface LeftOfJob {
  /** A job with a time. */
  readonly waiting: readonly WaitingRow[];
  /** Somebody else may have them, at once. */
  readonly givenUp: readonly number[];
}

export interface JobsLeft {
  /** Ready to be taken. */
  readonly ready: number;
  /** In the hands of others. */
  readonly elsewhere: number;
  /** When the first row that waits, or is put off, is due. */
  readonly nextWaitAt: number | null;
  /** The start that leads the run; null: nobody does any more, and no job is left. */
  readonly leader: number | null;
}

export interface RunWithJobs extends RunLead {
  readonly leaderIsAlive: boolean;
  /** Of the leader: `host:pid`. */
  readonly worker: string | null;
}

/** Somebody else works on the run, and others join by `kybatch work`. */
export class LedElsewhereError extends KybatchError {
  override readonly name = 'LedElsewhereError';

  constructor(
    runId: string,
    readonly worker: string | null,
    readonly leaseUntil: number,
    hint = '`kybatch work` joins in. A process that was killed is taken over within half a minute.',
  ) {
    super(`run ${runId} is being worked on${worker === null ? '' : ` by ${worker}`}`, {
      code: 'LED_ELSEWHERE',
      hint,
      exit: ExitCode.locked,
    });
  }
}

/**
 * What those who share a ledger tell each other at once. Nothing rests on it: one that is missed is found in the ledger, or met
 * at the provider's.
 */
export interface Signals {
  tell(signal: Signal): Promise<void>;
  /** Told of what others tell, until the returned way to stop is called. */
  listen(told: (signal: Signal) => void): Promise<() => Promise<void>>;
}

/** The provider has asked somebody to slow down. */
export interface Signal {
  readonly kind: 'slow_down';
  /** The start that was asked. */
  readonly startId: number;
  readonly environmentId: number;
  readonly pauseMs: number;
}

/** What a start says of itself is in nobody's way. */
const OF_NOBODY_ELSE = { environments: [] };

type StartStore = Pick<
  CallStore,
  'begin' | 'renew' | 'end' | 'forgetStart' | 'noteOutages' | 'noteEnding' | 'flagLost'
>;

/** Out of the purse that the start has, or shares. */
export const SPEND = `UPDATE starts SET units_spent = units_spent + ?, reports_spent = reports_spent + ?
  WHERE id = (SELECT coalesce(own.purse_id, own.id) FROM starts AS own WHERE own.id = ?)`;

/** Calls of a start, and of those who share its purse. */
export const OF_PURSE = '(start_id = @purse OR start_id IN (SELECT id FROM starts WHERE purse_id = @purse))';

/** The same for what is told of it: who helps, and has come over from another purse, has brought nothing along. */
export const SPENT_OF_PURSE = `(start_id = @purse OR (start_id IN (SELECT id FROM starts WHERE purse_id = @purse)
  AND started_at >= (SELECT begun_at FROM starts WHERE id = @purse)))`;

/** What a call may take where its run does not say; and the way to it, and the clocks of two machines. */
const DEADLINE_MS = 35_000;
const ON_THE_WAY_MS = 5_000;

/**
 * Who is silent may only be blocked, and have calls in flight: sent again, they would be bought twice. Where nobody can know
 * that it is dead, its call is lost when its own deadline has passed, and not with the lease. Until then it is under way,
 * and who sent it may still settle it.
 */
const MAY_COME_HOME = ` OR (died = 1 AND calls.started_at >= @now - ${ON_THE_WAY_MS} - coalesce(
  (SELECT CAST(json_extract(json_extract(settings, '$.pipeline'), '$.deadlineMs') AS BIGINT) FROM runs WHERE runs.id = calls.run_id AND json_valid(settings)), ${DEADLINE_MS}))`;

/** Workers and what they leave behind when they die. */
export function attemptStore(database: Database): { readonly store: StartStore } {
  const begin = database
    .prepare<unknown[], number>(
      'INSERT INTO starts (run_id, begun_at, lease_until, given, purse_id, worker, units_spent) VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING id',
    )
    .pluck();
  const renew = database.prepare('UPDATE starts SET lease_until = ? WHERE id = ? AND ended_at IS NULL');
  const end = database.prepare('UPDATE starts SET ended_at = ? WHERE id = ? AND ended_at IS NULL');
  const forget = database.prepare('DELETE FROM starts WHERE id = ? AND units_spent + reports_spent = 0');
  const noteOutages = database.prepare('UPDATE starts SET outages = ? WHERE id = ?');
  const noteEnding = database.prepare('UPDATE starts SET ending = ? WHERE id = ?');
  const expire = database.prepare(
    'UPDATE starts SET ended_at = lease_until, died = 1 WHERE ended_at IS NULL AND lease_until < ?',
  );
  // An intent from before there were starts has none.
  const flagLost = database.prepare<[object], { start_id: number | null; meter: string }>(
    `UPDATE calls SET settled_at = @now, error_class = 'retry', error_code = 'PROCESS_DIED',
       charge = CASE WHEN meter = 'free' THEN 'free' ELSE 'unknown' END, in_doubt = CASE WHEN meter = 'free' THEN 0 ELSE 1 END,
       units_charged = CASE WHEN meter = 'free' THEN 0 END
     WHERE settled_at IS NULL AND NOT EXISTS (SELECT 1 FROM starts WHERE starts.id = start_id AND (ended_at IS NULL${database.isShared ? MAY_COME_HOME : ''}))
     RETURNING start_id, meter`,
  );
  const count = database.prepare(SPEND);
  return {
    store: {
      async begin({ runId, begunAt, leaseUntil, given = null, purse = null, worker = null, unitsBefore = 0 }) {
        const id = await database.write(() => begin.get(runId, begunAt, leaseUntil, given, purse, worker, unitsBefore));
        // The run and its rows are in the file itself from here on, whatever becomes of the log beside it.
        database.secure();
        return id as number;
      },
      renew: (startId, leaseUntil) =>
        database.aside(function* () {
          return (yield* renew.change(leaseUntil, startId)) === 1;
        }),
      end: (startId, at) => database.write(() => end.run(at, startId), OF_NOBODY_ELSE),
      forgetStart: (startId) => database.write(() => forget.run(startId), OF_NOBODY_ELSE),
      noteOutages: (startId, outages) =>
        database.write(
          () => noteOutages.run(outages.length === 0 ? null : JSON.stringify(outages), startId),
          OF_NOBODY_ELSE,
        ),
      noteEnding: (startId, ending) => database.write(() => noteEnding.run(ending, startId), OF_NOBODY_ELSE),
      flagLost: (now, endedBefore = now) =>
        database.write(function* () {
          yield* expire.run(endedBefore);
          const lost = yield* flagLost.all({ now });
          for (const { start_id, meter } of lost)
            if (start_id !== null) yield* count.run(meter === 'unit' ? 1 : 0, meter === 'report' ? 1 : 0, start_id);
          return lost.length;
        }),
    },
  };
}

/**
 * What was written down at a time that has not come was written by a clock that was ahead. Nobody waits for it: a report
 * that was to be looked at again then is due, and a call that was lost then was lost by now.
 */
export function* bringForward(database: Sql, now: number): Script<void> {
  yield* database
    .prepare("UPDATE rows SET next_at = @now WHERE hold = 'waiting' AND updated_at > @now AND next_at > @now")
    .run({ now });
  yield* database.prepare('UPDATE calls SET settled_at = @now WHERE in_doubt > 0 AND settled_at > @now').run({ now });
}

/** Who holds the data directory's lock is alone: every other start has died, however long its lease. */
export function endOtherAttempts(database: Sql, now: number): Script<void> {
  return database.prepare('UPDATE starts SET ended_at = ?, died = 1 WHERE ended_at IS NULL').run(now);
}

/** For so long after a run was made nobody else takes it away: who made it is about to work on it. */
const ABOUT_TO_BEGIN_MS = 30_000;

/**
 * Where several work in a ledger: what somebody works on, or is about to, is not taken from under their hands. In one
 * transaction with what takes it. Whoever works in a file is alone in it. `hint`: what to do about it.
 */
export function* mustHaveNoWorkersOn(
  database: Database,
  runs: readonly string[],
  now: number,
  hint?: string,
): Script<void> {
  if (!database.isShared || runs.length === 0) return;
  const ids = JSON.stringify(runs);
  const working = yield* database
    .prepare<[object], Working & { readonly runId: string }>(
      `${WORKING} AND run_id IN (SELECT value FROM json_each(@ids)) ${LEADERS_FIRST}`,
    )
    .get({ ids, now });
  if (working !== undefined) throw new LedElsewhereError(working.runId, working.worker, working.leaseUntil, hint);
  // One that was made in this very moment is of this very process.
  const begun = yield* database
    .prepare<[object], { runId: string; createdAt: number }>(
      `SELECT id AS runId, created_at AS createdAt FROM runs
       WHERE id IN (SELECT value FROM json_each(@ids)) AND state = 'open' AND created_at BETWEEN @now - @soon AND @now + @soon AND created_at <> @now
         AND NOT EXISTS (SELECT 1 FROM starts WHERE starts.run_id = runs.id)
       LIMIT 1`,
    )
    .get({ ids, now, soon: ABOUT_TO_BEGIN_MS });
  if (begun !== undefined) throw new LedElsewhereError(begun.runId, null, begun.createdAt + ABOUT_TO_BEGIN_MS, hint);
}

/** The same for all that anybody does, calls by hand too. `hint`: what to do about it. */
export function* mustHaveNoWorkers(database: Database, now: number, hint: string): Script<void> {
  if (!database.isShared) return;
  const working = yield* database.prepare<[object], Working>(`${WORKING} ${LEADERS_FIRST}`).get({ now });
  if (working === undefined) return;
  const { worker, runId } = working;
  const message = `${worker ?? 'another process'} is at work${runId === null ? '' : ` on run ${runId}`}`;
  throw new KybatchError(message, { code: 'LED_ELSEWHERE', hint, exit: ExitCode.locked });
}

interface Working {
  /** Null: a call by hand. */
  readonly runId: string | null;
  readonly worker: string | null;
  readonly leaseUntil: number;
}

const WORKING = `SELECT run_id AS runId, worker, lease_until AS leaseUntil FROM starts
  WHERE ended_at IS NULL AND lease_until >= @now`;
const LEADERS_FIRST = 'ORDER BY purse_id IS NOT NULL, id LIMIT 1';
