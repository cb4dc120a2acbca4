import type { Database, Script, Sql } from '../database.js';
import type { RunRecord, RunStore } from '../runs.js';
import { damagedRecord } from '../stored-json.js';
import { CELLS_OF_RUN, Cells, runColumns } from './cells.js';
import { runInserter } from './insert-run.js';
import { NEWEST_RUNS } from './newest-runs.js';
import { rowStore } from './rows.js';
import type { BelievedTimes } from './times.js';

export function runStore(database: Database, times: BelievedTimes): RunStore {
  const insert = runInserter(database);
  const open = database.prepare("UPDATE runs SET state = 'open', row_count = ? WHERE id = ?");
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

  const cells = new Cells(database);

  return {
    ...rowStore(database, times),
    create: (run) => database.write(() => insert(run, { state: 'reading', createdAt: run.createdAt })),
    open: (runId, rowCount) => database.write(() => open.run(rowCount, runId)),
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
      const texts = await database.read(() => cells.damaged(database, CELLS_OF_RUN, runId));
      const places = [...texts, ...database.stored.damagedTimes(runId)];
      if (places.length > 0) throw damagedRecord(places);
    },
    environmentName: (runId, api) => database.read(() => environmentName.get(runId, api)),
  };
}

/** For those who need no more of the runs, or are inside a transaction. */
export function runFinder(database: Sql & Pick<Database, 'stored'>): (runId: string) => Script<RunRecord | undefined> {
  const byId = database.prepare<[string], RunRow>('SELECT * FROM runs WHERE id = ?');
  const cells = new Cells(database);
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

const runOf = (run: RunRow, cells: Cells): RunRecord => ({
  id: run.id,
  inputPath: run.input_path,
  inputSha256: run.input_sha256,
  pipelineName: run.pipeline_name,
  pipelineSha256: run.pipeline_sha256,
  settings: run.settings,
  // Read when it is asked for: one run whose header is damaged must not keep the others from being listed.
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
