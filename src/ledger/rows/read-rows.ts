// Reads rows with their IDs and candidates, and counts the progress of a run.

import type { CandidateFacts } from '../../domain/candidate-grade.js';
import { ROW_OUTCOMES, type RowOutcome, unreachedStatus } from '../../domain/outcomes.js';
import type { Script, Sql } from '../db/database.js';
import {
  namedAsFields,
  parseStored,
  readCell,
  rowFetched,
  rowFields,
  rowStages,
  rowValues,
  type Unparsed,
} from '../db/stored-json.js';
import { UNKNOWN_CHARGE, WAITS } from '../money/intent.js';
import type { Checkpoint, Progress, RefusalNote, RowId, RowRecord } from './runs.js';

type Unread = 'values' | 'fields' | 'stages' | 'fetched';

export type RowRow = Unparsed<
  Omit<RowRecord, 'ids' | 'confirmedBefore' | 'stagesBefore' | 'begun' | 'lookUntil' | 'updatedAt'>,
  Unread
> & { readonly updatedAt: number | null; readonly rank: number; readonly memberId: number | null };

export const SELECT_ROW = `SELECT ${namedAsFields(
  'row, line, fields, outcome, hold, hold_reason, next_at, stage, stages, fetched, match_grade, matched_on, units_charged, not_before, error_code, error_message, updated_at, rank, member_id',
)}, input_values AS "values" FROM rows`;

/**
 * Reads the records of many rows of one run at once: one statement for each row is slow over a network and no faster on
 * disk.
 */
export function rowReader(database: Sql): (runId: string, rows: readonly RowRow[]) => Script<readonly RowRecord[]> {
  const ids = database.prepare<[string, string], IdRow>(
    `SELECT row_ids.row, ${ID_COLUMNS} FROM row_ids ${AS_SEARCHED}
     WHERE row_ids.run_id = ? AND row_ids.row IN (SELECT CAST(value AS BIGINT) FROM json_each(?))
     ORDER BY row_ids.row, row_ids.space, ${CONFIRMED_FIRST}, position`,
  );
  const elsewhere = `FROM rows AS asked JOIN members ON members.id = asked.member_id
      AND (members.run_id <> asked.run_id OR members.run_row <> asked.row)`;
  const amongThese = `WHERE asked.run_id = ? AND asked.row IN (SELECT CAST(value AS BIGINT) FROM json_each(?)) AND asked.outcome = 'pending'`;
  const visibleRows = database.prepare<
    [string, string],
    { row: number; run_id: string; run_row: number; stages: string }
  >(
    `SELECT asked.row, rows.run_id, rows.row AS run_row, rows.stages ${elsewhere}
     JOIN rows ON rows.run_id = members.run_id AND rows.row = members.run_row ${amongThese}`,
  );
  const idsBefore = database.prepare<[string, string], IdRow>(
    `SELECT asked.row, ${ID_COLUMNS} ${elsewhere}
     JOIN row_ids ON row_ids.run_id = members.run_id AND row_ids.row = members.run_row ${AS_SEARCHED} ${amongThese}
     ORDER BY asked.row, row_ids.space, ${CONFIRMED_FIRST}, position`,
  );
  const numbersOf = (rows: readonly RowRow[]) => JSON.stringify(rows.map(({ row }) => row));

  function* before(runId: string, rows: readonly RowRow[]): Script<ReadonlyMap<number, Before>> {
    const pending = rows.filter(({ memberId, outcome }) => memberId !== null && outcome === 'pending');
    const places = pending.length === 0 ? [] : yield* visibleRows.all(runId, numbersOf(pending));
    if (places.length === 0) return new Map();
    const confirmed = byRow(yield* idsBefore.all(runId, numbersOf(pending)));
    return new Map(
      places.map(({ row, run_id, run_row, stages }) => {
        const stagesBefore = readCell(rowStages, stages, { run: run_id, row: run_row });
        return [row, { confirmedBefore: confirmed.get(row) ?? [], stagesBefore }];
      }),
    );
  }

  return function* (runId, rows) {
    // A row without an update has no IDs.
    const settled = rows.filter(({ updatedAt }) => updatedAt !== null);
    const confirmed = byRow(settled.length === 0 ? [] : yield* ids.all(runId, numbersOf(settled)));
    const visible = yield* before(runId, rows);
    return rows.map(({ rank, memberId: _, ...row }) => {
      const key = { run: runId, row: row.row };
      return {
        ...row,
        values: readCell(rowValues, row.values, key),
        fields: readCell(rowFields, row.fields, key),
        ids: confirmed.get(row.row) ?? [],
        ...(visible.get(row.row) ?? { confirmedBefore: [], stagesBefore: {} }),
        stages: readCell(rowStages, row.stages, key),
        fetched: readCell(rowFetched, row.fetched, key),
        begun: row.unitsCharged > 0 || rank < 0,
        updatedAt: row.updatedAt ?? 0,
      };
    });
  };
}

