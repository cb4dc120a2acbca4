import { createHash } from 'node:crypto';

/**
 * The same question has the same key, however its parameters were ordered. Values are compared as they go on the wire:
 * `1` and `"1"` are different questions, a parameter that is left out is not there.
 */
export function requestKey(operation: string, params: Readonly<Record<string, unknown>>): string {
  return createHash('sha256')
    .update(`${operation}\n${canonicalJson(params)}`)
    .digest('hex');
}

/** JSON with sorted keys and without undefined members. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (typeof (value as { toJSON?: unknown }).toJSON === 'function') return JSON.stringify(value);
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`);
  return `{${members.join(',')}}`;
}
