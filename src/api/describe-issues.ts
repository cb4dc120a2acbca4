import type { z } from 'zod';
import { isContactGroup, isContactName, withoutEmails } from '../util/contact-names.js';
import { ExactNumber } from '../util/exact-json.js';
import { outsideText } from '../util/outside-text.js';

/** Each problem in one line: where, what is wrong, and the value that was seen. */
export function describeIssues(error: z.core.$ZodError, input: unknown): readonly string[] {
  return error.issues.slice(0, ISSUES_TOLD).flatMap((issue) => describe(issue, input));
}

/** Nobody reads more, and what a stranger sent may have a million. */
const ISSUES_TOLD = 100;

function describe(issue: z.core.$ZodIssue, input: unknown): readonly string[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.slice(0, ISSUES_TOLD).map((key) => `${pathText([...issue.path, key])}: unknown parameter`);
  }
  const where = pathText(issue.path);
  const seen = valueAt(input, issue.path);
  return [
    `${where === '' ? '' : `${where}: `}${issue.message}${where === '' ? '' : `, got ${isContact(issue.path) ? kindSeen(seen) : show(seen)}`}`,
  ];
}

/** What a parameter must be, for people: they are not expected to know what a program calls it. */
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

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  let value = input;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<PropertyKey, unknown>)[key];
  }
  return value;
}

/** Somebody's e-mail or phone is told to nobody: such messages are kept, and logged. */
const isContact = (path: readonly PropertyKey[]): boolean =>
  path.some((key) => isContactName(String(key)) || isContactGroup(String(key)));

const kindSeen = (value: unknown): string =>
  typeof value === 'string' ? 'a text' : value instanceof ExactNumber ? 'a number' : show(value);

function show(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value instanceof ExactNumber) return value.text;
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === 'object' && value !== null) return 'an object';
  // Before it is cut: half of a key is told by nobody.
  const text = withoutEmails(outsideText(JSON.stringify(value) ?? String(value)));
  return text.length > 80 ? `${text.slice(0, 77)}…` : text;
}
