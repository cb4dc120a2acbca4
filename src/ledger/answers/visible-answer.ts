// Decides which stored answer about a company is visible.

import { isStageFinished } from '../../domain/outcomes.js';
import { isEmptyBody } from '../../util/exact-json.js';
import type { Script, Sql } from '../db/database.js';
import { findCell, parseStored, rowFetched, rowStages } from '../db/stored-json.js';
import type { RowSettlement } from '../rows/runs.js';
import type { Bodies } from './bodies.js';
import type { RunRowKey, SnapshotAnswer, UnsoundAnswer } from './snapshot.js';

export type AnswerRow = Omit<SnapshotAnswer, 'body' | 'params'> &
  Pick<UnsoundAnswer, 'api'> & { readonly id: number; readonly params: string };

/**
 * A new answer with an open review question is not visible. Instead the newest earlier answer is that fits the company
 * or was accepted by a person. Without one no answer is visible: it may be about another company. An empty answer does
 * not replace an earlier one (V1-22). `isPast`: the state of rows is newer than the answers, so it is not asked.
 */
export function visibleAnswerReader(database: Sql, bodies: Bodies, isPast = false) {
  // The visible answers to the same request up to this one, newest first.
  const VISIBLE = `SELECT calls.id, calls.operation, calls.params, lower(hex(calls.raw_sha256)) AS rawSha256, calls.settled_at AS fetchedAt, calls.stage, api
     FROM calls AS newer CROSS JOIN calls INDEXED BY calls_by_subject
       ON calls.subject_space = newer.subject_space AND calls.subject_id = newer.subject_id AND calls.subject_id IS NOT NULL AND calls.params IS NOT NULL
     JOIN environments ON environments.id = calls.environment_id
     WHERE newer.id = ? AND calls.environment_id = newer.environment_id AND calls.request_key = newer.request_key
       AND calls.id <= newer.id AND (calls.id = newer.id OR (calls.charge <> 'owned' AND calls.raw_sha256 IS NOT NULL AND calls.error_code IS NULL))
       AND ${IS_VISIBLE}
     ORDER BY calls.id DESC`;
  const newestVisible = database.prepare<[number], AnswerRow>(`${VISIBLE} LIMIT 1`);
  const allVisible = database.prepare<[number], AnswerRow>(VISIBLE);
  const fetched = database
    .prepare<[string, number], string>('SELECT fetched FROM rows WHERE run_id = ? AND row = ?')
    .pluck();

  /** When the row's answer for the stage was fetched. Undefined: there is none, or the time is unknown. */
  function* asOf(stage: string, { run_id, run_row }: RunRowKey): Script<number | undefined> {
    const text = (yield* fetched.get(run_id, run_row)) ?? '{}';
    const times = findCell(rowFetched, text) ?? {};
    return Object.hasOwn(times, stage) ? times[stage] : undefined;
  }
  /** The row's stage was not available, and this answer is the reason. */
  function* isLacking(
    stage: string,
    { fetchedAt }: AnswerRow,
    lacking: string | null,
    place: RunRowKey,
  ): Script<boolean> {
    if (lacking === null || parseStored(lacking, rowStages.fits)?.[stage] !== 'not_available') return false;
    return (yield* asOf(stage, place)) === fetchedAt;
  }
  function* says({ rawSha256 }: AnswerRow): Script<boolean> {
    const body = yield* bodies.readSound(rawSha256);
    return body !== undefined && !isEmptyBody(body);
  }

  /** `lacking`: the row's stage statuses, if a stage was not available. */
  return function* (answer: AnswerRow, lacking: string | null, place: RunRowKey): Script<AnswerRow | undefined> {
    const newest = yield* newestVisible.get(answer.id);
    const stage = newest?.stage ?? null;
    if (newest === undefined || stage === null) return newest;
    if (isPast ? yield* says(newest) : !(yield* isLacking(stage, newest, lacking, place))) return newest;
    for (const one of yield* allVisible.all(answer.id))
      if (one.id !== newest.id && one.stage === stage && (yield* says(one))) return one;
    return newest;
  };
}

/** Of a verdict: the answer is about the company, or a decision in force accepts it. */
const FITS = `(verdicts.entity_key = '' OR EXISTS (SELECT 1 FROM decisions WHERE decisions.environment_id = verdicts.environment_id
    AND decisions.entity_key = verdicts.entity_key AND decision = 'confirm' AND withdrawn_at IS NULL))`;

