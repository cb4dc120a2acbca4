import { z } from 'zod';
import { describeIssues, longInteger, needsOneOf, nonEmpty, plainWords } from '../../api/schema.js';
import {
  type FilterVocabulary,
  filterVocabularies,
  type ItemForm,
  nomenclature,
  prospectingFilters,
} from '../../api/v2/operations/prospecting.js';
import { readYaml } from '../../config/user-files.js';
import { UsageError } from '../../domain/errors.js';
import { type AskVocabulary, type ResolvedItem, resolveVocabulary, type WrittenItem } from '../../stages/vocabulary.js';
import { type ExactNumber, requestNumber } from '../../util/exact-json.js';
import { didYouMean, firstFew } from '../../util/message-parts.js';
import { sanitizeText } from '../../util/sanitize-text.js';
import { type AppEnvironment, pathIn } from '../environment.js';
import { noAnswerError } from './direct-calls.js';

/** A place as a user writes it: names or IDs, or the provider's two forms. */
interface WrittenPlace {
  readonly parents?: readonly WrittenItem[] | undefined;
  readonly id?: readonly WrittenItem[] | undefined;
}

/** The filters in the file: those of a vocabulary by name, all others as they are sent. */
export type WrittenFilters = Readonly<Record<string, unknown>>;

const number = z.union([z.int(), longInteger.transform(String)]);
const ID = z.union([number, nonEmpty]);
const item = z.union([number, z.string().regex(/\S/), z.strictObject({ id: ID })], {
  error: 'expected a name, an ID, or {id: …} to send a value unchanged. Put a code such as "01.1" in quotes',
});
const items = z.array(item).min(1);
const place = z.union([
  items,
  z.strictObject({ parents: items.optional(), id: items.optional() }).refine(...needsOneOf('parents', 'id')),
]);

const schema = z.strictObject({
  ...prospectingFilters.shape,
  ...Object.fromEntries(
    Object.entries(filterVocabularies).map(([key, { form }]) => [key, (form === 'place' ? place : items).optional()]),
  ),
});

/** Reads and checks the file. Names of vocabularies are resolved later. */
export function readFilters(named: string, environment: AppEnvironment): WrittenFilters {
  const content = readYaml(pathIn(environment, named), named, { forRequest: true });
  if (typeof content !== 'object' || content === null || Array.isArray(content) || Object.keys(content).length === 0)
    throw new UsageError(
      'FILTER_MISSING',
      `${named} has no filter, so it would find every company`,
      `It needs keys and values, for example company_status: [Active]. The keys: ${FILTERS.join(', ')}.`,
    );
  const listed = Object.fromEntries(Object.entries(content).map(([key, value]) => [key, asList(key, value)]));
  const checked = schema.safeParse(listed, { error: plainWords });
  if (checked.success)
    return Object.fromEntries(Object.entries(checked.data).filter(([, value]) => value !== undefined));
  const problems = problemsOf(checked.error, listed);
  throw new UsageError(
    'FILTERS_INVALID',
    firstFew(problems, (problem) => `${named}: ${problem}`, 'problems').join('\n'),
    'Nothing was sent. docs/how-to/prospect.md lists the filters.',
  );
}

/** A single item need not be written as a list. */
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
  const where = [...path, sanitizeText(key, 80)].map(String).join('.');
  return `${where}: there is no such ${isFilter ? 'filter' : 'key'}.${didYouMean(key, known)}`;
}

/** A name in the file, and the ID that is sent for it. */
export interface NamedValue {
  readonly filter: string;
  readonly written: string;
  readonly name: string;
  readonly id: string;
}

export interface ResolvedFilters {
  /** As they are sent. */
  readonly filters: Readonly<Record<string, unknown>>;
  readonly names: readonly NamedValue[];
}

/** Resolves names of vocabularies to IDs and keeps everything else. `file`: its name in messages. */
export async function resolveFilters(
  written: WrittenFilters,
  file: string,
  ask: AskVocabulary,
): Promise<ResolvedFilters> {
  const look = new NameResolver(file, ask);
  const filters: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(written)) {
    const known = Object.hasOwn(filterVocabularies, key) ? filterVocabularies[key] : undefined;
    filters[key] = known === undefined ? value : await resolveFilter(key, value, known, look);
  }
  if (look.problems.length > 0)
    throw new UsageError(
      'FILTER_NAME_UNKNOWN',
      look.problems.join('\n'),
      'Nothing was bought. `kybatch vocab NAME --search TEXT` finds names and IDs.',
    );
  return { filters, names: look.names };
}

