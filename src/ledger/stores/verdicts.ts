import type { Script, Sql } from '../database.js';
import type { RowSettlement } from '../runs.js';
import { AMONG_IDS, type EntityIds } from './purge-ids.js';

/** Of a verdict: the answer is the company's, or somebody whose word stands has accepted it. */
export const FITS = `(verdicts.entity_key = '' OR EXISTS (SELECT 1 FROM decisions WHERE decisions.environment_id = verdicts.environment_id
    AND decisions.entity_key = verdicts.entity_key AND decision = 'confirm' AND withdrawn_at IS NULL))`;

const OF_REQUEST = 'verdicts.environment_id = calls.environment_id AND verdicts.request_key = calls.request_key';

/**
 * Of a call: its answer may be shown. Where answers to a request are compared, one that was not is somebody's who bought it by
 * hand, or of a start that died; those from before this was written down were compared by the stage that bought them.
 */
export const STANDS = `(NOT EXISTS (SELECT 1 FROM verdicts WHERE ${OF_REQUEST})
    OR EXISTS (SELECT 1 FROM verdicts WHERE ${OF_REQUEST} AND verdicts.raw_sha256 = calls.raw_sha256 AND ${FITS})
    OR (calls.stage IS NOT NULL AND NOT EXISTS (SELECT 1 FROM verdicts WHERE ${OF_REQUEST} AND verdicts.raw_sha256 = calls.raw_sha256)
      AND EXISTS (SELECT 1 FROM calls AS later INDEXED BY calls_by_subject
        WHERE later.subject_space = calls.subject_space AND later.subject_id = calls.subject_id AND later.subject_id IS NOT NULL
          AND later.params IS NOT NULL AND later.environment_id = calls.environment_id AND later.request_key = calls.request_key
          AND later.id > calls.id AND later.raw_sha256 IN (SELECT raw_sha256 FROM verdicts WHERE ${OF_REQUEST}))))`;

/** Of an ID of a row: unless it is that of a report that was accepted, and is not any more. */
export const ID_STANDS = `NOT (row_ids.space = 'report' AND EXISTS (SELECT 1 FROM verdicts
    WHERE verdicts.space = 'report' AND verdicts.id = row_ids.id AND NOT ${FITS}))`;

/** What came of comparing the answers that a row was given. The newest word about an answer counts. */
export function verdictWriter(database: Sql): (settlement: RowSettlement) => Script<void> {
  const write = database.prepare(
    `INSERT INTO verdicts (space, id, environment_id, request_key, raw_sha256, entity_key)
     SELECT @space, @id, answers.environment_id, answers.request_key, raw_sha256, @entityKey
     FROM answers JOIN calls ON calls.id = call_id
     WHERE answers.environment_id = @environmentId AND answers.request_key = unhex(@requestKey) AND raw_sha256 IS NOT NULL
     ON CONFLICT (space, id, environment_id, request_key, raw_sha256) DO UPDATE SET entity_key = excluded.entity_key`,
  );
  return function* ({ verdicts }) {
    for (const verdict of verdicts) yield* write.run(verdict);
  };
}

export const forgetVerdicts = (database: Sql, ids: EntityIds): Script<void> =>
  database.prepare(`DELETE FROM verdicts WHERE (space, id) ${AMONG_IDS}`).run({ ids: ids.json() });

/** Of companies that no row knows any more, and of answers that are gone. */
export const pruneVerdicts = (database: Sql): Script<void> =>
  database.exec(
    `DELETE FROM verdicts WHERE NOT EXISTS (SELECT 1 FROM row_ids WHERE row_ids.space = verdicts.space AND row_ids.id = verdicts.id)
       OR NOT EXISTS (SELECT 1 FROM bodies WHERE bodies.sha256 = verdicts.raw_sha256)`,
  );
