// Attempts, their leases and limits, and the calls that they leave open when they die.

import { ExitCode, KybatchError } from '../../domain/errors.js';
import { AHEAD_MS } from '../clock-ahead.js';
import type { Database, Script, Sql } from '../db/database.js';
import type { NewAttempt, OutageNote } from '../money/calls.js';
import { FREE_CLAIMS, LedElsewhereError } from './claims.js';

/** An attempt's notes about itself need no lock. */
const OF_NOBODY_ELSE = { environments: [] };

/** Counts against the limits that the attempt has or shares. */
export const SPEND = `UPDATE starts SET units_spent = units_spent + ?, reports_spent = reports_spent + ?
  WHERE id = (SELECT coalesce(own.purse_id, own.id) FROM starts AS own WHERE own.id = ?)`;

/** Calls of an attempt and of those that share its limits. */
export const SHARES_LIMITS = '(start_id = @purse OR start_id IN (SELECT id FROM starts WHERE purse_id = @purse))';

/** The same for reports: a helper that joined later brings no earlier calls along. */
export const SPENT_WITHIN_LIMITS = `(start_id = @purse OR (start_id IN (SELECT id FROM starts WHERE purse_id = @purse)
  AND started_at >= (SELECT begun_at FROM starts WHERE id = @purse)))`;

/** Maximum duration of a call if its run has none, plus network time and clock skew between two machines. */
const DEADLINE_MS = 35_000;
const ON_THE_WAY_MS = 5_000;

/**
 * A silent worker may only be blocked, with calls in flight: sent again, they would be bought twice. If its death is
 * not certain, a call is lost when its own deadline has passed, not with the lease. Until then its sender may still
 * complete it.
 */
const MAY_COME_HOME = ` OR (died = 1 AND calls.started_at >= @now - ${ON_THE_WAY_MS} - coalesce(
  (SELECT CAST(json_extract(json_extract(settings, '$.pipeline'), '$.deadlineMs') AS BIGINT) FROM runs WHERE runs.id = calls.run_id AND json_valid(settings)), ${DEADLINE_MS}))`;

/** Attempts, and the calls they leave open when they die. */
export function attemptStore(database: Database) {
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
  const expire = database
    .prepare<[number], number>(
      'UPDATE starts SET ended_at = lease_until, died = 1 WHERE ended_at IS NULL AND lease_until < ? RETURNING id',
    )
    .pluck();
  const freeClaims = database.prepare(FREE_CLAIMS);
  // An intent from a version without attempts has no attempt.
  const markCallsOfDeadAttempts = database.prepare<[object], { start_id: number | null; meter: string }>(
    `UPDATE calls SET settled_at = @now, error_class = 'retry', error_code = 'PROCESS_DIED',
       charge = CASE WHEN meter = 'free' THEN 'free' ELSE 'unknown' END, in_doubt = CASE WHEN meter = 'free' THEN 0 ELSE 1 END,
       units_charged = CASE WHEN meter = 'free' THEN 0 END
     WHERE settled_at IS NULL AND NOT EXISTS (SELECT 1 FROM starts WHERE starts.id = start_id AND (ended_at IS NULL${database.isShared ? MAY_COME_HOME : ''}))
     RETURNING start_id, meter`,
  );
  const count = database.prepare(SPEND);
  return {
    async begin(attempt: NewAttempt) {
      const { runId, begunAt, leaseUntil, given, purse, worker, unitsBefore = 0 } = attempt;
      const values = [runId, begunAt, leaseUntil, given ?? null, purse ?? null, worker ?? null, unitsBefore];
      const id = await database.write(() => begin.get(...values));
      // Moves the run and its rows into the main file, so that a lost log cannot lose them.
      database.checkpoint();
      return id as number;
    },
    /** False if the lease has expired and another attempt took over. */
    renew: (attemptId: number, leaseUntil: number) =>
      database.heartbeat(function* () {
        return (yield* renew.change(leaseUntil, attemptId)) === 1;
      }),
    end: (attemptId: number, at: number) =>
      database.write(function* () {
        yield* end.run(at, attemptId);
        if (database.isShared) yield* freeClaims.run({ attemptId });
      }, OF_NOBODY_ELSE),
    /** Removes an attempt that was refused before it did any work. */
    forgetAttempt: (attemptId: number) => database.write(() => forget.run(attemptId), OF_NOBODY_ELSE),
    /** Records the outages that an attempt waits for, for `status`. */
    noteOutages: (attemptId: number, outages: readonly OutageNote[]) =>
      database.write(
        () => noteOutages.run(outages.length === 0 ? null : JSON.stringify(outages), attemptId),
        OF_NOBODY_ELSE,
      ),
    noteEnding: (attemptId: number, ending: string) =>
      database.write(() => noteEnding.run(ending, attemptId), OF_NOBODY_ELSE),
    /**
     * Marks intents with an expired lease: their charge becomes unknown. Returns their number. A process that has just
     * connected passes `endedBefore`, because all workers may have lost their connection.
     */
    markCallsOfDeadAttempts: (now: number, endedBefore = now) =>
      database.write(function* () {
        const expired = yield* expire.all(endedBefore);
        if (database.isShared) for (const attemptId of expired) yield* freeClaims.run({ attemptId });
        const lost = yield* markCallsOfDeadAttempts.all({ now });
        for (const { start_id, meter } of lost)
          if (start_id !== null) yield* count.run(meter === 'unit' ? 1 : 0, meter === 'report' ? 1 : 0, start_id);
        return lost.length;
      }),
  };
}

