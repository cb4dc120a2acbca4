import type { QuestionAbout } from '../../domain/entity-key.js';
import type { AskedQuestion, CandidateRecord, DecisionEntry, Ledger, NewDecision, RowRef } from '../ledger.js';
import type { Connection } from './open.js';
import type { Writer } from './writer.js';

type ReviewStore = Pick<Ledger, 'saveQuestion' | 'questions' | 'recordDecision' | 'decisions' | 'withdrawDecision'>;

/** Questions for people, and what they decided. */
export function reviewStore(database: Connection, writer: Writer): ReviewStore {
  const closeOthers = database.prepare('UPDATE questions SET answered = 1 WHERE run_id = ? AND row = ? AND about <> ?');
  const saveQuestion = database.prepare(
    `INSERT OR REPLACE INTO questions (run_id, row, about, environment_id, entity_key, candidate_id, code, message, answered, asked_at)
     VALUES (@runId, @row, @about, @environmentId, @entityKey, @candidateId, @code, @message, @answered, @askedAt)`,
  );
  const insertDecision = database.prepare(
    `INSERT INTO decisions (environment_id, entity_key, about, decision, candidate_id, shown, summary, decided_by, decided_at, note)
     VALUES (@environmentId, @entityKey, @about, @decision, @candidateId, @shown, @summary, @decidedBy, @decidedAt, @note)`,
  );
  const withdraw = database.prepare(
    'UPDATE decisions SET withdrawn_at = ?, withdrawn_by = ? WHERE id = ? AND withdrawn_at IS NULL',
  );
  const entry = database.prepare<[number], DecisionRow>(`${SELECT_DECISION} WHERE id = ?`);
  const release = rowReleases(database);

  return {
    saveQuestion: (question) =>
      writer.write(() => {
        if (!question.answered) closeOthers.run(question.runId, question.row, question.about);
        saveQuestion.run({ ...question, answered: question.answered ? 1 : 0 });
      }),
    questions: async (runId) => readQuestions(database, runId),
    recordDecision: (decision) =>
      writer.write(() => {
        const { lastInsertRowid } = insertDecision.run({ ...decision, shown: JSON.stringify(decision.shown) });
        const released = decision.decision === 'not_sure' ? [] : release.waiting(decision);
        return { id: Number(lastInsertRowid), released };
      }),
    decisions: async () => database.prepare<[], DecisionRow>(`${SELECT_DECISION} ORDER BY id DESC`).all().map(toEntry),
    withdrawDecision: (id, by, at) =>
      writer.write(() => {
        const found = entry.get(id);
        if (found === undefined || withdraw.run(at, by, id).changes === 0) return undefined;
        return release.resting(toEntry(found));
      }),
  };
}

