import { type ExactJson, isObject, type JsonObject } from '../../util/exact-json.js';
import { column, extraColumn, operationColumn, rawSha256, table, v1CompanyId } from '../table.js';
import type { SubjectIds } from './lists.js';
import { type BodyPath, memberOf } from './open-answer.js';
import { extraOf, readFields } from './read-fields.js';

/**
 * Takes the source objects out of a record. Their place in a full record is not published. Accepted are `provenance` or
 * `sources` by module, `<module>_source`, and `source` inside the module. A text `source` (V1-26) is no source object
 * and stays. Each of the `groups` of provenance may have its own source. Only v1 sends them.
 */
export function takeSources(
  object: JsonObject,
  module: string,
  { v1 }: SubjectIds,
  path: BodyPath,
  groups: readonly string[] = [],
): JsonObject {
  if (v1 === null) return object;
  const left = takeOwnSources(object, module, v1, path);
  const inner = groups.flatMap((name) => {
    const group = memberOf(left, name);
    return isObject(group) ? [[name, takeOwnSources(group, `${module}.${name}`, v1, path.at(name))] as const] : [];
  });
  return inner.length === 0 ? left : { ...left, ...Object.fromEntries(inner) };
}

function takeOwnSources(object: JsonObject, module: string, companyId: string, path: BodyPath): JsonObject {
  // Most records have none, so they are not copied.
  const left = new Map<string, JsonObject | undefined>();
  for (const key of Object.keys(object)) {
    const value = object[key] as ExactJson;
    const named = typeof value === 'object' && value !== null ? NAMED.exec(key) : null;
    if (named === null || !hasSources(value)) continue;
    left.set(key, takeFrom(value, named[1] ?? module, companyId, path.at(key)));
  }
  if (left.size === 0) return object;
  return Object.fromEntries(
    Object.entries(object).flatMap(([key, value]) => {
      const kept = left.has(key) ? left.get(key) : value;
      return kept === undefined ? [] : [[key, kept]];
    }),
  );
}

const NAMED = /^(?:(.*)_)?(?:source|provenance)s?$/;

/** True if there are only source objects: one, a list, or one for each module. */
function hasSources(value: ExactJson): value is JsonObject | JsonObject[] {
  if (Array.isArray(value)) return value.length > 0 && value.every(isObject);
  if (!isObject(value)) return false;
  const members = Object.values(value);
  return looksLikeSource(value) || (members.some(isObject) && members.every((item) => item === null || isObject(item)));
}

/** Returns the modules whose source is null, because they have no row. */
function takeFrom(
  value: JsonObject | JsonObject[],
  module: string,
  companyId: string,
  path: BodyPath,
): JsonObject | undefined {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) emit(item, module, companyId, path.at(index));
    return undefined;
  }
  if (looksLikeSource(value)) {
    emit(value, module, companyId, path);
    return undefined;
  }
  const silent: [string, ExactJson][] = [];
  for (const [key, member] of Object.entries(value)) {
    if (isObject(member)) emit(member, key, companyId, path.at(key));
    else silent.push([key, member]);
  }
  return silent.length === 0 ? undefined : Object.fromEntries(silent);
}

const looksLikeSource = (value: JsonObject): boolean =>
  sourceFields.some(({ name }) => Object.hasOwn(value, name) && !isObject(value[name]));

function emit(source: JsonObject, module: string, companyId: string, path: BodyPath): void {
  const { cells, rest } = readFields(source, sourceFields, path);
  path.out.add(sourcesTable, {
    v1_company_id: companyId,
    module,
    ...cells,
    operation: path.origin.operation,
    pointer: path.pointer,
    raw_sha256: path.origin.rawSha256,
    extra: extraOf(rest),
  });
}

const sourceFields = [
  column('category', 'text', 'Class of evidence: Government Registry, Enriched, Modelled, …'),
  column('comment', 'text', 'Note on the method'),
  column('id', 'id', 'ID in the provider’s catalogue'),
  column('name', 'text', 'Name of the registry or source'),
  column('url', 'text', 'Address of the source'),
] as const;

export const sourcesTable = table({
  name: 'sources',
  onePer: 'source object',
  description: 'The sources of the data. Only with `provenance: true` in the pipeline.',
  source: 'the source objects of v1’s answers',
  // The pages of a list have the same pointers.
  key: ['v1_company_id', 'operation', 'pointer', 'raw_sha256'],
  keyAlwaysThere: true,
  columns: [
    v1CompanyId,
    column(
      'module',
      'text',
      'The part of the record it belongs to: lite, officers, shareholders, …',
      'its place in the answer',
    ),
    ...sourceFields,
    operationColumn,
    column('pointer', 'text', 'JSON pointer to it in the raw body', 'its place in the answer'),
    rawSha256,
    extraColumn,
  ],
  listedLast: true,
});
