// All tables of an export.

import { readers } from '../readers/list.js';
import { prospectsTable } from '../readers/prospects.js';
import type { Reader } from '../readers/reader.js';
import { type Column, column, insertColumns, type Table } from '../readers/table.js';
import { vocabulariesTable } from '../readers/vocabulary.js';
import type { Marks } from '../util/marked-part.js';
import { allowancesTable } from './allowances-table.js';
import { parquetColumns } from './formats/parquet.js';
import { resultsTable } from './results-table.js';
import {
  callsTable,
  candidatesTable,
  changesTable,
  errorsTable,
  membersTable,
  rowsTable,
  watchEventsTable,
} from './run-tables.js';

/** The input rows: for programs, and for people. */
const LINES = [rowsTable, resultsTable] as const;

const ABOUT_THE_RUN = [
  membersTable,
  changesTable,
  watchEventsTable,
  candidatesTable,
  callsTable,
  allowancesTable,
  errorsTable,
] as const;

/** Every table of an export: the input rows, the data, and the events. */
export function tablesOf(from: readonly Reader[]): readonly Table[] {
  const bought = boughtTables(from);
  const last = bought.filter(({ listedLast }) => listedLast === true);
  return [...LINES, ...bought.filter((table) => !last.includes(table)), ...ABOUT_THE_RUN, ...last];
}

/** Several readers may write to one table. Two tables of one name would be one file. */
export function boughtTables(from: readonly Reader[]): readonly Table[] {
  const tables = [...new Set(from.flatMap((reader) => reader.tables))];
  const names: readonly string[] = [...LINES, ...ABOUT_THE_RUN, ...tables].map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new TypeError(`two tables are declared with the name ${twice}`);
  return tables;
}

export type TableName =
  | (typeof readers)[number]['tables'][number]['name']
  | (typeof ABOUT_THE_RUN)[number]['name']
  | (typeof LINES)[number]['name'];

export const tables: readonly Table[] = tablesOf(readers);

/** Tables without a run: a command writes each into its own folder. */
const standaloneTables: readonly Table[] = [prospectsTable, vocabulariesTable];

/** The marks around the tables in `docs/tables.md`. */
export const TABLE_REFERENCE: Marks = {
  start: '<!-- tables: written by `npx tsx src/export/write-reference.ts` -->',
  end: '<!-- end of tables -->',
};

export const describeTables = (declared: readonly Table[] = tables): string =>
  [...declared.map(describeTable), BESIDE_RUNS, ...standaloneTables.map(describeTable)].join('\n');

const BESIDE_RUNS = `## Tables that no run has

They are about no company of a run, so no export has them: \`kybatch prospect\` and \`kybatch vocab --out DIR\` write each into
a folder of its own, in the same formats, with \`datapackage.json\` and \`summary.json\` ([Prospecting](prospecting.md)).
`;

const INPUT = column('input_…', 'text', 'One for each column of the input, as written', 'the input');

const OWN_INPUT = column('…', 'text', 'Each column of the input under its own name, as written', 'the input');

function describeTable(table: Table): string {
  const key = table.key.map((name) => `\`${name}\``).join(', ');
  return [
    `### ${table.name}`,
    '',
    `One row per ${table.onePer}. ${table.description}`,
    '',
    `Source: ${table.source}. Key: ${key}${table.keyAlwaysThere ? '' : ' (a part of it may be empty)'}.`,
    '',
    '| column | CSV | Parquet | meaning | from |',
    '|---|---|---|---|---|',
    ...insertColumns(
      table,
      table.columns,
      table === rowsTable ? [INPUT] : table === resultsTable ? [OWN_INPUT] : [],
    ).map((item) => describeColumn(item, table.source === 'ledger' ? 'the ledger' : 'the field of that name')),
    '',
  ].join('\n');
}

function describeColumn(item: Column, usually: string): string {
  const parquet = parquetColumns([item])
    .map(({ name, type }) => (name === item.name ? type : `\`${name}\` ${type}`))
    .join(', ');
  const from = item.from ?? usually;
  return `| \`${item.name}\` | ${item.type === 'value' ? 'as sent' : item.type} | ${parquet} | ${item.description} | ${from} |`;
}