type Before = Pick<RowRecord, 'confirmedBefore' | 'stagesBefore'>;

const ID_COLUMNS = `row_ids.space, row_ids.id, row_ids.grade, row_ids.matched_on AS matchedOn, name, registration_number, vat_number,
  country_code, state, jurisdiction, position`;

/** An ID may appear twice, with different numbers. */
const CONFIRMED_FIRST = "CASE WHEN candidates.decision = 'confirmed' THEN 0 ELSE 1 END";

const AS_SEARCHED = `LEFT JOIN candidates ON candidates.run_id = row_ids.run_id AND candidates.row = row_ids.row
  AND candidates.space = row_ids.space AND candidates.id = row_ids.id`;

/** `position`: null if the ID has no candidate. */
type IdRow = Omit<RowId, 'candidate'> & CandidateFacts & { readonly row: number; readonly position: number | null };

/** The input is ordered by row and space. A search may list a company twice, and the first counts. */
function byRow(found: readonly IdRow[]): ReadonlyMap<number, readonly RowId[]> {
  const rows = new Map<number, RowId[]>();
  for (const one of found) {
    const known = rows.get(one.row);
    if (known === undefined) rows.set(one.row, [toId(one)]);
    else if (known.at(-1)?.space !== one.space) known.push(toId(one));
  }
  return rows;
}

const toId = ({ row: _, position, space, grade, matchedOn, ...facts }: IdRow): RowId => ({
  space,
  id: facts.id,
  grade,
  matchedOn,
  candidate: position === null ? null : facts,
});

export function progressReader(database: Sql): (runId: string) => Script<Progress> {
  // Pending rows of members that left are not counted. They are few, and have indexes.
  const progress = database.prepare<[object], ProgressRow>(
    `SELECT outcome, nullif(hold, '') AS hold, nullif(hold_reason, '') AS hold_reason, stages, CAST(sum(counted) AS BIGINT) AS count,
       CAST(sum(units) AS BIGINT) AS units, CAST(sum(purged) AS BIGINT) AS purged
     FROM (SELECT outcome, hold, hold_reason, stages, rows AS counted, units, purged FROM row_counts WHERE run_id = @runId
       UNION ALL SELECT outcome, coalesce(hold, ''), coalesce(hold_reason, ''), stages, -1, 0, 0
         FROM members CROSS JOIN rows ON rows.member_id = members.id
         WHERE left_at IS NOT NULL AND rows.run_id = @runId AND outcome = 'pending') AS parts
     GROUP BY 1, 2, 3, 4`,
  );
  const unknownCalls = countUnknownCalls(database);
  const moved = database.prepare<[string], number>('SELECT units_moved FROM runs WHERE id = ?').pluck();
  const refusals = database.prepare<[string], RefusalNote>(
    `SELECT errors.stage, errors.code, errors.message FROM rows JOIN errors USING (run_id, row)
     WHERE run_id = ? AND hold = 'parked' AND hold_reason = 'scope' AND errors.class = 'block_operation'
     GROUP BY 1, 2, 3 ORDER BY max(errors.id) DESC LIMIT 3`,
  );
  // The statuses are compared as text, because their JSON may be damaged.
  const refusedRows = database
    .prepare<[string], number>(
      `SELECT count(DISTINCT row) FROM rows JOIN errors USING (run_id, row)
       WHERE run_id = ? AND errors.class = 'block_operation' AND errors.code = 'FORBIDDEN'
         AND instr(stages, CASE WHEN errors.stage = 'resolve' THEN '' ELSE '"' || errors.stage || '"' END || ':"not_available"') > 0`,
    )
    .pluck();
  return function* (runId) {
    const counted = toProgress(yield* progress.all({ runId }));
    const unitsCharged = counted.unitsCharged + ((yield* moved.get(runId)) ?? 0);
    const isAnyMissing = Object.values(counted.stages).some(({ not_available: rows = 0 }) => rows > 0);
    return {
      ...counted,
      unitsCharged,
      unknownCalls: yield* unknownCalls(runId),
      refusals: counted.parkedReasons.scope === undefined ? [] : yield* refusals.all(runId),
      refusedRows: isAnyMissing ? ((yield* refusedRows.get(runId)) ?? 0) : 0,
    };
  };
}

export interface ProgressRow {
  readonly outcome: RowOutcome;
  readonly hold: Checkpoint['hold'];
  readonly hold_reason: string | null;
  readonly stages: string;
  readonly count: number;
  readonly units: number;
  readonly purged: number;
}