/** Whether a report may be shown to another company is decided by its ID (`ID_IS_VISIBLE`). */
const OF_REQUEST = `verdicts.environment_id = calls.environment_id AND verdicts.request_key = calls.request_key
  AND NOT (verdicts.space = 'credit' AND calls.subject_space = 'report')`;

/**
 * Of a call: its answer may be shown. If answers to a request are compared, an answer without a verdict was bought
 * outside a run or by an attempt that died. Before verdicts were recorded, a stage compared each answer that it bought.
 */
export const IS_VISIBLE = `(NOT EXISTS (SELECT 1 FROM verdicts WHERE ${OF_REQUEST})
    OR EXISTS (SELECT 1 FROM verdicts WHERE ${OF_REQUEST} AND verdicts.raw_sha256 = calls.raw_sha256 AND ${FITS})
    OR (calls.stage IS NOT NULL AND NOT EXISTS (SELECT 1 FROM calls AS before INDEXED BY calls_by_subject
        JOIN verdicts ON verdicts.environment_id = before.environment_id AND verdicts.request_key = before.request_key AND verdicts.raw_sha256 = before.raw_sha256
      WHERE before.subject_space = calls.subject_space AND before.subject_id = calls.subject_id AND before.subject_id IS NOT NULL
        AND before.params IS NOT NULL AND before.environment_id = calls.environment_id AND before.request_key = calls.request_key
        AND before.id <= calls.id)))`;

/**
 * Of a row's ID: false for a report that is no longer accepted. If it is the report of another company, the verdict is
 * about the row's own company and names the report (`askAboutIdentity`).
 */
export const ID_IS_VISIBLE = `NOT (row_ids.space = 'report' AND (
    EXISTS (SELECT 1 FROM verdicts WHERE verdicts.space = 'report' AND verdicts.id = row_ids.id AND NOT ${FITS})
    OR EXISTS (SELECT 1 FROM row_ids AS own JOIN verdicts ON verdicts.space = 'credit' AND verdicts.id = own.id
      WHERE own.run_id = row_ids.run_id AND own.row = row_ids.row AND own.space = 'credit' AND NOT ${FITS}
        AND verdicts.entity_key LIKE '%|["' || row_ids.id || '",%')))`;

/** Records how the row's answers compare with its company. The newest verdict counts. */
export function verdictWriter(database: Sql): (settlement: RowSettlement) => Script<void> {
  const write = database.prepare(
    `INSERT INTO verdicts (space, id, environment_id, request_key, raw_sha256, entity_key)
     SELECT @space, @id, answers.environment_id, answers.request_key, raw_sha256, @entityKey
     FROM answers JOIN calls ON calls.id = call_id
     WHERE answers.environment_id = @environmentId AND answers.request_key = unhex(@requestKey) AND raw_sha256 IS NOT NULL
     ON CONFLICT (space, id, environment_id, request_key, raw_sha256) DO UPDATE SET entity_key = excluded.entity_key`,
  );
  return function* ({ verdicts }) {
    for (const verdict of verdicts) yield* write.run(verdict);
  };
}

/** Deletes verdicts about companies without rows, and about deleted answers. */
export const pruneVerdicts = (database: Sql): Script<void> =>
  database.exec(
    `DELETE FROM verdicts WHERE NOT EXISTS (SELECT 1 FROM row_ids WHERE row_ids.space = verdicts.space AND row_ids.id = verdicts.id)
       OR NOT EXISTS (SELECT 1 FROM bodies WHERE bodies.sha256 = verdicts.raw_sha256)`,
  );

/** Of a row: a review question about an answer is open. */
export const IN_QUESTION = `EXISTS (SELECT 1 FROM questions
    WHERE questions.run_id = rows.run_id AND questions.row = rows.row AND answered = 0 AND beside = 0 AND questions.stage <> '')`;

/**
 * A row with an open review question shows nothing of stages it has not reached. Others may have bought such answers,
 * or the row itself after a decision since withdrawn. All answers of a stage are kept or hidden together.
 */
