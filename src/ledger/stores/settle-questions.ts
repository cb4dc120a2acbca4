import type { Script, Sql } from '../database.js';
import type { RowRef } from '../review.js';
import type { RowSettlement } from '../runs.js';
import { heldDecisions } from './held-decisions.js';

/** Of a question: the pipeline of the row asks about such things. Where nobody says what it asks about, it is everything. */
const OWN = `(@all = 1 OR CASE WHEN questions.stage = '' THEN questions.space IN (SELECT value FROM json_each(@spaces))
    ELSE questions.stage IN (SELECT value FROM json_each(@stages)) END)`;

const ownOf = ({ asks }: RowSettlement) => ({
  all: asks === undefined ? 1 : 0,
  spaces: JSON.stringify(asks?.spaces ?? []),
  stages: JSON.stringify(asks?.stages ?? []),
});

/**
 * Where a person is asked anew, what was asked before is asked no more, unless it is asked again. What another pipeline has
 * asked stands beside it: this one cannot ask it again.
 */
export function questionWriter(database: Sql) {
  const closeOwn = database.prepare(
    `UPDATE questions SET answered = 1, beside = 0 WHERE run_id = @runId AND row = @row AND (@anew = 1 OR beside = 1) AND ${OWN}`,
  );
  const save = database.prepare(
    `INSERT INTO questions (run_id, row, space, stage, environment_id, entity_key, candidate_id, code, message, answered, asked_at, second_person)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (run_id, row, space, stage) DO UPDATE SET environment_id = excluded.environment_id, entity_key = excluded.entity_key,
       candidate_id = excluded.candidate_id, code = excluded.code, message = excluded.message, answered = excluded.answered,
       asked_at = excluded.asked_at, second_person = excluded.second_person, beside = 0`,
  );
  const setAside = database.prepare(
    `UPDATE questions SET beside = 1 WHERE run_id = @runId AND row = @row AND answered = 0 AND NOT ${OWN}`,
  );
  const { tellRows, waitingFor } = heldDecisions(database);
  return function* (runId: string, row: number, settlement: RowSettlement, isAnyThere: boolean): Script<void> {
    const { questions, checkpoint } = settlement;
    if (!isAnyThere && questions.length === 0) return;
    // Of a row that was broken off nobody knows what it would have asked.
    const isAtRest = checkpoint.outcome !== 'pending' && settlement.asks !== undefined;
    const own = { runId, row, ...ownOf(settlement) };
    const anew = questions.some(({ answered }) => !answered);
    if (anew || isAtRest) yield* closeOwn.run({ ...own, anew: anew ? 1 : 0 });
    for (const asked of questions)
      yield* save.run(
        runId,
        row,
        asked.space,
        asked.stage ?? '',
        asked.environmentId,
        asked.entityKey,
        asked.candidateId,
        asked.code,
        asked.message,
        asked.answered ? 1 : 0,
        asked.askedAt,
        settlement.asks?.secondPerson ? 1 : 0,
      );
    if (isAtRest) yield* setAside.run(own);
    for (const asked of questions) if (!asked.answered && (yield* waitingFor(asked)).length > 0) yield* tellRows(asked);
  };
}

/** What another pipeline has asked of the row before stays asked, with its candidates, when that row goes. */
export function questionCarrier(database: Sql) {
  const among = `FROM questions JOIN rows USING (run_id, row)
    WHERE run_id = @oldRun AND row = @oldRow AND answered = 0 AND (beside = 1 OR outcome = 'needs_review') AND NOT ${OWN}`;
  const columns = 'environment_id, entity_key, candidate_id, code, message, answered, asked_at, second_person';
  const questions = database.prepare(
    `INSERT INTO questions (run_id, row, space, stage, ${columns}, beside)
     SELECT @runId, @row, space, questions.stage, ${columns}, 1 ${among} ON CONFLICT DO NOTHING`,
  );
  const facts =
    'id, name, registration_number, vat_number, country_code, state, match_grade, decision, evidence, jurisdiction, extra';
  const candidates = database.prepare(
    `INSERT INTO candidates (run_id, row, space, position, ${facts})
     SELECT @runId, @row, space, position, ${facts} FROM candidates WHERE run_id = @oldRun AND row = @oldRow
       AND space IN (SELECT questions.space ${among})
       AND NOT EXISTS (SELECT 1 FROM candidates AS own WHERE own.run_id = @runId AND own.row = @row AND own.space = candidates.space)`,
  );
  return function* (from: RowRef, to: RowRef, settlement: RowSettlement): Script<void> {
    if (settlement.asks === undefined) return;
    const given = { ...to, oldRun: from.runId, oldRow: from.row, ...ownOf(settlement) };
    if ((yield* questions.change(given)) > 0) yield* candidates.run(given);
  };
}
