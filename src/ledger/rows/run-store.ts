import type { RowOutcome } from '../../domain/outcomes.js';
import { type Database, type Script, type Sql, statements } from '../db/database.js';
import { namedAsFields, readCell, runColumns, type Unparsed } from '../db/stored-json.js';
import { NEWEST_RUNS } from './begin-run.js';
import { NEW_ROW, WAITING_ROW } from './claims.js';
import {
  CONTINUE_ROW,
  progressReader,
  REOPEN_RUN,
  type RowRow,
  rowReader,
  SELECT_ROW,
  STILL_LISTED,
} from './read-rows.js';
import type { NewError, RowRecord, RowSettlement, RunEnvironment, RunRecord } from './runs.js';
import { rowSettlements } from './settle-row.js';

export type RunStore = ReturnType<typeof runStore>;

export function runStore(database: Database) {
  const { rows, value, run } = statements(database);
  const finish = run("UPDATE runs SET state = 'finished', finished_at = ? WHERE id = ?");
  const find = runFinder(database);
  const all = rows<[], RunRow>(`${SELECT_RUN} WHERE put_away = 0 OR id IN (${NEWEST_RUNS}) ORDER BY rowid DESC`);
  const ofLists = rows<[], { id: string; portfolioId: number }>(
    `SELECT id, portfolio_id AS portfolioId FROM runs
     WHERE EXISTS (SELECT 1 FROM members WHERE members.portfolio_id = runs.portfolio_id AND left_at IS NULL)`,
  );
  const addEnvironment = database.prepare(
    'INSERT INTO run_environments (run_id, api, environment_id) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
  );

  return {
    ...rowStore(database),
    finish: (runId: string, at: number) => finish(at, runId),
    find: (runId: string) => database.read(() => find(runId)),
    /** Newest first. Hidden runs are left out, except the newest of a portfolio with companies. */
    all: async (): Promise<readonly RunRecord[]> => (await all()).map(runOf),
    /** The runs of portfolios with companies, including hidden runs, with the portfolio's ID. */
    ofLists: async (): Promise<ReadonlyMap<string, number>> =>
      new Map((await ofLists()).map(({ id, portfolioId }) => [id, portfolioId])),
    /** A run uses one provider for each API. Its first attempt decides which. */
    useEnvironments: (runId: string, environments: readonly RunEnvironment[]) =>
      database.write(function* () {
        for (const { api, environmentId } of environments) yield* addEnvironment.run(runId, api, environmentId);
      }),
    environmentName: value<[runId: string, api: 'v1' | 'v2'], string>(
      `SELECT name FROM run_environments JOIN environments ON environments.id = environment_id
       WHERE run_id = ? AND run_environments.api = ?`,
    ),
  };
}

/** For callers inside a transaction, or without need for the other methods. */
export function runFinder(database: Sql): (runId: string) => Script<RunRecord | undefined> {
  const byId = database.prepare<[string], RunRow>(`${SELECT_RUN} WHERE id = ?`);
  return function* (runId) {
    const run = yield* byId.get(runId);
    return run && runOf(run);
  };
}

type RunRow = Unparsed<RunRecord, 'columns'>;

const SELECT_RUN = `SELECT ${namedAsFields(
  'id, input_path, input_sha256, pipeline_name, pipeline_sha256, settings, columns, portfolio_id, superseded_by, row_count, created_at, finished_at',
)}, CASE WHEN superseded_by IS NULL THEN state ELSE 'superseded' END AS state FROM runs`;

const runOf = ({ columns, ...run }: RunRow): RunRecord => ({
  ...run,
  // Parsed on access: one damaged header must not prevent the list of runs.
  get columns() {
    return readCell(runColumns, columns, { run: run.id });
  },
});

