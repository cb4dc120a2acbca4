import type { Ledger, RunRecord } from '../ledger.js';
import type { Connection } from './open.js';
import type { Writer } from './writer.js';

type RunStore = Pick<
  Ledger,
  'environment' | 'createRun' | 'openRun' | 'finishRun' | 'reopenRun' | 'findRun' | 'latestRun' | 'runs'
>;

export function runStore(database: Connection, writer: Writer): RunStore {
  const addEnvironment = database.prepare('INSERT INTO environments (api, name) VALUES (?, ?) ON CONFLICT DO NOTHING');
  const findEnvironment = database
    .prepare<[string, string], number>('SELECT id FROM environments WHERE api = ? AND name = ?')
    .pluck();
  const insert = database.prepare(
    `INSERT INTO runs (id, input_path, input_sha256, pipeline_name, pipeline_sha256, settings, columns, state, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, 'reading', ?)`,
  );
  const open = database.prepare("UPDATE runs SET state = 'open', row_count = ? WHERE id = ?");
  const finish = database.prepare("UPDATE runs SET state = 'finished', finished_at = ? WHERE id = ?");
  const reopen = database.prepare("UPDATE runs SET state = 'open', finished_at = NULL WHERE id = ?");
  const byId = database.prepare<[string], RunRow>('SELECT * FROM runs WHERE id = ?');
  const latest = database.prepare<[string, string], RunRow>(
    'SELECT * FROM runs WHERE input_sha256 = ? AND pipeline_sha256 = ? ORDER BY created_at DESC, id DESC LIMIT 1',
  );
  const all = database.prepare<[], RunRow>('SELECT * FROM runs ORDER BY created_at DESC, id DESC');

  return {
    environment: (api, name) =>
      writer.write(() => {
        addEnvironment.run(api, name);
        return findEnvironment.get(api, name) as number;
      }),
    createRun: (run) =>
      writer.write(() => {
        insert.run(
          run.id,
          run.inputPath,
          run.inputSha256,
          run.pipelineName,
          run.pipelineSha256,
          run.settings,
          JSON.stringify(run.columns),
          run.createdAt,
        );
      }),
    openRun: (runId, rowCount) => writer.write(() => void open.run(rowCount, runId)),
    finishRun: (runId, at) => writer.write(() => void finish.run(at, runId)),
    reopenRun: (runId) => writer.write(() => void reopen.run(runId)),
    findRun: async (runId) => toRun(byId.get(runId)),
    latestRun: async (inputSha256, pipelineSha256) => toRun(latest.get(inputSha256, pipelineSha256)),
    runs: async () => all.all().flatMap((run) => toRun(run) ?? []),
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
  readonly state: RunRecord['state'];
  readonly row_count: number;
  readonly created_at: number;
  readonly finished_at: number | null;
}

const toRun = (run: RunRow | undefined): RunRecord | undefined =>
  run && {
    id: run.id,
    inputPath: run.input_path,
    inputSha256: run.input_sha256,
    pipelineName: run.pipeline_name,
    pipelineSha256: run.pipeline_sha256,
    settings: run.settings,
    columns: JSON.parse(run.columns) as string[],
    state: run.state,
    rowCount: run.row_count,
    createdAt: run.created_at,
    finishedAt: run.finished_at,
  };
