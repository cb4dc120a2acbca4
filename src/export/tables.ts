import { readers } from '../readers/list.js';
import type { Reader } from '../readers/reader.js';
import { type Table, withCompanyKey } from '../readers/table.js';
import { allowancesTable } from './allowances-table.js';
import { entitiesTable, relationsTable } from './graph.js';
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

const LINES = [rowsTable, resultsTable] as const;

const ABOUT_THE_RUN = [
  entitiesTable,
  relationsTable,
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

/** Several readers may write to one table. Two tables of one name would be one file. All are about companies. */
export function boughtTables(from: readonly Reader[]): readonly Table[] {
  const tables = [...new Set(from.flatMap((reader): readonly Table[] => reader.tables))].map(withCompanyKey);
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
