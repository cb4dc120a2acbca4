import { matchedOnIn } from '../../domain/grade.js';
import type { IdSpace } from '../../domain/id-spaces.js';
import type { Script, Sql } from '../database.js';
import type { DecisionEntry, RowRef } from '../review.js';
import type { Checkpoint } from '../runs.js';
import { parseStored } from '../stored-json.js';
import { type GroundsOfRun, type RestingRow, takenBack } from '../taken-back.js';
import { rowFetched, rowStages } from './cells.js';
import { GOES_ON } from './row-states.js';

/** Takes from the rows that rest on a decision what they have by it, at once; they are free to move. */
export function rowWithdrawals(
  database: Sql,
): (decision: DecisionEntry, groundsOf: GroundsOfRun) => Script<readonly RowRef[]> {
  const asked = database.prepare<[number, string], RowRef & { space: IdSpace; stage: string }>(
    `SELECT run_id AS runId, row, space, stage FROM questions WHERE environment_id = ? AND entity_key = ? AND answered = 1
     ORDER BY run_id, row, space, stage`,
  );
  const standing = database.prepare<[string, number], { stages: string; fetched: string }>(
    'SELECT stages, fetched FROM rows WHERE run_id = ? AND row = ?',
  );
  const ids = database.prepare<[string, number], RestingRow['ids'][number]>(
    'SELECT space, matched_on AS matchedOn FROM row_ids WHERE run_id = ? AND row = ?',
  );
  const boughtBefore = database
    .prepare<[string, number, number], string>(
      `SELECT DISTINCT calls.stage FROM row_ids CROSS JOIN calls INDEXED BY calls_by_subject
         ON calls.subject_space = row_ids.space AND calls.subject_id = row_ids.id AND calls.subject_id IS NOT NULL AND calls.params IS NOT NULL
       CROSS JOIN run_environments ON run_environments.run_id = row_ids.run_id AND run_environments.environment_id = calls.environment_id
       WHERE row_ids.run_id = ? AND row_ids.row = ? AND calls.stage IS NOT NULL AND charge <> 'owned' AND settled_at < ?`,
    )
    .pluck();
  const goOn = database.prepare(`UPDATE rows SET ${GOES_ON} WHERE run_id = ? AND row = ?`);
  const startOver = database.prepare(
    "UPDATE rows SET stage = NULL, stages = '{}', fetched = '{}', match_grade = NULL, matched_on = NULL WHERE run_id = ? AND row = ?",
  );
  const forgetIds = database.prepare('DELETE FROM row_ids WHERE run_id = ? AND row = ?');
  const stagesAgain = database.prepare('UPDATE rows SET stages = ?, fetched = ? WHERE run_id = ? AND row = ?');
  const forgetId = idForgetter(database);
  const reopen = candidateReopener(database);
  const withoutWord = wordForgetter(database);

  function* readRow(
    { runId, row }: RowRef,
    decision: DecisionEntry,
    topics: RestingRow['topics'],
  ): Script<Found | undefined> {
    const found = yield* standing.get(runId, row);
    const statuses = parseStored(found?.stages ?? '', rowStages.fits);
    const fetched = parseStored(found?.fetched ?? '', rowFetched.fits);
    if (statuses === undefined || fetched === undefined) return undefined;
    const { decidedAt } = decision;
    const bought = new Set(yield* boughtBefore.all(runId, row, decidedAt));
    const wasThere = (stage: string) =>
      bought.has(stage) ||
      (statuses[stage] === 'not_available' && (fetched[stage] ?? Number.POSITIVE_INFINITY) < decidedAt);
    const known = yield* ids.all(runId, row);
    return { topics, statuses, fetched, wasThere, ids: known, confirmed: decision.decision === 'confirm' };
  }

  return function* (decision, groundsOf) {
    const questions = yield* asked.all(decision.environmentId, decision.entityKey);
    const rows = new Map(questions.map(({ runId, row }) => [`${runId} ${row}`, { runId, row }]));
    for (const { runId, row } of rows.values()) {
      const topics = questions
        .filter((question) => question.runId === runId && question.row === row)
        .map(({ space, stage }) => ({ space, stage: stage === '' ? null : stage }));
      const resting = yield* readRow({ runId, row }, decision, topics);
      // Of a row that is damaged nobody knows what else it has.
      const taken = resting && takenBack(resting, groundsOf(runId));
      yield* goOn.run(runId, row);
      if (resting === undefined || taken === undefined) {
        yield* startOver.run(runId, row);
        yield* forgetIds.run(runId, row);
        yield* reopen({ runId, row }, topics);
        continue;
      }
      for (const { space } of topics) yield* withoutWord({ runId, row }, space);
      const { stages, fetched } = openAgain(resting, taken.stages);
      if (taken.stages.length > 0) yield* stagesAgain.run(JSON.stringify(stages), JSON.stringify(fetched), runId, row);
      for (const space of taken.spaces) yield* forgetId({ runId, row }, space);
      yield* reopen({ runId, row }, topics, taken.spaces);
    }
    return [...rows.values()];
  };
}

