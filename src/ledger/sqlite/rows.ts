import type { IdSpace } from '../../domain/id-spaces.js';
import { ROW_OUTCOMES, type RowOutcome, unreachedStatus } from '../../domain/outcomes.js';
import type { Checkpoint, NewRow, Progress, RefusalNote, RowId, RowRecord, RunStore } from '../runs.js';
import { parseStored } from '../stored-json.js';
import { Cells, rowFetched, rowFields, rowStages, rowValues } from './cells.js';
import { countUnknownCalls } from './costs-unknown.js';
import type { Connection } from './driver.js';
import { rowSettlements } from './settle-row.js';
import type { BelievedTimes } from './times.js';
import type { Writer } from './writer.js';

type RowStore = Pick<
  RunStore,
  | 'addRows'
  | 'pendingRows'
  | 'rowsAt'
  | 'rowsThatAre'
  | 'dueRows'
  | 'nextDue'
  | 'row'
  | 'settleRow'
  | 'recordError'
  | 'releaseParked'
  | 'releaseFailed'
  | 'wanted'
  | 'progress'
>;

export function rowStore(database: Connection, writer: Writer, times: BelievedTimes): RowStore {
  const insert = database.prepare(
    `INSERT INTO rows (run_id, row, line, input_values, input_kinds, fields, outcome, error_code, error_message)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
  );
  const pending = database
    .prepare<[string], number>(
      `SELECT row FROM rows WHERE run_id = ? AND outcome = 'pending' AND hold IS NULL AND ${STILL_LISTED} ORDER BY ${BEGUN} DESC, rank, row`,
    )
    .pluck();
  const withOutcome = database.prepare<[string, RowOutcome, number, number], RowRow>(
    `SELECT * FROM rows WHERE run_id = ? AND outcome = ? AND row > ? AND ${STILL_LISTED} ORDER BY row LIMIT ?`,
  );
  const due = database.prepare<[string, number, number], RowRow>(
    `SELECT * FROM rows WHERE run_id = ? AND hold = 'waiting' AND next_at <= ? AND ${STILL_LISTED} ORDER BY next_at LIMIT ?`,
  );
  const nextDue = database
    .prepare<[string, number], number | null>(
      `SELECT min(next_at) FROM rows WHERE run_id = ? AND hold = 'waiting' AND next_at > ? AND ${STILL_LISTED}`,
    )
    .pluck();
  const one = database.prepare<[string, number], RowRow>('SELECT * FROM rows WHERE run_id = ? AND row = ?');
  const releaseParked = database.prepare(
    "UPDATE rows SET hold = NULL, hold_reason = NULL, next_at = NULL WHERE run_id = ? AND hold = 'parked'",
  );
  const releaseFailed = database.prepare<[string], { row: number; units: number }>(
    `UPDATE rows SET ${GOES_ON}, stages = replace(stages, ':"failed"', ':"pending"') WHERE run_id = ? AND outcome = 'failed' AND ${STILL_LISTED} RETURNING row, units_charged AS units`,
  );
  const reopen = database.prepare(REOPEN_RUN);
  const wanted = database
    .prepare<[string, RowOutcome], number>(
      `SELECT count(*) FROM rows WHERE run_id = ? AND outcome = ? AND ${STILL_LISTED}`,
    )
    .pluck();
  const progress = database.prepare<[string], ProgressRow>(
    `SELECT outcome, hold, hold_reason, stages, sum(outcome <> 'pending' OR ${STILL_LISTED}) AS count, CAST(total(units_charged) AS INTEGER) AS units,
       count(*) FILTER (WHERE error_code = 'PURGED') AS purged
     FROM rows WHERE run_id = ? GROUP BY outcome, hold, hold_reason, stages`,
  );
  const unknownCalls = countUnknownCalls(database);
  const moved = database.prepare<[string], number>('SELECT units_moved FROM runs WHERE id = ?').pluck();
  const refusals = database.prepare<[string], RefusalNote>(
    `SELECT errors.stage, errors.code, errors.message FROM rows JOIN errors USING (run_id, row)
     WHERE run_id = ? AND hold = 'parked' AND hold_reason = 'scope' AND errors.class = 'block_operation'
     GROUP BY 1, 2, 3 ORDER BY max(errors.id) DESC LIMIT 3`,
  );
  // The statuses are compared as text: they may be damaged.
  const refusedRows = database
    .prepare<[string], number>(
      `SELECT count(DISTINCT row) FROM rows JOIN errors USING (run_id, row)
       WHERE run_id = ? AND errors.class = 'block_operation' AND errors.code = 'FORBIDDEN'
         AND instr(stages, iif(errors.stage = 'resolve', '', '"' || errors.stage || '"') || ':"not_available"') > 0`,
    )
    .pluck();
  const alive = database.prepare<[number], 1>('SELECT 1 FROM starts WHERE id = ? AND ended_at IS NULL');
  const settlements = rowSettlements(database);
  const toRow = rowReader(database, times);

  return {
    addRows: (runId, rows) =>
      writer.write(() => {
        for (const row of rows)
          insert.run(
            runId,
            row.row,
            row.line,
            JSON.stringify(row.values),
            row.kinds ?? null,
            JSON.stringify(row.fields),
            ...firstOutcome(row),
          );
      }),
    pendingRows: async (runId) => pending.all(runId),
    rowsAt: async (runId, numbers) =>
      numbers.flatMap((number) => {
        const found = one.get(runId, number);
        return found === undefined ? [] : [toRow(found)];
      }),
    rowsThatAre: async (outcome, runId, afterRow, limit) => withOutcome.all(runId, outcome, afterRow, limit).map(toRow),
    dueRows: async (runId, now, limit) => due.all(runId, now, limit).map(toRow),
    nextDue: async (runId, after = -1) => nextDue.get(runId, after) ?? undefined,
    row: async (runId, row) => {
      const found = one.get(runId, row);
      return found && toRow(found);
    },
    settleRow: (runId, row, settlement, by) =>
      writer.write(() => {
        if (by !== undefined && alive.get(by) === undefined) return false;
        settlements.settle(runId, row, settlement);
        return true;
      }),
    recordError: (runId, error) => writer.write(() => settlements.error(runId, null, error)),
    releaseParked: (runId) => writer.write(() => releaseParked.run(runId).changes),
    releaseFailed: (runId) =>
      writer.write(() => {
        reopen.run(runId);
        const released = releaseFailed.all(runId).toSorted((a, b) => a.row - b.row);
        return [...released.filter(({ units }) => units > 0), ...released.filter(({ units }) => units === 0)].map(
          ({ row }) => row,
        );
      }),
    wanted: async (outcome, runId) => wanted.get(runId, outcome) ?? 0,
    progress: async (runId) => {
      const counted = toProgress(progress.all(runId));
      const unitsCharged = counted.unitsCharged + (moved.get(runId) ?? 0);
      const isAnyMissing = Object.values(counted.stages).some(({ not_available: rows = 0 }) => rows > 0);
      return {
        ...counted,
        unitsCharged,
        unknownCalls: unknownCalls(runId),
        refusals: counted.parkedReasons.scope === undefined ? [] : refusals.all(runId),
        refusedRows: isAnyMissing ? (refusedRows.get(runId) ?? 0) : 0,
      };
    },
  };
}

/** Nothing is bought for who is in no list any more. Rows of versions before there were lists have no member. */
export const STILL_LISTED =
  'NOT EXISTS (SELECT 1 FROM members WHERE members.id = rows.member_id AND members.left_at IS NOT NULL)';

/** What a row is that came to rest, and goes on. */
export const GOES_ON =
  "outcome = 'pending', hold = NULL, hold_reason = NULL, next_at = NULL, error_code = NULL, error_message = NULL";

/** A run with rows that go on. */
export const REOPEN_RUN =
  "UPDATE runs SET state = 'open', finished_at = NULL, superseded_by = NULL, put_away = 0 WHERE id = ?";

/** Units were spent on it; those that another run has spent make its rank negative. */
const BEGUN = '(units_charged > 0 OR rank < 0)';

const firstOutcome = ({ problem }: NewRow): [RowOutcome, string | null, string | null] =>
  problem === undefined ? ['pending', null, null] : ['invalid', problem.code, problem.message];

interface RowRow {
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

function rowReader(database: Connection, times: BelievedTimes): (row: RowRow) => RowRecord {
  // A search may list a company twice: with min(), SQLite takes the other columns from the first.
  const ids = database.prepare<[string, number], IdRow>(
    `SELECT row_ids.space, row_ids.id, grade, matched_on AS matchedOn, name, registration_number, vat_number, country_code, state,
       jurisdiction, min(position) AS position
     FROM row_ids LEFT JOIN candidates USING (run_id, row, space, id) WHERE run_id = ? AND row = ? GROUP BY row_ids.space`,
  );
  const standsBy = database.prepare<[number | null], { run_id: string; run_row: number; stages: string }>(
    `SELECT members.run_id, run_row, stages FROM members JOIN rows ON rows.run_id = members.run_id AND rows.row = run_row
     WHERE members.id = ?`,
  );
  const before = ({ run_id, row, member_id, outcome }: RowRow): Pick<RowRecord, 'confirmedBefore' | 'stagesBefore'> => {
    const at = outcome === 'pending' ? standsBy.get(member_id) : undefined;
    const isHere = at === undefined || (at.run_id === run_id && at.run_row === row);
    if (isHere) return { confirmedBefore: [], stagesBefore: {} };
    return {
      confirmedBefore: ids.all(at.run_id, at.run_row).map(toId),
      stagesBefore: cells.read(rowStages, at.stages, [at.run_id, at.run_row]),
    };
  };
  const cells = new Cells(database);
  return (row) => ({
    row: row.row,
    line: row.line,
    values: cells.read(rowValues, row.input_values, [row.run_id, row.row]),
    fields: cells.read(rowFields, row.fields, [row.run_id, row.row]),
    // A row that was never settled has none.
    ids: row.updated_at === null ? [] : ids.all(row.run_id, row.row).map(toId),
    ...before(row),
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
  });
}

interface IdRow {
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

const toId = ({ space, id, grade, matchedOn, position, ...facts }: IdRow): RowId => ({
  space,
  id,
  grade,
  matchedOn,
  candidate: position === null ? null : { id, ...facts },
});

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
  // A row whose statuses are damaged still counts: what its stages have come to is not known.
  const statuses = groups.map((group) => parseStored(group.stages, rowStages.fits));
  for (const stage of new Set(statuses.flatMap((reached) => Object.keys(reached ?? {})))) {
    const counts: Record<string, number> = {};
    stages[stage] = counts;
    for (const [index, { outcome, count }] of groups.entries()) {
      const reached = statuses[index];
      const status = reached === undefined ? 'unreadable' : (reached[stage] ?? unreachedStatus(outcome));
      counts[status] = (counts[status] ?? 0) + count;
    }
  }
  const purged = all.reduce((sum, group) => sum + group.purged, 0);
  return { byOutcome, waiting, parked, parkedReasons, unitsCharged, purged, stages };
}
