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
export const list = <T extends z.ZodType>(item: T) => z.array(item);
/** The document allows further properties everywhere; they pass through. */
export const record = <T extends z.core.$ZodLooseShape>(shape: T) => z.looseObject(shape);
/** A value that the document leaves open: string, number, boolean or null. */
export const scalar = z.union([z.string(), number, z.boolean(), z.null()]);

export type Id = string | ExactNumber;

/** An identifier as text, whichever way it came. */
export const idText = (value: Id): string => (typeof value === 'string' ? value : value.text);
