// Compares two answers about a company, item by item, skipping the parts that are equal.

import { hash } from 'node:crypto';
import type { ChangeKey, FieldDifference, ItemChange } from '../../domain/change.js';
import {
  type RawAnswer,
  type Reader,
  type ReaderOutput,
  readSubject,
  type SubjectAnswers,
} from '../../readers/reader.js';
import { comparedColumns, keyColumns, rowKey } from '../../readers/row-identity.js';
import type { Cell, Column, Row, RowIdentity, Table } from '../../readers/table.js';
import { parseExact, plainDecimal, stringifyExact } from '../../util/exact-json.js';
import { type MemberRange, scanJson } from '../../util/json-scan.js';
import { trimEndOf } from '../../util/text-limits.js';

/** The answers about a subject when one of them was the newest. */
export interface AsOf extends SubjectAnswers {
  readonly rawSha256: string | null;
}

interface StatePair {
  readonly old: State;
  readonly now: State;
}

/** Reads two answers, or the part needed to compare them. Undefined if one is missing or unreadable. */
export function readPair(reader: Reader, old: AsOf, now: AsOf): StatePair | undefined {
  const [before, after] = [answerOf(old), answerOf(now)];
  if (before === undefined || after === undefined) return undefined;
  const kept = reader.apart?.[after.operation];
  if (kept === undefined || sharesLists(reader, after.operation, now.answers)) return readBoth(reader, old, now);
  const [oldBody, newBody] = withoutSame(before.body, after.body, kept);
  const pair = readBoth(reader, withBody(old, oldBody), withBody(now, newBody));
  // Missing parts are taken from earlier answers, in which other parts are equal.
  return pair === undefined || hasAllParts(pair.old, pair.now) ? pair : readBoth(reader, old, now);
}

/** Beside answers to other operations a list may now come from another one, even if both bodies are equal. */
export const sharesLists = (
  { sharing = [] }: Reader,
  operation: string,
  answers: readonly Pick<RawAnswer, 'operation'>[],
): boolean =>
  sharing.includes(operation) && answers.some((one) => one.operation !== operation && sharing.includes(one.operation));

function readBoth(reader: Reader, old: AsOf, now: AsOf): StatePair | undefined {
  const [before, after] = [readState(reader, old), readState(reader, now)];
  return before === undefined || after === undefined ? undefined : { old: before, now: after };
}

/** People's e-mail and phone are not compared: they are only in the raw answers. */
export function readState(reader: Reader, { rawSha256, ...subject }: AsOf): State | undefined {
  if (rawSha256 === null || answerOf({ ...subject, rawSha256 }) === undefined) return undefined;
  const out = readSubject(reader, subject, false);
  return out.issues.some(({ unread }) => unread === true) ? undefined : stateOf(reader, out, rawSha256);
}

const answerOf = ({ answers, rawSha256 }: AsOf): RawAnswer | undefined =>
  answers.find((answer) => answer.rawSha256 === rawSha256);

const withBody = (asOf: AsOf, body: Buffer): AsOf => ({
  ...asOf,
  answers: asOf.answers.map((answer) => (answer.rawSha256 === asOf.rawSha256 ? { ...answer, body } : answer)),
});

/** The lines of one table that came together, and their raw answer. */
interface Part {
  readonly table: Table;
  readonly rows: readonly Row[];
  readonly rawSha256: string;
}

/** A company's data at one moment, by table and part. Parts that did not come are absent. */
export type State = ReadonlyMap<string, Part>;

/** The state after a reader has read answers of which this is the newest. */
export function stateOf({ tables }: Pick<Reader, 'tables'>, out: ReaderOutput, rawSha256: string): State {
  const state = new Map<string, Part>();
  for (const table of tables) {
    if (table.knownBy === undefined) continue;
    const rows = out.shownOf(table);
    const { within } = table.knownBy;
    for (const together of out.came.get(table.name) ?? []) {
      const own = within === undefined ? rows : rows.filter((row) => row[within] === together);
      state.set(`${table.name} ${together}`, { table, rows: own, rawSha256 });
    }
  }
  return state;
}

/** The newer parts, and the older ones that did not come again. */
export const carriedOver = (before: State, since: State): State => new Map([...before, ...since]);

export const hasAllParts = (before: State, since: State): boolean =>
  [...since.keys()].every((name) => before.has(name));

