import type { Script, Sql } from '../database.js';
import type { NewRun } from '../runs.js';

interface Begun {
  readonly state: 'reading' | 'open';
  readonly createdAt: number;
  readonly portfolioId?: number;
}

export function runInserter(database: Sql): (run: Omit<NewRun, 'createdAt'>, begun: Begun) => Script<void> {
  const insert = database.prepare(
    `INSERT INTO runs (id, input_path, input_sha256, pipeline_name, pipeline_sha256, settings, columns, state, created_at, portfolio_id)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  return (run, { state, createdAt, portfolioId = null }) =>
    insert.run(
      run.id,
      run.inputPath,
      run.inputSha256,
      run.pipelineName,
      run.pipelineSha256,
      run.settings,
      JSON.stringify(run.columns),
      state,
      createdAt,
      portfolioId,
    );
}
