import type { ExactJson } from '../../util/exact-json.js';
import { officerContacts, officerFields, shareholderFields } from '../tables/companies.js';
import { extraOf, readFields, ungroup } from './read-fields.js';
import type { JsonObject, Place } from './reading.js';
import { takeSources } from './sources.js';

/** Whose list it is: one of the two ID spaces, or both where the row knows both. */
export interface ListOf {
  readonly v1: string | null;
  readonly v2: string | null;
  /** Items on earlier pages. */
  readonly offset: number;
}

/** The groups of an officer with provenance; their inner structure is not shown, so leaves are found by name. */
const OFFICER_GROUPS = ['officer', 'appointment', 'address', 'contact'];
const officerColumns = [...officerFields, ...officerContacts] as const;

export function officers(list: ExactJson | undefined, of: ListOf, place: Place): number | null {
  return eachItem(list, of, place, (item, position, at) => {
    const flat = ungroup(withoutSources(item, 'officers', of, at), OFFICER_GROUPS);
    const { cells, rest } = readFields(flat, officerColumns, at);
    place.gathered.rows.officers.push({ ...identity(of, position, place), ...cells, extra: extraOf(rest) });
  });
}

/** v2 repeats the company's own ID in every item. */
const IGNORED_IN_V2 = ['company_id'];

export function shareholders(list: ExactJson | undefined, of: ListOf, place: Place): number | null {
  return eachItem(list, of, place, (item, position, at) => {
    const object = withoutSources(item, 'shareholders', of, at);
    const { cells, rest } = readFields(object, shareholderFields, at, of.v2 === null ? [] : IGNORED_IN_V2);
    place.gathered.rows.shareholders.push({ ...identity(of, position, place), ...cells, extra: extraOf(rest) });
  });
}

/** How many came; null if the list did not come at all (V1-22). */
export function eachItem(
  list: ExactJson | undefined,
  { offset }: Pick<ListOf, 'offset'>,
  place: Place,
  use: (item: JsonObject, position: string, at: Place) => void,
): number | null {
  const items = place.list(list);
  if (items === undefined) return null;
  for (const [index, item] of items.entries()) {
    const at = place.at(index);
    const object = at.object(item);
    if (object !== undefined) use(object, String(offset + index + 1), at);
    else if (item === null) at.unexpected('an object', item);
  }
  return items.length;
}

const withoutSources = (item: JsonObject, module: string, of: ListOf, at: Place): JsonObject =>
  of.v1 === null ? item : takeSources(item, module, of.v1, at);

const identity = (of: ListOf, position: string, { answer }: Place) => ({
  v1_company_id: of.v1,
  position,
  v2_company_id: of.v2,
  operation: answer.operation,
  raw_sha256: answer.rawSha256,
});
