// Reads the fields of an object into cells, and keeps the rest.

import { type ExactJson, ExactNumber, isObject, type JsonObject, stringifyExact } from '../../util/exact-json.js';
import type { Cell, Column, ColumnType } from '../table.js';
import { type BodyPath, idOf, memberOf } from './open-answer.js';

export type CellsOf<Fields extends readonly Column[]> = { readonly [Name in Fields[number]['name']]: Cell };
export type Members = (readonly [string, ExactJson])[];

/** Reads the fields with a column and returns all others: nothing is dropped unless the caller ignores it (V1-29). */
export function readFields<const Fields extends readonly Column[]>(
  object: JsonObject,
  fields: Fields,
  path: BodyPath,
  ignored: readonly string[] = [],
): { readonly cells: CellsOf<Fields>; readonly rest: Members } {
  const cells: Record<string, Cell> = {};
  const rest: Members = [];
  for (const { name, type, within } of fields) {
    const value = memberOf(object, name);
    const { cell, spill, expected } = readCell(value, type, within);
    cells[name] = cell;
    if (value === undefined) continue;
    if (expected !== undefined) path.at(name).unexpected(expected, value);
    if (spill) rest.push([name, value]);
  }
  for (const name of Object.keys(object)) {
    if (Object.hasOwn(cells, name) || ignored.includes(name)) continue;
    rest.push([name, object[name] as ExactJson]);
  }
  return { cells: cells as CellsOf<Fields>, rest };
}

/** The ID's member, if it is the expected one or absent. Another ID becomes an issue and stays in `extra`. */
export function ownId(object: JsonObject, member: string, id: string | null, path: BodyPath): readonly string[] {
  const own = memberOf(object, member) ?? null;
  if (own === null || idOf(own) === id) return [member];
  path.at(member).unexpected(id === null ? 'text or a number' : `the ID ${id}`, own);
  return [];
}

/**
 * Reads columns whose values lie in parts of an object: `company.address.zip`. A part in another form, or empty, stays
 * in `extra`.
 */
export function readNested<const Fields extends readonly Column[]>(
  object: JsonObject,
  fields: Fields,
  path: BodyPath,
  ignored: readonly string[] = [],
  placeOf = ({ name, from = name }: Column): readonly string[] => from.split('.'),
): { readonly cells: CellsOf<Fields>; readonly rest: Members } {
  const tree = treeOf.get(fields) ?? toTree(fields.map((field) => [field, placeOf(field)]));
  treeOf.set(fields, tree);
  const cells: Record<string, Cell> = {};
  const rest = readTree(object, tree, path, ignored, cells);
  return { cells: cells as CellsOf<Fields>, rest };
}

/** The columns of an object by the names of their members, and its parts. */
interface FieldTree {
  readonly fields: readonly Column[];
  readonly columns: readonly string[];
  readonly parts: readonly (readonly [name: string, tree: FieldTree])[];
}

const treeOf = new WeakMap<readonly Column[], FieldTree>();

function toTree(places: readonly (readonly [field: Column, place: readonly string[]])[]): FieldTree {
  const own = places.filter(([, place]) => place.length === 1);
  const names = [...new Set(places.filter(([, place]) => place.length > 1).map(([, [name = '']]) => name))];
  const inside = (part: string) =>
    places.flatMap(([field, [name, ...place]]) => (name === part && place.length > 0 ? [[field, place] as const] : []));
  return {
    fields: own.map(([field, [name = '']]) => ({ ...field, name })),
    columns: own.map(([field]) => field.name),
    parts: names.map((name) => [name, toTree(inside(name))]),
  };
}

function readTree(
  object: JsonObject,
  { fields, columns, parts }: FieldTree,
  path: BodyPath,
  ignored: readonly string[],
  into: Record<string, Cell>,
): Members {
  const inner = parts.map(([name, tree]) => {
    const at = path.at(name);
    const part = at.object(memberOf(object, name)) ?? {};
    return { name, tree, part, at, isFilled: Object.keys(part).length > 0 };
  });
  const read = inner.flatMap(({ name, isFilled }) => (isFilled ? [name] : []));
  const own = readFields(object, fields, path, [...ignored, ...read]);
  for (const [index, { name }] of fields.entries()) into[columns[index] as string] = own.cells[name] ?? null;
  return [
    ...own.rest,
    ...inner.flatMap(({ name, tree, part, at }) => nested(name, readTree(part, tree, at, [], into))),
  ];
}

/** The `extra` column. Null if nothing is left. A name with two different values is kept twice. */
export function extraOf(rest: Members): Cell {
  if (rest.length === 0) return null;
  const kept = new Map<string, ExactJson>();
  for (const [name, value] of rest) {
    let free = name;
    for (let copy = 2; kept.has(free) && !isSame(kept.get(free), value); copy++) free = `${name}_${copy}`;
    kept.set(free, value);
  }
  return stringifyExact(Object.fromEntries(kept));
}

