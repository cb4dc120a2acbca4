import { hash } from 'node:crypto';
import type { Ledger } from '../../src/ledger/ledger.js';
import type { FileRow } from '../../src/ledger/portfolio/portfolios.js';
import type { NewRun } from '../../src/ledger/rows/runs.js';
import { inLedger } from './ledger-place.js';

export interface BeginOptions extends Partial<NewRun> {
  readonly id: string;
  readonly now: number;
  readonly secondPerson?: boolean;
}

type GivenRow = Pick<FileRow, 'values' | 'fields'> & Partial<FileRow>;

/** An open run with these rows, begun as the product begins one. Each run has its own list. */
export async function beginRun(
  { portfolios }: Pick<Ledger, 'portfolios'>,
  { now, secondPerson = false, ...given }: BeginOptions,
  rows: readonly GivenRow[],
): Promise<string> {
  const run: NewRun = {
    inputPath: `/${given.id}.csv`,
    inputSha256: given.id,
    pipelineName: 'test',
    pipelineSha256: 'test',
    settings: '{}',
    columns: ['name'],
    ...given,
  };
  await portfolios.loadRows(rows.map(fileRow), true);
  await portfolios.converge({
    name: run.id,
    providers: 'test',
    now,
    input: { key: run.inputSha256, path: run.inputPath, columns: run.columns },
    isLoaded: true,
    limit: null,
    decideDue: () => ({ due: null, nextAt: null }),
    run,
    continuesIf: null,
    secondPerson,
  });
  return run.id;
}

function fileRow(given: GivenRow, index: number): FileRow {
  const digest = hash('sha256', JSON.stringify([given.values, given.fields])).slice(0, 32);
  const keys = { inputId: null, company: null, says: digest, cells: digest };
  return { row: index + 1, line: index + 2, problem: null, ...keys, ...given };
}

/** A copy of this run, left by an older version that was stopped while it read the file. */
export async function halfReadCopy(dataDir: string, id: string, of: string): Promise<void> {
  await inLedger(
    dataDir,
    `INSERT INTO runs (id, input_path, input_sha256, pipeline_name, pipeline_sha256, settings, columns, state, created_at)
     SELECT ?, input_path, 'of another day', pipeline_name, pipeline_sha256, settings, columns, 'reading', created_at
     FROM runs WHERE id = ?`,
    id,
    of,
  );
}

/** Leaves every run as a version without portfolios left it. */
export async function dropPortfolios(dataDir: string): Promise<void> {
  for (const statement of [
    'UPDATE rows SET member_id = NULL',
    'UPDATE runs SET portfolio_id = NULL',
    'DELETE FROM member_companies',
    'DELETE FROM members',
    'DELETE FROM portfolios',
  ])
    await inLedger(dataDir, statement);
}
