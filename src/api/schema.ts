import { z } from 'zod';
import { locationProblem } from '../domain/places/location-codes.js';
import { type ExactJson, ExactNumber, isObject, type JsonObject } from '../util/exact-json.js';
import { isContactGroup, isContactName, sanitizeText, withoutEmails } from '../util/sanitize-text.js';
import { shareZod } from '../util/yaml.js';

shareZod(z);

/**
 * Building blocks of response schemas. They check and never convert: the value is the parsed tree itself, so unknown
 * fields, `__proto__` as data and every digit survive.
 */
export const number = z.instanceof(ExactNumber, { error: 'expected a number' });
const integer = number.refine((value) => /^-?\d+$/.test(value.text), { error: 'expected an integer' });

/** IDs come as integers or strings and may exceed 2^53. `idText` turns both into text. */
export const id = z.union([z.string(), integer]);
export const text = z.string();

/** Null or absent means "not returned". It never means "no". */
export const nullOrAbsent = <T extends z.ZodType>(schema: T) => schema.nullish();

/**
 * A list. One unreadable item must not spoil the others, which are paid for. The list is accepted if some items can be
 * read and few cannot. `readable` picks them. zod's own array would collect every issue of a million wrong items and
 * block the process. So it sees a refused list only up to the fifth wrong item.
 */
export const list = <T extends z.ZodType>(item: T) =>
  z.preprocess(
    (value) => (Array.isArray(value) ? (isReadableList(value, item) ? [] : upToTheFifthWrong(value, item)) : value),
    z.array(item, { error: 'expected a list' }),
  );

/**
 * The list of an envelope. An absent list or item is an answer (V1-22): asked again, the provider would say the same
 * and charge again.
 */
export const listIfSent = <T extends z.ZodType>(item: T) => nullOrAbsent(list(nullOrAbsent(item)));

/** The same for an answer without an envelope. `{}` also says nothing (V2-2). */
export const bareListIfSent = <T extends z.ZodType>(item: T) => z.union([listIfSent(item), z.strictObject({})]);

/**
 * A search result with any fields: an unusual one only spoils this candidate, not the paid list. Items without an ID
 * are another kind of list.
 */
export const anyCandidate = z.custom<JsonObject>(
  (item) => isObject(item as ExactJson) && Object.hasOwn(item as JsonObject, 'id'),
  {
    error: 'an item without an ID',
  },
);

export const readable = <T extends z.ZodType>(items: readonly unknown[], item: T): z.output<T>[] =>
  items.filter((value): value is z.output<T> => item.safeParse(value).success);

/** More than this is not a slip but another kind of list. */
const WRONG_AT_MOST = 100;

const WRONG_ITEMS_SHOWN = 5;

function isReadableList(items: readonly unknown[], item: z.ZodType): boolean {
  let wrong = 0;
  for (const value of items) if (!item.safeParse(value).success && ++wrong > WRONG_AT_MOST) return false;
  return items.length === 0 || wrong < items.length;
}

function upToTheFifthWrong(items: readonly unknown[], item: z.ZodType): readonly unknown[] {
  let wrong = 0;
  const last = items.findIndex((value) => !item.safeParse(value).success && ++wrong === WRONG_ITEMS_SHOWN);
  return last === -1 ? items : items.slice(0, last + 1);
}

/** The document allows further properties everywhere. They pass through, and zod does not visit them: 100,000 take it 0.1 s (X-6). */
export const looseObject = <T extends z.core.$ZodLooseShape>(shape: T) =>
  z.object(shape) as unknown as z.ZodObject<T, z.core.$loose>;

/** A value that the document leaves open: string, number, boolean or null. */
export const scalar = z.union([z.string(), number, z.boolean(), z.null()]);

const fieldsOf =
  <T extends z.ZodType>(schema: T) =>
  <Name extends string>(...names: readonly Name[]) =>
    Object.fromEntries(names.map((name) => [name, nullOrAbsent(schema)])) as Record<
      Name,
      ReturnType<typeof nullOrAbsent<T>>
    >;

export const scalarFields = fieldsOf(scalar);
export const textFields = fieldsOf(text);

export const scalarText = (value: z.output<typeof scalar> | undefined): string | null =>
  value === undefined || value === null ? null : String(value);

export type Id = string | ExactNumber;

export const idText = (value: Id): string => (typeof value === 'string' ? value : value.text);

/**
 * Recognizes a member of filed financials by the first character of its value: they are long, and only the export reads
 * them.
 */
export const isFiledFinancialsMember = (member: string, first: string): boolean =>
  MEMBERS.has(member) && (first === 'n' || MEMBERS.get(member) === first);

const MEMBERS: ReadonlyMap<string, string> = new Map([
  ['years', '['],
  ['groups', '['],
  ['source', '{'],
]);

/** Building blocks of request schemas. They are strict, so that no request is sent that the provider must refuse. */
export const nonEmpty = z.string().min(1);
export const isoCountry = z.string().regex(/^[A-Z]{2}$/, { error: 'expected an ISO 3166-1 alpha-2 code such as GB' });
export const isoDate = z.iso.date({ error: 'expected a date YYYY-MM-DD' });
export const positiveInteger = z.int().min(1);

/** Numbers with more digits than JavaScript holds are sent as they were written. */
const longNumber = z.instanceof(ExactNumber);
export const longInteger = longNumber.refine(({ text }) => /^-?\d+$/.test(text), { error: 'expected a whole number' });
export const anyNumber = z.union([z.number(), longNumber], { error: 'expected a number' });
export const anyInteger = z.union([z.int(), longInteger], { error: 'expected a whole number' });
export const vocabularyId = z.union([anyInteger, nonEmpty], { error: 'expected a whole number or text' });

