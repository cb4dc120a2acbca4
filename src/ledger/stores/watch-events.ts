import { hash } from 'node:crypto';
import type { Database } from '../database.js';
import type { HeardEvent, WatchEvent, WatchStore } from '../watches.js';
import { STILL_KNOWN } from './member-companies.js';
import { callSummer } from './summed-calls.js';
import type { BelievedTimes } from './times.js';

/** A notification is not signed: only what the history says makes anybody due (V2-13). */
const IS_CONFIRMED = `coalesce(watch_events.extra, '') NOT LIKE '{"notification":%'`;

/** What was heard of them. */
export function watchEvents(
  database: Database,
  times: BelievedTimes,
): Pick<WatchStore, 'hear' | 'markChanged' | 'takenUp' | 'lastEvents'> {
  const insert = database.prepare(
    `INSERT INTO watch_events (environment_id, company_id, event_type, status, message, date_created, extra, digest, heard_at, raw_sha256)
     VALUES (?, ?, ?, ?, ?, ?, ?, unhex(?), ?, unhex(?)) ON CONFLICT DO NOTHING`,
  );
  // Events are few and members many: one pass over them, and only where something was ever heard.
  const lastHeard = `SELECT max(${times.sql('heard_at')}) FROM member_companies AS known
    JOIN watch_events ON watch_events.environment_id = known.environment_id AND watch_events.company_id = known.id
    WHERE known.member_id = members.id AND known.space = 'v2' AND ${STILL_KNOWN} AND ${IS_CONFIRMED}`;
  const knownSince = `SELECT min(${times.sql('known_since')}) FROM member_companies AS known WHERE known.member_id = members.id AND ${STILL_KNOWN}`;
  const isAnyHeard = database.prepare<[], 1>('SELECT 1 FROM watch_events LIMIT 1');
  // What was heard of a company before a member was known to be it was dealt with by then, or is by who was.
  const mark = database.prepare(
    `UPDATE members SET changed_at = (${lastHeard})
     WHERE left_at IS NULL AND (${lastHeard}) > ${times.sql('coalesce(changed_at, 0)')} AND (${lastHeard}) > (${knownSince})`,
  );
  // The last one stays: by it the bytes are known to be in use, and that the provider has answered.
  const sumLooks = callSummer(
    database,
    `SELECT id FROM calls INDEXED BY calls_looks WHERE operation = 'watchHistory' AND charge = 'charged' AND raw_sha256 = unhex(@raw)
       AND run_id IS NULL AND reconciled IS NULL
       AND id < (SELECT max(id) FROM calls INDEXED BY calls_looks WHERE operation = 'watchHistory' AND charge = 'charged' AND raw_sha256 = unhex(@raw))`,
  );
  const takenUp = database.prepare('UPDATE watch_events SET run_id = ? WHERE heard_at >= ? AND run_id IS NULL');
  const environments = database.prepare<[], string>('SELECT DISTINCT name FROM environments').pluck();
  // From the newest back, until there are enough of them.
  const last = database.prepare<[string, number], WatchEvent>(
    `SELECT watch_events.id, name AS environment, company_id AS companyId, event_type AS eventType, status, message,
       date_created AS dateCreated, extra, heard_at AS heardAt, run_id AS runId, lower(hex(raw_sha256)) AS rawSha256
     FROM watch_events CROSS JOIN environments ON environments.id = environment_id
     WHERE environments.name IN (SELECT value FROM json_each(?)) ORDER BY watch_events.id DESC LIMIT ?`,
  );
  return {
    hear: ({ environmentId, companyId, events, heardAt, rawSha256 }) =>
      database.write(function* () {
        // One a company and night: looks that brought nothing would be most of what a ledger holds.
        if (events.length === 0) yield* sumLooks({ raw: rawSha256 });
        let added = 0;
        for (const event of events) {
          const { eventType, status, message, dateCreated, extra } = event;
          const said = [eventType, status, message, dateCreated, extra];
          added += yield* insert.change(environmentId, companyId, ...said, digestOf(event), heardAt, rawSha256);
        }
        return added;
      }),
    markChanged: () =>
      database.write(function* () {
        return (yield* isAnyHeard.get()) === undefined ? 0 : yield* mark.change();
      }),
    takenUp: (runId, since) => database.write(() => takenUp.run(runId, since)),
    lastEvents: (limit, of = () => true) =>
      database.read(function* () {
        const wanted = (yield* environments.all()).filter(of);
        return yield* last.all(JSON.stringify(wanted), limit);
      }),
  };
}

/** Half of it, as elsewhere: no company has so many events that two are taken for one. */
const digestOf = ({ eventType, status, message, dateCreated, extra }: HeardEvent): string =>
  hash('sha256', JSON.stringify([eventType, status, message, dateCreated, extra])).slice(0, 32);
