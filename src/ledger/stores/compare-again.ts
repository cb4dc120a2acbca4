import type { Script, Sql } from '../database.js';
import type { NewDecision } from '../review.js';

type About = Pick<NewDecision, 'environmentId' | 'entityKey' | 'space' | 'candidateId'>;

/**
 * What a word about an answer makes stand, or takes back, is compared anew, and so is all that came since to the same request:
 * each answer is held against the one before it that the company stands by.
 */
export function comparingAgain(database: Sql): (decision: About) => Script<void> {
  const since = database
    .prepare<[About], number>(
      `SELECT DISTINCT later.id FROM verdicts
       JOIN calls AS judged INDEXED BY calls_by_subject ON judged.subject_space = @space AND judged.subject_id = @candidateId
         AND judged.subject_id IS NOT NULL AND judged.params IS NOT NULL AND judged.environment_id = verdicts.environment_id
         AND judged.request_key = verdicts.request_key AND judged.raw_sha256 = verdicts.raw_sha256
       JOIN calls AS later INDEXED BY calls_by_subject ON later.subject_space = judged.subject_space AND later.subject_id = judged.subject_id
         AND later.subject_id IS NOT NULL AND later.params IS NOT NULL AND later.environment_id = judged.environment_id
         AND later.request_key = judged.request_key AND later.id >= judged.id
       WHERE verdicts.environment_id = @environmentId AND verdicts.entity_key = @entityKey`,
    )
    .pluck();
  const forgetChanges = database.prepare('DELETE FROM changes WHERE call_id = ?');
  const compareAgain = database.prepare('UPDATE calls SET compared = 0 WHERE id = ? AND replaces IS NOT NULL');
  return function* ({ environmentId, entityKey, space, candidateId }) {
    for (const call of yield* since.all({ environmentId, entityKey, space, candidateId })) {
      yield* forgetChanges.run(call);
      yield* compareAgain.run(call);
    }
  };
}
