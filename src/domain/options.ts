// Types of values in the pipeline file.

import { z } from 'zod';
import { DURATION, DURATION_FORM, FINITE_DURATION, parseDuration } from './freshness.js';

/** The building blocks of the pipeline file. Each describes its values in one sentence. */
export function integerWithin(least: number, most: number) {
  const error = `must be a whole number from ${least} to ${most}`;
  return z.int(error).min(least, error).max(most, error);
}

export const yesOrNo = () => z.boolean('must be true or false');

export const choice = <const Values extends readonly [string, ...string[]]>(values: Values) =>
  z.enum(values, `must be one of ${values.join(', ')}`);

export const amount = () => {
  const error = 'must be a whole number above 0, or null for no limit';
  return z.int(error).min(1, error).nullable();
};

export const percentage = () => {
  const error = 'must be a whole number of per cent from 1 to 100, or null for none';
  return z.int(error).min(1, error).max(100, error).nullable();
};

export function filledText() {
  const error = 'must be a text that is not blank';
  return z.string(error).regex(/\S/, error);
}

export const uniqueList = <Item extends z.ZodType<string>>(item: Item) =>
  z
    .array(item, 'must be a list')
    .min(1, 'must have at least one entry')
    .refine((items) => new Set(items).size === items.length, 'must not name anything twice')
    .meta({ uniqueItems: true });

/** `0` needs no unit, and YAML reads it as a number. */
export function duration(options: { least?: string; most: string }) {
  const { least = '0', most } = options;
  const forever = most === 'forever';
  const bounds = `${DURATION_FORM}, ${forever ? '0 or forever' : `from ${least} to ${most}`}`;
  const fits = (value: string | 0) => {
    const ms = parseDuration(String(value));
    return ms >= parseDuration(least) && ms <= parseDuration(most);
  };
  // Stops at the first problem, so that an invalid value is not compared with other keys.
  return z
    .union([z.literal(0), z.string().regex(forever ? DURATION : FINITE_DURATION, { abort: true })], bounds)
    .refine(fits, { error: bounds, abort: true });
}

/** A group of keys, all of them known. */
export const section = <Shape extends z.ZodRawShape>(shape: Shape) => z.strictObject(shape, keysExpected);

/** The keys of a section as names in code: `people_at_most` becomes `peopleAtMost`. */
export const inCamelCase = <Keys extends object>(keys: Keys) =>
  Object.fromEntries(
    Object.entries(keys).map(([key, value]) => [
      key.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()),
      value,
    ]),
  ) as { readonly [Key in keyof Keys as CamelCase<Key>]: Keys[Key] };

type CamelCase<Key> = Key extends `${infer First}_${infer Rest}` ? `${First}${Capitalize<CamelCase<Rest>>}` : Key;

/** The error of a group that is something else, such as a text. */
export const keysExpected = {
  error: (issue: { readonly code: string }) =>
    issue.code === 'invalid_type' ? 'must have keys of its own' : undefined,
};

/** For a section's `refine`: one duration is not shorter than another. */
export const notBelow = (lower: string, upper: string) => (value: Readonly<Record<string, unknown>>) =>
  parseDuration(String(value[upper])) >= parseDuration(String(value[lower]));
