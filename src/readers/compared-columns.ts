import { ID_SPACES, idSpaces } from '../domain/id-spaces.js';
import type { Column, KnownBy, Table } from './table.js';

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
const alwaysKeys = ({ columns: [first = [], ...others] }: KnownBy): readonly string[] =>
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
