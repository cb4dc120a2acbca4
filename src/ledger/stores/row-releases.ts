import type { Script, Sql } from '../database.js';
import type { DecisionEntry, NewDecision, RowRef } from '../review.js';
import type { GroundsOfRun } from '../taken-back.js';
import { GOES_ON, REOPEN_RUN, STILL_LISTED } from './row-states.js';
import { idForgetter, rowWithdrawals } from './row-withdrawals.js';

/** How rows start to move again when a decision appears or goes. */
export function rowReleases(database: Sql) {
  type Key = Pick<NewDecision, 'environmentId' | 'entityKey' | 'space' | 'stage'>;
  const waiting = database.prepare<[number, string], RowRef>(
    `SELECT questions.run_id AS runId, questions.row AS row FROM questions JOIN rows USING (run_id, row)
     WHERE environment_id = ? AND entity_key = ? AND answered = 0 AND beside = 0 AND outcome = 'needs_review'
     ORDER BY questions.run_id, questions.row`,
  );
  // Asked, released, and not looked at since: looking again would have replaced the question.
  const untouched = database.prepare<[number, string], RowRef & { code: string; message: string }>(
    `SELECT questions.run_id AS runId, questions.row AS row, code, message FROM questions JOIN rows USING (run_id, row)
     WHERE environment_id = ? AND entity_key = ? AND answered = 0 AND beside = 0 AND outcome = 'pending'
     ORDER BY questions.run_id, questions.row, space, questions.stage`,
  );
  const forgetId = idForgetter(database);
  const takeBack = rowWithdrawals(database);
  const goOn = database.prepare(`UPDATE rows SET ${GOES_ON} WHERE run_id = ? AND row = ?`);
  const askAgain = database.prepare(
    "UPDATE rows SET outcome = 'needs_review', error_code = ?, error_message = ? WHERE run_id = ? AND row = ?",
  );
  // Until its row has looked again: what is in question is compared with nothing.
  const askedAgain = database.prepare(
    "UPDATE questions SET answered = 0 WHERE environment_id = ? AND entity_key = ? AND stage <> ''",
  );
  const reopen = database.prepare(`${REOPEN_RUN} AND state = 'finished'`);
  const isWanted = database.prepare<[string, number], 1>(
    `SELECT 1 FROM rows WHERE run_id = ? AND row = ? AND ${STILL_LISTED}`,
  );
  const memberOf = database
    .prepare<[string, number], number | null>('SELECT member_id FROM rows WHERE run_id = ? AND row = ?')
    .pluck();
  const inForce = database.prepare(
    "SELECT 1 FROM decisions WHERE environment_id = ? AND entity_key = ? AND withdrawn_at IS NULL AND decision <> 'not_sure'",
  );
  function* stillWanted(rows: readonly RowRef[]): Script<readonly RowRef[]> {
    const wanted: RowRef[] = [];
    for (const row of rows) if ((yield* isWanted.get(row.runId, row.row)) !== undefined) wanted.push(row);
    return wanted;
  }
  /** Those of members that have left are free to move as well, and do when they are back in the list. */
  function* reopenRuns(rows: readonly RowRef[]): Script<readonly RowRef[]> {
    const wanted = yield* stillWanted(rows);
    for (const runId of new Set(wanted.map((row) => row.runId))) yield* reopen.run(runId);
    return wanted;
  }
  /** The rows of a list: one that is under way, and what it stands by meanwhile, are the same, and the later run goes on. */
  function* oneOfEach(rows: readonly RowRef[]): Script<readonly RowRef[]> {
    const inOrder = rows.toSorted((a, b) => (a.runId < b.runId ? -1 : Number(a.runId > b.runId)));
    const each = new Map<number | string, RowRef>();
    for (const { runId, row } of inOrder)
      each.set((yield* memberOf.get(runId, row)) ?? `${runId} ${row}`, { runId, row });
    return [...each.values()];
  }

  return {
    *waiting({ environmentId, entityKey, space, stage }: Key): Script<readonly RowRef[]> {
      const rows = yield* waiting.all(environmentId, entityKey);
      for (const { runId, row } of rows) {
        yield* goOn.run(runId, row);
        // Who is meant was not the question where an answer was: nobody is looked for again. What was confirmed in other
        // spaces stays as it is.
        if (stage !== null) continue;
        yield* forgetId({ runId, row }, space);
      }
      return yield* reopenRuns(rows);
    },
    /** An older decision that is still in force speaks again; otherwise the question is open again. */
    *resting(decision: DecisionEntry, groundsOf: GroundsOfRun): Script<readonly RowRef[]> {
      const { environmentId, entityKey } = decision;
      const older = (yield* inForce.get(environmentId, entityKey)) !== undefined;
      const asked = older ? [] : yield* untouched.all(environmentId, entityKey);
      for (const { runId, row, code, message } of asked) yield* askAgain.run(code, message, runId, row);
      const rows = yield* takeBack(decision, groundsOf);
      yield* askedAgain.run(environmentId, entityKey);
      return yield* oneOfEach([...(yield* stillWanted(asked)), ...(yield* reopenRuns(rows))]);
    },
  };
}
