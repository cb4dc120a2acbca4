import { MALFORMED_ANSWER } from '../../domain/errors.js';
import type { Script, Sql } from '../database.js';
import type { Doubt, Doubtful } from '../doubt.js';

/**
 * An answer since then is what a call was for: it ends the doubt. in_doubt is 2 where a person has let the request go
 * on: such a call counts no longer against the cap, but a report is still looked for before it is generated again.
 */
export const UNANSWERED = `in_doubt > 0 AND id > coalesce((SELECT call_id FROM answers
  WHERE answers.environment_id = calls.environment_id AND answers.request_key = calls.request_key), 0)`;

/** Calls for one request that may have been charged and whose answer is not there. */
const OF_REQUEST = `FROM calls WHERE environment_id = @environmentId AND request_key = unhex(@requestKey) AND ${UNANSWERED}`;

/** A report is the same report whatever else was asked for with it: its calls are known by the company. */
const OF_REPORT = `FROM calls WHERE environment_id = @environmentId AND subject_space = @space AND subject_id = @id
  AND meter = 'report' AND ${UNANSWERED}`;

/**
 * A success that is none, a failure that may have been charged, or a lost call that turned out to have been. A death of ours
 * is no sign of any. Reports that failed are counted by their tries.
 */
const IN_VAIN = `in_doubt = 1 AND (http_status BETWEEN 200 AND 299 OR http_status IS NOT NULL AND meter <> 'report'
  OR charge = 'charged' AND error_code IS DISTINCT FROM 'PROCESS_DIED')`;

const COUNTS = `SELECT count(*) FILTER (WHERE http_status IS NULL AND in_doubt = 1 AND charge = 'unknown') AS lost,
  count(http_status) FILTER (WHERE in_doubt = 1) AS answered,
  count(*) FILTER (WHERE ${IN_VAIN}) AS inVain,
  count(*) FILTER (WHERE ${IN_VAIN} AND start_id = @startId) AS inVainNow,
  count(DISTINCT start_id) FILTER (WHERE ${IN_VAIN} AND start_id <> @startId) AS inVainStarts,
  count(*) FILTER (WHERE in_doubt = 1 AND error_code = '${MALFORMED_ANSWER}') AS malformed,
  coalesce(max(settled_at), 0) AS lastEndedAt`;

const NO_DOUBT: Doubt = {
  lost: 0,
  answered: 0,
  inVain: 0,
  inVainNow: 0,
  inVainStarts: 0,
  malformed: 0,
  lastEndedAt: 0,
};
const NO_START = 0;

export interface DoubtReader {
  doubt(of: Doubtful): Script<Doubt>;
  /** The calls it is about, by their numbers. */
  calls(of: Doubtful): Script<readonly number[]>;
}

export function doubtReader(database: Sql): DoubtReader {
  const ofRequest = {
    doubt: database.prepare<[object], Doubt>(`${COUNTS} ${OF_REQUEST}`),
    ids: database.prepare<[object], number>(`SELECT id ${OF_REQUEST}`).pluck(),
  };
  const ofReport = {
    doubt: database.prepare<[object], Doubt>(`${COUNTS} ${OF_REPORT}`),
    ids: database.prepare<[object], number>(`SELECT id ${OF_REPORT}`).pluck(),
  };
  const asked = ({ environmentId, requestKey, meter, subject, startId = NO_START }: Doubtful) =>
    meter === 'report' && subject !== null
      ? { by: ofReport, values: { environmentId, startId, ...subject } }
      : { by: ofRequest, values: { environmentId, startId, requestKey } };
  return {
    *doubt(of) {
      const { by, values } = asked(of);
      return (yield* by.doubt.get(values)) ?? NO_DOUBT;
    },
    calls(of) {
      const { by, values } = asked(of);
      return by.ids.all(values);
    },
  };
}

/** For answers that are about to go. They had ended the doubt about calls lost before them: it must not come back. */
export function endDoubts(database: Sql, goneCalls: string, parameter: string | number): Script<void> {
  return database
    .prepare(
      `UPDATE calls SET in_doubt = 0 WHERE in_doubt > 0 AND EXISTS (SELECT 1 FROM answers WHERE answers.environment_id = calls.environment_id
         AND answers.request_key = calls.request_key AND answers.call_id > calls.id AND answers.call_id IN (${goneCalls}))`,
    )
    .run(parameter);
}
