// Reads questions: whole, with their candidates, or as light rows for counts and pages.

import type { IdSpace } from '../../domain/provider.js';
import { type Database, forEachItem, type Script } from '../db/database.js';
import { JsonColumns, rowFields } from '../db/json-columns.js';
import { STILL_LISTED } from '../rows/read-rows.js';
import type { CandidateRecord } from '../rows/runs.js';
import { IS_DECIDED, NEEDS_SECOND_PERSON } from './decisions.js';
import type { AskedQuestion, QuestionKey, WaitingRow } from './review.js';

/** Of a question: its row waits for the answer, or will when the asking pipeline runs again. */
const IS_OPEN = `answered = 0 AND ${STILL_LISTED} AND CASE WHEN beside = 1 THEN NOT ${IS_DECIDED} ELSE outcome = 'needs_review' END`;

const IN_ORDER = 'ORDER BY runs.created_at, run_id, row, asked_at, questions.space, questions.stage';

/** A condition of a statement, and its parameters. */
interface Among {
  readonly sql: string;
  readonly values: object;
}

export const OF_RUNS = 'run_id IN (SELECT value FROM json_each(@runIds))';

export const ofRuns = (runIds: readonly string[]): Among => ({
  sql: OF_RUNS,
  values: { runIds: JSON.stringify(runIds) },
});

/** Two lists of halves find more than the pairs, so `isAmong` looks at each. */
export const ABOUT = `entity_key IN (SELECT value FROM json_each(@entityKeys))
  AND environment_id IN (SELECT CAST(value AS BIGINT) FROM json_each(@environments))`;

export const about = (keys: readonly QuestionKey[]): Among => ({
  sql: ABOUT,
  values: {
    entityKeys: JSON.stringify(keys.map(({ entityKey }) => entityKey)),
    environments: JSON.stringify([...new Set(keys.map(({ environmentId }) => environmentId))]),
  },
});

export const isAmong = (keys: readonly QuestionKey[]) => {
  const pairs = new Set(keys.map(({ environmentId, entityKey }) => `${environmentId}|${entityKey}`));
  return ({ environmentId, entityKey }: QuestionKey) => pairs.has(`${environmentId}|${entityKey}`);
};

export function* readAskedQuestions(database: Database, among?: Among): Script<AskedQuestion[]> {
  const candidates = database.prepare<[string, number, string], CandidateRecord>(
    `SELECT id, name, registration_number AS registrationNumber, vat_number AS vatNumber, country_code AS countryCode, state, jurisdiction,
       match_grade AS matchGrade, decision, evidence FROM candidates WHERE run_id = ? AND row = ? AND space = ? ORDER BY position`,
  );
  const found = yield* database
    .prepare<[object], QuestionRow>(
      `SELECT questions.*, environments.name AS environment, line, fields, ${IS_OPEN} AS open, ${NEEDS_SECOND_PERSON} AS needsTwo
       FROM questions JOIN rows USING (run_id, row) JOIN runs ON runs.id = run_id JOIN environments ON environments.id = environment_id
       ${among === undefined ? '' : `WHERE ${among.sql}`} ${IN_ORDER}`,
    )
    .all(among?.values ?? {});
  const cells = new JsonColumns(database);
  return yield* forEachItem(found, function* (row) {
    const shown = yield* candidates.all(row.run_id, row.row, row.space);
    return {
      runId: row.run_id,
      row: row.row,
      space: row.space,
      stage: row.stage === '' ? null : row.stage,
      environmentId: row.environment_id,
      environment: row.environment,
      entityKey: row.entity_key,
      candidateId: row.candidate_id,
      code: row.code,
      message: row.message,
      answered: row.answered === 1,
      askedAt: row.asked_at,
      line: row.line,
      fields: cells.read(rowFields, row.fields, [row.run_id, row.row]),
      open: row.open === 1,
      beside: row.beside === 1,
      needsTwo: row.needsTwo === 1,
      candidates: shown.filter(({ id }) => row.candidate_id === null || id === row.candidate_id),
    };
  });
}

