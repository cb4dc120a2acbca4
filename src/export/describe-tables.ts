import type { Column, Table } from '../readers/table.js';
import { parquetColumns } from './formats/parquet-file.js';
import { tables } from './tables.js';

/** The table reference of `docs/tables.md`, between its two markers. */
export const REFERENCE_START = '<!-- tables: written by `npx tsx src/export/write-reference.ts` -->';
export const REFERENCE_END = '<!-- end of tables -->';

export const describeTables = (declared: readonly Table[] = tables): string => declared.map(describeTable).join('\n');

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
    ...table.columns.map((item) =>
      describeColumn(item, table.source === 'ledger' ? 'the ledger' : 'the field of that name'),
    ),
    ...(table.name === 'rows'
      ? ['| `input_…` | text | VARCHAR | One for each column of the input, as written | the input |']
      : []),
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
