import type { CsvOptions } from './csv-file.js';
import { parquetColumns } from './parquet-file.js';
import type { Column, ColumnType, Table } from './table.js';
import type { FileFacts } from './table-file.js';

/** A file or files of one table in one format, relative to the folder. */
export interface Resource {
  readonly table: Table;
  readonly columns: readonly Column[];
  readonly format: 'csv' | 'parquet';
  readonly files: readonly FileFacts[];
}

export interface PackageFacts {
  readonly run: string;
  readonly exportedAt: string;
  readonly version: string;
  readonly csv: CsvOptions;
}

/** The Frictionless description of an export (Data Package 2.0). */
export function dataPackage(resources: readonly Resource[], facts: PackageFacts) {
  return {
    $schema: 'https://datapackage.org/profiles/2.0/datapackage.json',
    name: `kybatch-${facts.run.toLowerCase().replace(/[^-a-z0-9._/]/g, '-')}`,
    title: `Export of run ${facts.run}`,
    description:
      'Numbers are the provider’s own digits. An empty field means that nothing was returned; it is never a no. Text that a spreadsheet would run as a formula has an apostrophe in front (CSV only).',
    created: facts.exportedAt,
    version: facts.version,
    resources: resources.filter(({ files }) => files.length > 0).map((resource) => describeResource(resource, facts)),
  };
}

function describeResource({ table, columns, format, files }: Resource, { csv }: PackageFacts) {
  const [first] = files;
  const common = {
    name: format === 'csv' ? table.name : `${table.name}-parquet`,
    path: files.length === 1 && first !== undefined ? first.path : files.map(({ path }) => path),
    title: table.name,
    description: `One row per ${table.onePer}. ${table.description}`,
    ...(files.length === 1 && first !== undefined ? { bytes: first.bytes, hash: `sha256:${first.sha256}` } : {}),
  };
  if (format === 'parquet') {
    return {
      ...common,
      format: 'parquet',
      mediatype: 'application/vnd.apache.parquet',
      schema: schemaOf(table, columns, true),
    };
  }
  return {
    ...common,
    type: 'table',
    format: 'csv',
    mediatype: 'text/csv',
    encoding: 'utf-8',
    dialect: { delimiter: csv.delimiter, lineTerminator: '\r\n', quoteChar: '"', doubleQuote: true, header: true },
    schema: schemaOf(table, columns, false),
  };
}

function schemaOf(table: Table, columns: readonly Column[], parquet: boolean) {
  const fields = columns.flatMap(({ name, type, description }) => [
    { name, type: parquet && type === 'number' ? 'string' : FIELD_TYPES[type], description },
    ...(parquet && hasDecimal(columns, name)
      ? [
          {
            name: `${name}_decimal`,
            type: 'number',
            description: `${name} as a number, where DECIMAL(38, 10) holds it exactly`,
          },
        ]
      : []),
  ]);
  const key = table.keyAlwaysThere ? { primaryKey: table.key } : { uniqueKeys: [table.key] };
  return { fields, missingValues: [''], ...key };
}

const hasDecimal = (columns: readonly Column[], name: string) =>
  parquetColumns(columns.filter((item) => item.name === name)).length > 1;

const FIELD_TYPES: Readonly<Record<ColumnType, string>> = {
  text: 'string',
  id: 'string',
  scalar: 'string',
  value: 'string',
  json: 'string',
  number: 'number',
  integer: 'integer',
  boolean: 'boolean',
  date: 'date',
  timestamp: 'datetime',
};
