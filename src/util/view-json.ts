// Views as JSON.

import { isoTime } from './clock.js';

/** A value that goes into JSON as it is: an answer of the provider, or an object whose keys are data. */
export const verbatim = (value: unknown): Verbatim => new Verbatim(value);

class Verbatim {
  constructor(readonly value: unknown) {}
}

export const pick = <T extends object, Key extends keyof T>(from: T, ...keys: readonly Key[]): Pick<T, Key> =>
  Object.fromEntries(keys.map((key) => [key, from[key]])) as Pick<T, Key>;

/**
 * A view as JSON: names in snake_case, times (`createdAt`, `parkedUntil`, `since`) in ISO 8601. Members that are undefined
 * are left out. Names that are not in camelCase stay.
 */
export function toJson(value: unknown): unknown {
  if (value instanceof Verbatim) return value.value;
  if (Array.isArray(value)) return value.map(toJson);
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .map(([name, member]) => [
        CAMEL_CASE.test(name) ? name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`) : name,
        typeof member === 'number' && TIME.test(name) ? isoTime(member) : toJson(member),
      ]),
  );
}

const CAMEL_CASE = /^[a-z][a-z0-9]*(?:[A-Z][a-z0-9]*)+$/;
const TIME = /(?:At|Until|^at|^until|^since)$/;
