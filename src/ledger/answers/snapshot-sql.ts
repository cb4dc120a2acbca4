import type { Script, Sql } from '../db/database.js';
import { AMONG_IDS, type EntityIds } from '../erase/identifiers.js';
import { MEMBER_STATE_COLUMNS } from '../portfolio/members.js';
import type { RowSettlement } from '../rows/runs.js';
import { COMPANY_CALLS, ID_IS_VISIBLE, IN_QUESTION, OF_ROW, WITH_ANSWERS } from './visible-answer.js';

/** The SQL of a snapshot. `temp.standing` maps each line of the list to the row and run that it uses. */
const IDS = `(SELECT coalesce(json_group_object(space, id), '{}') FROM row_ids WHERE row_ids.run_id = rows.run_id AND row_ids.row = rows.row AND ${ID_IS_VISIBLE})`;

const HOLDS = 'rows.run_id = standing.run_id AND rows.row = standing.run_row';

// A cell of the list, if the match rests on the number and the search names no court or state.
const LISTED = (
  field: string,
) => `CASE WHEN jurisdiction IS NULL AND state IS NULL AND substr(candidates.match_grade, 1, 1) IN ('A', 'B')
      AND json_valid(rows.fields) THEN json_extract(rows.fields, '$.${field}') END`;

// The company in each ID space, with the facts of its search.
const MATCHES = `(SELECT coalesce(json_group_array(json_object('space', space, 'id', candidates.id, 'position', position, 'name', name,
      'registrationNumber', registration_number, 'countryCode', country_code, 'jurisdiction', jurisdiction, 'state', state,
      'listedNumber', ${LISTED('registration_number')}, 'listedCountry', ${LISTED('country')}, 'listedState', ${LISTED('state')})), '[]')
    FROM candidates WHERE candidates.run_id = rows.run_id AND candidates.row = rows.row AND decision = 'confirmed'
      AND EXISTS (SELECT 1 FROM row_ids WHERE row_ids.run_id = rows.run_id AND row_ids.row = rows.row
        AND row_ids.space = candidates.space AND row_ids.id = candidates.id))`;

/** What the key of a row's company is made from, for a query over `rows`. */
export const companyOfRow = (ids = 'ids') => `${IDS} AS ${ids}, ${MATCHES} AS matches`;

const CHOSEN = (
  cell: string,
) => `(SELECT ${cell} FROM candidates WHERE candidates.run_id = questions.run_id AND candidates.row = questions.row
    AND candidates.space = questions.space AND candidates.id = decisions.candidate_id ORDER BY position LIMIT 1)`;

const IN_CHOICE = `(SELECT count(DISTINCT candidates.id) FROM candidates WHERE candidates.run_id = questions.run_id AND candidates.row = questions.row
    AND candidates.space = questions.space AND candidates.decision = 'needs_review')`;

// Questions of another pipeline do not affect the row's state.
const QUESTIONS = `(SELECT coalesce(json_group_array(json_object('space', questions.space, 'stage', nullif(questions.stage, ''),
      'environmentId', questions.environment_id, 'entityKey', questions.entity_key, 'answered', answered, 'decision', decision, 'decidedBy', decided_by, 'secondBy', second_by,
      'candidateId', decisions.candidate_id, 'name', ${CHOSEN('name')}, 'grade', ${CHOSEN('match_grade')},
      'candidates', CASE WHEN answered = 0 AND questions.stage = '' THEN ${IN_CHOICE} ELSE 0 END)), '[]')
    FROM questions LEFT JOIN decisions ON decisions.id = (SELECT max(id) FROM decisions AS said
      WHERE said.environment_id = questions.environment_id AND said.entity_key = questions.entity_key AND withdrawn_at IS NULL)
    WHERE questions.run_id = rows.run_id AND questions.row = rows.row AND beside = 0)`;

/**
 * Lines about the same company as an earlier line. v1's ID decides if there is one, v2's otherwise. CROSS JOIN begins with
 * the lines: SQLite would read all IDs in their order, which took 600 ms for a page of 50 lines.
 */
