import type { ChangeKey } from '../../domain/change.js';
import { keyColumns, knownAs } from '../../readers/known-again.js';
import type { KnownBy, Row } from '../../readers/table.js';

/** Two lines that are one item: a side that is undefined has none. */
export interface ItemPair {
  readonly key: ChangeKey;
  readonly old: Row | undefined;
  readonly new: Row | undefined;
}

/**
 * The items of two lists that may differ, known again by their keys and not by their places. Those of the new list come
 * first, in its order, then those that are gone. Of several items with one key those that say the same belong together; the
 * rest by their order.
 */
export function pairItems(
  before: readonly Row[],
  now: readonly Row[],
  knownBy: KnownBy,
  isSame: (a: Row, b: Row) => boolean,
): readonly ItemPair[] {
  const keys = [...new Set([...(knownBy.within === undefined ? [] : [knownBy.within]), ...knownBy.columns.flat()])];
  const isSameItem = (a: Row, b: Row | undefined): boolean =>
    b !== undefined && keys.every((column) => a[column] === b[column]) && isSame(a, b);
  // Most stand where they stood, and say what they said.
  const differs = before.map((row, index) => !isSameItem(row, now[index]));
  const groups = new Map<string, Group>();
  for (const [index, row] of now.entries()) if (differs[index] !== false) groupOf(row, knownBy, groups).new.push(row);
  for (const [index, row] of before.entries()) if (differs[index] === true) groupOf(row, knownBy, groups);
  if (groups.size === 0) return [];
  for (const [index, row] of before.entries())
    groups.get(knownAs(row, knownBy))?.before.push({ row, differs: differs[index] === true });
  const pairs = [...groups.values()].flatMap((group) => pairGroup(group, isSame));
  return [...pairs.filter((pair) => pair.new !== undefined), ...pairs.filter((pair) => pair.new === undefined)];
}

/** Items with one key. */
interface Group {
  /** What is told of them: where they are from, and what they are known by. */
  readonly columns: readonly string[];
  /** All that there were, those that are as they were included: they are counted. */
  readonly before: { readonly row: Row; readonly differs: boolean }[];
  readonly new: Row[];
}

function groupOf(row: Row, knownBy: KnownBy, groups: Map<string, Group>): Group {
  const name = knownAs(row, knownBy);
  const { origin } = knownBy;
  const columns = [...(origin === undefined ? [] : [origin]), ...keyColumns(row, knownBy)];
  const found = groups.get(name) ?? { columns, before: [], new: [] };
  groups.set(name, found);
  return found;
}

function pairGroup(group: Group, isSame: (a: Row, b: Row) => boolean): readonly ItemPair[] {
  const left = group.new.slice();
  const old = group.before.flatMap(({ row, differs }, index) => (differs ? [{ row, index }] : []));
  const partners = old.map(({ row }) => {
    if (old.length > MANY) return left.shift();
    const at = left.findIndex((other) => isSame(row, other));
    return at < 0 ? undefined : left.splice(at, 1)[0];
  });
  const pairs = old.map(({ row, index }, at) => {
    const now = partners[at] ?? left.shift();
    return { key: keyOf(group, now ?? row, index), old: row, new: now };
  });
  const further = group.before.length;
  return [...pairs, ...left.map((row, at) => ({ key: keyOf(group, row, further + at), old: undefined, new: row }))];
}

/** So many items with one key tell nothing apart: they are taken as they stand. */
const MANY = 100;

/** The first of its kind has no number: most are the only one. */
const keyOf = ({ columns }: Group, row: Row, index: number): ChangeKey => ({
  ...Object.fromEntries(columns.map((column) => [column, row[column] ?? null])),
  ...(index === 0 ? {} : { copy: index + 1 }),
});
