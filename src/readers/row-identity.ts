import { ID_SPACES, idSpaces } from '../domain/provider.js';
import type { Column, Row, RowIdentity, Table } from './table.js';

/** The columns by whose cells a line is known again: the first of these whose cells are all filled; the last in any case. */
export const keyColumns = (row: Row, { columns, within }: RowIdentity): readonly string[] => {
  const chosen = columns.find((names) => names.every((name) => isFilled(row[name]))) ?? columns.at(-1) ?? [];
  return within === undefined ? chosen : [within, ...chosen];
};

const isFilled = (cell: string | null | undefined): boolean => cell !== null && cell !== undefined && cell !== '';

/** The same for two lines that are one item. */
export const rowKey = (row: Row, knownBy: RowIdentity): string =>
  keyColumns(row, knownBy)
    .map((column) => `${column}=${row[column] ?? '\u{0}'}`)
    .join('\u{1}');

/** Whose it is (a report is not whose, but what), where it stands and which answer it came with is not what a line says. */
const NO_CONTENT: ReadonlySet<string> = new Set([
  ...ID_SPACES.flatMap((space) => (space === 'report' ? [] : idSpaces[space].column)),
  'position',
  'operation',
  'fetched_at',
  'raw_sha256',
]);

/** The columns of a table that are compared. Of people's e-mail and phone nothing is kept. */
export function comparedColumns({ columns, knownBy }: Pick<Table, 'columns' | 'knownBy'>): readonly Column[] {
  if (knownBy === undefined) return [];
  const left = new Set<string>([...NO_CONTENT, ...(knownBy.besides ?? []), ...alwaysKeys(knownBy)]);
  return columns.filter(({ name, contact }) => contact !== true && !left.has(name));
}

/** Cells by which a line is known again in any case: two that differ in them are two items. */
const alwaysKeys = ({ columns: [first = [], ...others] }: RowIdentity): readonly string[] =>
  first.filter((column) => others.every((columns) => columns.includes(column)));

/** What can be named as a change: a table whose lines come and go, and each column that is compared. */
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
