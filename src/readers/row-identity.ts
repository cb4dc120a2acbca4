import { ID_SPACES, idSpaces } from '../domain/provider.js';
import type { Column, Row, RowIdentity, Table } from './table.js';

/** The columns that identify a row: the first set whose cells are all filled, else the last set. */
export const keyColumns = (row: Row, { columns, within }: RowIdentity): readonly string[] => {
  const chosen = columns.find((names) => names.every((name) => isFilled(row[name]))) ?? columns.at(-1) ?? [];
  return within === undefined ? chosen : [within, ...chosen];
};

const isFilled = (cell: string | null | undefined): boolean => cell !== null && cell !== undefined && cell !== '';

/** The key, which is equal for two rows of the same item. */
export const rowKey = (row: Row, knownBy: RowIdentity): string =>
  keyColumns(row, knownBy)
    .map((column) => `${column}=${row[column] ?? '\u{0}'}`)
    .join('\u{1}');

/** Columns that say whose a row is, its position and its origin are no content. The report ID is content. */
const NO_CONTENT: ReadonlySet<string> = new Set([
  ...ID_SPACES.flatMap((space) => (space === 'report' ? [] : idSpaces[space].column)),
  'position',
  'operation',
  'fetched_at',
  'raw_sha256',
]);

/** The columns of a table that are compared. E-mail addresses and phone numbers of people are never stored. */
export function comparedColumns({ columns, knownBy }: Pick<Table, 'columns' | 'knownBy'>): readonly Column[] {
  if (knownBy === undefined) return [];
  const left = new Set<string>([...NO_CONTENT, ...(knownBy.besides ?? []), ...alwaysKeys(knownBy)]);
  return columns.filter(({ name, contact }) => contact !== true && !left.has(name));
}

/** Columns that always identify a row: two rows that differ in them are two items. */
const alwaysKeys = ({ columns: [first = [], ...others] }: RowIdentity): readonly string[] =>
  first.filter((column) => others.every((columns) => columns.includes(column)));

/** The names of possible changes: each table with rows that come and go, and each compared column. */
export const changeNames = (tables: readonly Table[]): readonly string[] =>
  tables.flatMap(({ name, columns, knownBy }) => {
    if (knownBy === undefined) return [];
    const compared = comparedColumns({ columns, knownBy }).flatMap((column) =>
      column.name === 'extra' ? [] : column.name,
    );
    const named = [...compared, ...(knownBy.news === undefined ? [] : [knownBy.news])].map(
      (column) => `${name}.${column}`,
    );
    return knownBy.single === true ? named : [name, ...named];
  });
