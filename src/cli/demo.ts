import { readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { parse } from 'csv-parse/sync';
import { ExitCode } from '../domain/errors.js';
import { systemClock } from '../util/clock.js';
import { runCli } from './cli.js';
import type { Outside } from './terminal/io.js';
import { type GroupLink, groupTreeInWords } from './terminal/text.js';

/** `src/cli` and `dist/cli` are at the same depth. */
const ROOT = resolve(import.meta.dirname, '../..');
const INPUT = join('fixtures', 'portfolio.csv');
const DATA = join('data', 'demo');

const io: Outside = {
  stdout: () => {},
  stderr: (text) => process.stderr.write(text),
  // No key of a real account reaches the demo.
  env: {},
  cwd: ROOT,
  clock: systemClock,
  interactive: process.stderr.isTTY === true,
  columns: process.stderr.columns ?? 100,
  onInterrupt(listener) {
    process.on('SIGINT', listener);
    return () => process.off('SIGINT', listener);
  },
};

const QUERY = `SELECT input_country AS country, count(*)::INTEGER AS rows, count(*) FILTER (outcome = 'complete')::INTEGER AS complete
  FROM 'rows.parquet' GROUP BY ALL ORDER BY rows DESC, country LIMIT 5`;

interface End {
  readonly run: string;
  readonly rows: number;
  readonly outcomes: Readonly<Record<'complete' | 'no_match' | 'needs_review' | 'invalid' | 'failed', number>>;
  readonly units_charged: number;
}

rmSync(join(ROOT, DATA), { recursive: true, force: true });
io.stderr(`kybatch run ${INPUT} --sandbox --data-dir ${DATA} --format csv,parquet,xlsx\n\n`);
let printed = '';
const code = await runCli(['run', INPUT, '--sandbox', '--data-dir', DATA, '--format', 'csv,parquet,xlsx', '--json'], {
  ...io,
  stdout: (text) => {
    printed += text;
  },
});
// The demo must end with exit code 3: some of its rows need review.
if (code !== ExitCode.rowsOpen) throw new Error(`the demo ended with exit code ${code}; see above`);
const end = JSON.parse(printed) as End;
const folder = join(ROOT, DATA, 'exports', end.run);
io.stderr(summary(end));
io.stderr(
  firstLines('rows.csv', ['row', 'outcome', 'match_grade', 'matched_on', 'input_name', 'input_registration_number']),
);
io.stderr(firstLines('companies.csv', ['v1_company_id', 'name', 'registration_number', 'status', 'officers_returned']));
io.stderr(group());
io.stderr(await query());
io.stderr(whatNext(end));

function summary({ run, rows, outcomes, units_charged }: End): string {
  return `
What you have seen: a portfolio of ${rows} companies went through both APIs of a simulated provider; nothing was charged for real.
  ${outcomes.complete} were identified beyond doubt, and what the provider has about them was bought: record, financials, credit report
  ${outcomes.needs_review} are for a person: kybatch never guesses which company is meant
  ${outcomes.no_match} are unknown to the provider
  ${outcomes.invalid} cannot be asked about: no country, no identifier

The ${units_charged} units are what the real provider would have charged. Each answer is owned now: the command below that runs the file again costs 0.
For people: ${join(DATA, 'exports', run, 'results.xlsx')}, one line per line of the input, what was found beside it, and the open questions.
The tables are in the same folder: CSV and Parquet for programs, datapackage.json says what each column means.
`;
}

/** Some columns of the first lines of a table, as in the file. */
function firstLines(file: string, columns: readonly string[]): string {
  const [header = [], ...lines] = parse(readFileSync(join(folder, file)), { to: 5 }) as string[][];
  const places = columns.map((column) => header.indexOf(column));
  const cells = [columns, ...lines.map((line) => places.map((place) => line[place] ?? ''))];
  return `\n${file}, the first lines and some of the columns:\n${aligned(cells)}`;
}

/** The tree of the largest group that fits on a screen. */
function group(): string {
  const names = new Map(table('companies.csv').map((company) => [company.v1_company_id, company.name]));
  const groups = new Map<string, GroupLink[]>();
  for (const { v1_company_id = '', source = '', target = '', title = '', target_title = '' } of table(
    'group_links.csv',
  ))
    groups.set(v1_company_id, [
      ...(groups.get(v1_company_id) ?? []),
      { source, target, title, targetTitle: target_title },
    ]);
  const [company, links] = [...groups]
    .filter(([, { length }]) => length <= 12)
    .sort((a, b) => b[1].length - a[1].length)[0] ?? ['', []];
  const name = names.get(company) ?? '';
  const tree = groupTreeInWords(links, (title) => title === name)
    .replaceAll(/^/gm, '  ')
    .trimEnd();
  return `\nThe group of ${name}, from group_links.csv. A link is a link: it does not say who owns whom.\n${tree}\n`;
}

function table(file: string): readonly Readonly<Record<string, string>>[] {
  return parse(readFileSync(join(folder, file)), { columns: true }) as Readonly<Record<string, string>>[];
}

async function query(): Promise<string> {
  const instance = await DuckDBInstance.create(':memory:', { threads: '1' });
  const connection = await instance.connect();
  const file = join(folder, 'rows.parquet').replaceAll("'", "''");
  const found = await connection.runAndReadAll(QUERY.replace("'rows.parquet'", `'${file}'`));
  const cells = [['country', 'rows', 'complete'], ...found.getRows().map((line) => line.map(String))];
  connection.closeSync();
  instance.closeSync();
  return `\nA query over the Parquet file, with DuckDB:\n  ${QUERY}\n${aligned(cells)}`;
}

function aligned(lines: readonly (readonly string[])[]): string {
  const width = (column: number) => Math.max(...lines.map((line) => line[column]?.length ?? 0));
  return lines
    .map(
      (line) =>
        `  ${line
          .map((cell, column) => cell.padEnd(width(column)))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}

function whatNext({ run }: End): string {
  const flags = `--data-dir ${DATA}`;
  return `
Try next, from this folder:
  npx kybatch review list ${flags}       the open questions, with the evidence
  npx kybatch status ${run} ${flags}
  npx kybatch usage ${flags}             where the units went
  npx kybatch run ${INPUT} --sandbox ${flags}   again: nothing is spent
  npx kybatch plan your-own.csv                    what your own file would cost, before anything is spent
`;
}
