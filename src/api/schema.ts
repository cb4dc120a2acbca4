import { z } from 'zod';
import { ExactNumber } from '../util/exact-json.js';

/**
 * Building blocks of response schemas. They check; they never convert: the value handed on is the parsed tree itself,
 * so unknown fields, `__proto__` as data and every digit survive.
 */
export const number = z.instanceof(ExactNumber, { error: 'expected a number' });
export const integer = number.refine((value) => /^-?\d+$/.test(value.text), { error: 'expected an integer' });
/** Identifiers come as integers or as strings, and may lie beyond 2^53. `idText` makes text of both. */
export const id = z.union([z.string(), integer]);
export const text = z.string();
/** Null, or absent, means: not returned. It never means no. */
export const nullable = <T extends z.ZodType>(schema: T) => schema.nullish();
/**
 * A list. One item that cannot be read does not spoil the others, which are paid for: it is an answer as long as some can be
 * read and few cannot, and whoever reads it takes the `readable` ones. zod's own array would collect every issue of a
 * million wrong items, and keep the process from everything else: of a list that is refused no more is shown to it than up
 * to the fifth wrong one.
 */
export const list = <T extends z.ZodType>(item: T) =>
  z.preprocess(
    (value) => (Array.isArray(value) ? (isReadableList(value, item) ? [] : upToTheFifthWrong(value, item)) : value),
    z.array(item, { error: 'expected a list' }),
  );

/**
 * The list of an envelope. That it did not come, as null or not at all, is an answer (V1-22), and so is an item that did not:
 * asked again, the provider would say the same, and be paid for it.
 */
export const listIfSent = <T extends z.ZodType>(item: T) => nullable(list(nullable(item)));

/** The same of an answer that is a list, and nothing around it; `{}` says nothing, too (V2-2). */
export const bareListIfSent = <T extends z.ZodType>(item: T) => z.union([listIfSent(item), z.strictObject({})]);

/**
 * An item of a search, whatever its fields are: one that is odd spoils this candidate for whoever reads it, and not the
 * list, which is paid for. Without any ID it is another kind of list.
 */
export const anyCandidate = z
  .looseObject({})
  .refine((item) => Object.hasOwn(item, 'id'), { error: 'an item without an ID' });

/** The items of such a list that can be read. */
export const readable = <T extends z.ZodType>(items: readonly unknown[], item: T): z.output<T>[] =>
  items.filter((value): value is z.output<T> => item.safeParse(value).success);

/** More are no slip: it is another kind of list. */
const WRONG_AT_MOST = 100;
/** A message names five problems. */
const WRONG_ITEMS_TOLD = 5;

function isReadableList(items: readonly unknown[], item: z.ZodType): boolean {
  let wrong = 0;
  for (const value of items) if (!item.safeParse(value).success && ++wrong > WRONG_AT_MOST) return false;
  return items.length === 0 || wrong < items.length;
}

function upToTheFifthWrong(items: readonly unknown[], item: z.ZodType): readonly unknown[] {
  let wrong = 0;
  const last = items.findIndex((value) => !item.safeParse(value).success && ++wrong === WRONG_ITEMS_TOLD);
  return last === -1 ? items : items.slice(0, last + 1);
}

/** The document allows further properties everywhere; they pass through. */
export const record = <T extends z.core.$ZodLooseShape>(shape: T) => z.looseObject(shape);
/** A value that the document leaves open: string, number, boolean or null. */
export const scalar = z.union([z.string(), number, z.boolean(), z.null()]);

/** Such a value as text, with every digit; null where it did not come. */
export const scalarText = (value: z.output<typeof scalar> | undefined): string | null =>
  value === undefined || value === null ? null : String(value);

export type Id = string | ExactNumber;

/** An identifier as text, whichever way it came. */
export const idText = (value: Id): string => (typeof value === 'string' ? value : value.text);
