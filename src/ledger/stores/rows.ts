import type { RowOutcome } from '../../domain/outcomes.js';
import type { Database, Script } from '../database.js';
import type { NewRow, RowRecord, RunStore } from '../runs.js';
import { progressReader } from './progress.js';
import { type RowRow, rowReader } from './row-reader.js';
import { GOES_ON, REOPEN_RUN, STILL_LISTED } from './row-states.js';
import { rowSettlements } from './settle-row.js';
import type { BelievedTimes } from './times.js';

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
  | 'parkedRows'
  | 'releaseParked'
  | 'releaseFailed'
  | 'wanted'
  | 'progress'
>;

export function rowStore(database: Database, times: BelievedTimes): RowStore {
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
    `SELECT * FROM rows WHERE run_id = ? AND hold = 'waiting' AND next_at <= ? AND ${STILL_LISTED} ORDER BY next_at, row LIMIT ?`,
  );
  const nextDue = database
    .prepare<[string, number], number | null>(
      `SELECT min(next_at) FROM rows WHERE run_id = ? AND hold = 'waiting' AND next_at > ? AND ${STILL_LISTED}`,
    )
    .pluck();
  const these = database.prepare<[string, string], RowRow>(
    'SELECT * FROM rows WHERE run_id = ? AND row IN (SELECT CAST(value AS BIGINT) FROM json_each(?))',
  );
  const parked = database.prepare<[string], { row: number; nextAt: number }>(
    `SELECT row, next_at AS nextAt FROM rows WHERE run_id = ? AND hold = 'parked' AND next_at IS NOT NULL AND ${STILL_LISTED}
     ORDER BY ${BEGUN} DESC, rank, row`,
  );
  const releaseParked = database.prepare(
    // Who was held to ask the provider about is known by that to the next start.
    `UPDATE rows SET hold = NULL, hold_reason = CASE hold_reason WHEN 'ask_provider' THEN hold_reason END, next_at = NULL
     WHERE run_id = ? AND hold = 'parked'`,
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
  const settlements = rowSettlements(database);
  const toRows = rowReader(database, times);
  const progressOf = progressReader(database);

  function* rowsAt(runId: string, numbers: readonly number[]): Script<readonly RowRecord[]> {
    const found = yield* toRows(runId, yield* these.all(runId, JSON.stringify(numbers)));
    const byNumber = new Map(found.map((row) => [row.row, row]));
    return numbers.flatMap((number) => byNumber.get(number) ?? []);
  }

  return {
    addRows: (runId, rows) =>
      database.write(function* () {
        for (const row of rows)
          yield* insert.run(
            runId,
            row.row,
            row.line,
            JSON.stringify(row.values),
            row.kinds ?? null,
            JSON.stringify(row.fields),
            ...firstOutcome(row),
          );
      }),
    pendingRows: (runId) => database.read(() => pending.all(runId)),
    rowsAt: (runId, numbers) => database.read(() => rowsAt(runId, numbers)),
    rowsThatAre: (outcome, runId, afterRow, limit) =>
      database.read(function* () {
        return yield* toRows(runId, yield* withOutcome.all(runId, outcome, afterRow, limit));
      }),
    dueRows: (runId, now, limit) =>
      database.read(function* () {
        return yield* toRows(runId, yield* due.all(runId, now, limit));
      }),
    nextDue: async (runId, after = -1) => (await database.read(() => nextDue.get(runId, after))) ?? undefined,
    row: async (runId, row) => (await database.read(() => rowsAt(runId, [row])))[0],
    settleRow: (runId, row, settlement, by) =>
      database.write(() => settlements.settle(runId, row, settlement, by), {
        environments: [
          ...new Set([...settlement.uses, ...(settlement.claims ?? [])].map(({ environmentId }) => environmentId)),
        ],
      }),
    recordError: (runId, error) => database.write(() => settlements.error(runId, null, error), { environments: [] }),
    parkedRows: (runId) => database.read(() => parked.all(runId)),
    releaseParked: (runId) => database.write(() => releaseParked.change(runId)),
    releaseFailed: (runId) =>
      database.write(function* () {
        yield* reopen.run(runId);
        const released = (yield* releaseFailed.all(runId)).toSorted((a, b) => a.row - b.row);
        return [...released.filter(({ units }) => units > 0), ...released.filter(({ units }) => units === 0)].map(
          ({ row }) => row,
        );
      }),
    wanted: async (outcome, runId) => (await database.read(() => wanted.get(runId, outcome))) ?? 0,
    progress: (runId) => database.read(() => progressOf(runId)),
  };
}

/** Units were spent on it; those that another run has spent make its rank negative. */
const BEGUN = '(units_charged > 0 OR rank < 0)';

const firstOutcome = ({ problem }: NewRow): [RowOutcome, string | null, string | null] =>
  problem === undefined ? ['pending', null, null] : ['invalid', problem.code, problem.message];