/**
 * Removes members that are equal in both bodies, byte by byte: most of a record is unchanged and need not be read.
 * `kept` stay. If none must stay, one does, because an empty body would mean something else.
 */
function withoutSame(old: Buffer, now: Buffer, kept: readonly string[]): readonly [Buffer, Buffer] {
  const [before, after] = [membersOf(old), membersOf(now)];
  if (before === undefined || after === undefined) return [old, now];
  const same = [...after].flatMap(([name, range]) => {
    const other = before.get(name);
    return other !== undefined && isSame(old, other, now, range) ? [name] : [];
  });
  const dropped = new Set(kept.length > 0 ? same.filter((name) => !kept.includes(name)) : same.slice(1));
  return dropped.size === 0 ? [old, now] : [without(old, before, dropped), without(now, after, dropped)];
}

type Members = ReadonlyMap<string, MemberRange>;

/** Undefined for anything but a complete object. */
function membersOf(body: Buffer): Members | undefined {
  try {
    const shell = scanJson(body);
    return shell.kind === 'object' ? shell.members : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

const isSame = (a: Buffer, { start, end }: MemberRange, b: Buffer, other: MemberRange): boolean =>
  end - start === other.end - other.start && a.compare(b, other.start, other.end, start, end) === 0;

function without(body: Buffer, members: Members, dropped: ReadonlySet<string>): Buffer {
  const left = [...members].filter(([name]) => !dropped.has(name));
  const parts = left.map(([name, { start, end }]) => `${JSON.stringify(name)}:${body.toString('utf8', start, end)}`);
  return Buffer.from(`{${parts.join(',')}}`);
}

/** Parts that did not come this time are not compared: a missing list says nothing about its items (V1-22). */
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
    // Values of the key are not repeated.
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
 * The raw answer of a line: for a paged list its page, or the first page for a missing line. A company's single line
 * comes from several answers, so the compared answer counts.
 */
const holderOf = ({ table: { knownBy }, rows, rawSha256 }: Part, row: Row | undefined): string =>
  (knownBy?.single === true ? null : (row ?? rows[0])?.raw_sha256) ?? rawSha256;

/** A repeated name has a number at its end. */
const isBesides = (column: string, { besidesInExtra = [] }: RowIdentity): boolean =>
  besidesInExtra.some((name) => column.startsWith('extra.') && column.slice(6).replace(/_\d+$/, '') === name);

/** A value that another operation or kind of answer never returns has not been removed. */
function isSaid(
  field: FieldDifference,
  { old, new: now }: ItemPair,
  { origin, saidBySome = [] }: RowIdentity,
): boolean {
  if (old === undefined || now === undefined || (field.old !== null && field.new !== null)) return true;
  const isOfAnother = origin !== undefined && old[origin] !== now[origin];
  return !isOfAnother && !saidBySome.includes(field.column);
}

const kindOf = (pair: ItemPair): ItemChange['kind'] =>
  pair.old === undefined ? 'added' : pair.new === undefined ? 'removed' : 'changed';

/** Values that no line had before, and values that none has any more. */
function newsOf(column: string, before: Part, now: Part): readonly FieldDifference[] {
  const cellsOf = ({ rows }: Part) => new Set(rows.map((row) => row[column] ?? null));
  const [old, current] = [cellsOf(before), cellsOf(now)];
  return [
    ...[...current].filter((cell) => !old.has(cell)).map((cell) => ({ column, old: null, new: cell })),
    ...[...old].filter((cell) => !current.has(cell)).map((cell) => ({ column, old: cell, new: null })),
  ];
}

/** Not an item: its key is the value alone. */
const newsItem = (table: string, field: FieldDifference, origin: Origin): ItemChange => ({
  table,
  key: { [field.column]: field.new ?? field.old },
  kind: 'changed',
  fields: [field],
  ...origin,
});

/** Longer extra fields are shown by their digest. The raw answers have them. */
const LONG = 4_000;

const isSameContent = (columns: readonly Column[], a: Row, b: Row): boolean =>
  columns.every(({ name }) => (a[name] ?? null) === (b[name] ?? null));

/** The differing fields of two lines. A missing line has none. */
function differencesOf(
  columns: readonly Column[],
  old: Row | undefined,
  now: Row | undefined,
): readonly FieldDifference[] {
  const differences: FieldDifference[] = [];
  for (const { name, type } of columns) {
    const [before, after] = [old?.[name] ?? null, now?.[name] ?? null];
    if (before === after) continue;
    if (name === 'extra') for (const difference of extraDifferences(before, after)) differences.push(difference);
    else if (isNumeric(type, old, now) && isRespelled(before, after))
      differences.push({ column: name, old: before, new: after, respelled: true });
    else differences.push({ column: name, old: before, new: after });
  }
  return differences;
}

function isNumeric(type: Column['type'], old: Row | undefined, now: Row | undefined): boolean {
  if (type === 'value') return old?.value_type === 'number' && now?.value_type === 'number';
  return type === 'number' || type === 'integer' || type === 'scalar';
}

function isRespelled(before: Cell, after: Cell): boolean {
  const plain = before === null ? null : plainDecimal(before);
  return plain !== null && after !== null && plainest(plain) === plainest(plainDecimal(after));
}

const plainest = (decimal: string | null): string | null =>
  decimal && (decimal.includes('.') ? trimEndOf(trimEndOf(decimal, '0'), '.') : decimal).replace(/^-0$/, '0');

/** Compares extra fields member by member. Null counts as absent, as in a column. */
function extraDifferences(before: Cell, after: Cell): readonly FieldDifference[] {
  const [old, now] = [extraMembersOf(before), extraMembersOf(after)];
  return [...new Set([...old.keys(), ...now.keys()])].flatMap((name) => {
    const [said, says] = [old.get(name) ?? null, now.get(name) ?? null];
    return said === says ? [] : [{ column: `extra.${name}`, old: shortened(said), new: shortened(says) }];
  });
}

function extraMembersOf(extra: Cell): ReadonlyMap<string, string> {
  const members = extra === null ? {} : parseExact(Buffer.from(extra));
  return new Map(
    Object.entries(members ?? {}).flatMap(([name, value]) => (value === null ? [] : [[name, stringifyExact(value)]])),
  );
}

const shortened = (text: string | null): string | null =>
  text !== null && text.length > LONG ? `sha256:${hash('sha256', text)}` : text;

/** The old and new line of one item. Undefined: it has none. */
interface ItemPair {
  readonly key: ChangeKey;
  readonly old: Row | undefined;
  readonly new: Row | undefined;
}

/**
 * Pairs the items of two lists by key, not by position. New items come first, in order, then removed ones. Items with
 * the same key are paired by equal content, then by order.
 */
function pairItems(
  before: readonly Row[],
  now: readonly Row[],
  knownBy: RowIdentity,
  isSame: (a: Row, b: Row) => boolean,
): readonly ItemPair[] {
  const keys = [...new Set([...(knownBy.within === undefined ? [] : [knownBy.within]), ...knownBy.columns.flat()])];
  const isSameItem = (a: Row, b: Row | undefined): boolean =>
    b !== undefined && keys.every((column) => a[column] === b[column]) && isSame(a, b);
  // Most items are unchanged, in the same position.
  const differs = before.map((row, index) => !isSameItem(row, now[index]));
  const groups = new Map<string, Group>();
  for (const [index, row] of now.entries()) if (differs[index] !== false) groupOf(row, knownBy, groups).new.push(row);
  for (const [index, row] of before.entries()) if (differs[index] === true) groupOf(row, knownBy, groups);
  if (groups.size === 0) return [];
  for (const [index, row] of before.entries())
    groups.get(rowKey(row, knownBy))?.before.push({ row, differs: differs[index] === true });
  const pairs = [...groups.values()].flatMap((group) => pairGroup(group, isSame));
  return [...pairs.filter((pair) => pair.new !== undefined), ...pairs.filter((pair) => pair.new === undefined)];
}

interface Group {
  readonly columns: readonly string[];
  /** All earlier items, including unchanged ones, because they count for the copy number. */
  readonly before: { readonly row: Row; readonly differs: boolean }[];
  readonly new: Row[];
}

function groupOf(row: Row, knownBy: RowIdentity, groups: Map<string, Group>): Group {
  const name = rowKey(row, knownBy);
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

/** Beyond this many items with one key, they are paired by order. */
const MANY = 100;

/** The first of its kind has no number, because most are unique. */
const keyOf = ({ columns }: Group, row: Row, index: number): ChangeKey => ({
  ...Object.fromEntries(columns.map((column) => [column, row[column] ?? null])),
  ...(index === 0 ? {} : { copy: index + 1 }),
});