export const DUPLICATES = `
  CREATE TEMP TABLE IF NOT EXISTS shared_companies AS SELECT space, id, min(standing.row) AS row
    FROM temp.standing CROSS JOIN row_ids ON row_ids.run_id = standing.run_id AND row_ids.row = standing.run_row
    WHERE space IN ('v1', 'v2') GROUP BY space, id HAVING count(*) > 1;
  CREATE TEMP TABLE IF NOT EXISTS duplicates (row BIGINT PRIMARY KEY, first BIGINT);
  INSERT INTO temp.duplicates SELECT standing.row, shared.row FROM temp.shared_companies AS shared
    CROSS JOIN row_ids ON row_ids.space = shared.space AND row_ids.id = shared.id
    CROSS JOIN temp.standing ON standing.run_id = row_ids.run_id AND standing.run_row = row_ids.row
    WHERE standing.row <> shared.row AND row_ids.space =
      (SELECT min(space) FROM row_ids AS other WHERE other.run_id = row_ids.run_id AND other.row = row_ids.row AND space IN ('v1', 'v2'))
    ON CONFLICT DO NOTHING`;

// Only units of this run: a row that was not due has cost nothing.
export const ROWS = `SELECT standing.row, standing.line, standing.run_id, standing.run_row, input_values AS "values", input_kinds AS kinds, fields, outcome, stage, stages,
    match_grade AS matchGrade, matched_on AS matchedOn, ${companyOfRow()}, CASE WHEN rows.run_id = ? THEN units_charged ELSE 0 END AS unitsCharged,
    error_code AS errorCode, error_message AS errorMessage, hold, hold_reason AS holdReason, updated_at AS updatedAt,
    ${QUESTIONS} AS questions, duplicates.first AS firstRow
  FROM temp.standing JOIN rows ON ${HOLDS} LEFT JOIN temp.duplicates ON duplicates.row = standing.row ORDER BY standing.row`;

export const MEMBERS = `SELECT portfolios.name AS portfolio, CASE WHEN json_valid(rows.fields) THEN json_extract(rows.fields, '$.id') END AS inputId,
    first_seen AS firstSeen, coalesce(last_seen, seen_at) AS lastSeen, left_at AS leftAt, members.run_id, members.run_row, ${companyOfRow()}, ${MEMBER_STATE_COLUMNS}
  FROM members JOIN portfolios ON portfolios.id = portfolio_id JOIN rows ON rows.run_id = members.run_id AND rows.row = members.run_row
  WHERE portfolio_id = ? ORDER BY members.id`;

export const PROGRESS = `SELECT outcome, hold, hold_reason, stages, count(*) AS count,
    CAST(coalesce(sum(CASE WHEN rows.run_id = ? THEN units_charged * 1.0 ELSE 0 END), 0) AS BIGINT) AS units, count(*) FILTER (WHERE error_code = 'PURGED') AS purged
  FROM temp.standing JOIN rows ON ${HOLDS} GROUP BY outcome, hold, hold_reason, stages`;

export const CANDIDATES = `SELECT standing.row, standing.run_id, standing.run_row, space, position, id, name, registration_number AS registrationNumber,
    vat_number AS vatNumber, country_code AS countryCode, state, jurisdiction, candidates.match_grade AS matchGrade, decision, evidence, extra,
    CASE WHEN decision = 'confirmed' THEN ${IDS} END AS ids, CASE WHEN decision = 'confirmed' THEN ${MATCHES} END AS matches
  FROM temp.standing JOIN rows ON ${HOLDS} JOIN candidates ON candidates.run_id = standing.run_id AND candidates.row = standing.run_row
  ORDER BY standing.row, space, position`;

// A call in flight has no charge yet, so it counts as unknown.
export const CALLS = `SELECT calls.id, row, stage, api, operation, attempt, started_at AS startedAt, duration_ms AS durationMs,
    http_status AS httpStatus, error_class AS errorClass, error_code AS errorCode, request_id AS requestId,
    units_charged AS unitsCharged, coalesce(charge, 'unknown') AS charge, remaining_units AS remainingUnits, reconciled,
    CASE WHEN raw_sha256 IS NOT NULL THEN lower(hex(raw_sha256)) END AS rawSha256, subject_id AS subjectId,
    coalesce(params, (SELECT owned.params FROM answers JOIN calls AS owned ON owned.id = answers.call_id
      WHERE answers.environment_id = calls.environment_id AND answers.request_key = calls.request_key)) AS params
  FROM calls JOIN environments ON environments.id = environment_id WHERE run_id = ? AND started_at <= ? ORDER BY calls.id`;

