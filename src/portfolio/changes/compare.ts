import type { FieldDifference, ItemChange } from '../../domain/change.js';
import { comparedColumns } from '../../readers/compared-columns.js';
import type { KnownBy, Row, Table } from '../../readers/table.js';
import { differencesOf, isSameContent } from './fields.js';
import { type ItemPair, pairItems } from './items.js';
import type { Part, State } from './state.js';

/**
 * What a state says otherwise than the one before it, item by item. What has not come this time is not compared: that a
 * list is missing says nothing about what was in it (V1-22).
 */
export const compareStates = (before: State, now: State): readonly ItemChange[] =>
  [...now].flatMap(([name, part]) => comparePart(part.table, before.get(name), part));

const NEVER_CAME: readonly [] = [];

function comparePart(table: Table, before: Part | undefined, now: Part): readonly ItemChange[] {
  const { knownBy } = table;
  if (knownBy === undefined) return [];
  const columns = comparedColumns(table);
  const old = before?.rows ?? NEVER_CAME;
  const pairs = pairItems(old, now.rows, knownBy, (a, b) => isSameContent(columns, a, b));
  const originOf = (from?: Row, to?: Row): Origin => ({
    ...(before === undefined ? {} : { oldRawSha256: holderOf(before, from) }),
    newRawSha256: holderOf(now, to),
  });
  const items = pairs.flatMap((pair) => {
    // What the key says is not said twice.
    const fields = differencesOf(columns, pair.old, pair.new).filter(
      (field) =>
        !Object.hasOwn(pair.key, field.column) && !isBesides(field.column, knownBy) && isSaid(field, pair, knownBy),
    );
    return kindOf(pair) === 'changed' && fields.length === 0
      ? []
      : [{ table: table.name, key: pair.key, kind: kindOf(pair), fields, ...originOf(pair.old, pair.new) }];
  });
  const news = before === undefined || knownBy.news === undefined ? [] : newsOf(knownBy.news, before, now);
  return [...news.map((field) => newsItem(table.name, field, originOf())), ...items];
}

type Origin = Pick<ItemChange, 'oldRawSha256' | 'newRawSha256'>;

/**
 * The raw answer that a line is from: of a list on several pages that is one of them, and the first for who is on none. The one
 * line of a company is from several answers: what has changed in it stands in the one that is compared.
 */
const holderOf = ({ table: { knownBy }, rows, rawSha256 }: Part, row: Row | undefined): string =>
  (knownBy?.single === true ? null : (row ?? rows[0])?.raw_sha256) ?? rawSha256;

/** A name that came twice has a number behind it. */
const isBesides = (column: string, { besidesInExtra = [] }: KnownBy): boolean =>
  besidesInExtra.some((name) => column.startsWith('extra.') && column.slice(6).replace(/_\d+$/, '') === name);

/** What another operation, or an answer of some kinds, does not return has not gone. */
function isSaid(field: FieldDifference, { old, new: now }: ItemPair, { origin, saidBySome = [] }: KnownBy): boolean {
  if (old === undefined || now === undefined || (field.old !== null && field.new !== null)) return true;
  const isOfAnother = origin !== undefined && old[origin] !== now[origin];
  return !isOfAnother && !saidBySome.includes(field.column);
}

const kindOf = (pair: ItemPair): ItemChange['kind'] =>
  pair.old === undefined ? 'added' : pair.new === undefined ? 'removed' : 'changed';

/** Cells that no line had before, and those that none has any more. */
function newsOf(column: string, before: Part, now: Part): readonly FieldDifference[] {
  const cellsOf = ({ rows }: Part) => new Set(rows.map((row) => row[column] ?? null));
  const [old, current] = [cellsOf(before), cellsOf(now)];
  return [
    ...[...current].filter((cell) => !old.has(cell)).map((cell) => ({ column, old: null, new: cell })),
    ...[...old].filter((cell) => !current.has(cell)).map((cell) => ({ column, old: cell, new: null })),
  ];
}

/** Not an item: its key names the cell alone. */
const newsItem = (table: string, field: FieldDifference, origin: Origin): ItemChange => ({
  table,
  key: { [field.column]: field.new ?? field.old },
  kind: 'changed',
  fields: [field],
  ...origin,
});
