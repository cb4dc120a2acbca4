// Writes the result of a row in one transaction.

import { otherOwner } from '../../domain/identity-mismatch.js';
import { askedForWriter } from '../answers/snapshot-sql.js';
import { verdictWriter } from '../answers/visible-answer.js';
import type { Script, Sql } from '../db/database.js';
import { useWriter } from '../money/call-store.js';
import { companyWriter } from '../portfolio/members.js';
import { heldDecisions, idHolders } from '../review/questions.js';
import type { RowRef } from '../review/review.js';
import { rowDeleter } from './begin-run.js';
import type { CandidateRecord, NewError, RowSettlement } from './runs.js';

/** The existing records of a row. Most rows are written once, so nothing has to be deleted. */
interface Standing {
  readonly ids: 0 | 1;
  readonly candidates: 0 | 1;
  readonly questions: 0 | 1;
  /** Companies that its member is or was matched with. */
  readonly companies: 0 | 1;
  readonly member: number | null;
  /** The row that its member uses now. */
  readonly runId: string | null;
  readonly row: number | null;
}

const NOTHING: Standing = { ids: 0, candidates: 0, questions: 0, companies: 0, member: null, runId: null, row: null };

/** Writes checkpoint, IDs, candidates, questions, errors and reused answers in one transaction. */
export function rowSettlements(database: Sql) {
  const standing = database.prepare<[object], Standing>(
    `SELECT EXISTS (SELECT 1 FROM row_ids WHERE run_id = @runId AND row = @row) AS ids,
       EXISTS (SELECT 1 FROM candidates WHERE run_id = @runId AND row = @row) AS candidates,
       EXISTS (SELECT 1 FROM questions WHERE run_id = @runId AND row = @row) AS questions,
       EXISTS (SELECT 1 FROM member_companies WHERE member_id = rows.member_id)
         OR EXISTS (SELECT 1 FROM members AS here JOIN member_companies ON member_companies.member_id = here.id
           WHERE here.run_id = @runId AND here.run_row = @row) AS companies,
       members.id AS member, members.run_id AS runId, members.run_row AS row
     FROM rows LEFT JOIN members ON members.id = rows.member_id WHERE rows.run_id = @runId AND rows.row = @row`,
  );
  const alive = database.prepare<[number], 1>('SELECT 1 FROM starts WHERE id = ? AND ended_at IS NULL');
  const checkpoint = database.prepare(
    `UPDATE rows SET outcome = @outcome, hold = @hold, hold_reason = @holdReason, next_at = @nextAt, look_until = @lookUntil, stage = @stage,
       stages = @stages, fetched = @fetched, match_grade = @matchGrade, matched_on = @matchedOn, error_code = @errorCode,
       error_message = @errorMessage, updated_at = @updatedAt, claimed_by = CASE @keepsClaim WHEN 1 THEN claimed_by END
     WHERE run_id = @runId AND row = @row`,
  );
  const dropIds = database.prepare('DELETE FROM row_ids WHERE run_id = ? AND row = ?');
  const insertId = database.prepare(
    'INSERT INTO row_ids (run_id, row, space, id, grade, matched_on) VALUES (?, ?, ?, ?, ?, ?)',
  );
  const candidates = candidateWriter(database);
  // A candidate that was confirmed and then refused, by an answer or a person, is no longer the match.
  const refuse = database.prepare(
    `UPDATE candidates SET decision = 'rejected' WHERE run_id = ? AND row = ? AND decision = 'confirmed'
       AND NOT EXISTS (SELECT 1 FROM row_ids WHERE row_ids.run_id = candidates.run_id AND row_ids.row = candidates.row
         AND row_ids.space = candidates.space AND row_ids.id = candidates.id)`,
  );
  const question = questionWriter(database);
  const error = errorWriter(database);
  const use = useWriter(database);
  const askedFor = askedForWriter(database);
  const judged = verdictWriter(database);
  const writeVisible = visibleWriter(database);
  const knowCompanies = companyWriter(database);
  const holdersOf = idHolders(database);
  return {
    error,
    /** `by`: the attempt that processed the row. If it was taken over, nothing is written. */
    *settle(
      runId: string,
      row: number,
      settlement: RowSettlement,
      by: number | undefined,
    ): Script<boolean | 'id_taken'> {
      const { checkpoint: state, ids } = settlement;
      const look = standing.get({ runId, row });
      const [old = NOTHING, isAlive] =
        by === undefined
          ? [yield* look, 1]
          : yield* database.together<[Standing | undefined, 1 | undefined]>(look, alive.get(by));
      if (isAlive === undefined) return false;
      for (const claim of settlement.claims ?? [])
        if (otherOwner(claim.owner, yield* holdersOf(claim, { runId, row })) !== undefined) return 'id_taken';
      yield* checkpoint.run({
        lookUntil: null,
        ...state,
        stages: JSON.stringify(state.stages),
        fetched: JSON.stringify(state.fetched),
        // An interrupted row stays with its attempt, which must not take it again.
        keepsClaim: state.outcome === 'pending' && state.hold === null ? 1 : 0,
        runId,
        row,
      });
      if (old.ids) yield* dropIds.run(runId, row);
      for (const { space, id, grade, matchedOn } of ids) yield* insertId.run(runId, row, space, id, grade, matchedOn);
      for (const { space, seen } of settlement.candidates)
        yield* candidates(runId, row, space, seen, old.candidates === 1);
      yield* question(runId, row, settlement, old.questions === 1);
      for (const met of settlement.errors) yield* error(runId, row, met);
      for (const used of settlement.uses) yield* use(used);
      yield* askedFor(runId, settlement);
      yield* judged(settlement);
      if (state.outcome !== 'pending') {
        if (old.candidates || isAnyRefused(settlement)) yield* refuse.run(runId, row);
        yield* writeVisible(runId, row, settlement, old);
      }
      yield* knowCompanies(runId, row, state, old.companies === 1);
      return true;
    },
  };
}

