import { readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { parse } from 'csv-parse/sync';
import { ExitCode } from '../domain/errors.js';
import { systemClock } from '../util/clock.js';
import { runCli } from './cli.js';
import type { Outside } from './terminal/io.js';
import { type GroupLink, groupTreeInWords } from './terminal/text.js';
import { textTable } from './terminal/view.js';

/** `src/cli` and `dist/cli` are at the same depth. */
const ROOT = resolve(import.meta.dirname, '../..');
const INPUT = join('fixtures', 'portfolio.csv');
const DATA = join('data', 'demo');
const RUN = ['run', INPUT, '--sandbox', '--data-dir', DATA, '--format', 'csv,parquet,xlsx'];

const io: Outside = {
  stdout: () => {},
  // Without `npm link`, a suggested command needs npx.
  stderr: (text) => process.stderr.write(text.replaceAll(/^( *)kybatch (?!run=)/gm, '$1npx kybatch ')),
  // No key of a real account reaches the demo.
  env: {},
  cwd: ROOT,
  clock: systemClock,
  interactive: process.stderr.isTTY === true,
  columns: process.stderr.columns || 80,
  onInterrupt(listener) {
    process.on('SIGINT', listener);
    return () => process.off('SIGINT', listener);
  },
};

const QUERY = `SELECT input_country AS country, count(*)::INTEGER AS rows
  FROM 'rows.parquet' GROUP BY ALL ORDER BY rows DESC, country LIMIT 3`;

const MEANING = `
What this means
  complete      The registration number agrees. The data was bought.
  need review   kybatch does not guess. A person chooses the company.
  no match      The provider does not know the company.
  invalid       The row has no country, or nothing to search for.

The provider is simulated: nothing was paid. Every answer is stored now, so the
command above costs nothing again. \`npm run demo\` removes ${DATA} and starts over.
`;

interface End {
  readonly run: string;
}

rmSync(join(ROOT, DATA), { recursive: true, force: true });
io.stderr(`$ npx kybatch ${RUN.join(' ')}\n\n`);
let printed = '';
const code = await runCli([...RUN, '--json'], {
  ...io,
  stdout: (text) => {
    printed += text;
  },
});
// The demo must end with exit code 3: some of its rows need review.
if (code !== ExitCode.rowsOpen) throw new Error(`the demo ended with exit code ${code}. See above`);
const end = JSON.parse(printed) as End;
const folder = join(ROOT, DATA, 'exports', end.run);
io.stderr(MEANING);
io.stderr(firstRows(['row', 'outcome', 'matched_on', 'input_name']));
io.stderr(group());
io.stderr(await query());
io.stderr(whatNext(end));

function firstRows(columns: readonly string[]): string {
  const [header = [], ...lines] = parse(readFileSync(join(folder, 'rows.csv')), { to: 5 }) as string[][];
  const places = columns.map((column) => header.indexOf(column));
  const cells = [columns, ...lines.map((line) => places.map((place) => line[place] ?? ''))];
  return `\nrows.csv, the first rows and some columns:\n${aligned(cells)}`;
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
  return `\nThe group of ${name}, from group_links.csv:\n${tree}\n`;
}

function table(file: string): readonly Readonly<Record<string, string>>[] {
  return parse(readFileSync(join(folder, file)), { columns: true }) as Readonly<Record<string, string>>[];
}

async function query(): Promise<string> {
  const instance = await DuckDBInstance.create(':memory:', { threads: '1' });
  const connection = await instance.connect();
  const file = join(folder, 'rows.parquet').replaceAll("'", "''");
  const found = await connection.runAndReadAll(QUERY.replace("'rows.parquet'", `'${file}'`));
  const cells = [['country', 'rows'], ...found.getRows().map((line) => line.map(String))];
  connection.closeSync();
  instance.closeSync();
  return `\nrows.parquet, queried with DuckDB:\n  ${QUERY}\n${aligned(cells)}`;
}

function aligned(lines: readonly (readonly string[])[]): string {
  return textTable([], lines).replaceAll(/^(?=.)/gm, '  ');
}

function whatNext({ run }: End): string {
  const place = `--data-dir ${DATA}`;
  return `
Look at the results: ${join(DATA, 'exports', run, 'results.xlsx')}

Try next
  npx kybatch review ${place}         answer the questions
  npx kybatch status ${place}         the run and its next step
  npx kybatch usage ${place}          where the units went
  npx kybatch plan your-own.xlsx --sandbox        what your own file would cost
`;
}
