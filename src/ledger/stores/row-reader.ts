import type { IdSpace } from '../../domain/id-spaces.js';
import type { RowOutcome } from '../../domain/outcomes.js';
import type { Database, Script, Sql } from '../database.js';
import type { Checkpoint, RowId, RowRecord } from '../runs.js';
import { Cells, rowFetched, rowFields, rowStages, rowValues } from './cells.js';
import type { BelievedTimes } from './times.js';

/** A row as it is stored. */
export interface RowRow {
  readonly run_id: string;
  readonly row: number;
  readonly line: number;
  readonly input_values: string;
  readonly fields: string;
  readonly outcome: RowOutcome;
  readonly hold: Checkpoint['hold'];
  readonly hold_reason: string | null;
  readonly next_at: number | null;
  readonly stage: string | null;
  readonly stages: string;
  readonly match_grade: string | null;
  readonly matched_on: string | null;
  readonly units_charged: number;
  readonly error_code: string | null;
  readonly error_message: string | null;
  readonly updated_at: number | null;
  readonly fetched: string;
  readonly rank: number;
  readonly not_before: number | null;
  readonly member_id: number | null;
}

/**
 * Of rows of one run. What belongs to them is read for all of them at once: over a wire a statement for each would take longer
 * than all that it finds, and on disk it is no faster.
 */
export function rowReader(
  database: Sql & Pick<Database, 'stored'>,
  times: BelievedTimes,
): (runId: string, rows: readonly RowRow[]) => Script<readonly RowRecord[]> {
  const ids = database.prepare<[string, string], IdRow>(
    `SELECT row_ids.row, ${ID_COLUMNS} FROM row_ids ${AS_SEARCHED}
     WHERE row_ids.run_id = ? AND row_ids.row IN (SELECT CAST(value AS BIGINT) FROM json_each(?))
     ORDER BY row_ids.row, row_ids.space, ${CONFIRMED_FIRST}, position`,
  );
  const elsewhere = `FROM rows AS asked JOIN members ON members.id = asked.member_id
      AND (members.run_id <> asked.run_id OR members.run_row <> asked.row)`;
  const amongThese = `WHERE asked.run_id = ? AND asked.row IN (SELECT CAST(value AS BIGINT) FROM json_each(?)) AND asked.outcome = 'pending'`;
  const standsBy = database.prepare<[string, string], { row: number; run_id: string; run_row: number; stages: string }>(
    `SELECT asked.row, rows.run_id, rows.row AS run_row, rows.stages ${elsewhere}
     JOIN rows ON rows.run_id = members.run_id AND rows.row = members.run_row ${amongThese}`,
  );
  const idsBefore = database.prepare<[string, string], IdRow>(
    `SELECT asked.row, ${ID_COLUMNS} ${elsewhere}
     JOIN row_ids ON row_ids.run_id = members.run_id AND row_ids.row = members.run_row ${AS_SEARCHED} ${amongThese}
     ORDER BY asked.row, row_ids.space, ${CONFIRMED_FIRST}, position`,
  );
  const cells = new Cells(database);
  const numbersOf = (rows: readonly RowRow[]) => JSON.stringify(rows.map(({ row }) => row));

  function* before(runId: string, rows: readonly RowRow[]): Script<ReadonlyMap<number, Before>> {
    const pending = rows.filter(({ member_id, outcome }) => member_id !== null && outcome === 'pending');
    const places = pending.length === 0 ? [] : yield* standsBy.all(runId, numbersOf(pending));
    if (places.length === 0) return new Map();
    const confirmed = byRow(yield* idsBefore.all(runId, numbersOf(pending)));
    return new Map(
      places.map(({ row, run_id, run_row, stages }) => {
        const stagesBefore = cells.read(rowStages, stages, [run_id, run_row]);
        return [row, { confirmedBefore: confirmed.get(row) ?? [], stagesBefore }];
      }),
    );
  }

  return function* (runId, rows) {
    // A row that was never settled has none.
    const settled = rows.filter(({ updated_at }) => updated_at !== null);
    const confirmed = byRow(settled.length === 0 ? [] : yield* ids.all(runId, numbersOf(settled)));
    const stoodBy = yield* before(runId, rows);
    return rows.map((row) => ({
      row: row.row,
      line: row.line,
      values: cells.read(rowValues, row.input_values, [row.run_id, row.row]),
      fields: cells.read(rowFields, row.fields, [row.run_id, row.row]),
      ids: confirmed.get(row.row) ?? [],
      ...(stoodBy.get(row.row) ?? { confirmedBefore: [], stagesBefore: {} }),
      outcome: row.outcome,
      hold: row.hold,
      holdReason: row.hold_reason,
      nextAt: row.next_at,
      stage: row.stage,
      stages: cells.read(rowStages, row.stages, [row.run_id, row.row]),
      fetched: cells.read(rowFetched, row.fetched, [row.run_id, row.row]),
      matchGrade: row.match_grade,
      matchedOn: row.matched_on,
      unitsCharged: row.units_charged,
      begun: row.units_charged > 0 || row.rank < 0,
      notBefore: row.not_before && times.believed(row.not_before),
      errorCode: row.error_code,
      errorMessage: row.error_message,
      updatedAt: row.updated_at ?? 0,
    }));
  };
}

type Before = Pick<RowRecord, 'confirmedBefore' | 'stagesBefore'>;

const ID_COLUMNS = `row_ids.space, row_ids.id, row_ids.grade, row_ids.matched_on AS matchedOn, name, registration_number, vat_number,
  country_code, state, jurisdiction, position`;

/** An ID may have come twice, with different numbers. */
const CONFIRMED_FIRST = "CASE WHEN candidates.decision = 'confirmed' THEN 0 ELSE 1 END";

const AS_SEARCHED = `LEFT JOIN candidates ON candidates.run_id = row_ids.run_id AND candidates.row = row_ids.row
  AND candidates.space = row_ids.space AND candidates.id = row_ids.id`;

interface IdRow {
  readonly row: number;
  readonly space: IdSpace;
  readonly id: string;
  readonly grade: string | null;
  readonly matchedOn: string | null;
  readonly name: string | null;
  readonly registration_number: string | null;
  readonly vat_number: string | null;
  readonly country_code: string | null;
  readonly state: string | null;
  readonly jurisdiction: string | null;
  /** Null where no candidate goes with the ID. */
  readonly position: number | null;
}

/** As they come: by row and space. A search may list a company twice, and the first counts. */
function byRow(found: readonly IdRow[]): ReadonlyMap<number, readonly RowId[]> {
  const rows = new Map<number, RowId[]>();
  for (const one of found) {
    const known = rows.get(one.row);
    if (known === undefined) rows.set(one.row, [toId(one)]);
    else if (known.at(-1)?.space !== one.space) known.push(toId(one));
  }
  return rows;
}

const toId = (one: IdRow): RowId => ({
  space: one.space,
  id: one.id,
  grade: one.grade,
  matchedOn: one.matchedOn,
  candidate: one.position === null ? null : factsOf(one),
});

const factsOf = (one: IdRow): RowId['candidate'] => ({
  id: one.id,
  name: one.name,
  registration_number: one.registration_number,
  vat_number: one.vat_number,
  country_code: one.country_code,
  state: one.state,
  jurisdiction: one.jurisdiction,
});