const isAnyRefused = ({ candidates, ids }: RowSettlement): boolean =>
  candidates.some(({ space, seen }) =>
    seen.some(
      ({ id, decision }) => decision === 'confirmed' && !ids.some((own) => own.space === space && own.id === id),
    ),
  );

/** A company uses the row that finished last. The previous row is deleted. */
function visibleWriter(database: Sql) {
  const noteReplaced = reportReplacements(database);
  const stand = database.prepare('UPDATE members SET run_id = ?, run_row = ? WHERE id = ?');
  const drop = rowDeleter(database);
  const carry = questionCarrier(database);
  return function* (runId: string, row: number, settlement: RowSettlement, old: Standing): Script<void> {
    const { runId: oldRun, row: oldRow } = old;
    if (oldRun === null || oldRow === null || (oldRun === runId && oldRow === row)) return;
    yield* noteReplaced.run({ runId, row, oldRun, oldRow });
    yield* stand.run(runId, row, old.member);
    yield* carry({ runId: oldRun, row: oldRow }, { runId, row }, settlement);
    yield* drop(oldRun, oldRow);
  };
}

/** A new report about the same company replaces the old one, although its ID differs. */
const reportReplacements = (database: Sql) =>
  database.prepare(
    `UPDATE calls SET replaces = before.call_id FROM (
       SELECT max(new_call.id) AS id, max(old_call.id) AS call_id
       FROM row_ids AS new_report JOIN row_ids AS old_report ON old_report.run_id = @oldRun AND old_report.row = @oldRow AND old_report.space = 'report'
       JOIN row_ids AS new_company ON new_company.run_id = @runId AND new_company.row = @row AND new_company.space = 'credit'
       JOIN row_ids AS old_company ON old_company.run_id = @oldRun AND old_company.row = @oldRow AND old_company.space = 'credit'
       CROSS JOIN calls AS new_call INDEXED BY calls_by_subject ON new_call.subject_space = 'report' AND new_call.subject_id = new_report.id
         AND new_call.subject_id IS NOT NULL AND new_call.params IS NOT NULL
       CROSS JOIN calls AS old_call INDEXED BY calls_by_subject ON old_call.subject_space = 'report' AND old_call.subject_id = old_report.id
         AND old_call.subject_id IS NOT NULL AND old_call.params IS NOT NULL AND old_call.operation = new_call.operation
         AND old_call.environment_id = new_call.environment_id
       WHERE new_report.run_id = @runId AND new_report.row = @row AND new_report.space = 'report'
         AND new_report.id <> old_report.id AND new_company.id = old_company.id AND old_call.id < new_call.id
       GROUP BY new_call.operation) AS before
     WHERE calls.id = before.id AND calls.replaces IS NULL`,
  );

