import { z } from 'zod';
import { locationProblem } from '../domain/location.js';
import { ExactNumber } from '../util/exact-json.js';

/** Building blocks of request schemas: strict, so that nothing leaves that the provider must refuse. */
export const nonEmpty = z.string().min(1);
export const isoCountry = z.string().regex(/^[A-Z]{2}$/, { error: 'expected an ISO 3166-1 alpha-2 code such as GB' });
export const isoDate = z.iso.date({ error: 'expected a date YYYY-MM-DD' });
export const positiveInteger = z.int().min(1);

/** Numbers with more digits than JavaScript's hold: they go on the wire as they were written. */
const longNumber = z.instanceof(ExactNumber);
export const longInteger = longNumber.refine(({ text }) => /^-?\d+$/.test(text), { error: 'expected a whole number' });
export const anyNumber = z.union([z.number(), longNumber], { error: 'expected a number' });
export const anyInteger = z.union([z.int(), longInteger], { error: 'expected a whole number' });
export const vocabularyId = z.union([anyInteger, nonEmpty], { error: 'expected a whole number or text' });

/** A company ID travels as text. An integer is taken too, for people who type one. */
export const companyId = z
  .union([z.string(), z.int().nonnegative(), longInteger])
  .transform(String)
  .pipe(z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._~-]{0,127}$/, { error: 'expected a company ID' }));

/** v2 writes its IDs as strings and takes them as integers in a path: digits, however many. */
export const digitsId = z
  .union([z.string(), z.int().nonnegative(), longInteger])
  .transform(String)
  .pipe(z.string().regex(/^\d{1,40}$/, { error: 'expected an ID of digits' }));

/** A range needs at least one bound and takes nothing else. One whose ends are the wrong way round has nothing in it. */
export const range = <T extends z.ZodType<number | string | ExactNumber>>(bound: T) =>
  z
    .strictObject({ gte: bound.optional(), lte: bound.optional() })
    .refine((value) => value.gte !== undefined || value.lte !== undefined, { error: 'needs gte, lte or both' })
    .refine(({ gte, lte }) => gte === undefined || lte === undefined || ordered(gte) <= ordered(lte), {
      error: 'gte is beyond lte',
    });

const ordered = (bound: number | string | ExactNumber): number | string =>
  bound instanceof ExactNumber ? Number(bound.text) : bound;

export const dateRange = range(isoDate);

/** At least one of these fields is present. */
export const oneOf =
  (...names: readonly string[]) =>
  (value: Readonly<Record<string, unknown>>): boolean =>
    names.some((name) => value[name] !== undefined);

/** Both APIs take the same three forms. */
export const location = z.string().check((context) => {
  const problem = locationProblem(context.value);
  if (problem !== undefined) context.issues.push({ code: 'custom', message: problem, input: context.value });
});
