import { readQualified } from '../domain/numbers/qualified.js';
import { type ExactJson, ExactNumber } from '../util/exact-json.js';
import type { Identified } from './stage.js';

/**
 * Whom a group tree marks as the company asked about, where that is another one; undefined: it is, or nothing tells. Only
 * one with neither the ID nor the number that was confirmed is another. Trees may be very deep: no recursion.
 */
export function groupOfAnother(tree: readonly unknown[], { id, candidate }: Identified): string | undefined {
  const confirmed = candidate?.registration_number ?? '';
  if (confirmed === '') return undefined;
  const countryCode = candidate?.country_code?.toUpperCase() ?? '';
  let another: string | undefined;
  const pending: unknown[] = [...tree].reverse();
  while (pending.length > 0) {
    const node = pending.pop();
    if (typeof node !== 'object' || node === null) continue;
    const { id: own, name, registration_number, selected, children } = node as { readonly [member: string]: ExactJson };
    if (Array.isArray(children)) for (let at = children.length - 1; at >= 0; at--) pending.push(children[at]);
    const number = text(registration_number);
    if (selected !== true || number === undefined) continue;
    if (text(own) === id || readQualified(number, confirmed, countryCode).isSame) return undefined;
    another ??= `${number}${text(name) === undefined ? '' : ` (${text(name)})`}`;
  }
  return another;
}

const text = (value: ExactJson | undefined): string | undefined =>
  typeof value === 'string' || value instanceof ExactNumber ? String(value).trim() || undefined : undefined;
