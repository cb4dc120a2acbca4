import type { ExactJson, JsonObject } from '../../util/exact-json.js';
import type { Cell, Table } from '../table.js';
import { type BodyPath, memberOf } from './open-answer.js';
import type { Members } from './read-fields.js';

/** The company of a list: its ID in one space, or in both if the row knows both. */
export interface SubjectIds {
  readonly v1: string | null;
  readonly v2: string | null;
}

export interface ListOf extends SubjectIds {
  /** Items on earlier pages. */
  readonly offset: number;
}

export interface ListRead {
  /** Number of items. Null if the list did not come (V1-22). */
  readonly count: number | null;
  /** Items that are no records, which the caller keeps in `extra`. */
  readonly odd: ExactJson[];
}

export function eachItem(
  list: ExactJson | undefined,
  { offset }: Pick<ListOf, 'offset'>,
  path: BodyPath,
  use: (item: JsonObject, position: string, at: BodyPath) => void,
): ListRead {
  const items = path.list(list);
  const odd: ExactJson[] = [];
  if (items === undefined) return { count: null, odd: list === undefined || list === null ? odd : [list] };
  for (const [index, item] of items.entries()) {
    const at = path.at(index);
    const object = at.object(item);
    if (object !== undefined) {
      use(object, String(offset + index + 1), at);
    } else {
      odd.push(item);
      if (item === null) at.unexpected('an object', item);
    }
  }
  return { count: items.length, odd };
}

/** The same, and records that the list came. */
export function noted(read: ListRead, table: Table, { out }: BodyPath): ListRead {
  if (read.count !== null) out.noteCame(table);
  return read;
}

/** Unread items under the name of their list. */
export const unreadItems = (name: string, odd: ExactJson[]): Members => (odd.length === 0 ? [] : [[name, odd]]);

/** A list that came empty or as null: no row shows that it came. */
export const emptyOf = (name: string, list: ExactJson | undefined): Members =>
  list === null || (Array.isArray(list) && list.length === 0) ? [[name, list]] : [];

/** The part of a list member that no row shows: items that are no records, or the member in another form. */
export function unreadMembers(object: JsonObject, name: string, { odd }: ListRead): Members {
  const value = memberOf(object, name);
  if (value === undefined) return [];
  return Array.isArray(value) ? unreadItems(name, odd) : [[name, value]];
}

/** A count cell: empty if the list did not come, 0 if it came empty. */
export const countCell = ({ count }: Pick<ListRead, 'count'>): Cell => (count === null ? null : String(count));
