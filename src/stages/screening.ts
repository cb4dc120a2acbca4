// The stage `screening`.

import type { z } from 'zod';
import { readMember } from '../api/answer.js';
import { ApiError } from '../api/errors.js';
import type { Operation } from '../api/operation.js';
import { v1Operations } from '../api/v1/operations.js';
import { isPlainObject } from '../api/v2/fields.js';
import { v2Operations } from '../api/v2/operations.js';
import { choice, inCamelCase, integerWithin, section, yesOrNo } from '../domain/options.js';
import { PEOPLE_LEFT, peopleLeftInWords } from '../domain/outcomes.js';
import { ExactNumber } from '../util/exact-json.js';
import { normalizeText } from '../util/text-limits.js';
import { type Module, readOwnList } from './modules.js';
import { askItems, askPages, listNotReturned, type PagesWithItems, storedItems } from './pages.js';
import { recordModules } from './record.js';
import { registryListParams, registryModules } from './registry.js';
import {
  type CallTerms,
  type Company,
  noteOf,
  nothingReturned,
  type Params,
  requireIdentified,
  type StageCall,
  type StageContext,
  type StageError,
  type StageOptions,
  type StageOutcome,
  stage,
  trimmedText,
  withoutAnswer,
} from './stage.js';

type Context = StageContext<ScreeningOptions>;

const NOBODY = nothingReturned('NOBODY_TO_SCREEN', 'no officer or shareholder with a searchable name was returned');

/** The export reads its items. */
const isList = (body: Buffer): boolean => body.toString('latin1', 0, 64).trimStart().startsWith('[');

/** The search was answered without its list, which says neither yes nor no. */
const notReturned = (search: Operation): StageError => noteOf('NOTHING_RETURNED', listNotReturned(search));

const callsToScreen =
  ({ peopleAtMost }: ScreeningOptions) =>
  ({ module, search, pagesAtMost }: ScreenedKind): readonly StageCall[] => [
    { operation: module.operation, atMost: 1 },
    { operation: search, atMost: peopleAtMost * (pagesAtMost ?? 1) },
  ];

const schema = section({
  from: choice(['v1', 'v2'])
    .default('v1')
    .describe(
      'The API of lists and searches. v1 costs a unit for each search. v2 searches for officers only, and does not show who has resigned',
    ),
  officers: yesOrNo().default(true).describe('Search for the officers by name. Fills `appointments`'),
  shareholders: yesOrNo().default(true).describe('Search for the shareholders by name. Fills `holdings`. v1 only'),
  people_at_most: integerWithin(1, 50)
    .default(10)
    .describe(
      'How many officers, and how many shareholders, to search for at each company, 1 to 50. Each is a search. If there are more, `errors` has PEOPLE_LEFT',
    ),
  pages_at_most: integerWithin(1, 20)
    .default(1)
    .describe('Pages of holdings for each shareholder, 1 to 20, with 50 lines each. Every page costs a unit'),
  current_only: yesOrNo().default(true).describe('Leave out officers who have resigned'),
})
  .refine(({ officers, shareholders }) => officers || shareholders, {
    path: ['officers'],
    error: 'must not be false if screening.shareholders is false: no people would be searched for',
  })
  .refine(({ from, officers }) => from === 'v1' || officers, {
    path: ['officers'],
    error: 'must be true with screening.from: v2, which searches by officers alone',
  })
  .transform((file) => ({ ...inCamelCase(file), shareholders: file.shareholders && file.from === 'v1' }))
  .prefault({})
  .describe(
    'Search for people of a company at other companies. The results have the same name. They may be other people',
  );

export type ScreeningOptions = z.output<typeof schema>;

export const screeningOptions: StageOptions<ScreeningOptions> = {
  key: 'screening',
  schema,
  decisive: (options) => options,
};

/**
 * Searches for a company's officers and shareholders elsewhere by name. A hit is a candidate, never proof of the same
 * person.
 */
export const screeningStage = stage({
  name: 'screening',
  summary:
    'Appointments and holdings at other companies, of people with the names of officers and shareholders (v1 or v2)',
  space: 'v1',
  // New people in a list are searched for too.
  reads: ['record', 'registry'],
  ages: [v1Operations.officersSearchKyb, v1Operations.shareholdersSearchKyb],
  calls: [],
  options: screeningOptions,
  configure: (options) => {
    const kinds = kindsOf(options);
    return {
      space: options.from,
      ages: kinds.map(({ search }) => search),
      calls: kinds.flatMap(callsToScreen(options)),
    };
  },
  run: screen,
});

