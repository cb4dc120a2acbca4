import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { type Job, withJob } from '../../cli/here.js';
import type { Expected } from './corpus/expected.js';
import type { CorpusCase } from './corpus/read-corpus.js';
import { look } from './look.js';

/** The end of a file's run on the sandbox. */
export interface RunResult {
  readonly name: string;
  readonly rows: number;
  /** Rows that were confirmed as the right company. */
  readonly confirmed: number;
  /** The fewest such rows. */
  readonly wanted: number;
  /** Rows that were confirmed as another company. */
  readonly wrong: readonly string[];
  readonly outcomes: Readonly<Record<string, number>>;
  /** Why it could not run. */
  readonly refused?: string;
}

/** Runs every file with companies that the sandbox knows, with search and record only, and one ledger for all. */
export async function runAll(corpus: readonly CorpusCase[]): Promise<RunResult[]> {
  const results: RunResult[] = [];
  await withJob({ seed: 1, size: 1_000_000, plan: 'paid', allowance: 1_000_000 }, async (job) => {
    for (const one of corpus.filter(isRunnable)) results.push(await run(one, job));
  });
  return results;
}

const isRunnable = ({ expected }: CorpusCase): boolean =>
  expected.companies !== undefined && expected.reading !== undefined && !(expected.question && !expected.answer);

async function run({ name, path, expected }: CorpusCase, { kybatch, cwd }: Job): Promise<RunResult> {
  const { companies = {}, confirmed: wanted = 0 } = expected;
  const out = join(cwd, `tables-${name}`);
  const answer = await answerFor(path, expected);
  const args = ['run', path, '--yes', '--pipeline', 'p.yaml', '--portfolio', name, '--out', out, ...answer];
  const { code, stderr } = await kybatch(args);
  const nothing = { name, rows: 0, confirmed: 0, wanted, wrong: [], outcomes: {} };
  if (code !== 0 && code !== 3) return { ...nothing, refused: stderr.slice(0, 300) };
  const rows = parse(readFileSync(join(out, 'rows.csv')), { columns: true }) as Record<string, string>[];
  const lines = await linesOf(path, answer);
  const outcomes: Record<string, number> = {};
  const wrong: string[] = [];
  let confirmed = 0;
  for (const { row = '', outcome = '', v1_company_id: id = '' } of rows) {
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    if (outcome !== 'complete') continue;
    const line = lines.get(Number(row));
    if (companies[String(line)] === id) confirmed++;
    else wrong.push(`row ${row}, line ${line}: ${id}, not ${companies[String(line)] ?? 'anybody'}`);
  }
  return { name, rows: rows.length, confirmed, wanted, wrong, outcomes };
}

/** A person adds flags only if they are needed. */
async function answerFor(path: string, { question, answer = [] }: Expected): Promise<readonly string[]> {
  return question !== undefined || 'refused' in (await look(path)) ? answer : [];
}

async function linesOf(path: string, answer: readonly string[]): Promise<Map<number, number>> {
  const seen = await look(path, answer);
  return new Map('refused' in seen ? [] : seen.rows.map(({ row, line }) => [row, line]));
}