/**
 * A future time was written by a clock that was ahead, and nothing may wait for it: waiting reports become due now, lost
 * calls count as lost now, and events of the watch count as heard now. Answers stay fresh until then.
 */
export function* resetFutureTimes(database: Sql, now: number): Script<void> {
  yield* database
    .prepare("UPDATE rows SET next_at = @now WHERE hold = 'waiting' AND updated_at > @now AND next_at > @now")
    .run({ now });
  yield* database.prepare('UPDATE calls SET settled_at = @now WHERE in_doubt > 0 AND settled_at > @now').run({ now });
  const given = { now, ahead: now + AHEAD_MS };
  yield* database.prepare('UPDATE watches SET read_at = NULL WHERE read_at > @ahead').run(given);
  yield* database.prepare('UPDATE watches SET hinted_at = @now WHERE hinted_at > @ahead').run(given);
  const heard = database.prepare('UPDATE watch_events SET heard_at = @now WHERE heard_at > @ahead');
  if ((yield* heard.change(given)) > 0)
    yield* database.prepare('UPDATE members SET changed_at = @now WHERE changed_at > @ahead').run(given);
}

/** The holder of the data directory's lock is alone: every other attempt has died, whatever its lease. */
export function endOtherAttempts(database: Sql, now: number): Script<void> {
  return database.prepare('UPDATE starts SET ended_at = ?, died = 1 WHERE ended_at IS NULL').run(now);
}

/** A new run is left alone for this long: its creator is about to process it. */
const ABOUT_TO_BEGIN_MS = 30_000;

/**
 * In a shared ledger: throws if a process works on one of the runs or is about to. Call it in the transaction that
 * removes them. A SQLite ledger has one process only. `hint`: what to do.
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
  // A run created at this very moment belongs to this process.
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

/** The same for all work, including calls outside a run. `hint`: what to do. */
export function* mustHaveNoWorkers(database: Database, now: number, hint: string): Script<void> {
  if (!database.isShared) return;
  const working = yield* database.prepare<[object], Working>(`${WORKING} ${LEADERS_FIRST}`).get({ now });
  if (working === undefined) return;
  const { worker, runId } = working;
  const message = `${worker ?? 'another process'} is running${runId === null ? '' : ` on run ${runId}`}`;
  throw new KybatchError(message, { code: 'LED_ELSEWHERE', hint, exit: ExitCode.locked });
}

interface Working {
  /** Null: a call outside a run. */
  readonly runId: string | null;
  readonly worker: string | null;
  readonly leaseUntil: number;
}

const WORKING = `SELECT run_id AS runId, worker, lease_until AS leaseUntil FROM starts
  WHERE ended_at IS NULL AND lease_until >= @now`;
const LEADERS_FIRST = 'ORDER BY purse_id IS NOT NULL, id LIMIT 1';