function rowStore(database: Database) {
  const { count, values } = statements(database);
  const withOutcome = database.prepare<[string, RowOutcome, number, number], RowRow>(
    `${SELECT_ROW} WHERE run_id = ? AND outcome = ? AND row > ? AND ${STILL_LISTED} ORDER BY row LIMIT ?`,
  );
  const due = database.prepare<[string, number, number], RowRow>(
    `${SELECT_ROW} WHERE run_id = ? AND ${WAITING_ROW} AND next_at <= ? ORDER BY next_at, row LIMIT ?`,
  );
  const nextDue = database
    .prepare<[string, number], number | null>(
      `SELECT min(next_at) FROM rows WHERE run_id = ? AND ${WAITING_ROW} AND next_at > ?`,
    )
    .pluck();
  const these = database.prepare<[string, string], RowRow>(
    `${SELECT_ROW} WHERE run_id = ? AND row IN (SELECT CAST(value AS BIGINT) FROM json_each(?))`,
  );
  const releaseParked = database.prepare(`${RELEASE_PARKED} WHERE run_id = ? AND hold = 'parked'`);
  // Rows that an earlier attempt left out, or had when it ended.
  const freeClaims = database.prepare(
    `UPDATE rows SET claimed_by = NULL WHERE run_id = ? AND claimed_by IS NOT NULL AND ${CLAIM_IS_OVER}`,
  );
  // A run of a copied ledger: its workers stayed with the other one.
  const endLead = database.prepare('UPDATE runs SET led_by = NULL, resume_at = NULL WHERE id = ?');
  const rankBegun = database.prepare(RANK_BEGUN);
  const leaveOut = database.prepare(
    `UPDATE rows SET claimed_by = 0 WHERE run_id = ? AND outcome = 'pending' AND claimed_by IS NULL
       AND row NOT IN (SELECT CAST(value AS BIGINT) FROM json_each(?))`,
  );
  const releaseFailed = database.prepare<[string], { row: number; begun: number }>(
    `UPDATE rows SET ${CONTINUE_ROW}, stages = replace(stages, ':"failed"', ':"pending"') WHERE run_id = ? AND outcome = 'failed' AND ${STILL_LISTED} RETURNING row, CASE WHEN ${BEGUN} THEN 1 ELSE 0 END AS begun`,
  );
  const reopen = database.prepare(REOPEN_RUN);
  const wanted = count<[string, RowOutcome]>(
    `SELECT count(*) FROM rows WHERE run_id = ? AND outcome = ? AND ${STILL_LISTED}`,
  );
  const settlements = rowSettlements(database);
  const toRows = rowReader(database);
  const progressOf = progressReader(database);

  function* rowsAt(runId: string, numbers: readonly number[]): Script<readonly RowRecord[]> {
    const found = yield* toRows(runId, yield* these.all(runId, JSON.stringify(numbers)));
    const byNumber = new Map(found.map((row) => [row.row, row]));
    return numbers.flatMap((number) => byNumber.get(number) ?? []);
  }

  function* freeRows(runId: string): Script<void> {
    yield* freeClaims.run(runId);
    if (!database.isShared) yield* endLead.run(runId);
    else yield* rankBegun.run(runId);
  }

  return {
    /** The numbers of pending rows that are free and not on hold, in processing order: rows that have begun come first. */
    pendingRows: values<[runId: string], number>(
      `SELECT row FROM rows WHERE run_id = ? AND ${NEW_ROW} ORDER BY ${BEGUN} DESC, rank, row`,
    ),
    /** These rows, in this order. */
    rowsAt: (runId: string, numbers: readonly number[]) => database.read(() => rowsAt(runId, numbers)),
    /** All rows with this outcome after `afterRow` whose company is still in the list, in file order, on hold or not. */
    rowsThatAre: (outcome: RowOutcome, runId: string, afterRow: number, limit: number) =>
      database.read(function* () {
        return yield* toRows(runId, yield* withOutcome.all(runId, outcome, afterRow, limit));
      }),
    /** Rows whose report may be ready, longest due first. */
    dueRows: (runId: string, now: number, limit: number) =>
      database.read(function* () {
        return yield* toRows(runId, yield* due.all(runId, now, limit));
      }),
    /** When the next waiting row is due. With `after`: the next one later than that. */
    nextDue: async (runId: string, after = -1) => (await database.read(() => nextDue.get(runId, after))) ?? undefined,
    row: async (runId: string, row: number) => (await database.read(() => rowsAt(runId, [row])))[0],
    /**
     * Writes a row's checkpoint, IDs, candidates, questions, errors and reused answers. False, with nothing written, if
     * another attempt took over from `by`. `id_taken`, with nothing written, if another row uses one of its IDs for
     * another company.
     */
    settleRow: (runId: string, row: number, settlement: RowSettlement, by?: number) =>
      database.write(() => settlements.settle(runId, row, settlement, by), {
        environments: [
          ...new Set([...settlement.uses, ...(settlement.claims ?? [])].map(({ environmentId }) => environmentId)),
        ],
      }),
    recordError: (runId: string, error: NewError) =>
      database.write(() => settlements.error(runId, null, error), { environments: [] }),
    /** Frees all parked rows for a new attempt, and rows that an earlier one left out. Returns the number of parked rows. */
    releaseParked: (runId: string) =>
      database.write(function* () {
        yield* freeRows(runId);
        return yield* releaseParked.change(runId);
      }),
    /** The new attempt processes these rows only. The others are left out until the next attempt. */
    leaveOutOthers: (runId: string, rows: readonly number[]) =>
      database.write(function* () {
        yield* freeRows(runId);
        yield* leaveOut.run(runId, JSON.stringify(rows));
      }),
    /**
     * Reopens the run and makes its failed rows pending again, if their company is still in the list. Returns their
     * numbers, rows that cost units first.
     */
    releaseFailed: (runId: string): Promise<readonly number[]> =>
      database.write(function* () {
        yield* reopen.run(runId);
        const released = yield* releaseFailed.all(runId);
        return released.toSorted((a, b) => b.begun - a.begun || a.row - b.row).map(({ row }) => row);
      }),
    /** The number of rows with this outcome whose company is still in the list. */
    wanted: (outcome: RowOutcome, runId: string) => wanted(runId, outcome),
    /** Pending rows whose company left the list do not count. Their units do. */
    progress: (runId: string) => database.read(() => progressOf(runId)),
  };
}

/** It cost units. If another run paid them, its rank is negative. */
const BEGUN = '(units_charged > 0 OR rank < 0)';

/** Gives begun rows the rank that says so, because an index on their units would slow down every call. */
export const RANK_BEGUN =
  "UPDATE rows SET rank = -1 WHERE run_id = ? AND outcome = 'pending' AND units_charged > 0 AND rank >= 0";

/** The attempt that claimed the row has ended. */
const CLAIM_IS_OVER = 'NOT EXISTS (SELECT 1 FROM starts WHERE starts.id = rows.claimed_by AND starts.ended_at IS NULL)';

/** The next attempt recognizes rows held for a question to the provider by the reason that stays. */
export const RELEASE_PARKED =
  "UPDATE rows SET hold = NULL, hold_reason = CASE hold_reason WHEN 'ask_provider' THEN hold_reason END, next_at = NULL";
