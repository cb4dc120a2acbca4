import { hash } from 'node:crypto';
import { withoutDefaults } from '../api/documented-defaults.js';
import type { Operation } from '../api/operation.js';

/**
 * The same question has the same key, however its parameters were ordered. Values are compared as they go on the wire:
 * `1` and `"1"` are different questions, a parameter that is left out is not there.
 */
export const requestKey = (operation: string, params: Readonly<Record<string, unknown>>): string =>
  keyOf(operation, canonicalJson(params));

/** The key, from parameters that are written canonically already. */
export const keyOf = (operation: string, canonical: string): string => hash('sha256', `${operation}\n${canonical}`);

/** The key of a request that was not sent, or not by us. Undefined where its parameters do not pass. */
export function keyOfRequest(operation: Operation, params: Readonly<Record<string, unknown>>): string | undefined {
  const canonical = canonicalRequest(operation, params);
  return canonical === undefined ? undefined : keyOf(operation.name, canonical);
}

/** The parameters of a request as its key is made of them. Undefined where they do not pass. */
export function canonicalRequest(
  { params: schema }: Operation,
  params: Readonly<Record<string, unknown>>,
): string | undefined {
  const checked = schema.safeParse(params);
  return checked.success ? canonicalJson(withoutDefaults(schema, checked.data as typeof params)) : undefined;
}

/** JSON with sorted keys and without undefined members. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (typeof (value as { toJSON?: unknown }).toJSON === 'function') return JSON.stringify(value);
  const members = value as Readonly<Record<string, unknown>>;
  const keys = Object.keys(members).filter((key) => members[key] !== undefined);
  return `{${keys
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(members[key])}`)
    .join(',')}}`;
}
