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
 * A list, checked item by item until a few are wrong. zod's own array collects every issue: a million wrong items keep
 * the process from everything else, or end it.
 */
export const list = <T extends z.ZodType>(item: T) =>
  z
    .custom<z.output<T>[]>((value) => Array.isArray(value), { error: 'expected a list' })
    .superRefine((items, context) => {
      let wrong = 0;
      for (let index = 0; index < items.length && wrong < WRONG_ITEMS; index++) {
        const checked = item.safeParse(items[index]);
        if (checked.success) continue;
        wrong += 1;
        for (const { message, path } of checked.error.issues)
          context.addIssue({ code: 'custom', message, path: [index, ...path] });
      }
    });

/** A message names five problems. */
const WRONG_ITEMS = 5;
/** The document allows further properties everywhere; they pass through. */
export const record = <T extends z.core.$ZodLooseShape>(shape: T) => z.looseObject(shape);
/** A value that the document leaves open: string, number, boolean or null. */
export const scalar = z.union([z.string(), number, z.boolean(), z.null()]);

export type Id = string | ExactNumber;

/** An identifier as text, whichever way it came. */
export const idText = (value: Id): string => (typeof value === 'string' ? value : value.text);