export const ERRORS = `SELECT row, line, stage, class, code, message, request_id AS requestId, attempts, at FROM (
    SELECT standing.row AS row, standing.line AS line, stage, class, code, message, request_id, attempts, at, id
    FROM temp.standing JOIN errors ON errors.run_id = standing.run_id AND errors.row = standing.run_row
    UNION ALL SELECT CAST(NULL AS BIGINT), CAST(NULL AS BIGINT), stage, class, code, message, request_id, attempts, at, id FROM errors
      WHERE run_id = ? AND row IS NULL) AS met
  ORDER BY row NULLS FIRST, id`;

export const WATCH_EVENTS = `SELECT (SELECT name FROM portfolios WHERE id = ?) AS portfolio, standing.row, CASE WHEN json_valid(rows.fields) THEN json_extract(rows.fields, '$.id') END AS inputId,
    heard.id, company_id AS companyId, event_type AS eventType, status, message, date_created AS dateCreated,
    CASE WHEN json_valid(extra) THEN extra END AS extra, heard_at AS heardAt, heard.run_id AS runId, lower(hex(raw_sha256)) AS rawSha256, ${companyOfRow()}
  FROM temp.standing JOIN rows ON ${HOLDS}
  JOIN row_ids ON row_ids.run_id = standing.run_id AND row_ids.row = standing.run_row AND space = 'v2'
  JOIN run_environments ON run_environments.run_id = standing.run_id AND run_environments.api = 'v2'
  JOIN watch_events AS heard ON heard.environment_id = run_environments.environment_id AND heard.company_id = row_ids.id
  ORDER BY standing.row, heard.id`;

const confirmed = (cell: string) => `(SELECT ${cell} FROM candidates
    WHERE candidates.run_id = rows.run_id AND candidates.row = rows.row AND decision = 'confirmed' AND ${cell} IS NOT NULL
    ORDER BY space, position LIMIT 1)`;

/** An empty list is a syntax error in SQL. No value equals NULL. */
const places = (count: number) => (count === 0 ? 'NULL' : Array.from({ length: count }, () => '?').join(', '));

export const OPERATIONS = 'SELECT DISTINCT operation FROM calls WHERE raw_sha256 IS NOT NULL';

/** `order`: of the subjects, by columns of `subjects` and `rows`. */
export const SUBJECTS = (
  order: string,
) => `SELECT subjects.id, subjects.row, rows.run_id, rows.row AS run_row, ${confirmed('country_code')} AS country, ${confirmed('name')} AS name, ${companyOfRow()},
    CASE WHEN instr(stages, ':"not_available"') > 0 THEN stages END AS lacking, ${IN_QUESTION} AS asked
  FROM (SELECT row_ids.id, standing.row, standing.run_id, standing.run_row,
      row_number() OVER (PARTITION BY row_ids.id ORDER BY standing.row) AS nth
    FROM temp.standing JOIN row_ids ON row_ids.run_id = standing.run_id AND row_ids.row = standing.run_row
    WHERE space = ? AND ${ID_IS_VISIBLE}) AS subjects
  JOIN rows ON rows.run_id = subjects.run_id AND rows.row = subjects.run_row
  WHERE subjects.nth = 1 ORDER BY ${order}`;

// From a row's IDs to the answers about each. CROSS JOIN fixes the join order.
export const ANSWERS_ABOUT = (
  operations: number,
) => `SELECT calls.id, calls.operation, calls.params, lower(hex(calls.raw_sha256)) AS rawSha256,
    calls.settled_at AS fetchedAt, calls.stage, run_environments.api
  FROM ${COMPANY_CALLS} ${WITH_ANSWERS}
  WHERE ${OF_ROW} AND calls.operation IN (${places(operations)}) AND calls.raw_sha256 IS NOT NULL
  ORDER BY calls.operation, calls.id`;

