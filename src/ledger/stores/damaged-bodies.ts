import type { Script, Sql } from '../database.js';
import type { DamagedAnswer } from '../health.js';
import { Bodies } from './bodies.js';

/** Every stored body against its digest. */
export function* damagedAnswers(database: Sql): Script<{
  readonly bodies: number;
  readonly damaged: readonly DamagedAnswer[];
}> {
  const bodies = new Bodies(database);
  const digests = yield* database
    .prepare<[], string>('SELECT lower(hex(sha256)) FROM bodies ORDER BY sha256')
    .pluck()
    .all();
  // The call that bought it: uses of an owned answer have no parameters.
  const callsOf = database.prepare<[string], Omit<DamagedAnswer, 'owned'> & { owned: number }>(
    `SELECT calls.id AS callId, lower(hex(raw_sha256)) AS rawSha256, api, operation, params, run_id AS runId, row,
       EXISTS (SELECT 1 FROM answers WHERE answers.environment_id = calls.environment_id AND answers.request_key = calls.request_key
         AND call_id = calls.id) AS owned
     FROM calls JOIN environments ON environments.id = environment_id WHERE raw_sha256 = unhex(?) AND charge <> 'owned' ORDER BY calls.id`,
  );
  const damaged: DamagedAnswer[] = [];
  for (const sha256 of digests)
    if ((yield* bodies.readSound(sha256)) === undefined)
      for (const call of yield* callsOf.all(sha256)) damaged.push({ ...call, owned: call.owned === 1 });
  return { bodies: digests.length, damaged: damaged.toSorted((a, b) => a.callId - b.callId) };
}

/**
 * A body that is not what was stored is no answer: what rested on it is not owned any more, and its digest is free for
 * the same bytes to be stored again. The calls stay: they were paid for.
 */
export function disown(database: Sql): (sha256: string) => Script<void> {
  const statements = [
    'DELETE FROM answers WHERE call_id IN (SELECT id FROM calls WHERE raw_sha256 = unhex(?))',
    'UPDATE calls SET raw_sha256 = NULL, params = NULL WHERE raw_sha256 = unhex(?)',
    'DELETE FROM bodies WHERE sha256 = unhex(?)',
  ];
  return function* (sha256) {
    for (const sql of statements) yield* database.prepare(sql).run(sha256);
  };
}
