import type { NumberMatcher } from '../../domain/numbers/same-number.js';
import { type ExactJson, ExactNumber, parseExact } from '../../util/exact-json.js';
import type { IdSpace } from '../purge.js';
import type { Bodies } from './bodies.js';
import type { Connection } from './open.js';

/** Where the items of each list keep their IDs. */
const LISTS: Readonly<Record<string, readonly { readonly member: string; readonly space: IdSpace }[]>> = {
  searchKyb: [{ member: 'id', space: 'v1' }],
  kybSearch: [{ member: 'id', space: 'v2' }],
  creditReportSearch: [{ member: 'id', space: 'source' }],
  creditReportHistory: [
    { member: 'id', space: 'report' },
    { member: 'source_id', space: 'source' },
  ],
};

export type Ids = Readonly<Record<IdSpace, Set<string>>>;

/** Searches and histories of anybody that name it among others. Re-asking is the price of its being gone. */
export function listsNaming(database: Connection, bodies: Bodies, ids: Ids): ReadonlySet<string> {
  const all = Object.values(ids).flatMap((of) => [...of]);
  if (all.length === 0) return new Set();
  const found = new Set<string>();
  // An ID is the whole value of its member: read as a pattern, a short one would be found in every list.
  for (const { sha256, operation, item } of items(database, bodies, (body) => all.some((id) => body.includes(id))))
    if (idsOf(operation, item).some(({ space, id }) => ids[space].has(id))) found.add(sha256);
  return found;
}

/** The IDs under which searches returned a number. */
export function idsInLists(database: Connection, bodies: Bodies, named: NumberMatcher) {
  const mayHold = (body: Buffer) => named.mayBeIn(body.toString('utf8'));
  return [...items(database, bodies, mayHold)].flatMap(({ operation, country, item }) => {
    const number = textOf(item.registration_number);
    const theirs = textOf(item.country_code) ?? country;
    if (number === undefined || theirs !== named.countryCode) return [];
    return named.is(number, textOf(item.state)) ? idsOf(operation, item) : [];
  });
}

interface ListItem {
  readonly sha256: string;
  readonly operation: string;
  /** Report hits name no country, only the search does. */
  readonly country: string | null;
  readonly item: Readonly<Record<string, ExactJson>>;
}

function* items(database: Connection, bodies: Bodies, isWorthReading: (body: Buffer) => boolean): Generator<ListItem> {
  const lists = database
    .prepare<[string], Omit<ListItem, 'item'>>(
      `SELECT DISTINCT lower(hex(raw_sha256)) AS sha256, operation, params ->> 'country' AS country FROM calls
       WHERE raw_sha256 IS NOT NULL AND operation IN (SELECT value FROM json_each(?))`,
    )
    .all(JSON.stringify(Object.keys(LISTS)));
  for (const list of lists) {
    const body = bodies.read(list.sha256);
    if (body === undefined || !isWorthReading(body)) continue;
    for (const item of itemsOf(body)) yield { ...list, item };
  }
}

/** A list, an object around lists, or the one item itself. */
function itemsOf(body: Buffer): readonly Readonly<Record<string, ExactJson>>[] {
  const answer = parsed(body);
  if (Array.isArray(answer)) return answer.filter(isObject);
  if (!isObject(answer)) return [];
  return answer.id === undefined ? Object.values(answer).filter(Array.isArray).flat().filter(isObject) : [answer];
}

function parsed(body: Buffer): ExactJson {
  try {
    return parseExact(body);
  } catch {
    // Not JSON, so no list. What it says as text is looked for afterwards.
    return null;
  }
}

const isObject = (value: ExactJson): value is { [key: string]: ExactJson } =>
  value !== null && typeof value === 'object' && !Array.isArray(value) && !(value instanceof ExactNumber);

const idsOf = (operation: string, item: ListItem['item']) =>
  (LISTS[operation] ?? []).flatMap(({ member, space }) => {
    const id = textOf(item[member]);
    return id === undefined ? [] : [{ space, id }];
  });

const textOf = (value: ExactJson | undefined): string | undefined =>
  typeof value === 'string' || value instanceof ExactNumber ? String(value) : undefined;