function candidateWriter(database: Sql) {
  const drop = database.prepare('DELETE FROM candidates WHERE run_id = ? AND row = ? AND space = ?');
  const insert = database.prepare(
    `INSERT INTO candidates (run_id, row, space, position, id, name, registration_number, vat_number, country_code, state, jurisdiction,
       match_grade, decision, evidence, extra)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  return function* (
    runId: string,
    row: number,
    space: string,
    seen: readonly CandidateRecord[],
    isAnyThere: boolean,
  ): Script<void> {
    if (isAnyThere) yield* drop.run(runId, row, space);
    // There may be many, and positions are bound in a third of the time that names take.
    for (const [index, { id, name, registrationNumber, vatNumber, countryCode, state, ...found }] of seen.entries()) {
      const facts = [id, name, registrationNumber, vatNumber, countryCode, state, found.jurisdiction];
      const judged = [found.matchGrade, found.decision, found.evidence, found.extra ?? null];
      yield* insert.run(runId, row, space, index + 1, ...facts, ...judged);
    }
  };
}

function errorWriter(database: Sql) {
  const insert = database.prepare(
    `INSERT INTO errors (run_id, row, stage, class, code, message, request_id, attempts, at)
     VALUES (@runId, @row, @stage, @class, @code, @message, @requestId, @attempts, @at)`,
  );
  return (runId: string, row: number | null, met: NewError): Script<void> => insert.run({ ...met, runId, row });
}

/** Of a question: the row's pipeline asks about this topic. Without `asks` it asks about everything. */
const OWN = `(@all = 1 OR CASE WHEN questions.stage = '' THEN questions.space IN (SELECT value FROM json_each(@spaces))
    ELSE questions.stage IN (SELECT value FROM json_each(@stages)) END)`;

const ownOf = ({ asks }: RowSettlement) => ({
  all: asks === undefined ? 1 : 0,
  spaces: JSON.stringify(asks?.spaces ?? []),
  stages: JSON.stringify(asks?.stages ?? []),
});

/**
 * New questions close earlier ones that are not asked again. Questions of another pipeline stay open, because this one
 * cannot ask them again.
 */
function questionWriter(database: Sql) {
  const closeOwn = database.prepare(
    `UPDATE questions SET answered = 1, beside = 0 WHERE run_id = @runId AND row = @row AND (@anew = 1 OR beside = 1) AND ${OWN}`,
  );
  const save = database.prepare(
    `INSERT INTO questions (run_id, row, space, stage, environment_id, entity_key, candidate_id, code, message, answered, asked_at, second_person)
     VALUES (@runId, @row, @space, @stage, @environmentId, @entityKey, @candidateId, @code, @message, @answered, @askedAt, @secondPerson)
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
    // For an interrupted row it is unknown which questions would have followed.
    const isAtRest = checkpoint.outcome !== 'pending' && settlement.asks !== undefined;
    const own = { runId, row, ...ownOf(settlement) };
    const anew = questions.some(({ answered }) => !answered);
    if (anew || isAtRest) yield* closeOwn.run({ ...own, anew: anew ? 1 : 0 });
    for (const asked of questions)
      yield* save.run({
        ...asked,
        runId,
        row,
        stage: asked.stage ?? '',
        answered: asked.answered ? 1 : 0,
        secondPerson: settlement.asks?.secondPerson ? 1 : 0,
      });
    if (isAtRest) yield* setAside.run(own);
    for (const asked of questions) if (!asked.answered && (yield* waitingFor(asked)).length > 0) yield* tellRows(asked);
  };
}

/** Copies another pipeline's open questions and their candidates to the new row before the old one is deleted. */
function questionCarrier(database: Sql) {
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
