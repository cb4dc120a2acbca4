import type { ExactJson } from '../../util/exact-json.js';
import { sourceFields, sourcesTable } from '../tables/sources.js';
import { type BodyPath, isObject, type JsonObject } from './body-path.js';
import { extraOf, readFields } from './read-fields.js';

/**
 * Takes the source objects out of a record. Where they stand in a full record is not shown: `provenance` or `sources`
 * with one for each module, `<module>_source`, or `source` inside the module are all understood. A `source` that is a
 * text (V1-26) is none, and is left alone.
 */
export function takeSources(object: JsonObject, module: string, companyId: string, path: BodyPath): JsonObject {
  // Most records have none: they are passed over without a copy.
  const taken = Object.keys(object).filter((key) => {
    const value = object[key] as ExactJson;
    const named = typeof value === 'object' && value !== null ? NAMED.exec(key) : null;
    return named !== null && takeFrom(value, named[1] ?? module, companyId, path.at(key));
  });
  if (taken.length === 0) return object;
  return Object.fromEntries(Object.entries(object).filter(([key]) => !taken.includes(key)));
}

const NAMED = /^(?:(.*)_)?(?:source|provenance)s?$/;

/** True if there was nothing but source objects here. */
function takeFrom(value: ExactJson, module: string, companyId: string, path: BodyPath): boolean {
  if (Array.isArray(value)) {
    if (!value.every(isObject)) return false;
    for (const [index, item] of value.entries()) emit(item as JsonObject, module, companyId, path.at(index));
    return true;
  }
  if (!isObject(value)) return false;
  if (looksLikeSource(value)) {
    emit(value, module, companyId, path);
    return true;
  }
  const members = Object.entries(value);
  if (members.length === 0 || !members.every(([, member]) => member === null || isObject(member))) return false;
  for (const [key, member] of members) if (isObject(member)) emit(member, key, companyId, path.at(key));
  return true;
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
