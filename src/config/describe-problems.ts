import type { z } from 'zod';
import { firstFew } from '../util/first-few.js';
import { didYouMean, suggest } from '../util/suggest.js';
import { pipelineKeys } from './pipeline-json-schema.js';

/** Each problem in one line: the key, what is wrong with it, and the value that was seen. */
export function describeProblems(error: z.core.$ZodError, content: unknown): readonly string[] {
  const known = pipelineKeys();
  const problems = error.issues
    .flatMap(ofEntries)
    .flatMap((issue): (() => string)[] =>
      issue.code === 'unrecognized_keys'
        ? issue.keys.map((key) => () => unknownKey(issue.path, key, known))
        : [() => describe(issue, content)],
    );
  // Each once: a fraction below the least value breaks two rules with the same words.
  return firstFew(problems, (tell) => tell(), 'problems');
}

/** A list whose entries are wrong, where something else than a list may be said as well: each entry is named. */
function ofEntries(issue: z.core.$ZodIssue): readonly z.core.$ZodIssue[] {
  if (issue.code !== 'invalid_union') return [issue];
  const [entries] = issue.errors.filter((wrong) => wrong.length > 0 && wrong.every(({ path }) => path.length > 0));
  return entries?.map((wrong) => ({ ...wrong, path: [...issue.path, ...wrong.path] })) ?? [issue];
}

function describe(issue: z.core.$ZodIssue, content: unknown): string {
  const key = issue.path.join('.');
  const value = valueAt(content, issue.path);
  if (issue.code === 'invalid_key') return `${key}: the key ${issue.issues[0]?.message ?? issue.message}`;
  if (key === '') return `the file ${issue.message}, got ${show(value)}`;
  if (value === undefined && issue.code === 'custom') return `${key}: ${issue.message}, got its default.`;
  if (value === undefined) return `${key}: is missing; it ${issue.message}`;
  // An address to which anybody may send is a password.
  if (key === 'notify.webhook') return `${key}: ${issue.message}; what it says is not shown.`;
  const meant =
    issue.code === 'invalid_value' && typeof value === 'string' ? suggest(value, names(issue.values)) : undefined;
  return `${key}: ${issue.message}, got ${show(value)}.${meant === undefined ? '' : ` Did you mean ${meant}?`}`;
}

/** The value of an unknown key is not shown: it may be a credential in the wrong place. */
function unknownKey(path: readonly PropertyKey[], key: string, known: ReturnType<typeof pipelineKeys>): string {
  const prefix = path.map((part) => `${String(part)}.`).join('');
  const operations = known.get(path.join('.'))?.propertyNames?.enum;
  if (operations !== undefined) return `${prefix}${key}: no such operation.${didYouMean(key, operations)}`;
  const siblings = [...known.keys()]
    .filter((name) => name.startsWith(prefix) && !name.slice(prefix.length).includes('.'))
    .map((name) => name.slice(prefix.length));
  const elsewhere = [...known.keys()].filter((name) => name.endsWith(`.${key}`));
  const hint = didYouMean(key, siblings) || (elsewhere.length === 0 ? '' : ` Did you mean ${elsewhere.join(' or ')}?`);
  return `${prefix}${key}: unknown key.${hint}`;
}

const names = (values: readonly unknown[]): string[] => values.map(String);

function valueAt(content: unknown, path: readonly PropertyKey[]): unknown {
  let value = content;
  for (const key of path) value = (value as Readonly<Record<PropertyKey, unknown>> | null | undefined)?.[key];
  return value;
}

function show(value: unknown): string {
  if (value === null) return 'nothing';
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : `a list of ${value.length}`;
  if (typeof value === 'object') return 'keys and values';
  if (typeof value !== 'string') return String(value);
  const text = JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 77)}…` : text;
}
