import type { Script, Sql } from '../database.js';
import type { RowSettlement } from '../runs.js';
import { AMONG_IDS, type EntityIds } from './purge-ids.js';
import { places } from './snapshot-sql.js';

/**
 * Whose the answers are that name no company by an ID. A stage that has come to its end has asked for all there is: what it
 * asked for when it was told otherwise, in another ID space too, goes.
 */
export function askedForWriter(database: Sql): (runId: string, settlement: RowSettlement) => Script<void> {
  const drop = database.prepare(
    `DELETE FROM asked_for WHERE space = ? AND id = ? AND environment_id IN (SELECT environment_id FROM run_environments WHERE run_id = ?)
       AND stage IN (SELECT value FROM json_each(?))`,
  );
  const insert = database.prepare(
    `INSERT INTO asked_for (space, id, environment_id, stage, request_key, position) VALUES (?, ?, ?, ?, unhex(?), ?)
     ON CONFLICT (space, id, environment_id, stage, request_key) DO UPDATE SET position = excluded.position`,
  );
  return function* (runId, { ids, asked, ended }) {
    const stages = JSON.stringify(ended);
    if (ended.length > 0) for (const { space, id } of ids) yield* drop.run(space, id, runId, stages);
    for (const [position, { space, id, environmentId, stage, requestKey }] of asked.entries())
      yield* insert.run(space, id, environmentId, stage, requestKey, position);
  };
}

/** From the IDs of a row to what was asked for each. */
export const ANSWERS_ASKED_FOR = (
  operations: number,
) => `SELECT calls.id, calls.operation, calls.params, lower(hex(calls.raw_sha256)) AS rawSha256,
    calls.settled_at AS fetchedAt, asked_for.stage, run_environments.api
  FROM row_ids
  CROSS JOIN asked_for ON asked_for.space = row_ids.space AND asked_for.id = row_ids.id
  CROSS JOIN run_environments ON run_environments.run_id = row_ids.run_id AND run_environments.environment_id = asked_for.environment_id
  CROSS JOIN answers ON answers.environment_id = asked_for.environment_id AND answers.request_key = asked_for.request_key
  CROSS JOIN calls ON calls.id = answers.call_id
  WHERE row_ids.run_id = ? AND row_ids.row = ? AND calls.operation IN (${places(operations)})
    AND calls.raw_sha256 IS NOT NULL AND calls.params IS NOT NULL
  ORDER BY asked_for.stage, asked_for.position, asked_for.request_key`;

/** Of a call: somebody else has asked for the same. */
export const ASKED_BY_OTHERS = `EXISTS (SELECT 1 FROM asked_for AS other WHERE other.environment_id = calls.environment_id
    AND other.request_key = calls.request_key AND (other.space, other.id) NOT ${AMONG_IDS})`;

/** The calls that an entity asked for; what others have asked for, too, is theirs, and stays. */
export const askedForAlone = (database: Sql, ids: EntityIds): Script<readonly number[]> =>
  database
    .prepare<[{ ids: string }], number>(
      `SELECT calls.id FROM asked_for JOIN calls ON calls.environment_id = asked_for.environment_id AND calls.request_key = asked_for.request_key
       WHERE (asked_for.space, asked_for.id) ${AMONG_IDS} AND NOT ${ASKED_BY_OTHERS}`,
    )
    .pluck()
    .all({ ids: ids.json() });

/** Calls about an entity by its ID, or bought for it and for nobody else. */
export const CALLS_ABOUT = `SELECT id FROM calls WHERE (subject_space, subject_id) ${AMONG_IDS} AND NOT ${ASKED_BY_OTHERS}`;

/** What others have asked for, too, is from now on theirs alone: nothing of it names who asked first. */
export function* forgetAskedFor(database: Sql, ids: EntityIds): Script<void> {
  const given = { ids: ids.json() };
  yield* database.prepare(`DELETE FROM asked_for WHERE (space, id) ${AMONG_IDS}`).run(given);
  yield* database
    .prepare(
      `UPDATE calls SET (subject_space, subject_id) = (SELECT space, id FROM asked_for
         WHERE asked_for.environment_id = calls.environment_id AND asked_for.request_key = calls.request_key ORDER BY space, id LIMIT 1)
       WHERE (subject_space, subject_id) ${AMONG_IDS}`,
    )
    .run(given);
}