/** A company ID is sent as text. An integer is accepted too, for people who type one. */
export const companyId = z
  .union([z.string(), z.int().nonnegative(), longInteger])
  .transform(String)
  .pipe(z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._~-]{0,127}$/, { error: 'expected a company ID' }));

/** v2 writes its IDs as strings and takes them as integers in a path: digits of any number. */
export const digitsId = z
  .union([z.string(), z.int().nonnegative(), longInteger])
  .transform(String)
  .pipe(z.string().regex(/^\d{1,40}$/, { error: 'expected an ID of digits' }));

/** A range needs at least one bound and accepts nothing else. A range with swapped ends is empty. */
export const range = <T extends z.ZodType<number | string | ExactNumber>>(bound: T) =>
  z
    .strictObject({ gte: bound.optional(), lte: bound.optional() })
    .refine((value) => value.gte !== undefined || value.lte !== undefined, { error: 'needs gte, lte or both' })
    .refine(({ gte, lte }) => gte === undefined || lte === undefined || ordered(gte) <= ordered(lte), {
      error: 'gte is greater than lte',
    });

const ordered = (bound: number | string | ExactNumber): number | string =>
  bound instanceof ExactNumber ? Number(bound.text) : bound;

export const dateRange = range(isoDate);

/** For `refine`, with a message that lists the fields. */
export const needsOneOf = (...names: readonly string[]) =>
  [hasAnyOf(...names), { error: `needs at least one of ${names.join(', ')}` }] as const;

export const hasAnyOf =
  (...names: readonly string[]) =>
  (value: Readonly<Record<string, unknown>>): boolean =>
    names.some((name) => value[name] !== undefined);

/** Both APIs take the same three forms. */
export const location = z.string().check((context) => {
  const problem = locationProblem(context.value);
  if (problem !== undefined) context.issues.push({ code: 'custom', message: problem, input: context.value });
});

type Params = Readonly<Record<string, unknown>>;

const documentedDefaults = z.registry<{ readonly value: unknown }>();

export function defaultsTo<Value extends z.ZodType>(schema: Value, value: z.output<Value>): z.ZodOptional<Value> {
  const optional = schema.optional();
  documentedDefaults.add(optional, { value });
  return optional;
}

/**
 * Leaves out parameters that equal their documented default, so that both forms are one request with one stored answer.
 * Undocumented defaults stay.
 */
export function withoutDefaults(schema: z.ZodType, params: Params): Params {
  const defaults = defaultsOf(schema);
  const isDefault = ([name, value]: readonly [string, unknown]) => params[name] === value;
  if (!defaults.some(isDefault)) return params;
  const rest = { ...params };
  for (const entry of defaults) if (isDefault(entry)) delete rest[entry[0]];
  return rest;
}

type Defaults = readonly (readonly [name: string, value: unknown])[];

/** Cached, because every call is prepared and the schemas do not change. */
const known = new WeakMap<z.ZodType, Defaults>();

function defaultsOf(schema: z.ZodType): Defaults {
  const before = known.get(schema);
  if (before !== undefined) return before;
  const shape: Readonly<Record<string, z.core.$ZodType>> = schema instanceof z.ZodObject ? schema.shape : {};
  const defaults = Object.entries(shape).flatMap(([name, parameter]) => {
    const found = documentedDefaults.get(parameter);
    return found === undefined ? [] : [[name, found.value] as const];
  });
  known.set(schema, defaults);
  return defaults;
}

/** One line for each problem: where, what is wrong, and the value seen. */
export function describeIssues(error: z.core.$ZodError, input: unknown): readonly string[] {
  return error.issues.slice(0, ISSUES_SHOWN).flatMap((issue) => describe(issue, input));
}

/** More are not read, and a hostile answer may have a million. */
const ISSUES_SHOWN = 100;

function describe(issue: z.core.$ZodIssue, input: unknown): readonly string[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.slice(0, ISSUES_SHOWN).map((key) => `${pathText([...issue.path, key])}: unknown parameter`);
  }
  const where = pathText(issue.path);
  const seen = valueAt(input, issue.path);
  return [
    `${where === '' ? '' : `${where}: `}${issue.message}${where === '' ? '' : `, got ${isContact(issue.path) ? kindSeen(seen) : show(seen)}`}`,
  ];
}

export const plainWords: z.core.$ZodErrorMap = (issue) => {
  if (issue.code === 'invalid_type') return `expected ${kindOf(issue.expected)}`;
  if (issue.code === 'too_small' && issue.minimum === 1 && issue.origin !== 'number') return 'must not be empty';
  if (issue.code !== 'invalid_union') return undefined;
  const kinds = issue.errors.flat().flatMap((one) => (one.code === 'invalid_type' ? kindOf(one.expected) : []));
  return kinds.length === 0 ? undefined : `expected ${[...new Set(kinds)].join(' or ')}`;
};

const kindOf = (type: string): string => KINDS[type] ?? type;

const KINDS: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

const pathText = (path: readonly PropertyKey[]) => path.map(String).join('.');

export function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  let value = input;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<PropertyKey, unknown>)[key];
  }
  return value;
}

/** E-mail addresses and phone numbers are not shown, because such messages are stored and logged. */
const isContact = (path: readonly PropertyKey[]): boolean =>
  path.some((key) => isContactName(String(key)) || isContactGroup(String(key)));

const kindSeen = (value: unknown): string =>
  typeof value === 'string' ? 'a text' : value instanceof ExactNumber ? 'a number' : show(value);

function show(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value instanceof ExactNumber) return value.text;
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === 'object' && value !== null) return 'an object';
  // Redacted before it is cut: half of a key would not be recognized.
  const text = withoutEmails(sanitizeText(JSON.stringify(value) ?? String(value)));
  return text.length > 80 ? `${text.slice(0, 77)}…` : text;
}