export const LISTS = (
  operations: number,
) => `SELECT operation, lower(hex(raw_sha256)) AS rawSha256, settled_at AS fetchedAt, params,
    (SELECT api FROM environments WHERE environments.id = environment_id) AS api
  FROM calls WHERE id IN (SELECT max(id) FROM calls WHERE (run_id = ? OR run_id IN (SELECT id FROM runs WHERE portfolio_id = ?)) AND row IS NULL AND settled_at <= ? AND raw_sha256 IS NOT NULL AND error_code IS NULL
    AND operation IN (${places(operations)}) GROUP BY request_key)
  ORDER BY id`;

/**
 * Records which company the answers without a company ID were requested for. A finished stage has requested everything,
 * so its earlier requests are deleted, in other ID spaces too.
 */
export function askedForWriter(database: Sql): (runId: string, settlement: RowSettlement) => Script<void> {
  const drop = database.prepare(
    `DELETE FROM asked_for WHERE space = ? AND id = ? AND environment_id IN (SELECT environment_id FROM run_environments WHERE run_id = ?)
       AND stage IN (SELECT value FROM json_each(?))`,
  );
  const insert = database.prepare(
    `INSERT INTO asked_for (space, id, environment_id, stage, request_key, position) VALUES (?, ?, ?, ?, unhex(?), ?)
     ON CONFLICT (space, id, environment_id, stage, request_key) DO UPDATE SET position = excluded.position`,
  );
  return function* (runId, { ids, asked, ended }) {
    const stages = JSON.stringify(ended);
    if (ended.length > 0) for (const { space, id } of ids) yield* drop.run(space, id, runId, stages);
    for (const [position, { space, id, environmentId, stage, requestKey }] of asked.entries())
      yield* insert.run(space, id, environmentId, stage, requestKey, position);
  };
}

/** From a row's IDs to the answers requested for each. */
export const ANSWERS_ASKED_FOR = (
  operations: number,
) => `SELECT calls.id, calls.operation, calls.params, lower(hex(calls.raw_sha256)) AS rawSha256,
    calls.settled_at AS fetchedAt, asked_for.stage, run_environments.api
  FROM row_ids
  CROSS JOIN asked_for ON asked_for.space = row_ids.space AND asked_for.id = row_ids.id
  CROSS JOIN run_environments ON run_environments.run_id = row_ids.run_id AND run_environments.environment_id = asked_for.environment_id
  CROSS JOIN answers ON answers.environment_id = asked_for.environment_id AND answers.request_key = asked_for.request_key
  CROSS JOIN calls ON calls.id = answers.call_id
  WHERE row_ids.run_id = ? AND row_ids.row = ? AND calls.operation IN (${places(operations)})
    AND calls.raw_sha256 IS NOT NULL AND calls.params IS NOT NULL
  ORDER BY asked_for.stage, asked_for.position, asked_for.request_key`;

/** Of a call: another company needed the same request. */
export const ASKED_BY_OTHERS = `EXISTS (SELECT 1 FROM asked_for AS other WHERE other.environment_id = calls.environment_id
    AND other.request_key = calls.request_key AND (other.space, other.id) NOT ${AMONG_IDS})`;

/** The calls that only this entity requested. Calls that others requested too are kept. */
export const askedForAlone = (database: Sql, ids: EntityIds): Script<readonly number[]> =>
  database
    .prepare<[{ ids: string }], number>(
      `SELECT calls.id FROM asked_for JOIN calls ON calls.environment_id = asked_for.environment_id AND calls.request_key = asked_for.request_key
       WHERE (asked_for.space, asked_for.id) ${AMONG_IDS} AND NOT ${ASKED_BY_OTHERS}`,
    )
    .pluck()
    .all({ ids: ids.json() });

/** Calls about an entity by its ID, unless others requested the same. */
export const CALLS_ABOUT = `SELECT id FROM calls WHERE (subject_space, subject_id) ${AMONG_IDS} AND NOT ${ASKED_BY_OTHERS}`;
