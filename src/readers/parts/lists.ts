import type { ExactJson } from '../../util/exact-json.js';
import type { Cell, Table } from '../table.js';
import { type BodyPath, type JsonObject, memberOf } from './open-answer.js';
import type { Members } from './read-fields.js';

/** Whose it is: an ID of one of the two spaces, or of both where the row knows both. */
export interface SubjectIds {
  readonly v1: string | null;
  readonly v2: string | null;
}

export interface ListOf extends SubjectIds {
  /** Items on earlier pages. */
  readonly offset: number;
}

export interface ListRead {
  /** How many came; null if the list did not come at all (V1-22). */
  readonly count: number | null;
  /** What is no record: whoever reads the list keeps it in `extra`. */
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

/** The same, and that it came is kept in mind. */
export function noted(read: ListRead, table: Table, { out }: BodyPath): ListRead {
  if (read.count !== null) out.noteCame(table);
  return read;
}

/** What was left over, under the name of its list. */
export const unreadItems = (name: string, odd: ExactJson[]): Members => (odd.length === 0 ? [] : [[name, odd]]);

/** A list that came with nothing in it, or as null: no line shows that it came at all. */
export const emptyOf = (name: string, list: ExactJson | undefined): Members =>
  list === null || (Array.isArray(list) && list.length === 0) ? [[name, list]] : [];

/** What no line of a member that holds a list shows: items that are no records, or the member in another form. */
export function unreadMembers(object: JsonObject, name: string, { odd }: ListRead): Members {
  const value = memberOf(object, name);
  if (value === undefined) return [];
  return Array.isArray(value) ? unreadItems(name, odd) : [[name, value]];
}

/** The cell of a count: empty where the list did not come, 0 where it came empty. */
export const countCell = ({ count }: Pick<ListRead, 'count'>): Cell => (count === null ? null : String(count));
