import { z } from 'zod';
import { type ExactJson, ExactNumber } from '../util/exact-json.js';
import { describeIssues } from './describe-issues.js';
import type { Operation } from './operation.js';

/** Why this value is not what the operation returns; empty where it is. */
export function problemsOf(operation: Operation, value: ExactJson): readonly string[] {
  if (operation.api === 'v1' && isObject(value) && Object.hasOwn(value, 'error') && isSaid(value.error))
    return ['an error, with the status of a success'];
  const checked = operation.body.safeParse(value);
  if (!checked.success) return describeIssues(checked.error, value);
  // Every field may be absent, so the schema lets `{"message": "back soon"}` through.
  const declared = declaredNames(operation.body);
  // To the schema of an object a number is one, with no members.
  if (declared.length > 0 && value instanceof ExactNumber) return ['expected an object, got a number'];
  if (declared.length === 0 || !isObject(value) || Object.keys(value).length === 0) return [];
  return declared.some((name) => Object.hasOwn(value, name)) ? [] : [NOTHING_SHOWN];
}

export const NOTHING_SHOWN = 'an object without any member that the document shows';

const isSaid = (error: ExactJson | undefined) =>
  error !== undefined && error !== null && error !== '' && error !== false;

const isObject = (value: ExactJson): value is { [key: string]: ExactJson } =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber);

/** The names of the members that a schema knows; none where it is no object, or one whose members are not shown. */
export function declaredNames(schema: z.ZodType): readonly string[] {
  const known = namesOf.get(schema);
  if (known !== undefined) return known;
  const names = readNames(schema);
  namesOf.set(schema, names);
  return names;
}

const namesOf = new WeakMap<z.ZodType, readonly string[]>();

function readNames(schema: unknown): readonly string[] {
  if (schema instanceof z.ZodObject) return Object.keys(schema.shape);
  return schema instanceof z.ZodUnion ? schema.options.flatMap(readNames) : [];
}
