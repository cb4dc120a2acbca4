import { type ExactJson, ExactNumber, isObject, type JsonObject } from '../../util/exact-json.js';
import type { Cell, Table } from '../table.js';
import { type BodyPath, memberOf } from './open-answer.js';
import type { Members } from './read-fields.js';

/** The company of a list: its ID in one space, or in both if the row knows both. */
export interface SubjectIds {
  readonly v1: string | null;
  readonly v2: string | null;
}

export interface ListOf extends SubjectIds {
  readonly offset: number;
}

export interface ListRead {
  /** Number of items. Null if the list did not come (V1-22). */
  readonly count: number | null;
  /** Items that are no records, which the caller keeps in `extra`. */
  readonly odd: ExactJson[];
}

/** Reads a list item by item. `offset`: items on earlier pages. `table`: its rows, which notes that the list came. */
export function eachItem(
  list: ExactJson | undefined,
  path: BodyPath,
  use: (item: JsonObject, position: string, at: BodyPath) => void,
  { offset = 0, table }: { readonly offset?: number; readonly table?: Table } = {},
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
  if (table !== undefined) path.out.noteCame(table);
  return { count: items.length, odd };
}

/** What of a page no row shows: the rows, if they are no list, and what is beside them. */
export function unreadPage(
  body: ExactJson,
  read: (rows: ExactJson) => ListRead,
): ListRead & { readonly left: Members } {
  if (!isObject(body) || body.data === undefined) return { count: null, odd: [], left: [['data', body]] };
  const { count, odd } = read(body.data);
  const others = Object.entries(body).filter(([name, value]) => name !== 'data' && !isTotal(name, value));
  const nothing: Members = body.data === null ? [['data', null]] : [];
  return { count, odd, left: [...unreadItems('data', odd), ...nothing, ...others] };
}

const isTotal = (name: string, value: ExactJson): boolean =>
  /^total_(?:pages|results|employees)$/.test(name) && value instanceof ExactNumber;

export const placeCells = ({ v1, v2 }: SubjectIds, position: string, { origin }: BodyPath) => ({
  v1_company_id: v1,
  position,
  v2_company_id: v2,
  operation: origin.operation,
  raw_sha256: origin.rawSha256,
});

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
