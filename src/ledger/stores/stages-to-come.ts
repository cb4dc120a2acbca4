import { isSettled } from '../../domain/outcomes.js';
import type { Script, Sql } from '../database.js';
import { parseStored } from '../stored-json.js';
import type { AnswerRow, Place } from './answer-stood-by.js';
import { rowFetched, rowStages } from './cells.js';

/** Of a row: whether an answer is its company's is in question. */
export const IN_QUESTION = `EXISTS (SELECT 1 FROM questions
    WHERE questions.run_id = rows.run_id AND questions.row = rows.row AND answered = 0 AND beside = 0 AND questions.stage <> '')`;

/**
 * A row in question has nothing of the stages that it has still to come to: what others have bought of them, or it has itself
 * by a word that was taken back since, is not what it stands by. The answers of a stage belong together.
 */
export function withoutStagesToCome(database: Sql) {
  const standing = database.prepare<[string, number], { stages: string; fetched: string }>(
    'SELECT stages, fetched FROM rows WHERE run_id = ? AND row = ?',
  );
  const withdrawn = database
    .prepare<[string, number], number | null>(
      `SELECT min(decided_at) FROM questions JOIN decisions USING (environment_id, entity_key)
       WHERE run_id = ? AND row = ? AND answered = 0 AND questions.stage <> '' AND withdrawn_at IS NOT NULL`,
    )
    .pluck();
  return function* (answers: readonly AnswerRow[], { run_id, run_row }: Place): Script<readonly AnswerRow[]> {
    const row = yield* standing.get(run_id, run_row);
    const statuses = parseStored(row?.stages ?? '', rowStages.fits) ?? {};
    const fetched = parseStored(row?.fetched ?? '', rowFetched.fits) ?? {};
    const isToCome = (stage: string) => {
      const status = statuses[stage];
      return status !== undefined && status !== 'failed' && !isSettled(status) && !Object.hasOwn(fetched, stage);
    };
    const since = (yield* withdrawn.get(run_id, run_row)) ?? Number.NEGATIVE_INFINITY;
    const isLate = ({ stage, fetchedAt }: AnswerRow) => stage !== null && isToCome(stage) && fetchedAt >= since;
    const late = new Set(answers.filter(isLate).map(({ stage }) => stage));
    return answers.filter(({ stage }) => !late.has(stage));
  };
}