export function withoutUnreachedStages(database: Sql) {
  const standing = database.prepare<[string, number], { stages: string; fetched: string }>(
    'SELECT stages, fetched FROM rows WHERE run_id = ? AND row = ?',
  );
  const withdrawn = database
    .prepare<[string, number], number | null>(
      `SELECT min(decided_at) FROM questions JOIN decisions USING (environment_id, entity_key)
       WHERE run_id = ? AND row = ? AND answered = 0 AND questions.stage <> '' AND withdrawn_at IS NOT NULL`,
    )
    .pluck();
  return function* (answers: readonly AnswerRow[], { run_id, run_row }: RunRowKey): Script<readonly AnswerRow[]> {
    const row = yield* standing.get(run_id, run_row);
    const statuses = parseStored(row?.stages ?? '', rowStages.fits) ?? {};
    const fetched = parseStored(row?.fetched ?? '', rowFetched.fits) ?? {};
    const isToCome = (stage: string) => {
      const status = statuses[stage];
      return status !== undefined && status !== 'failed' && !isStageFinished(status) && !Object.hasOwn(fetched, stage);
    };
    const since = (yield* withdrawn.get(run_id, run_row)) ?? Number.NEGATIVE_INFINITY;
    const isLate = ({ stage, fetchedAt }: AnswerRow) => stage !== null && isToCome(stage) && fetchedAt >= since;
    const late = new Set(answers.filter(isLate).map(({ stage }) => stage));
    return answers.filter(({ stage }) => !late.has(stage));
  };
}

/** The calls about the companies of a row, at the providers of its run. */
export const COMPANY_CALLS = `row_ids CROSS JOIN calls INDEXED BY calls_by_subject
    ON calls.subject_space = row_ids.space AND calls.subject_id = row_ids.id AND calls.subject_id IS NOT NULL AND calls.params IS NOT NULL
  CROSS JOIN run_environments ON run_environments.run_id = row_ids.run_id AND run_environments.environment_id = calls.environment_id`;
export const OF_ROW = 'row_ids.run_id = ? AND row_ids.row = ?';

/** The newest answers to their requests. */
export const WITH_ANSWERS =
  'CROSS JOIN answers ON answers.environment_id = calls.environment_id AND answers.request_key = calls.request_key AND answers.call_id = calls.id';

const EVERY_ANSWER = `SELECT calls.id, calls.operation, calls.params, lower(hex(calls.raw_sha256)) AS rawSha256,
    calls.settled_at AS fetchedAt, calls.stage, run_environments.api
  FROM ${COMPANY_CALLS}
  WHERE ${OF_ROW} AND calls.operation = ? AND calls.id <= ?
    AND calls.raw_sha256 IS NOT NULL AND calls.charge <> 'owned' AND calls.error_code IS NULL
  ORDER BY calls.id`;

/**
 * A stage that reads a list again replaces it page by page and may stop in between. Until it finishes, the replaced
 * pages are needed. Returns all answers to the operation up to the newest visible one, or none if the stage has
 * finished since or nothing was replaced.
 */
export function earlierPages(database: Sql) {
  const every = database.prepare<[string, number, string, number], AnswerRow>(EVERY_ANSWER);
  const row = database.prepare<[string, number], { readonly stages: string; readonly updatedAt: number | null }>(
    'SELECT stages, updated_at AS updatedAt FROM rows WHERE run_id = ? AND row = ?',
  );
  function* hasEnded(
    own: readonly AnswerRow[],
    { stage, fetchedAt }: AnswerRow,
    { run_id, run_row }: RunRowKey,
  ): Script<boolean> {
    // Answers bought outside a run, or by another stage, do not mean that the list is complete.
    if (stage === null || own.some((one) => one.stage !== stage)) return false;
    const stands = yield* row.get(run_id, run_row);
    if (stands === undefined || (stands.updatedAt ?? 0) < fetchedAt) return false;
    return isStageFinished(findCell(rowStages, stands.stages)?.[stage]);
  }
  return function* (operation: string, standing: readonly AnswerRow[], place: RunRowKey): Script<readonly AnswerRow[]> {
    const own = standing.filter((answer) => answer.operation === operation);
    const newest = own.reduce<AnswerRow | undefined>((last, one) => (last && last.id > one.id ? last : one), undefined);
    if (newest === undefined || (yield* hasEnded(own, newest, place))) return [];
    const all = yield* every.all(place.run_id, place.run_row, operation, newest.id);
    return all.length > own.length ? all : [];
  };
}
