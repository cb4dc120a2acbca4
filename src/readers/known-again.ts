import type { KnownBy, Row } from './table.js';

/** The columns by whose cells a line is known again: the first of these whose cells are all filled; the last in any case. */
export const keyColumns = (row: Row, { columns, within }: KnownBy): readonly string[] => {
  const chosen = columns.find((names) => names.every((name) => isFilled(row[name]))) ?? columns.at(-1) ?? [];
  return within === undefined ? chosen : [within, ...chosen];
};

const isFilled = (cell: string | null | undefined): boolean => cell !== null && cell !== undefined && cell !== '';

/** The same for two lines that are one item. */
export const knownAs = (row: Row, knownBy: KnownBy): string =>
  keyColumns(row, knownBy)
    .map((column) => `${column}=${row[column] ?? '\u{0}'}`)
    .join('\u{1}');
