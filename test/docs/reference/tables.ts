import { parquetColumns } from '../../../src/export/formats/parquet.js';
import { resultsTable } from '../../../src/export/results-table.js';
import { rowsTable } from '../../../src/export/run-tables.js';
import { tables } from '../../../src/export/tables.js';
import { prospectsTable } from '../../../src/readers/prospects.js';
import { type Column, type ColumnType, column, insertColumns, type Table } from '../../../src/readers/table.js';
import { vocabulariesTable } from '../../../src/readers/vocabulary.js';
import { asSentence, GENERATED, markdownTable, page } from './markdown.js';

/** Tables without a run: a command writes each into its own folder. */
const standalone: readonly Table[] = [prospectsTable, vocabulariesTable];

const ownColumns: ReadonlyMap<Table, Column> = new Map<Table, Column>([
  [rowsTable, column('input_…', 'text', 'One for each column of the list, as written', 'the list')],
  [resultsTable, column('…', 'text', 'Each column of the list under its own name, as written', 'the list')],
]);

/** One page for each table, and one that lists them. */
export const describeTables = (declared: readonly Table[] = tables): ReadonlyMap<string, string> =>
  new Map([
    ['index', describeIndex(declared)],
    ...[...declared, ...standalone].map((table): [string, string] => [table.name, describeTable(table)]),
  ]);

const TYPES: Readonly<Record<ColumnType, string>> = {
  text: 'Text.',
  id: 'An ID, as text. Leading zeros and long numbers stay.',
  number: 'The digits that the provider sent: `1.10` stays `1.10`.',
  scalar: 'Text or number, as sent.',
  text_or_list: 'A text as sent. A list is JSON.',
  integer: 'A whole number.',
  boolean: '`true` or `false`.',
  date: 'A date: `2026-01-31`.',
  timestamp: 'A time in UTC.',
  json: 'JSON.',
  value: 'The value as sent. `value_type` names its type.',
};

const describeIndex = (declared: readonly Table[]): string =>
  page(
    '# Tables',
    GENERATED,
    [
      'For everyone who loads the results into other programs. An export has one file for each table, or a folder of [parts](#parts-of-long-lists) if the list is long.',
      'Columns keep their names and their order. A new version may add columns before `extra`.',
    ].join(' '),
    [
      'An empty cell means that the provider returned nothing. It never means "no".',
      'An empty text is `""` in CSV.',
      '`extra` holds every returned field that has no column, as JSON.',
    ].join(' '),
    '## Files',
    'The folder is `exports/<run>` in the data directory, or the folder of `--out`. `exports/latest/<portfolio>` leads to the newest.',
    markdownTable(['file', 'content'], FILES),
    '## Parts of long lists',
    'If the list has more companies than `export.parts_above` of the pipeline file, each table of bought data is a folder of parts. A part has the rows of about 500 companies that one run bought. All other tables stay one file.',
    `\`\`\`text\n${READ_PARTS}\n\`\`\``,
    PARTS.map((rule) => `- ${rule}`).join('\n'),
    '## Every table of an export',
    list(declared),
    '## Tables without a run',
    '`kybatch prospect` and `kybatch vocab --out DIR` write these tables into a folder of their own.',
    list(standalone),
    '## Types',
    'CSV holds text. Parquet has these types:',
    markdownTable(
      ['type', 'in Parquet', 'content'],
      Object.entries(TYPES).map(([type, content]) => [
        type === 'value' ? 'as sent' : type,
        parquetColumns([column('column', type as ColumnType, '')])
          .map(({ name, type: sql }) => (name === 'column' ? sql : `\`${name}\` ${sql}`))
          .join(', '),
        content,
      ]),
    ),
    '## Rules',
    RULES.map((rule) => `- ${rule}`).join('\n'),
    '## Join the tables',
    'In the folder of the tables, with DuckDB:',
    `\`\`\`sql\n${QUERY}\n\`\`\``,
  );

/** The test of the export runs it on Parquet files. */
const QUERY = `SELECT c.name, f.year, f.value_decimal AS turnover
FROM 'flat_financials.parquet' f
JOIN 'rows.parquet' r USING (v2_company_id)
JOIN 'companies.parquet' c USING (v1_company_id)
WHERE f.indicator = 'Turnover'
ORDER BY turnover DESC NULLS LAST
LIMIT 10;`;

