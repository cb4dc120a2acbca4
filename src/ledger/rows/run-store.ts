import type { RowOutcome } from '../../domain/outcomes.js';
import type { CorrectedTimes } from '../clock-ahead.js';
import type { Database, Script, Sql } from '../db/database.js';
import { JSON_COLUMNS_OF_RUN, JsonColumns, runColumns } from '../db/json-columns.js';
import { damagedRecordError } from '../db/stored-json.js';
import { NEWEST_RUNS } from './begin-run.js';
import { NEW_ROW, WAITING_ROW } from './claims.js';
import { CONTINUE_ROW, progressReader, REOPEN_RUN, type RowRow, rowReader, STILL_LISTED } from './read-rows.js';
import type { RowRecord, RunRecord, RunStore } from './runs.js';
import { rowSettlements } from './settle-row.js';

export function runStore(database: Database, times: CorrectedTimes): RunStore {
  const finish = database.prepare("UPDATE runs SET state = 'finished', finished_at = ? WHERE id = ?");
  const find = runFinder(database);
  const all = database.prepare<[], RunRow>(
    `SELECT * FROM runs WHERE put_away = 0 OR id IN (${NEWEST_RUNS}) ORDER BY rowid DESC`,
  );
  const ofLists = database.prepare<[], { id: string; portfolioId: number }>(
    `SELECT id, portfolio_id AS portfolioId FROM runs
     WHERE EXISTS (SELECT 1 FROM members WHERE members.portfolio_id = runs.portfolio_id AND left_at IS NULL)`,
  );
  const addEnvironment = database.prepare(
    'INSERT INTO run_environments (run_id, api, environment_id) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
  );
  const environmentName = database
    .prepare<[string, string], string>(
      `SELECT name FROM run_environments JOIN environments ON environments.id = environment_id
       WHERE run_id = ? AND run_environments.api = ?`,
    )
    .pluck();

  const cells = new JsonColumns(database);

  return {
    ...rowStore(database, times),
    finish: (runId, at) => database.write(() => finish.run(at, runId)),
    find: (runId) => database.read(() => find(runId)),
    all: async () => (await database.read(() => all.all())).map((run) => runOf(run, cells)),
    ofLists: async () =>
      new Map((await database.read(() => ofLists.all())).map(({ id, portfolioId }) => [id, portfolioId])),
    useEnvironments: (runId, environments) =>
      database.write(function* () {
        for (const { api, environmentId } of environments) yield* addEnvironment.run(runId, api, environmentId);
      }),
    mustBeReadable: async (runId) => {
      const texts = await database.read(() => cells.damaged(database, JSON_COLUMNS_OF_RUN, runId));
      const places = [...texts, ...database.stored.damagedTimes(runId)];
      if (places.length > 0) throw damagedRecordError(places);
    },
    environmentName: (runId, api) => database.read(() => environmentName.get(runId, api)),
  };
}

/** For callers inside a transaction, or without need for the other methods. */
export function runFinder(database: Sql & Pick<Database, 'stored'>): (runId: string) => Script<RunRecord | undefined> {
  const byId = database.prepare<[string], RunRow>('SELECT * FROM runs WHERE id = ?');
  const cells = new JsonColumns(database);
  return function* (runId) {
    const run = yield* byId.get(runId);
    return run && runOf(run, cells);
  };
}

interface RunRow {
  readonly id: string;
  readonly input_path: string;
  readonly input_sha256: string;
  readonly pipeline_name: string;
  readonly pipeline_sha256: string;
  readonly settings: string;
  readonly columns: string;
  readonly state: Exclude<RunRecord['state'], 'superseded'>;
  readonly row_count: number;
  readonly created_at: number;
  readonly finished_at: number | null;
  readonly portfolio_id: number | null;
  readonly superseded_by: string | null;
}

