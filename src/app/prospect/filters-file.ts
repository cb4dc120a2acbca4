import { z } from 'zod';
import { describeIssues, plainWords } from '../../api/describe-issues.js';
import { longInteger, nonEmpty, oneOf } from '../../api/params.js';
import { filterVocabularies } from '../../api/v2/filter-vocabularies.js';
import { prospectingFilters } from '../../api/v2/prospecting-filters.js';
import { readYaml } from '../../config/read-yaml.js';
import { UsageError } from '../../domain/errors.js';
import type { WrittenItem } from '../../stages/vocabulary/resolve.js';
import { firstFew } from '../../util/first-few.js';
import { outsideText } from '../../util/outside-text.js';
import { didYouMean } from '../../util/suggest.js';
import { pathIn, type Surroundings } from '../surroundings.js';

/** A place as people write it: names or IDs, or the two ways in which the provider takes them. */
export interface WrittenPlace {
  readonly parents?: readonly WrittenItem[] | undefined;
  readonly id?: readonly WrittenItem[] | undefined;
}

/** The filters as they stand in the file: those of a vocabulary with names, the others as they are sent. */
export type WrittenFilters = Readonly<Record<string, unknown>>;

const number = z.union([z.int(), longInteger.transform(String)]);
const ID = z.union([number, nonEmpty]);
const item = z.union([number, z.string().regex(/\S/), z.strictObject({ id: ID })], {
  error: 'expected a name, an ID, or {id: …} for what is to be sent as it is; a code such as "01.1" goes in quotes',
});
const items = z.array(item).min(1);
const place = z.union([
  items,
  z
    .strictObject({ parents: items.optional(), id: items.optional() })
    .refine(oneOf('parents', 'id'), { error: 'needs parents, id or both' }),
]);

const schema = z.strictObject({
  ...prospectingFilters.shape,
  ...Object.fromEntries(
    Object.entries(filterVocabularies).map(([key, { form }]) => [key, (form === 'place' ? place : items).optional()]),
  ),
});

/** Reads and checks the file; what it says of vocabularies is still to be looked up. */
export function readFilters(named: string, around: Surroundings): WrittenFilters {
  const content = readYaml(pathIn(around, named), named, { forRequest: true });
  if (typeof content !== 'object' || content === null || Array.isArray(content) || Object.keys(content).length === 0)
    throw new UsageError(
      `${named} names no filter: every company that there is would be asked for`,
      `It holds keys and values, for example company_status: [Active]. The keys: ${FILTERS.join(', ')}.`,
    );
  const listed = Object.fromEntries(Object.entries(content).map(([key, value]) => [key, asList(key, value)]));
  const checked = schema.safeParse(listed, { error: plainWords });
  if (checked.success)
    return Object.fromEntries(Object.entries(checked.data).filter(([, value]) => value !== undefined));
  const problems = problemsOf(checked.error, listed);
  throw new UsageError(
    firstFew(problems, (problem) => `${named}: ${problem}`, 'problems').join('\n'),
    'Nothing was sent. docs/prospecting.md lists the filters.',
  );
}

/** One item need not be written as a list. */
function asList(key: string, value: unknown): unknown {
  const known = Object.hasOwn(filterVocabularies, key) ? filterVocabularies[key] : undefined;
  if (known === undefined) return value;
  if (known.form === 'place' && typeof value === 'object' && value !== null && !Array.isArray(value))
    return Object.fromEntries(Object.entries(value).map(([member, inside]) => [member, listOf(inside)]));
  return listOf(value);
}

const listOf = (value: unknown): unknown => (Array.isArray(value) || value === null ? value : [value]);

const FILTERS = Object.keys(prospectingFilters.shape);

function problemsOf(error: z.core.$ZodError, content: unknown): readonly string[] {
  return error.issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => unknownKey(issue.path, key))
      : describeIssues(new z.ZodError([issue]), content),
  );
}

function unknownKey(path: readonly PropertyKey[], key: string): string {
  const isFilter = path.length === 0;
  const known = isFilter ? FILTERS : ['gte', 'lte', 'parents', 'id'];
  const where = [...path, outsideText(key, 80)].map(String).join('.');
  return `${where}: there is no such ${isFilter ? 'filter' : 'key'}.${didYouMean(key, known)}`;
}
