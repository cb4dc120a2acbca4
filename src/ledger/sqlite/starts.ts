import type { CallStore } from '../calls.js';
import type { Connection } from './driver.js';
import type { Writer } from './writer.js';

type StartStore = Pick<CallStore, 'begin' | 'renew' | 'end' | 'noteOutages' | 'noteEnding' | 'flagLost'>;

/** Workers and what they leave behind when they die. */
export function startStore(database: Connection, writer: Writer): { readonly store: StartStore } {
  const begin = database.prepare('INSERT INTO starts (run_id, begun_at, lease_until, given) VALUES (?, ?, ?, ?)');
  const renew = database.prepare('UPDATE starts SET lease_until = ? WHERE id = ? AND ended_at IS NULL');
  const end = database.prepare('UPDATE starts SET ended_at = ? WHERE id = ? AND ended_at IS NULL');
  const noteOutages = database.prepare('UPDATE starts SET outages = ? WHERE id = ?');
  const noteEnding = database.prepare('UPDATE starts SET ending = ? WHERE id = ?');
  const expire = database.prepare(
    'UPDATE starts SET ended_at = lease_until, died = 1 WHERE ended_at IS NULL AND lease_until < ?',
  );
  // An intent from before there were starts has none.
  const flagLost = database.prepare(
    `UPDATE calls SET settled_at = ?, error_class = 'retry', error_code = 'PROCESS_DIED',
       charge = iif(meter = 'free', 'free', 'unknown'), in_doubt = (meter <> 'free'), units_charged = iif(meter = 'free', 0, NULL)
     WHERE settled_at IS NULL AND NOT EXISTS (SELECT 1 FROM starts WHERE starts.id = start_id AND ended_at IS NULL)
     RETURNING start_id, meter`,
  );
  const count = database.prepare(
    `UPDATE starts SET units_spent = units_spent + (@meter = 'unit'), reports_spent = reports_spent + (@meter = 'report')
     WHERE id = @start_id`,
  );
  return {
    store: {
      async begin({ runId, begunAt, leaseUntil, given = null }) {
        const id = await writer.write(() => Number(begin.run(runId, begunAt, leaseUntil, given).lastInsertRowid));
        // The run and its rows are in the file itself from here on, whatever becomes of the log beside it.
        database.pragma('wal_checkpoint(PASSIVE)');
        return id;
      },
      renew: (startId, leaseUntil) => writer.write(() => renew.run(leaseUntil, startId).changes === 1),
      end: (startId, at) => writer.write(() => void end.run(at, startId)),
      noteOutages: (startId, outages) =>
        writer.write(() => void noteOutages.run(outages.length === 0 ? null : JSON.stringify(outages), startId)),
      noteEnding: (startId, ending) => writer.write(() => void noteEnding.run(ending, startId)),
      flagLost: (now) =>
        writer.write(() => {
          expire.run(now);
          const lost = flagLost.all(now) as { start_id: number | null; meter: string }[];
          for (const call of lost) count.run(call);
          return lost.length;
        }),
    },
  };
}

/**
 * What was written down at a time that has not come was written by a clock that was ahead. Nobody waits for it: a report
 * that was to be looked at again then is due, and a call that was lost then was lost by now.
 */
export function bringForward(database: Connection, now: number): void {
  database
    .prepare("UPDATE rows SET next_at = @now WHERE hold = 'waiting' AND updated_at > @now AND next_at > @now")
    .run({ now });
  database.prepare('UPDATE calls SET settled_at = @now WHERE in_doubt > 0 AND settled_at > @now').run({ now });
}

/** Who holds the data directory's lock is alone: every other start has died, however long its lease. */
export function endOtherStarts(database: Connection, now: number): void {
  database.prepare('UPDATE starts SET ended_at = ?, died = 1 WHERE ended_at IS NULL').run(now);
}
