// The ledger as it was at the end of a day.

import type { Script, Sql } from '../db/database.js';

/** What the view of a past day cannot show. */
export interface PastView {
  /** The last moment of the day. */
  readonly at: number;
  /** Rows that changed later: their outcome and the cells of the list are the newest. */
  readonly rowsChanged: number;
  /** Rows that were matched later. They are pending, without company and data. */
  readonly rowsNotMatched: number;
  /** Answers about the companies that are pruned or erased, so that nothing of their request is left. */
  readonly answersGone: number;
}

/**
 * Puts temporary tables and views in front of the ledger's own, for this connection alone. PostgreSQL resolves `main.` when
 * a view is made, so nothing reads the ledger's table after its shadow. So all queries of a snapshot
 * find the members, matches, answers and decisions of that day, and decide as ever which answer is visible.
 */
export function* viewPast(snapshot: Sql, portfolioId: number, at: number): Script<PastView> {
  yield* snapshot.exec(shadows(Math.trunc(portfolioId), Math.trunc(at)));
  const count = (sql: string) => snapshot.prepare<[], number>(sql).pluck().get();
  return {
    at,
    rowsChanged: (yield* count(ROWS_CHANGED(at))) ?? 0,
    rowsNotMatched: (yield* count('SELECT count(*) FROM temp.unmatched')) ?? 0,
    answersGone: (yield* count(ANSWERS_GONE(at))) ?? 0,
  };
}

/**
 * `members`: a company that has left since is behind the others. `row_ids`: matches that were known by then. A report
 * has been replaced by newer ones, so its ID is found through the calls.
 */
