import type { DecisionEntry, NewDecision, RowRef } from '../review.js';
import type { GroundsOfRun } from '../taken-back.js';
import type { Connection } from './driver.js';
import { idForgetter, rowWithdrawals } from './row-withdrawals.js';
import { GOES_ON, REOPEN_RUN, STILL_LISTED } from './rows.js';

/** How rows start to move again when a decision appears or goes. */
export function rowReleases(database: Connection) {
  type Key = Pick<NewDecision, 'environmentId' | 'entityKey' | 'space' | 'stage'>;
  const waiting = database.prepare<[number, string], RowRef>(
    `SELECT questions.run_id AS runId, questions.row AS row FROM questions JOIN rows USING (run_id, row)
     WHERE environment_id = ? AND entity_key = ? AND answered = 0 AND beside = 0 AND outcome = 'needs_review'`,
  );
  // Asked, released, and not looked at since: looking again would have replaced the question.
  const untouched = database.prepare<[number, string], RowRef & { code: string; message: string }>(
    `SELECT questions.run_id AS runId, questions.row AS row, code, message FROM questions JOIN rows USING (run_id, row)
     WHERE environment_id = ? AND entity_key = ? AND answered = 0 AND beside = 0 AND outcome = 'pending'`,
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
  const isStillWanted = ({ runId, row }: RowRef): boolean => isWanted.get(runId, row) !== undefined;
  /** Those of members that have left are free to move as well, and do when they are back in the list. */
  const reopenRuns = (rows: readonly RowRef[]): readonly RowRef[] => {
    const wanted = rows.filter(isStillWanted);
    for (const runId of new Set(wanted.map((row) => row.runId))) reopen.run(runId);
    return wanted;
  };
  /** The rows of a list: one that is under way, and what it stands by meanwhile, are the same, and the later run goes on. */
  const oneOfEach = (rows: readonly RowRef[]): readonly RowRef[] => {
    const inOrder = rows.toSorted((a, b) => (a.runId < b.runId ? -1 : Number(a.runId > b.runId)));
    const each = inOrder.map(
      ({ runId, row }) => [memberOf.get(runId, row) ?? `${runId} ${row}`, { runId, row }] as const,
    );
    return [...new Map(each).values()];
  };

  return {
    waiting({ environmentId, entityKey, space, stage }: Key): readonly RowRef[] {
      const rows = waiting.all(environmentId, entityKey);
      for (const { runId, row } of rows) {
        goOn.run(runId, row);
        // Who is meant was not the question where an answer was: nobody is looked for again. What was confirmed in other
        // spaces stays as it is.
        if (stage !== null) continue;
        forgetId({ runId, row }, space);
      }
      return reopenRuns(rows);
    },
    /** An older decision that is still in force speaks again; otherwise the question is open again. */
    resting(decision: DecisionEntry, groundsOf: GroundsOfRun): readonly RowRef[] {
      const { environmentId, entityKey } = decision;
      const older = inForce.get(environmentId, entityKey) !== undefined;
      const asked = older ? [] : untouched.all(environmentId, entityKey);
      for (const { runId, row, code, message } of asked) askAgain.run(code, message, runId, row);
      const rows = takeBack(decision, groundsOf);
      askedAgain.run(environmentId, entityKey);
      return oneOfEach([...asked.filter(isStillWanted), ...reopenRuns(rows)]);
    },
  };
}
