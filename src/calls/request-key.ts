import { hash } from 'node:crypto';

/**
 * The same question has the same key, however its parameters were ordered. Values are compared as they go on the wire:
 * `1` and `"1"` are different questions, a parameter that is left out is not there.
 */
export const requestKey = (operation: string, params: Readonly<Record<string, unknown>>): string =>
  keyOf(operation, canonicalJson(params));

/** The key, from parameters that are written canonically already. */
export const keyOf = (operation: string, canonical: string): string => hash('sha256', `${operation}\n${canonical}`);

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