/** From the best to the worst grade, as `compareGrades` orders them. */
const GRADE_RANK = "replace(replace(replace(replace(match_grade, 'A', '0'), 'B', '1'), 'Z', '2'), 'F', '3')";

/** Most questions are asked by one row, which needs only its best candidate: half the time of reading all. */
export function* readWaitingRows(database: Database, runIds: readonly string[] | undefined): Script<WaitingRow[]> {
  const candidates = database.prepare<[string, number, string], WaitingRow['candidates'][number]>(
    'SELECT id, match_grade AS matchGrade, country_code AS countryCode FROM candidates WHERE run_id = ? AND row = ? AND space = ? ORDER BY position',
  );
  const best = (column: string) => `(SELECT ${column} FROM candidates WHERE candidates.run_id = questions.run_id
    AND candidates.row = questions.row AND candidates.space = questions.space
    AND (candidate_id IS NULL OR candidates.id = candidate_id) ORDER BY ${GRADE_RANK}, position LIMIT 1)`;
  const found = yield* database
    .prepare<[object], WaitingRecord>(
      `SELECT run_id, row, questions.space, questions.stage, environment_id, entity_key, candidate_id, code, asked_at, fields, runs.created_at AS began,
         ${best("match_grade || ' ' || coalesce(country_code, '') || ' ' || candidates.id")} AS best
       FROM questions JOIN rows USING (run_id, row) JOIN runs ON runs.id = run_id
       WHERE ${IS_OPEN} ${runIds === undefined ? '' : `AND ${OF_RUNS}`} ORDER BY run_id, row, asked_at, questions.space, questions.stage`,
    )
    .all({ runIds: JSON.stringify(runIds ?? []) });
  // By the time of their runs: SQLite would sort the texts along, which takes as long as the rest.
  found.sort((a, b) => a.began - b.began);
  const keyOf = (row: WaitingRecord) => `${row.environment_id}|${row.entity_key}`;
  const rowsOf = new Map<string, number>();
  for (const row of found) rowsOf.set(keyOf(row), (rowsOf.get(keyOf(row)) ?? 0) + 1);
  const cells = new JsonColumns(database);
  return yield* forEachItem(found, function* (row) {
    const needsAll = row.stage !== '' || rowsOf.get(keyOf(row)) !== 1;
    const seen = needsAll ? yield* candidates.all(row.run_id, row.row, row.space) : toBest(row.best);
    return {
      stage: row.stage === '' ? null : row.stage,
      environmentId: row.environment_id,
      entityKey: row.entity_key,
      code: row.code,
      askedAt: row.asked_at,
      fields: cells.read(rowFields, row.fields, [row.run_id, row.row]),
      candidates: seen.filter(({ id }) => row.candidate_id === null || id === row.candidate_id),
    };
  });
}

/** Grade, country and ID of a candidate in one text, because three lookups take three times as long. */
function toBest(text: string | null): WaitingRow['candidates'] {
  if (text === null) return [];
  const [matchGrade = '', countryCode = '', ...id] = text.split(' ');
  return [{ id: id.join(' '), matchGrade, countryCode: countryCode === '' ? null : countryCode }];
}

type WaitingRecord = Pick<
  QuestionRow,
  | 'run_id'
  | 'row'
  | 'space'
  | 'stage'
  | 'environment_id'
  | 'entity_key'
  | 'candidate_id'
  | 'code'
  | 'asked_at'
  | 'fields'
> & { readonly best: string | null; readonly began: number };

interface QuestionRow {
  readonly run_id: string;
  readonly row: number;
  readonly space: IdSpace;
  readonly stage: string;
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
  readonly open: number;
  readonly beside: number;
  readonly needsTwo: number;
}