export function toProgress(all: readonly ProgressRow[]): Omit<Progress, 'refusals' | 'refusedRows' | 'unknownCalls'> {
  const byOutcome = Object.fromEntries(ROW_OUTCOMES.map((outcome) => [outcome, 0])) as Record<RowOutcome, number>;
  const parkedReasons: Record<string, number> = {};
  const stages: Record<string, Record<string, number>> = {};
  const heldByReview: Record<string, number> = {};
  let waiting = 0;
  let parked = 0;
  const unitsCharged = all.reduce((sum, { units }) => sum + units, 0);
  const groups = all.filter(({ count }) => count > 0);
  for (const group of groups) {
    byOutcome[group.outcome] += group.count;
    if (group.hold === 'waiting') waiting += group.count;
    if (group.hold === 'parked') {
      parked += group.count;
      const reason = group.hold_reason ?? 'unknown';
      parkedReasons[reason] = (parkedReasons[reason] ?? 0) + group.count;
    }
  }
  // A row with damaged statuses still counts, with unknown stages.
  const statuses = groups.map((group) => parseStored(group.stages, rowStages.fits));
  for (const stage of new Set(statuses.flatMap((reached) => Object.keys(reached ?? {})))) {
    const counts: Record<string, number> = {};
    stages[stage] = counts;
    for (const [index, { outcome, count }] of groups.entries()) {
      const reached = statuses[index];
      const status = reached === undefined ? 'unreadable' : (reached[stage] ?? unreachedStatus(outcome));
      counts[status] = (counts[status] ?? 0) + count;
      if (status === 'pending' && outcome === 'needs_review') heldByReview[stage] = (heldByReview[stage] ?? 0) + count;
    }
  }
  const purged = all.reduce((sum, group) => sum + group.purged, 0);
  return { byOutcome, waiting, parked, parkedReasons, unitsCharged, purged, stages, heldByReview };
}

/** Calls of a run with unknown charge. They are few and have their own index. */
export function countUnknownCalls(database: Sql): (runId: string) => Script<number> {
  const counted = database
    .prepare<[string], number>(
      `SELECT count(*) FROM calls INDEXED BY calls_unknown WHERE ${UNKNOWN_CHARGE} AND ${WAITS.run} = ?`,
    )
    .pluck();
  return function* (runId) {
    return (yield* counted.get(runId)) ?? 0;
  };
}

/** Calls of a run in flight, or lost with the process that sent them. */
export function countOpenCalls(database: Sql): (runId: string) => Script<number> {
  const counted = database
    .prepare<[string], number>(
      "SELECT count(*) FROM calls INDEXED BY calls_in_flight WHERE settled_at IS NULL AND meter <> 'free' AND run_id = ?",
    )
    .pluck();
  return function* (runId) {
    return (yield* counted.get(runId)) ?? 0;
  };
}

/** kybatch buys nothing for companies that left the portfolio. Rows from versions without portfolios have no member. */
export const STILL_LISTED =
  'NOT EXISTS (SELECT 1 FROM members WHERE members.id = rows.member_id AND members.left_at IS NOT NULL)';

/** The same for a count of many rows: an index has the few members that left. */
export const LEFT = 'SELECT id FROM members WHERE left_at IS NOT NULL';

/**
 * Counts the rows that members of `lists` use. Most use the rows of one run, and an index counts these without reading a
 * row. The other rows are read. `ordered`: the columns in the order of the index.
 */
export const countUsed = (lists: string, columns: string, ordered: string): string => {
  const used = (from: string) => `SELECT ${columns}, count(*) AS used ${from} GROUP BY rows.run_id, ${ordered}`;
  return `WITH largest AS MATERIALIZED (SELECT (SELECT id FROM runs WHERE portfolio_id = portfolios.id
         ORDER BY (SELECT count(*) FROM members WHERE run_id = runs.id) DESC LIMIT 1) AS id FROM portfolios WHERE id IN (${lists})),
       others AS MATERIALIZED (SELECT id FROM runs WHERE portfolio_id IN (${lists}) AND id NOT IN (SELECT id FROM largest WHERE id IS NOT NULL))
     SELECT ${columns}, CAST(sum(used) AS BIGINT) AS count FROM (
       ${used(`FROM rows INDEXED BY rows_counted WHERE run_id IN (SELECT id FROM largest) AND member_id NOT IN (
         ${LEFT} UNION ALL SELECT id FROM members WHERE run_id IN (SELECT id FROM others))`)}
       UNION ALL ${used(`FROM members JOIN rows ON rows.run_id = members.run_id AND rows.row = members.run_row
         WHERE members.run_id IN (SELECT id FROM others) AND left_at IS NULL`)}) AS counted
     GROUP BY ${columns}`;
};

/** Resets a finished row so that it continues. */
export const CONTINUE_ROW =
  "outcome = 'pending', hold = NULL, hold_reason = NULL, next_at = NULL, error_code = NULL, error_message = NULL";

export const REOPEN_RUN =
  "UPDATE runs SET state = 'open', finished_at = NULL, superseded_by = NULL, put_away = 0 WHERE id = ?";