const runOf = (run: RunRow, cells: JsonColumns): RunRecord => ({
  id: run.id,
  inputPath: run.input_path,
  inputSha256: run.input_sha256,
  pipelineName: run.pipeline_name,
  pipelineSha256: run.pipeline_sha256,
  settings: run.settings,
  // Parsed on access: one damaged header must not prevent the list of runs.
  get columns() {
    return cells.read(runColumns, run.columns, [run.id]);
  },
  state: run.superseded_by === null ? run.state : 'superseded',
  portfolioId: run.portfolio_id,
  supersededBy: run.superseded_by,
  rowCount: run.row_count,
  createdAt: run.created_at,
  finishedAt: run.finished_at,
});

type RowStore = Pick<
  RunStore,
  | 'pendingRows'
  | 'rowsAt'
  | 'rowsThatAre'
  | 'dueRows'
  | 'nextDue'
  | 'row'
  | 'settleRow'
  | 'recordError'
  | 'releaseParked'
  | 'leaveOutOthers'
  | 'releaseFailed'
  | 'wanted'
  | 'progress'
>;

function rowStore(database: Database, times: CorrectedTimes): RowStore {
  const pending = database
    .prepare<[string], number>(`SELECT row FROM rows WHERE run_id = ? AND ${NEW_ROW} ORDER BY ${BEGUN} DESC, rank, row`)
    .pluck();
  const withOutcome = database.prepare<[string, RowOutcome, number, number], RowRow>(
    `SELECT * FROM rows WHERE run_id = ? AND outcome = ? AND row > ? AND ${STILL_LISTED} ORDER BY row LIMIT ?`,
  );
  const due = database.prepare<[string, number, number], RowRow>(
    `SELECT * FROM rows WHERE run_id = ? AND ${WAITING_ROW} AND next_at <= ? ORDER BY next_at, row LIMIT ?`,
  );
  const nextDue = database
    .prepare<[string, number], number | null>(
      `SELECT min(next_at) FROM rows WHERE run_id = ? AND ${WAITING_ROW} AND next_at > ?`,
    )
    .pluck();
  const these = database.prepare<[string, string], RowRow>(
    'SELECT * FROM rows WHERE run_id = ? AND row IN (SELECT CAST(value AS BIGINT) FROM json_each(?))',
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

  function* freeRows(runId: string): Script<void> {
    yield* freeClaims.run(runId);
    if (!database.isShared) yield* endLead.run(runId);
    else yield* rankBegun.run(runId);
  }

  return {
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
    releaseParked: (runId) =>
      database.write(function* () {
        yield* freeRows(runId);
        return yield* releaseParked.change(runId);
      }),
    leaveOutOthers: (runId, rows) =>
      database.write(function* () {
        yield* freeRows(runId);
        yield* leaveOut.run(runId, JSON.stringify(rows));
      }),
    releaseFailed: (runId) =>
      database.write(function* () {
        yield* reopen.run(runId);
        const released = yield* releaseFailed.all(runId);
        return released.toSorted((a, b) => b.begun - a.begun || a.row - b.row).map(({ row }) => row);
      }),
    wanted: async (outcome, runId) => (await database.read(() => wanted.get(runId, outcome))) ?? 0,
    progress: (runId) => database.read(() => progressOf(runId)),
  };
}

/** It cost units. If another run paid them, its rank is negative. */
const BEGUN = '(units_charged > 0 OR rank < 0)';

/** Gives begun rows the rank that says so, because an index on their units would slow down every call. */
export const RANK_BEGUN =
  "UPDATE rows SET rank = -1 WHERE run_id = ? AND outcome = 'pending' AND units_charged > 0 AND rank >= 0";

/** The attempt that claimed the row has ended. */
export const CLAIM_IS_OVER =
  'NOT EXISTS (SELECT 1 FROM starts WHERE starts.id = rows.claimed_by AND starts.ended_at IS NULL)';

/** The next attempt recognizes rows held for a question to the provider by the reason that stays. */
export const RELEASE_PARKED =
  "UPDATE rows SET hold = NULL, hold_reason = CASE hold_reason WHEN 'ask_provider' THEN hold_reason END, next_at = NULL";