export const nested = (name: string, rest: Members): Members =>
  rest.length === 0 ? [] : [[name, Object.fromEntries(rest)]];

export const isSame = (a: ExactJson | undefined, b: ExactJson): boolean => stringifyExact(a) === stringifyExact(b);

/**
 * With provenance, fields come in groups beside or instead of the flat ones. The fields of the groups are flattened,
 * and one that differs from the flat field stays in its group.
 */
export function ungroup(object: JsonObject, groups: readonly string[]): JsonObject {
  if (!groups.some((name) => isObject(memberOf(object, name)))) return object;
  const flat = new Map<string, ExactJson>(Object.entries(object));
  for (const name of groups) {
    const group = flat.get(name);
    if (!isObject(group)) continue;
    const leaves = Object.entries(group);
    if (leaves.length === 0) continue;
    const conflicts: Members = [];
    for (const [key, value] of leaves) {
      if (!flat.has(key)) flat.set(key, value);
      else if (!isSame(flat.get(key), value)) conflicts.push([key, value]);
    }
    if (conflicts.length > 0) flat.set(name, Object.fromEntries(conflicts));
    else flat.delete(name);
  }
  return Object.fromEntries(flat);
}

/** The cell of a value. A value that does not fit goes to `extra`. */
interface CellReading {
  readonly cell: Cell;
  /** The value also goes to `extra`, because the cell does not hold it. */
  readonly spill?: true;
  readonly expected?: string;
}

const NOT_RETURNED: CellReading = { cell: null };

/** Empty text instead of a number or date: not returned, but different from null. */
const EMPTY: CellReading = { cell: null, spill: true };

function readCell(value: ExactJson | undefined, type: ColumnType, within?: Column['within']): CellReading {
  if (value === undefined || value === null) return NOT_RETURNED;
  const text = value instanceof ExactNumber ? value.text : value;
  switch (type) {
    case 'text':
      if (typeof text !== 'string') return misfit('text');
      return typeof value === 'string' ? { cell: text } : { cell: text, expected: 'text' };
    case 'id':
    case 'scalar':
      return typeof text === 'string' ? { cell: text } : misfit('text or a number');
    case 'text_or_list':
      if (Array.isArray(value)) return { cell: stringifyExact(value) };
      if (typeof text !== 'string') return misfit('text or a list');
      if (typeof value !== 'string') return { cell: text, expected: 'text or a list' };
      // A text that looks like a list is marked in `extra`.
      return text.trimStart().startsWith('[') ? { cell: text, spill: true } : { cell: text };
    case 'number':
      return fits(text, NUMBER, 'a number');
    case 'integer': {
      const [least, most] = within ?? [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
      const isWithin =
        typeof text !== 'string' || !INTEGER.test(text) || (Number(text) >= least && Number(text) <= most);
      return isWithin ? fits(text, INTEGER, 'an integer') : misfit(`an integer from ${least} to ${most}`);
    }
    case 'date':
      return typeof text === 'string' && DATE.test(text) && !isDate(text)
        ? misfit('a date')
        : fits(text, DATE, 'a date (YYYY-MM-DD)');
    case 'boolean':
      if (typeof value === 'boolean') return { cell: String(value) };
      return value === '' ? EMPTY : misfit('true or false');
    case 'json':
      return { cell: stringifyExact(value) };
    default:
      throw new TypeError(`no value is read for a column of type ${type}`);
  }
}

const NUMBER = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const INTEGER = /^-?\d{1,18}$/;
const DATE = /^\d{4}-\d{2}-\d{2}$/;

const misfit = (expected: string): CellReading => ({ cell: null, spill: true, expected });

function fits(text: ExactJson, form: RegExp, expected: string): CellReading {
  if (typeof text !== 'string') return misfit(expected);
  if (form.test(text)) return { cell: text };
  return text === '' ? EMPTY : misfit(expected);
}

/** A real calendar day: a partial date (`1998-00-00`) is none. */
function isDate(text: string): boolean {
  const [year, month, day] = [Number(text.slice(0, 4)), Number(text.slice(5, 7)), Number(text.slice(8))];
  if (year === 0 || month < 1 || month > 12 || day < 1) return false;
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return day <= (month === 2 && leap ? 29 : (DAYS[month - 1] ?? 0));
}

const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** A figure as sent: its text and its JSON type (V1-23). */
export interface Value {
  readonly value: Cell;
  readonly value_type: string;
}

/** Undefined for a list or an object: the issue holds it, because no row can. */
export function readValue(value: ExactJson, path: () => BodyPath): Value | undefined {
  const read = readLeaf(value);
  if (read === undefined) path().left('a number, text, true, false or null', value);
  return read;
}

export function readLeaf(value: ExactJson): Value | undefined {
  if (value instanceof ExactNumber) return { value: value.text, value_type: 'number' };
  if (typeof value === 'string') return { value, value_type: 'string' };
  if (value === null) return { value: null, value_type: 'null' };
  if (typeof value === 'boolean') return { value: String(value), value_type: 'boolean' };
  return undefined;
}