/** The file is checked by now: a filter of a vocabulary is a list or a place. */
async function resolveFilter(
  key: string,
  value: unknown,
  known: FilterVocabulary,
  look: NameResolver,
): Promise<unknown> {
  if (Array.isArray(value)) {
    const items = await look.up(key, key, value as readonly WrittenItem[], known);
    return known.form === 'place' ? sentAsPlace({ either: items }) : look.checked(key, sentAs(known.form, items));
  }
  const { parents, id } = value as WrittenPlace;
  return sentAsPlace({
    parents: await look.up(key, `${key}.parents`, parents ?? [], known),
    id: await look.up(key, `${key}.id`, id ?? [], known),
  });
}

/** Resolves names and collects problems, so that all faults of a file are reported at once. */
class NameResolver {
  readonly names: NamedValue[] = [];
  readonly problems: string[] = [];

  constructor(
    private readonly file: string,
    private readonly ask: AskVocabulary,
  ) {}

  async up(
    filter: string,
    where: string,
    items: readonly WrittenItem[],
    { vocabulary }: FilterVocabulary,
  ): Promise<readonly ResolvedItem[]> {
    const resolved = await resolveVocabulary(vocabulary, items, this.ask);
    if (resolved.kind === 'refused') {
      this.problems.push(...resolved.problems.map(({ message }) => `${this.file}: ${where}: ${message}`));
      return [];
    }
    if (resolved.kind !== 'resolved') throw noAnswerError(resolved, nomenclature.nomenclature);
    for (const { written, name, id } of resolved.items)
      if (name !== null) this.names.push({ filter, written, name, id });
    return resolved.items;
  }

  /** The IDs to send. An ID of the wrong form becomes a problem. */
  checked(where: string, sent: ReturnType<typeof sentAs>): readonly (string | number | ExactNumber)[] {
    if ('values' in sent) return sent.values;
    this.problems.push(`${this.file}: ${where}: this filter takes whole numbers, and ${sent.unfit} is not one`);
    return [];
  }
}

/** IDs in the form of the filter. `unfit`: an ID of another form. */
export function sentAs(
  form: Exclude<ItemForm, 'place'>,
  items: readonly ResolvedItem[],
): { readonly values: readonly (string | number | ExactNumber)[] } | { readonly unfit: string } {
  if (form === 'texts') return { values: items.map(({ id }) => id) };
  const values = items.map(({ id }) => wholeNumber(id) ?? id);
  const unfit = form === 'integers' ? values.find((value) => typeof value === 'string') : undefined;
  return unfit === undefined ? { values } : { unfit: String(unfit) };
}

/** `007` stays text, and numbers too large for JavaScript keep their digits. */
const wholeNumber = (id: string): number | ExactNumber | undefined =>
  /^(?:0|[1-9]\d*)$/.test(id) ? requestNumber(id) : undefined;

interface Places {
  readonly parents?: readonly ResolvedItem[];
  readonly id?: readonly ResolvedItem[];
  /** Sent by its path if that is known, otherwise by its ID. */
  readonly either?: readonly ResolvedItem[];
}

/** The document says "Parents used in the filter, id to go deeper". Several are sent as a list. */
export function sentAsPlace({ parents = [], id = [], either = [] }: Places): Readonly<Record<string, unknown>> {
  const pathOf = (item: ResolvedItem) => item.parents ?? (item.id.includes('_') ? item.id : undefined);
  const paths = [...parents.map((item) => item.parents ?? item.id), ...either.flatMap((item) => pathOf(item) ?? [])];
  const ids = [...id, ...either.filter((item) => pathOf(item) === undefined)].map((item) => item.id);
  return {
    ...(paths.length === 0 ? {} : { parents: oneOrList(paths) }),
    ...(ids.length === 0 ? {} : { id: oneOrList(ids.map((one) => wholeNumber(one) ?? one)) }),
  };
}

const oneOrList = <T>(values: readonly T[]): T | readonly T[] => (values.length === 1 ? (values[0] as T) : values);
