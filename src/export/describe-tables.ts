import { type Column, column, type Table, withFurther } from '../readers/table.js';
import type { Marks } from '../util/marked-part.js';
import { parquetColumns } from './formats/parquet-file.js';
import { resultsTable } from './results-table.js';
import { rowsTable } from './run-tables.js';
import { sideTables, tables } from './tables.js';

/** Around the tables in `docs/tables.md`. */
export const TABLE_REFERENCE: Marks = {
  start: '<!-- tables: written by `npx tsx src/export/write-reference.ts` -->',
  end: '<!-- end of tables -->',
};

export const describeTables = (declared: readonly Table[] = tables): string =>
  [...declared.map(describeTable), BESIDE_RUNS, ...sideTables.map(describeTable)].join('\n');

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
    ...withFurther(table, table.columns, table === rowsTable ? [INPUT] : table === resultsTable ? [OWN_INPUT] : []).map(
      (item) => describeColumn(item, table.source === 'ledger' ? 'the ledger' : 'the field of that name'),
    ),
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