async function screen(company: Company, context: Context): Promise<StageOutcome> {
  const { options } = context;
  const { id } = requireIdentified(company, options.from);
  const about = { about: { space: options.from, id } };
  const record = storedRecord(id, context);
  let asked = 0;
  for (const kind of kindsOf(options)) {
    const listed = await listOf(kind, company, record, context);
    const people = listed.kind === 'pages' ? chosenOf(listed, kind, context) : [];
    if (listed.kind !== 'pages' && !goesOn(listed, context)) return listed;
    for (const person of people) {
      const trouble = await lookFor(person, kind, about, context);
      if (trouble === undefined) asked += 1;
      else if (!goesOn(trouble, context)) return trouble;
    }
  }
  return asked === 0 ? NOBODY : { kind: 'done' };
}

/** If the provider has nothing for one question, the others are still asked. */
function goesOn(outcome: StageOutcome, { keepError }: Context): boolean {
  if (outcome.kind !== 'not_available') return false;
  if (outcome.error !== undefined) keepError(outcome.error);
  return true;
}

/**
 * The list as in the tables: all stored pages, or the list of a stored record. Without either, its first page is
 * bought. A list that names another company is in review, and nobody in it is searched for.
 */
async function listOf(
  { inRecord, module }: ScreenedKind,
  company: Company,
  record: () => Promise<Buffer | undefined>,
  context: Context,
): Promise<PagesWithItems | StageOutcome> {
  const { operation: list } = module;
  const space = list.api === 'v2' ? 'v2' : 'v1';
  const { id } = requireIdentified(company, space);
  const params = { id, ...(space === 'v2' ? registryListParams(context) : {}) };
  const asking = { module, space, stage: space === 'v2' ? 'registry' : 'record', asker: 'screening' } as const;
  return await readOwnList<PagesWithItems | StageOutcome>(asking, company, context, async (door) => {
    const pages = await storedItems(list, params, door);
    if (pages?.isWhole === true && pages.came) return pages;
    const body = inRecord === null ? undefined : await record();
    const recorded = inRecord === null || body === undefined ? undefined : listInRecord(body, inRecord);
    if (recorded !== undefined && recorded.count >= (pages?.count ?? 0)) return recorded;
    // People on pages that were not bought are noted as left out.
    return pages ?? (await askItems(list, params, 1, door));
  });
}

/** The full record if it is stored, read once when it is first needed. */
function storedRecord(id: string, { stored }: Context): () => Promise<Buffer | undefined> {
  let looked: Promise<Buffer | undefined> | undefined;
  return () => {
    looked ??= stored(v1Operations.fullKyb, { id }, false).then((record) => record?.body);
    return looked;
  };
}

/** As many as allowed. People who are not searched for are noted with the reason. */
function chosenOf({ items, total }: PagesWithItems, kind: ScreenedKind, { options, keepError }: Context) {
  const { people, unsearchable } = kind.people(items);
  const chosen = people.slice(0, options.peopleAtMost);
  const beyond = total === null ? 0 : Math.max(0, total - items.length);
  const left = people.length - chosen.length;
  const { words, module } = kind;
  const reasons = [
    ...(left === 0 ? [] : [`${left} more are over the limit of the pipeline (screening.people_at_most)`]),
    ...(unsearchable === 0 ? [] : [`${unsearchable} have no name of 2 to 500 characters to search for`]),
    ...(beyond === 0 ? [] : [`${module.operation.name} counts ${beyond} more on pages that were not bought`]),
  ];
  if (reasons.length > 0)
    keepError(noteOf(PEOPLE_LEFT, peopleLeftInWords({ lookedFor: chosen.length, list: words, reasons })));
  return chosen;
}

