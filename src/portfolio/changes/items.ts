import type { ChangeKey } from '../../domain/change.js';
import type { KnownBy, Row } from '../../readers/table.js';

/** Two lines that are one item: a side that is undefined has none. */
export interface ItemPair {
  readonly key: ChangeKey;
  readonly old: Row | undefined;
  readonly new: Row | undefined;
}

/**
 * The items of two lists, known again by their keys and not by their places. Those of the new list come first, in its order,
 * then those that are gone. Of several items with one key those that say the same belong together; the rest by their order.
 */
export function pairItems(
  before: readonly Row[],
  now: readonly Row[],
  knownBy: KnownBy,
  isSame: (a: Row, b: Row) => boolean,
): readonly ItemPair[] {
  const groups = new Map<string, Group>();
  const groupOf = (row: Row): Group => {
    const columns = keyColumns(row, knownBy);
    const name = columns.map((column) => `${column}=${row[column] ?? '\u{0}'}`).join('\u{1}');
    const found = groups.get(name) ?? { columns, old: [], new: [] };
    groups.set(name, found);
    return found;
  };
  for (const row of now) groupOf(row).new.push(row);
  for (const row of before) groupOf(row).old.push(row);
  const pairs = [...groups.values()].flatMap((group) => pairGroup(group, isSame));
  return [...pairs.filter((pair) => pair.new !== undefined), ...pairs.filter((pair) => pair.new === undefined)];
}

interface Group {
  readonly columns: readonly string[];
  readonly old: Row[];
  readonly new: Row[];
}

const isFilled = (cell: string | null | undefined): boolean => cell !== null && cell !== undefined && cell !== '';

const keyColumns = (row: Row, { columns, within }: KnownBy): readonly string[] => {
  const chosen = columns.find(([first = '']) => isFilled(row[first])) ?? columns.at(-1) ?? [];
  return within === undefined ? chosen : [within, ...chosen];
};

function pairGroup(group: Group, isSame: (a: Row, b: Row) => boolean): readonly ItemPair[] {
  const [old, now] = [group.old, group.new];
  const left = now.slice();
  const partners = old.map((row) => {
    if (old.length > MANY) return left.shift();
    const at = left.findIndex((other) => isSame(row, other));
    return at < 0 ? undefined : left.splice(at, 1)[0];
  });
  const pairs = old.map((row, index) => ({
    key: keyOf(group, row, index),
    old: row,
    new: partners[index] ?? left.shift(),
  }));
  const added = left.map((row, index) => ({ key: keyOf(group, row, old.length + index), old: undefined, new: row }));
  return [...pairs, ...added];
}

/** So many items with one key tell nothing apart: they are taken as they stand. */
const MANY = 100;

/** The first of its kind has no number: most are the only one. */
const keyOf = ({ columns }: Group, row: Row, index: number): ChangeKey => ({
  ...Object.fromEntries(columns.map((column) => [column, row[column] ?? null])),
  ...(index === 0 ? {} : { copy: index + 1 }),
});