/** How rows start to move again when a decision appears or goes. */
function rowReleases(database: Connection) {
  type Key = Pick<NewDecision, 'environmentId' | 'entityKey' | 'about'>;
  const waiting = database.prepare<[number, string], RowRef>(
    `SELECT questions.run_id AS runId, questions.row AS row FROM questions JOIN rows USING (run_id, row)
     WHERE environment_id = ? AND entity_key = ? AND answered = 0 AND outcome = 'needs_review'`,
  );
  // Asked, released, and not looked at since: looking again would have replaced the question.
  const untouched = database.prepare<[number, string], RowRef & { code: string; message: string }>(
    `SELECT questions.run_id AS runId, questions.row AS row, code, message FROM questions JOIN rows USING (run_id, row)
     WHERE environment_id = ? AND entity_key = ? AND answered = 0 AND outcome = 'pending'`,
  );
  const resting = database.prepare<[number, string], RowRef>(
    'SELECT run_id AS runId, row FROM questions WHERE environment_id = ? AND entity_key = ? AND answered = 1',
  );
  const goOn = database.prepare(
    `UPDATE rows SET outcome = 'pending', hold = NULL, hold_reason = NULL, next_at = NULL, error_code = NULL, error_message = NULL
     WHERE run_id = ? AND row = ?`,
  );
  const forgetMatch = database.prepare(
    'UPDATE rows SET match_grade = NULL, matched_on = NULL, v1_company_id = NULL WHERE run_id = ? AND row = ?',
  );
  const askAgain = database.prepare(
    "UPDATE rows SET outcome = 'needs_review', error_code = ?, error_message = ? WHERE run_id = ? AND row = ?",
  );
  const startOver = database.prepare(
    `UPDATE rows SET stage = NULL, stages = '{}', match_grade = NULL, matched_on = NULL, v1_company_id = NULL,
       v2_company_id = NULL, credit_source_id = NULL, credit_report_id = NULL WHERE run_id = ? AND row = ?`,
  );
  const reopen = database.prepare(
    "UPDATE runs SET state = 'open', finished_at = NULL WHERE id = ? AND state = 'finished'",
  );
  const inForce = database.prepare(
    "SELECT 1 FROM decisions WHERE environment_id = ? AND entity_key = ? AND withdrawn_at IS NULL AND decision <> 'not_sure'",
  );
  const reopenRuns = (rows: readonly RowRef[]) => {
    for (const runId of new Set(rows.map((row) => row.runId))) reopen.run(runId);
    return rows;
  };

  return {
    waiting({ environmentId, entityKey, about }: Key): readonly RowRef[] {
      const rows = waiting.all(environmentId, entityKey);
      for (const { runId, row } of rows) {
        goOn.run(runId, row);
        // A v2 or report question leaves what v1 confirmed as it is.
        if (about === 'v1' || about === 'record') forgetMatch.run(runId, row);
      }
      return reopenRuns(rows);
    },
    /** An older decision that is still in force speaks again; otherwise the question is open again. */
    resting({ environmentId, entityKey }: Key): readonly RowRef[] {
      const older = inForce.get(environmentId, entityKey) !== undefined;
      const asked = older ? [] : untouched.all(environmentId, entityKey);
      for (const { runId, row, code, message } of asked) askAgain.run(code, message, runId, row);
      const rows = resting.all(environmentId, entityKey);
      for (const { runId, row } of rows) {
        goOn.run(runId, row);
        startOver.run(runId, row);
      }
      reopenRuns(rows);
      return [...asked, ...rows].map(({ runId, row }) => ({ runId, row }));
    },
  };
}

function readQuestions(database: Connection, runId: string | undefined): AskedQuestion[] {
  const candidates = database.prepare<[string, number, string], CandidateRecord>(
    `SELECT id, name, registration_number AS registrationNumber, vat_number AS vatNumber, country_code AS countryCode, state,
       match_grade AS matchGrade, decision, evidence FROM candidates WHERE run_id = ? AND row = ? AND api = ? ORDER BY position`,
  );
  const found = database
    .prepare<[{ runId: string | null }], QuestionRow>(
      `SELECT questions.*, environments.name AS environment, line, fields, outcome
       FROM questions JOIN rows USING (run_id, row) JOIN runs ON runs.id = run_id JOIN environments ON environments.id = environment_id
       WHERE @runId IS NULL OR run_id = @runId ORDER BY runs.created_at, run_id, row, asked_at`,
    )
    .all({ runId: runId ?? null });
  return found.map((row) => ({
    runId: row.run_id,
    row: row.row,
    about: row.about,
    environmentId: row.environment_id,
    environment: row.environment,
    entityKey: row.entity_key,
    candidateId: row.candidate_id,
    code: row.code,
    message: row.message,
    answered: row.answered === 1,
    askedAt: row.asked_at,
    line: row.line,
    fields: JSON.parse(row.fields) as Record<string, string>,
    open: row.answered === 0 && row.outcome === 'needs_review',
    candidates: candidates
      .all(row.run_id, row.row, row.about === 'record' ? 'v1' : row.about)
      .filter(({ id }) => row.candidate_id === null || id === row.candidate_id),
  }));
}

interface QuestionRow {
  readonly run_id: string;
  readonly row: number;
  readonly about: QuestionAbout;
  readonly environment_id: number;
  readonly environment: string;
  readonly entity_key: string;
  readonly candidate_id: string | null;
  readonly code: string;
  readonly message: string;
  readonly answered: number;
  readonly asked_at: number;
  readonly line: number;
  readonly fields: string;
  readonly outcome: string;
}

const SELECT_DECISION = `SELECT id, environment_id AS environmentId, entity_key AS entityKey, about, decision,
  candidate_id AS candidateId, shown, summary, decided_by AS decidedBy, decided_at AS decidedAt, note,
  withdrawn_at AS withdrawnAt, withdrawn_by AS withdrawnBy FROM decisions`;

type DecisionRow = Omit<DecisionEntry, 'shown'> & { readonly shown: string };

const toEntry = (row: DecisionRow): DecisionEntry => ({ ...row, shown: JSON.parse(row.shown) as string[] });
