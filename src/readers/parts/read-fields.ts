import type { ExactJson } from '../../util/exact-json.js';
import { stringifyExact } from '../../util/exact-json-write.js';
import type { Cell, Column } from '../table.js';
import { type BodyPath, isObject, type JsonObject, memberOf } from './body-path.js';
import { readCell } from './read-cell.js';

export type CellsOf<Fields extends readonly Column[]> = { readonly [Name in Fields[number]['name']]: Cell };
export type Members = (readonly [string, ExactJson])[];

/**
 * Reads the fields that have a column. Everything else that came is handed back: nothing is dropped unless the caller
 * names it as ignored (V1-29).
 */
export function readFields<const Fields extends readonly Column[]>(
  object: JsonObject,
  fields: Fields,
  path: BodyPath,
  ignored: readonly string[] = [],
): { readonly cells: CellsOf<Fields>; readonly rest: Members } {
  const cells: Record<string, Cell> = {};
  const rest: Members = [];
  for (const { name, type } of fields) {
    const value = memberOf(object, name);
    const { cell, spill, expected } = readCell(value, type);
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

/** The `extra` column: null if nothing was left over. A name that comes twice with different values is kept twice. */
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

/** Members of a part of the record, under the part's name. */
export const nested = (name: string, rest: Members): Members =>
  rest.length === 0 ? [] : [[name, Object.fromEntries(rest)]];

export const isSame = (a: ExactJson | undefined, b: ExactJson): boolean => stringifyExact(a) === stringifyExact(b);

/**
 * With provenance fields come in groups, beside the flat ones or instead of them. The leaves are what counts: they are
 * put side by side, and a leaf that says something else than the flat field stays in its group.
 */
export function ungroup(object: JsonObject, groups: readonly string[]): JsonObject {
  if (!groups.some((name) => isObject(memberOf(object, name)))) return object;
  const flat = new Map<string, ExactJson>(Object.entries(object));
  for (const name of groups) {
    const group = flat.get(name);
    if (!isObject(group)) continue;
    const leaves = Object.entries(group);
    // It came with nothing in it: that is kept.
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