const shadows = (portfolioId: number, at: number) => `
  CREATE TEMP TABLE members AS SELECT id, portfolio_id, known_by, company, says, cells,
      CASE WHEN is_here = 1 THEN members.row ELSE
        (SELECT coalesce(max(now.row), 0) FROM main.members AS now WHERE now.portfolio_id = ${portfolioId} AND now.left_at IS NULL)
        + row_number() OVER (PARTITION BY is_here ORDER BY members.row, id) END AS row,
      line, first_seen, gone AS left_at,
      CASE WHEN gone IS NULL THEN coalesce((SELECT max(created_at) FROM runs WHERE portfolio_id = ${portfolioId} AND created_at <= ${at}), first_seen)
        ELSE coalesce(last_seen, gone) END AS last_seen,
      CASE WHEN changed_at <= ${at} THEN changed_at END AS changed_at, run_id, run_row
    FROM (SELECT own.*, CASE WHEN own.left_at IS NULL THEN 1 ELSE 0 END AS is_here,
        coalesce(CASE WHEN own.left_at <= ${at} THEN own.left_at END,
          (SELECT max(absences.left_at) FROM absences WHERE absences.member_id = own.id AND absences.space = ''
             AND absences.left_at <= ${at} AND absences.back_at > ${at})) AS gone
      FROM main.members AS own WHERE own.portfolio_id = ${portfolioId} AND own.first_seen <= ${at}) AS members;
  CREATE INDEX members_then ON members (id);
  CREATE INDEX members_then_by_place ON members (run_id, run_row);
  CREATE TEMP TABLE ids_now AS SELECT members.id AS member_id, own.run_id, own.row, own.space, own.id, own.grade, own.matched_on
    FROM temp.members JOIN main.row_ids AS own ON own.run_id = members.run_id AND own.row = members.run_row;
  CREATE INDEX ids_now_by_member ON ids_now (member_id);
  CREATE TEMP TABLE row_ids AS
    WITH RECURSIVE reports (run_id, row, call_id) AS (
      SELECT own.run_id, own.row, calls.id FROM temp.ids_now AS own
        JOIN calls ON calls.subject_space = own.space AND calls.subject_id = own.id AND calls.subject_id IS NOT NULL AND calls.params IS NOT NULL
        WHERE own.space = 'report'
      UNION SELECT reports.run_id, reports.row, calls.replaces FROM reports JOIN calls ON calls.id = reports.call_id
        WHERE calls.settled_at > ${at} AND calls.replaces IS NOT NULL),
    newest (run_id, row, call_id) AS (
      SELECT reports.run_id, reports.row, max(calls.id) FROM reports JOIN calls ON calls.id = reports.call_id
      WHERE calls.settled_at <= ${at} AND calls.subject_space = 'report' AND calls.raw_sha256 IS NOT NULL GROUP BY reports.run_id, reports.row)
    SELECT own.run_id, own.row, own.space, own.id, own.grade, own.matched_on FROM temp.ids_now AS own
      WHERE own.space <> 'report' AND NOT EXISTS (SELECT 1 FROM member_companies AS known WHERE known.member_id = own.member_id
        AND known.space = own.space AND known.id = own.id AND known.known_since > ${at})
    UNION ALL SELECT newest.run_id, newest.row, 'report', calls.subject_id, NULL, NULL FROM newest JOIN calls ON calls.id = newest.call_id;
  CREATE INDEX row_ids_then ON row_ids (run_id, row, space);
  CREATE INDEX row_ids_then_by_id ON row_ids (space, id);
  CREATE TEMP TABLE unmatched AS SELECT run_id, run_row AS row FROM temp.members
    WHERE EXISTS (SELECT 1 FROM temp.ids_now AS own WHERE own.member_id = members.id AND own.space <> 'report')
      AND NOT EXISTS (SELECT 1 FROM temp.row_ids WHERE row_ids.run_id = members.run_id AND row_ids.row = members.run_row);
  CREATE INDEX unmatched_then ON unmatched (run_id, row);
  CREATE TEMP TABLE answers AS SELECT environment_id, request_key, max(id) AS call_id FROM calls
    WHERE settled_at <= ${at} AND raw_sha256 IS NOT NULL AND charge <> 'owned' AND error_code IS NULL GROUP BY environment_id, request_key;
  CREATE INDEX answers_then ON answers (environment_id, request_key);
  CREATE TEMP VIEW rows AS SELECT own.run_id, own.row, line, input_values, fields, CASE WHEN unmatched.row IS NULL THEN outcome ELSE 'pending' END AS outcome,
      hold, hold_reason, stage, CASE WHEN unmatched.row IS NULL THEN stages ELSE '{}' END AS stages,
      CASE WHEN unmatched.row IS NULL THEN match_grade END AS match_grade, CASE WHEN unmatched.row IS NULL THEN matched_on END AS matched_on,
      units_charged, error_code, error_message, CASE WHEN unmatched.row IS NULL THEN updated_at END AS updated_at, member_id,
      CASE WHEN unmatched.row IS NULL THEN fetched ELSE '{}' END AS fetched, input_kinds
    FROM main.rows AS own LEFT JOIN temp.unmatched ON unmatched.run_id = own.run_id AND unmatched.row = own.row;
  CREATE TEMP VIEW candidates AS SELECT * FROM main.candidates AS own
    WHERE NOT EXISTS (SELECT 1 FROM temp.unmatched WHERE unmatched.run_id = own.run_id AND unmatched.row = own.row);
  CREATE TEMP VIEW questions AS SELECT * FROM main.questions AS own WHERE asked_at <= ${at};
  CREATE TEMP VIEW decisions AS SELECT id, environment_id, entity_key, decision, candidate_id, decided_by, decided_at, second_by,
      CASE WHEN withdrawn_at <= ${at} THEN withdrawn_at END AS withdrawn_at
    FROM main.decisions AS own WHERE decided_at <= ${at};
  CREATE TEMP VIEW errors AS SELECT * FROM main.errors AS own WHERE at <= ${at};
  CREATE TEMP VIEW changes AS SELECT * FROM main.changes AS own WHERE changed_at <= ${at};
  CREATE TEMP VIEW watch_events AS SELECT * FROM main.watch_events AS own WHERE heard_at <= ${at}`;

const ROWS_CHANGED = (
  at: number,
) => `SELECT count(*) FROM temp.members JOIN rows ON rows.run_id = members.run_id AND rows.row = members.run_row
  WHERE members.left_at IS NULL AND rows.updated_at > ${Math.trunc(at)}`;

const ANSWERS_GONE = (at: number) => `SELECT count(*) FROM (SELECT DISTINCT calls.environment_id, calls.request_key
  FROM calls JOIN temp.row_ids ON row_ids.space = calls.subject_space AND row_ids.id = calls.subject_id
  WHERE calls.settled_at <= ${Math.trunc(at)} AND calls.charge = 'charged' AND calls.error_code IS NULL AND calls.raw_sha256 IS NULL
    AND NOT EXISTS (SELECT 1 FROM temp.answers WHERE answers.environment_id = calls.environment_id AND answers.request_key = calls.request_key)) AS gone`;