/** If the record has no list, it is asked for separately (V1-22). */
function listInRecord(record: Buffer, member: string): PagesWithItems | undefined {
  try {
    const items = readMember(v1Operations.fullKyb, record, member);
    if (!Array.isArray(items)) return undefined;
    return { kind: 'pages', count: items.length, items, total: null, came: true };
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}

/** Undefined if the search was answered. The export reads its hits. */
async function lookFor(
  { name, birthYear }: ScreenedPerson,
  { search, pagesAtMost }: ScreenedKind,
  about: CallTerms,
  context: Context,
): Promise<StageOutcome | undefined> {
  if (pagesAtMost !== null) {
    const pages = await askPages(search, { view_mode: 'full', name }, pagesAtMost, context, about);
    if (pages.kind !== 'pages') return pages;
    if (!pages.came) context.keepError(notReturned(search));
    return undefined;
  }
  const params: Params = { name, ...(birthYear === null ? {} : { date_of_birth_year: birthYear }) };
  const outcome = await context.call(search, params, about);
  if (outcome.kind !== 'answer') return withoutAnswer(outcome);
  if (!isList(outcome.body)) context.keepError(notReturned(search));
  return undefined;
}

interface ScreenedKind {
  readonly module: Module;
  /** The member of a full record with the same list. */
  readonly inRecord: string | null;
  readonly people: (items: readonly unknown[]) => ScreenedPeople;
  readonly words: string;
  readonly search: Operation;
  readonly pagesAtMost: number | null;
}

function kindsOf({
  from,
  officers,
  shareholders,
  currentOnly,
  pagesAtMost,
}: ScreeningOptions): readonly ScreenedKind[] {
  const { officersSearchKyb, shareholdersSearchKyb } = v1Operations;
  const people = (items: readonly unknown[]) => officersToScreen(items, currentOnly);
  const byOfficer = { people, words: 'officers', pagesAtMost: null };
  if (from === 'v2') {
    const { kybOfficersSearch: search } = v2Operations;
    return [{ ...byOfficer, module: registryModules.officers, inRecord: null, search }];
  }
  const holder = { people: holdersToScreen, words: 'shareholders', pagesAtMost };
  return [
    ...(officers
      ? [{ ...byOfficer, module: recordModules.officers, inRecord: 'officers', search: officersSearchKyb }]
      : []),
    ...(shareholders
      ? [{ ...holder, module: recordModules.shareholders, inRecord: 'shareholders', search: shareholdersSearchKyb }]
      : []),
  ];
}

export interface ScreenedPerson {
  readonly name: string;
  readonly birthYear: number | null;
}

/** The people to search for, and how many names no search accepts: too short, too long or missing. */
export interface ScreenedPeople {
  readonly people: readonly ScreenedPerson[];
  readonly unsearchable: number;
}

/** Officers by name, each once, in the order of the list. Only v1 shows who has resigned (V2-9). */
export function officersToScreen(items: readonly unknown[], currentOnly: boolean): ScreenedPeople {
  return once(
    items
      .filter(isPlainObject)
      .filter((item) => !currentOnly || trimmedText(item.resigned_at) === '')
      .map((item) => ({
        name: nameOf(`${trimmedText(item.first_name)} ${trimmedText(item.last_name)}`),
        birthYear: yearOf(item.date_of_birth_year),
      })),
  );
}

/** Shareholders by name, people and companies: the list does not distinguish them. */
export function holdersToScreen(items: readonly unknown[]): ScreenedPeople {
  return once(items.filter(isPlainObject).map((item) => ({ name: nameOf(trimmedText(item.name)), birthYear: null })));
}

/** A name that the searches accept (V1-20, V2-10). Undefined if it is too short or too long. */
function nameOf(text: string): string | undefined {
  const name = text.replace(/\s+/gu, ' ').trim();
  return [...name].length >= 2 && name.length <= 500 ? name : undefined;
}

function yearOf(value: unknown): number | null {
  const text = value instanceof ExactNumber ? value.text : trimmedText(value);
  const year = text === '' ? Number.NaN : Number(text);
  return Number.isInteger(year) && year >= 1000 && year <= 9999 ? year : null;
}

function once(
  listed: readonly { readonly name: string | undefined; readonly birthYear: number | null }[],
): ScreenedPeople {
  const known = new Map<string, ScreenedPerson>();
  let unsearchable = 0;
  for (const { name, birthYear } of listed) {
    if (name === undefined) {
      unsearchable += 1;
      continue;
    }
    const key = `${normalizeText(name, 'NFKC').toLowerCase()} ${birthYear ?? ''}`;
    if (!known.has(key)) known.set(key, { name, birthYear });
  }
  return { people: [...known.values()], unsearchable };
}
