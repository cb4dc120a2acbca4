import { isSettled } from '../../domain/outcomes.js';
import type { Database, Script, Sql } from '../database.js';
import type { AnswerRow, Place } from './answer-stood-by.js';
import { Cells, rowStages } from './cells.js';

const EVERY_ANSWER = `SELECT calls.id, calls.operation, calls.params, lower(hex(calls.raw_sha256)) AS rawSha256,
    calls.settled_at AS fetchedAt, calls.stage, run_environments.api
  FROM row_ids
  CROSS JOIN calls INDEXED BY calls_by_subject
    ON calls.subject_space = row_ids.space AND calls.subject_id = row_ids.id AND calls.subject_id IS NOT NULL AND calls.params IS NOT NULL
  CROSS JOIN run_environments ON run_environments.run_id = row_ids.run_id AND run_environments.environment_id = calls.environment_id
  WHERE row_ids.run_id = ? AND row_ids.row = ? AND calls.operation = ? AND calls.id <= ?
    AND calls.raw_sha256 IS NOT NULL AND calls.charge <> 'owned' AND calls.error_code IS NULL
  ORDER BY calls.id`;

/**
 * A stage that reads a list once more replaces it page by page, and may be stopped between two of them: what it has replaced
 * is needed until it has come to its end. All answers to the operation up to the newest that stands, those included; none
 * where the stage that asked has come to its end since, or nothing was replaced.
 */
export function earlierPages(database: Sql & Pick<Database, 'stored'>) {
  const every = database.prepare<[string, number, string, number], AnswerRow>(EVERY_ANSWER);
  const row = database.prepare<[string, number], { readonly stages: string; readonly updatedAt: number | null }>(
    'SELECT stages, updated_at AS updatedAt FROM rows WHERE run_id = ? AND row = ?',
  );
  const cells = new Cells(database);
  function* hasEnded(
    own: readonly AnswerRow[],
    { stage, fetchedAt }: AnswerRow,
    { run_id, run_row }: Place,
  ): Script<boolean> {
    // What somebody bought by hand, or another stage for its own ends, is no end of the list.
    if (stage === null || own.some((one) => one.stage !== stage)) return false;
    const stands = yield* row.get(run_id, run_row);
    if (stands === undefined || (stands.updatedAt ?? 0) < fetchedAt) return false;
    return isSettled(cells.find(rowStages, stands.stages, [run_id, run_row])?.[stage]);
  }
  return function* (operation: string, standing: readonly AnswerRow[], place: Place): Script<readonly AnswerRow[]> {
    const own = standing.filter((answer) => answer.operation === operation);
    const newest = own.reduce<AnswerRow | undefined>((last, one) => (last && last.id > one.id ? last : one), undefined);
    if (newest === undefined || (yield* hasEnded(own, newest, place))) return [];
    const all = yield* every.all(place.run_id, place.run_row, operation, newest.id);
    return all.length > own.length ? all : [];
  };
}
