import type { ExactJson } from '../../util/exact-json.js';
import { officerContacts, officerFields, officersTable } from '../tables/officers.js';
import { shareholderFields, shareholdersTable } from '../tables/shareholders.js';
import { type BodyPath, idOf, type JsonObject, memberOf } from './body-path.js';
import { eachItem, type ListOf, type ListRead, noted } from './lists.js';
import { extraOf, readFields, ungroup } from './read-fields.js';
import { takeGroupSources } from './sources.js';

/** The groups of an officer with provenance; their inner structure is not shown, so leaves are found by name. */
const OFFICER_GROUPS = ['officer', 'appointment', 'address', 'contact'];
const officerColumns = [...officerFields, ...officerContacts] as const;

export function readOfficers(list: ExactJson | undefined, of: ListOf, path: BodyPath): ListRead {
  const read = eachItem(list, of, path, (item, position, at) => {
    const flat = ungroup(withoutSources(item, OFFICER_GROUPS, 'officers', of, at), OFFICER_GROUPS);
    const { cells, rest } = readFields(flat, officerColumns, at);
    path.out.add(officersTable, { ...identity(of, position, path), ...cells, extra: extraOf(rest) });
  });
  return noted(read, officersTable, path);
}

/** v2 repeats the company's own ID in every item. */
const repeatsId = (item: JsonObject, of: ListOf): readonly string[] =>
  of.v2 !== null && idOf(memberOf(item, 'company_id')) === of.v2 ? ['company_id'] : [];

export function readShareholders(list: ExactJson | undefined, of: ListOf, path: BodyPath): ListRead {
  const read = eachItem(list, of, path, (item, position, at) => {
    const object = withoutSources(item, [], 'shareholders', of, at);
    const { cells, rest } = readFields(object, shareholderFields, at, repeatsId(object, of));
    path.out.add(shareholdersTable, { ...identity(of, position, path), ...cells, extra: extraOf(rest) });
  });
  return noted(read, shareholdersTable, path);
}

const withoutSources = (
  item: JsonObject,
  groups: readonly string[],
  module: string,
  of: ListOf,
  at: BodyPath,
): JsonObject => (of.v1 === null ? item : takeGroupSources(item, groups, module, of.v1, at));

const identity = (of: ListOf, position: string, { origin }: BodyPath) => ({
  v1_company_id: of.v1,
  position,
  v2_company_id: of.v2,
  operation: origin.operation,
  raw_sha256: origin.rawSha256,
});
