import { readMember } from '../api/answer.js';
import { ApiError } from '../api/errors.js';
import type { Operation } from '../api/operation.js';
import { v1Operations } from '../api/v1/operations.js';
import { noteOf, nothingReturned } from './nothing-returned.js';
import { notingOnce } from './noting-once.js';
import { listNotReturned } from './page-notes.js';
import { askItems, askPages, ownedItems, type PagesWithItems } from './pages.js';
import { registryListParams } from './registry.js';
import type { ScreenedPerson } from './screened-people.js';
import { callsToScreen, kindsOf, type ScreenedKind } from './screening-kinds.js';
import { type ScreeningOptions, screeningOptions } from './screening-options.js';
import {
  type CallTerms,
  type Company,
  identified,
  type Params,
  type StageContext,
  type StageError,
  type StageOutcome,
  stage,
  withoutAnswer,
} from './stage.js';

type Context = StageContext<ScreeningOptions>;

/** Looks for a company's officers and shareholders elsewhere, by name. Whoever is found is a candidate, never the same person. */
export const screeningStage = stage({
  name: 'screening',
  summary: 'Appointments and holdings elsewhere of people with the names of officers and shareholders (v1 or v2)',
  space: 'v1',
  // Whoever has come into a list is looked for, too.
  reads: ['record', 'registry'],
  ages: [v1Operations.officersSearchKyb, v1Operations.shareholdersSearchKyb],
  calls: [],
  options: screeningOptions,
  fitted: (options) => {
    const kinds = kindsOf(options);
    return {
      space: options.from,
      ages: kinds.map(({ search }) => search),
      calls: kinds.flatMap(callsToScreen(options)),
    };
  },
  run: async (company: Company, context: Context): Promise<StageOutcome> => {
    const noting = notingOnce(
      context,
      kindsOf(context.options).map(({ search }) => search),
    );
    return noting.ended(await screen(company, noting.context));
  },
});

async function screen(company: Company, context: Context): Promise<StageOutcome> {
  const { options } = context;
  const { id } = identified(company, options.from);
  const about = { about: { space: options.from, id } };
  const record = ownedRecord(id, context);
  let asked = 0;
  for (const kind of kindsOf(options)) {
    const listed = await listOf(kind, id, record, context);
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

const NOBODY = nothingReturned(
  'NOBODY_TO_SCREEN',
  'no officer and no shareholder was returned whose name can be looked for',
);

/** Where the provider has nothing to one question, the others are asked all the same. */
function goesOn(outcome: StageOutcome, { keepError }: Context): boolean {
  if (outcome.kind !== 'not_available') return false;
  if (outcome.error !== undefined) keepError(outcome.error);
  return true;
}

/** As the tables show it: all pages that are owned, or the list of an owned record. Without either its first page is bought. */
async function listOf(
  { inRecord, list }: ScreenedKind,
  id: string,
  record: () => Promise<Buffer | undefined>,
  context: Context,
): Promise<PagesWithItems | StageOutcome> {
  const params = { id, ...(list.api === 'v2' ? registryListParams(context) : {}) };
  const pages = await ownedItems(list, params, context);
  if (pages?.isWhole === true && pages.came) return pages;
  const body = inRecord === null ? undefined : await record();
  const recorded = inRecord === null || body === undefined ? undefined : listInRecord(body, inRecord);
  if (recorded !== undefined && recorded.count >= (pages?.count ?? 0)) return recorded;
  // Who is on pages that nobody has bought is told as people who were left out.
  return pages ?? (await askItems(list, params, 1, context));
}

/** The full record, if it is owned: looked for when it is first wanted, and once. */
function ownedRecord(id: string, { owned }: Context): () => Promise<Buffer | undefined> {
  let looked: Promise<Buffer | undefined> | undefined;
  return () => {
    looked ??= owned(v1Operations.fullKyb, { id }, false).then((record) => record?.body);
    return looked;
  };
}

/** As many as are allowed. Whoever is not looked for is noted, with the reason. */
function chosenOf({ items, total }: PagesWithItems, kind: ScreenedKind, { options, keepError }: Context) {
  const { people, unsearchable } = kind.people(items);
  const chosen = people.slice(0, options.peopleAtMost);
  const beyond = total === null ? 0 : Math.max(0, total - items.length);
  const left = people.length - chosen.length;
  const { words, list } = kind;
  const reasons = [
    ...(left === 0 ? [] : [`${left} more are listed, and the pipeline wants no more (screening.people_at_most)`]),
    ...(unsearchable === 0
      ? []
      : [`${unsearchable} are listed without a name that can be looked for, of 2 to 500 characters`]),
    ...(beyond === 0 ? [] : [`${list.name} counts ${beyond} more, on pages that were not bought`]),
  ];
  if (reasons.length > 0) keepError(peopleLeft(`${chosen.length} ${words} were looked for; ${reasons.join('; ')}`));
  return chosen;
}

/** A list that did not come in the record says nothing: then it is asked for by itself (V1-22). */
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

/** Undefined where the search was answered; what it found is read by whoever makes the tables. */
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

/** Its items are read by whoever makes the tables. */
const isList = (body: Buffer): boolean => body.toString('latin1', 0, 64).trimStart().startsWith('[');

const peopleLeft = (message: string): StageError => noteOf('PEOPLE_LEFT', message);

/** The search was answered, and what it says is nothing: neither that there is somebody, nor that there is nobody. */
const notReturned = (search: Operation): StageError => noteOf('NOTHING_RETURNED', listNotReturned(search));
