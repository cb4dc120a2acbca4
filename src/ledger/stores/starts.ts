import type { CallStore } from '../calls.js';
import type { Database, Script, Sql } from '../database.js';

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
export function startStore(database: Database): { readonly store: StartStore } {
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
export function endOtherStarts(database: Sql, now: number): Script<void> {
  return database.prepare('UPDATE starts SET ended_at = ?, died = 1 WHERE ended_at IS NULL').run(now);
}