const FILES: readonly (readonly [string, string])[] = [
  ['`<table>.csv`', 'UTF-8, comma, CR LF, as RFC 4180 describes it. `--bom` and `--delimiter` change it for Excel.'],
  ['`<table>.parquet`', 'With `--format parquet`. `--partition-by country` writes a folder for each country.'],
  ['`results.xlsx`', 'For people: the table `results`, an explanation of its columns, and the review questions.'],
  ['`datapackage.json`', 'Types, keys and descriptions, as a [Frictionless Data Package](https://datapackage.org).'],
  ['`summary.json`', 'Counts, units, versions, and SHA-256 and row count of every file.'],
];

const READ_PARTS = `FROM 'flat_financials/*.parquet'                                            -- DuckDB
FROM read_csv('officers/*.csv')                                             -- DuckDB
spark.read.parquet('flat_financials/*.parquet')                             -- Spark, not tested
pandas.concat(map(pandas.read_parquet, glob('flat_financials/*.parquet')))  -- pandas, not tested`;

const PARTS: readonly string[] = [
  '`datapackage.json` lists the parts of each table. Each CSV part has its header.',
  'A night writes only parts with a change. The others are hard links to the files of the export before, and need no space.',
  'The name of a part comes from what is in it. A part with a known name has not changed, so copy only new names.',
  'A hard link is the same file in two folders. If you edit a part, it changes in both. Copy it first.',
  'kybatch never changes a part in place. It writes an edited part again.',
  'Keep the folder `.parts`. Without it, the next night writes everything.',
  'The rows are in the order of the parts, not of the key.',
  'With `--partition-by country` there are no parts, and every export writes everything.',
];

const RULES: readonly string[] = [
  'Numbers are the digits of the provider. `<column>_decimal` in Parquet has the number if DECIMAL(38, 10) holds it exactly.',
  'IDs and registration numbers are text. Import them as text, or a spreadsheet drops leading zeros.',
  'Tables of a past day (`--as-of`) have the members, matches, answers, changes and decisions of then. Of rows that changed later, outcome and cells are the newest. Screenings show only names that are still looked for. Pruned or erased answers are missing.',
  'In CSV, a text that a spreadsheet would run as a formula gets an apostrophe. Numbers such as `-5.20` stay. For programs, `--csv-defuse off` leaves every text as it is.',
  'E-mail addresses and phone numbers are removed unless you add `--include-contacts`.',
  'A date that no calendar has, such as `1998-00-00`, is in `extra` and in `errors`.',
  'A company that was bought from v1 and v2 has lines from both. `operation` names the source.',
  'Of each list, one reading is shown: the newest. If it may be incomplete and an older one has all its lines and more, the older one is shown.',
  'The folder appears when it is complete. A failed export leaves the one before. Only files of an earlier export are replaced.',
  'The tables of a running run have `partial` in `summary.json`.',
  'If a stored answer is damaged or a file cannot be written, the exit code is 1, and `errors` or `summary.json` names it.',
  'In a workbook, control characters become `�`, and a text is cut at 32,767 characters. The CSV has them.',
];

const list = (of: readonly Table[]): string =>
  markdownTable(
    ['table', 'one row per', 'columns'],
    of.map(({ name, onePer, columns }) => [`[${name}](${name}.md)`, onePer, String(columns.length)]),
  );

function describeTable(table: Table): string {
  const { name, onePer, description, source, key, keyAlwaysThere } = table;
  const own = ownColumns.get(table);
  /** Its cells are not fields of an answer. */
  const isOurs = source.startsWith('ledger');
  const columns = insertColumns(table, table.columns, own === undefined ? [] : [own]);
  return page(
    `# ${name}`,
    GENERATED,
    `One row per ${onePer}. ${description}`,
    [
      `- Made from: ${source}.`,
      `- Key: ${key.map((each) => `\`${each}\``).join(', ')}.${keyAlwaysThere ? '' : ' Parts of it may be empty.'}`,
      '- Types: [Tables](index.md#types).',
    ].join('\n'),
    markdownTable(
      ['column', 'type', 'meaning', ...(isOurs ? [] : ['from'])],
      columns.map(({ name: each, type, description: meaning, from = '' }) => [
        `\`${each}\``,
        type === 'value' ? 'as sent' : type,
        asSentence(meaning),
        ...(isOurs ? [] : [from]),
      ]),
    ),
    ...(isOurs ? [] : ['An empty cell under "from" means the field of the same name.']),
  );
}