interface Found extends RestingRow {
  readonly fetched: Checkpoint['fetched'];
}

/** What the row says of its stages when these have to be come to again. */
const openAgain = (
  { statuses, fetched }: Found,
  stages: readonly string[],
): Pick<Checkpoint, 'stages' | 'fetched'> => ({
  stages: { ...statuses, ...Object.fromEntries(stages.map((stage) => [stage, 'pending' as const])) },
  fetched: Object.fromEntries(Object.entries(fetched).filter(([stage]) => !stages.includes(stage))),
});

/**
 * The row's own grade is that of the first space in which it is confirmed: it goes with that. One of a row that was confirmed
 * in none is that of its question, and is needed when that is open again.
 */
export function idForgetter(database: Sql): (row: RowRef, space: IdSpace) => Script<void> {
  const forgetId = database.prepare('DELETE FROM row_ids WHERE run_id = ? AND row = ? AND space = ?');
  const forgetGrade = database.prepare(
    `UPDATE rows SET match_grade = NULL, matched_on = NULL WHERE run_id = ? AND row = ?
       AND NOT EXISTS (SELECT 1 FROM row_ids WHERE row_ids.run_id = rows.run_id AND row_ids.row = rows.row AND grade = match_grade)`,
  );
  return function* ({ runId, row }, space) {
    if ((yield* forgetId.change(runId, row, space)) > 0) yield* forgetGrade.run(runId, row);
  };
}

/**
 * Those that a person chose from are to be chosen from again. Where nobody was asked, they were looked for by what is not
 * confirmed any more: as long as the row has not come there again, nobody was seen. All spaces, where none are named.
 */
function candidateReopener(database: Sql) {
  const askAgain = database.prepare(
    `UPDATE candidates SET decision = 'needs_review' WHERE run_id = @runId AND row = @row AND space IN (SELECT value FROM json_each(@asked))`,
  );
  // What another pipeline asks about stays.
  const unsee = database.prepare(
    `DELETE FROM candidates WHERE run_id = @runId AND row = @row AND space NOT IN (SELECT value FROM json_each(@asked))
       AND (@all = 1 OR space IN (SELECT value FROM json_each(@spaces)))
       AND NOT EXISTS (SELECT 1 FROM questions WHERE questions.run_id = candidates.run_id AND questions.row = candidates.row
         AND questions.space = candidates.space AND answered = 0)`,
  );
  return function* ({ runId, row }: RowRef, topics: RestingRow['topics'], spaces?: readonly IdSpace[]): Script<void> {
    const asked = JSON.stringify(topics.flatMap(({ space, stage }) => (stage === null ? [space] : [])));
    yield* askAgain.run({ runId, row, asked });
    yield* unsee.run({ runId, row, asked, all: spaces === undefined ? 1 : 0, spaces: JSON.stringify(spaces ?? []) });
  };
}

/** Who was confirmed without a person before they accepted an answer is so again; nothing was asked about who is meant. */
function wordForgetter(database: Sql): (row: RowRef, space: IdSpace) => Script<void> {
  const byWord = database
    .prepare<[string, number, string], string>(
      `SELECT grade FROM row_ids WHERE run_id = ? AND row = ? AND space = ? AND matched_on = 'review' AND grade IS NOT NULL
         AND NOT EXISTS (SELECT 1 FROM questions WHERE questions.run_id = row_ids.run_id AND questions.row = row_ids.row
           AND questions.space = row_ids.space AND questions.stage = '')`,
    )
    .pluck();
  const ofId = database.prepare('UPDATE row_ids SET matched_on = ? WHERE run_id = ? AND row = ? AND space = ?');
  const ofRow = database.prepare(
    "UPDATE rows SET matched_on = ? WHERE run_id = ? AND row = ? AND matched_on = 'review' AND match_grade = ?",
  );
  return function* ({ runId, row }, space) {
    const grade = yield* byWord.get(runId, row, space);
    const matchedOn = grade === undefined ? null : matchedOnIn(grade);
    if (matchedOn === null) return;
    yield* ofId.run(matchedOn, runId, row, space);
    yield* ofRow.run(matchedOn, runId, row, grade);
  };
}
