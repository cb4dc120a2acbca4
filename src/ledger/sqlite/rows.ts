import { ROW_OUTCOMES, type RowOutcome } from '../../domain/outcomes.js';
import type { Checkpoint, Ledger, NewRow, Progress, RowRecord, Stages } from '../ledger.js';
import type { Connection } from './open.js';
import type { Writer } from './writer.js';

type RowStore = Pick<
  Ledger,
  | 'addRows'
  | 'pendingRows'
  | 'dueRows'
  | 'nextDue'
  | 'row'
  | 'checkpoint'
  | 'releaseParked'
  | 'releaseFailed'
  | 'progress'
>;

export function rowStore(database: Connection, writer: Writer): RowStore {
  const insert = database.prepare(
    `INSERT INTO rows (run_id, row, line, input_values, fields, outcome, error_code, error_message)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
  );
  const pending = database.prepare<[string, number, number], RowRow>(
    "SELECT * FROM rows WHERE run_id = ? AND row > ? AND outcome = 'pending' AND hold IS NULL ORDER BY row LIMIT ?",
  );
  const due = database.prepare<[string, number, number], RowRow>(
    "SELECT * FROM rows WHERE run_id = ? AND hold = 'waiting' AND next_at <= ? ORDER BY next_at LIMIT ?",
  );
  const nextDue = database
    .prepare<[string, number], number | null>(
      "SELECT min(next_at) FROM rows WHERE run_id = ? AND hold = 'waiting' AND next_at > ?",
    )
    .pluck();
  const one = database.prepare<[string, number], RowRow>('SELECT * FROM rows WHERE run_id = ? AND row = ?');
  const checkpoint = database.prepare(
    `UPDATE rows SET outcome = ?, hold = ?, hold_reason = ?, next_at = ?, stage = ?, stages = ?, match_grade = ?, matched_on = ?,
       v1_company_id = ?, v2_company_id = ?, credit_source_id = ?, credit_report_id = ?, error_code = ?, error_message = ?, updated_at = ?
     WHERE run_id = ? AND row = ?`,
  );
  const releaseParked = database.prepare(
    "UPDATE rows SET hold = NULL, hold_reason = NULL, next_at = NULL WHERE run_id = ? AND hold = 'parked'",
  );
  const releaseFailed = database.prepare(
    `UPDATE rows SET outcome = 'pending', hold = NULL, hold_reason = NULL, next_at = NULL, error_code = NULL, error_message = NULL,
       stages = replace(stages, ':"failed"', ':"pending"') WHERE run_id = ? AND outcome = 'failed'`,
  );
  const progress = database.prepare<[string], ProgressRow>(
    `SELECT outcome, hold, hold_reason, stages, count(*) AS count, sum(units_charged) AS units
     FROM rows WHERE run_id = ? GROUP BY outcome, hold, hold_reason, stages`,
  );

  return {
    addRows: (runId, rows) =>
      writer.write(() => {
        for (const row of rows)
          insert.run(
            runId,
            row.row,
            row.line,
            JSON.stringify(row.values),
            JSON.stringify(row.fields),
            ...firstOutcome(row),
          );
      }),
    pendingRows: async (runId, afterRow, limit) => pending.all(runId, afterRow, limit).map(toRow),
    dueRows: async (runId, now, limit) => due.all(runId, now, limit).map(toRow),
    nextDue: async (runId, after = -1) => nextDue.get(runId, after) ?? undefined,
    row: async (runId, row) => {
      const found = one.get(runId, row);
      return found && toRow(found);
    },
    checkpoint: (runId, row, state) =>
      writer.write(() => {
        checkpoint.run(
          state.outcome,
          state.hold,
          state.holdReason,
          state.nextAt,
          state.stage,
          JSON.stringify(state.stages),
          state.matchGrade,
          state.matchedOn,
          state.v1CompanyId,
          state.v2CompanyId,
          state.creditSourceId,
          state.creditReportId,
          state.errorCode,
          state.errorMessage,
          state.updatedAt,
          runId,
          row,
        );
      }),
    releaseParked: (runId) => writer.write(() => releaseParked.run(runId).changes),
    releaseFailed: (runId) => writer.write(() => releaseFailed.run(runId).changes),
    progress: async (runId) => toProgress(progress.all(runId)),
  };
}

const firstOutcome = ({ problem }: NewRow): [RowOutcome, string | null, string | null] =>
  problem === undefined ? ['pending', null, null] : ['invalid', problem.code, problem.message];

interface RowRow {
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
  readonly v1_company_id: string | null;
  readonly v2_company_id: string | null;
  readonly credit_source_id: string | null;
  readonly credit_report_id: string | null;
  readonly units_charged: number;
  readonly error_code: string | null;
  readonly error_message: string | null;
  readonly updated_at: number | null;
}

const toRow = (row: RowRow): RowRecord => ({
  row: row.row,
  line: row.line,
  values: JSON.parse(row.input_values) as string[],
  fields: JSON.parse(row.fields) as Record<string, string>,
  outcome: row.outcome,
  hold: row.hold,
  holdReason: row.hold_reason,
  nextAt: row.next_at,
  stage: row.stage,
  stages: JSON.parse(row.stages) as Stages,
  matchGrade: row.match_grade,
  matchedOn: row.matched_on,
  v1CompanyId: row.v1_company_id,
  v2CompanyId: row.v2_company_id,
  creditSourceId: row.credit_source_id,
  creditReportId: row.credit_report_id,
  unitsCharged: row.units_charged,
  errorCode: row.error_code,
  errorMessage: row.error_message,
  updatedAt: row.updated_at ?? 0,
});

interface ProgressRow {
  readonly outcome: RowOutcome;
  readonly hold: Checkpoint['hold'];
  readonly hold_reason: string | null;
  readonly stages: string;
  readonly count: number;
  readonly units: number;
}

function toProgress(groups: readonly ProgressRow[]): Progress {
  const byOutcome = Object.fromEntries(ROW_OUTCOMES.map((outcome) => [outcome, 0])) as Record<RowOutcome, number>;
  const parkedReasons: Record<string, number> = {};
  const stages: Record<string, Record<string, number>> = {};
  let waiting = 0;
  let parked = 0;
  let unitsCharged = 0;
  for (const group of groups) {
    byOutcome[group.outcome] += group.count;
    unitsCharged += group.units;
    if (group.hold === 'waiting') waiting += group.count;
    if (group.hold === 'parked') {
      parked += group.count;
      const reason = group.hold_reason ?? 'unknown';
      parkedReasons[reason] = (parkedReasons[reason] ?? 0) + group.count;
    }
    for (const [stage, status] of Object.entries(JSON.parse(group.stages) as Stages)) {
      const counts = stages[stage] ?? {};
      stages[stage] = counts;
      counts[status] = (counts[status] ?? 0) + group.count;
    }
  }
  return { byOutcome, waiting, parked, parkedReasons, unitsCharged, stages };
}
