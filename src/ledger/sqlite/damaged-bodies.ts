import type { DamagedAnswer } from '../health.js';
import { Bodies } from './bodies.js';
import type { Connection } from './driver.js';

/** Every stored body against its digest. */
export function damagedAnswers(database: Connection): {
  readonly bodies: number;
  readonly damaged: readonly DamagedAnswer[];
} {
  const bodies = new Bodies(database);
  const digests = database.prepare<[], string>('SELECT lower(hex(sha256)) FROM bodies ORDER BY rowid').pluck().all();
  // The call that bought it: uses of an owned answer have no parameters.
  const callsOf = database.prepare<[string], Omit<DamagedAnswer, 'owned'> & { owned: number }>(
    `SELECT calls.id AS callId, lower(hex(raw_sha256)) AS rawSha256, api, operation, params, run_id AS runId, row,
       EXISTS (SELECT 1 FROM answers WHERE answers.environment_id = calls.environment_id AND answers.request_key = calls.request_key
         AND call_id = calls.id) AS owned
     FROM calls JOIN environments ON environments.id = environment_id WHERE raw_sha256 = unhex(?) AND charge <> 'owned' ORDER BY calls.id`,
  );
  const damaged = digests.filter((sha256) => bodies.readSound(sha256) === undefined);
  return {
    bodies: digests.length,
    damaged: damaged.flatMap((sha256) => callsOf.all(sha256).map((call) => ({ ...call, owned: call.owned === 1 }))),
  };
}

/**
 * A body that is not what was stored is no answer: what rested on it is not owned any more, and its digest is free for
 * the same bytes to be stored again. The calls stay: they were paid for.
 */
export function disown(database: Connection): (sha256: string) => void {
  const statements = [
    'DELETE FROM answers WHERE call_id IN (SELECT id FROM calls WHERE raw_sha256 = unhex(?))',
    'UPDATE calls SET raw_sha256 = NULL, params = NULL WHERE raw_sha256 = unhex(?)',
    'DELETE FROM bodies WHERE sha256 = unhex(?)',
  ];
  return (sha256) => {
    for (const sql of statements) database.prepare(sql).run(sha256);
  };
}
