import { z } from 'zod';
import { UsageError } from './errors.js';

/** The building blocks of the pipeline file: each says in one sentence what it takes. */
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
  // Aborting at the first problem: a value that is wrong in itself is not compared with other keys.
  return z
    .union([z.literal(0), z.string().regex(forever ? DURATION : FINITE_DURATION, { abort: true })], bounds)
    .refine(fits, { error: bounds, abort: true });
}

/** Keys of its own, all known. */
export const section = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.strictObject(shape, { error: (issue) => (issue.code === 'invalid_type' ? NO_KEYS : undefined) });

export const NO_KEYS = 'must hold keys of its own';

/** For a section's `refine`: one duration is not shorter than another. */
export const notBelow = (lower: string, upper: string) => (value: Readonly<Record<string, unknown>>) =>
  parseDuration(String(value[upper])) >= parseDuration(String(value[lower]));

const MS_PER_UNIT = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** A whole number with its unit, `0`, or `forever`. Seven digits keep even days exact in milliseconds. */
const DURATION = /^(?:0|forever|(\d{1,7})(ms|s|m|h|d))$/;
export const FINITE_DURATION = /^(?:0|(\d{1,7})(ms|s|m|h|d))$/;

export const DURATION_FORM = 'must be a duration like 500ms, 5s, 30m, 12h or 30d';

/** Milliseconds; `forever` is Infinity. A number without a unit is refused: no unit is the obvious one. */
export function parseDuration(text: string): number {
  const match = DURATION.exec(text);
  if (match === null) throw new UsageError(`${JSON.stringify(text)} ${DURATION_FORM}, or 0, or forever`);
  if (text === 'forever') return Infinity;
  return Number(match[1] ?? 0) * MS_PER_UNIT[(match[2] ?? 'ms') as keyof typeof MS_PER_UNIT];
}
