// The stage `contacts`: its options, and the people of a company, by its domain or in the employees module.

import { z } from 'zod';
import { readAnswer } from '../api/answer.js';
import { ApiError } from '../api/errors.js';
import { isPlainObject } from '../api/v2/fields.js';
import { v2Operations } from '../api/v2/operations.js';
import type { Reveals } from '../domain/account-usage.js';
import { type Employer, isDifferentPerson, ownDomainOf, worksElsewhere } from '../domain/names/employer-match.js';
import { choice, filledText, inCamelCase, integerWithin, section, yesOrNo } from '../domain/options.js';
import { ExactNumber } from '../util/exact-json.js';
import { sanitizeText } from '../util/sanitize-text.js';
import { profileDifference } from './firmographics.js';
import { confirmedElsewhere } from './identity/confirm.js';
import { askItems, type PagesWithItems } from './pages.js';
import {
  type Company,
  IDENTITY_MISMATCH,
  noteOf,
  nothingReturned,
  type Params,
  requireIdentified,
  type StageCall,
  type StageContext,
  type StageOptions,
  type StageOutcome,
  stage,
  trimmedText,
  withoutAnswer,
  withoutAnswerAbout,
} from './stage.js';
import { resolveVocabulary } from './vocabulary.js';

const list = <Item extends z.ZodType>(item: Item) =>
  z
    .array(item, 'must be a list')
    .refine((items) => new Set(items).size === items.length, 'must not name anything twice')
    .meta({ uniqueItems: true });

const ENTRY = 'must be a name or an ID of the vocabulary (`kybatch vocab`)';
const entry = () => z.union([z.int().min(0), filledText()], ENTRY);

const schema = section({
  from: choice(['domain', 'employees'])
    .default('domain')
    .describe(
      'How people are found. `domain`: by the domain of the company’s website. `employees`: in the employees module, if `ids_shared` names it together with a space that another stage confirms',
    ),
  people_at_most: integerWithin(1, 100)
    .default(10)
    .describe('How many people to ask for at each company, 1 to 100. If there are more, `errors` has PEOPLE_LEFT'),
  details: yesOrNo()
    .default(false)
    .describe('Ask for each person by name too (`enrichPerson`), without revealing contacts. With `domain` only'),
  reveal: list(choice(['email', 'phone']))
    .default([])
    .describe(
      'Contacts to reveal: email, phone. Each reveal is charged. The default reveals none. The employees module always reveals both',
    ),
  reveal_at_most: integerWithin(1, 100)
    .default(1)
    .describe('At how many people of a company contacts are revealed, 1 to 100'),
  seniority: list(entry())
    .default([])
    .describe(
      'Only people of these levels: names or IDs of the seniority vocabulary for `employees`, texts for `domain`',
    ),
  department: list(entry())
    .default([])
    .describe('Only people of these departments: names or IDs of the vocabulary. With `employees` only'),
  job_title: list(filledText()).default([]).describe('Only people with these titles. With `employees` only'),
})
  .refine(({ from, details }) => from === 'domain' || !details, {
    path: ['details'],
    error: 'must be false with contacts.from: employees (use contacts.reveal)',
  })
  .refine(({ from, department }) => from === 'employees' || department.length === 0, {
    path: ['department'],
    error: 'must be empty with contacts.from: domain, which has no such filter',
  })
  .refine(({ from, job_title }) => from === 'employees' || job_title.length === 0, {
    path: ['job_title'],
    error: 'must be empty with contacts.from: domain, which has no such filter',
  })
  .refine(({ from, seniority }) => from === 'employees' || seniority.every((one) => typeof one === 'string'), {
    path: ['seniority'],
    error: 'must be texts with contacts.from: domain, which takes no IDs',
  })
  .transform(inCamelCase)
  .prefault({})
  .describe('People of a company. No contact is revealed unless `reveal` names it');

export type ContactsOptions = z.output<typeof schema>;

export const contactsOptions: StageOptions<ContactsOptions> = {
  key: 'contacts',
  schema,
  decisive: (options) => options,
};

/** The number of people wanted is asked for at once, because each page may cost. */
const PER_PAGE = 50;

type ContactsContext = StageContext<ContactsOptions>;
type Item = Readonly<Record<string, unknown>>;

/** No match for the pipeline's filters does not mean that no one works there. */
function noPeople({ seniority, department }: ContactsOptions): ReturnType<typeof nothingReturned> {
  const isChosen = seniority.length + department.length > 0;
  const fitting = isChosen ? ' and fit contacts.seniority and contacts.department' : '';
  return nothingReturned('NO_PEOPLE', `the provider returned no people who work for the company${fitting}`);
}

/** The people of the company, as many as wanted. People who work elsewhere or are left out are noted. */
function chosenPeople(
  { items, total }: PagesWithItems,
  { options: { peopleAtMost }, keepError }: ContactsContext,
  isElsewhere: (item: Item) => boolean,
): readonly Item[] {
  const people = items.filter(isPlainObject);
  const own = people.filter((item) => !isElsewhere(item));
  const elsewhere = people.length - own.length;
  if (elsewhere > 0)
    keepError(
      noteOf('OTHER_COMPANY', `${elsewhere} of the returned people work for another company. They are left out`),
    );
  const left = Math.max(total ?? 0, people.length) - people.length + Math.max(0, own.length - peopleAtMost);
  if (left > 0)
    keepError(
      noteOf('PEOPLE_LEFT', `${left} more people are listed than the pipeline allows (contacts.people_at_most)`),
    );
  return own.slice(0, peopleAtMost);
}

/** A person whom the provider does not know does not stop the others. */
function isUnknownPerson(outcome: StageOutcome, { keepError }: ContactsContext): boolean {
  if (outcome.kind !== 'not_available') return false;
  if (outcome.error !== undefined) keepError(outcome.error);
  return true;
}

const { companyProfile, enrichEmployeesSearch, enrichPerson, employeesSearch, employeeProfile, nomenclature } =
  v2Operations;

/** People of a company. Nothing is revealed unless the pipeline asks for it, and never more than it allows (V2-11). */
export const contactsStage = stage({
  name: 'contacts',
  summary: 'People who work for the company (v2): names and roles. E-mail and phone only if the pipeline reveals them',
  space: 'companies',
  additional: true,
  comparesCandidate: true,
  // The employees module uses the ID of another space.
  finds: ['employees'],
  // The domain comes from the profile.
  reads: ['firmographics'],
  ages: [enrichEmployeesSearch],
  calls: [],
  options: contactsOptions,
  configure: (options) =>
    options.from === 'employees'
      ? { space: 'employees', ages: [employeesSearch], calls: inEmployeesCalls(options) }
      : { space: 'companies', ages: [enrichEmployeesSearch], calls: byDomainCalls(options) },
  names: ({ from, seniority, department }) =>
    from === 'domain'
      ? []
      : [
          { key: 'contacts.seniority', vocabulary: { name: 'seniority' }, written: seniority },
          { key: 'contacts.department', vocabulary: { name: 'department' }, written: department },
        ],
  run: (company: Company, context: ContactsContext): Promise<StageOutcome> =>
    context.options.from === 'employees' ? inEmployees(company, context) : byDomain(company, context),
});

const pagesOf = ({ peopleAtMost }: ContactsOptions): number => Math.ceil(peopleAtMost / PER_PAGE);

function byDomainCalls(options: ContactsOptions): readonly StageCall[] {
  const { details, reveal, revealAtMost, peopleAtMost } = options;
  const revealed = reveal.length === 0 ? 0 : Math.min(revealAtMost, peopleAtMost);
  const asked = details ? peopleAtMost : revealed;
  return [
    { operation: companyProfile, atMost: 1 },
    { operation: enrichEmployeesSearch, atMost: pagesOf(options) },
    ...(asked === 0 ? [] : [{ operation: enrichPerson, atMost: asked, reveals: revealsOf(options, revealed) }]),
  ];
}

const revealsOf = ({ reveal }: ContactsOptions, people: number): Reveals => ({
  email: reveal.includes('email') ? people : 0,
  phone: reveal.includes('phone') ? people : 0,
});

/** Employee details have no switch: both kinds are revealed, whichever was named. */
function inEmployeesCalls(options: ContactsOptions): readonly StageCall[] {
  const { reveal, revealAtMost, peopleAtMost } = options;
  const revealed = reveal.length === 0 ? 0 : Math.min(revealAtMost, peopleAtMost);
  const looks = [options.seniority, options.department].filter(({ length }) => length > 0).length;
  return [
    ...(looks === 0 ? [] : [{ operation: nomenclature, atMost: looks }]),
    { operation: employeesSearch, atMost: pagesOf(options) },
    ...(revealed === 0
      ? []
      : [{ operation: employeeProfile, atMost: revealed, reveals: { email: revealed, phone: revealed } }]),
  ];
}

async function byDomain(company: Company, context: ContactsContext): Promise<StageOutcome> {
  const { id } = requireIdentified(company, 'companies');
  const found = await findDomain(company, context);
  if ('kind' in found) return found;
  const { options } = context;
  const about = { about: { space: 'companies', id } } as const;
  const params = {
    domain_list: [found.website],
    ...(options.seniority.length === 0 ? {} : { employee_seniorities: options.seniority.map(String) }),
    per_page: Math.min(options.peopleAtMost, PER_PAGE),
  };
  const listed = await askItems(enrichEmployeesSearch, params, pagesOf(options), context, about);
  if (listed.kind !== 'pages') return listed;
  const people = chosenPeople(listed, context, (item) => worksElsewhere(employerOf(item), found));
  if (people.length === 0) return noPeople(options);
  for (const [index, person] of people.entries()) {
    for (const asked of await detailsToAsk(person, index, found.website, context)) {
      const outcome = await context.call(enrichPerson, asked, about);
      if (outcome.kind === 'answer') {
        noteSomebodyElse(outcome.body, asked, found.name, context);
        continue;
      }
      const trouble = withoutAnswer(outcome);
      if (!isUnknownPerson(trouble, context)) return trouble;
    }
  }
  return { kind: 'done' };
}

/**
 * The domain, and the company name that its people must have. The profile has the confirmed number and country, or a
 * person accepted it.
 */
async function findDomain(company: Company, context: ContactsContext): Promise<Employer | StageOutcome> {
  const { id, candidate } = requireIdentified(company, 'companies');
  const outcome = await context.call(companyProfile, { id });
  if (outcome.kind !== 'answer') return await withoutAnswerAbout(companyProfile, { id }, outcome, context);
  const { company_website = null, name } = readAnswer(companyProfile, outcome.body);
  const odd = await contradiction(outcome.body, company, context);
  if (odd !== undefined) return odd;
  const domain = ownDomainOf(company_website ?? '');
  if (domain === undefined) return noDomain(trimmedText(company_website));
  return { website: domain, name: trimmedText(name) || trimmedText(candidate?.name) };
}

/** A profile of another company that was not accepted says nothing about known people. */
async function contradiction(
  body: Buffer,
  company: Company,
  context: ContactsContext,
): Promise<StageOutcome | undefined> {
  const difference = profileDifference(body, company, context);
  if (difference === undefined) return undefined;
  const { key } = difference;
  const decided = await context.questions.remembered({ space: 'companies', stage: 'firmographics', key });
  if (decided?.decision === 'confirm') return undefined;
  const message = `${difference.message}. The stage firmographics asks a person about it`;
  return { ...nothingReturned(IDENTITY_MISMATCH, message), stays: true };
}

function noDomain(website: string): StageOutcome {
  const none = 'the profile names no website to search for people';
  // An address may contain a password, which must not be shown.
  const seen = sanitizeText(website.replace(/\/\/[^/]*@/, '//'), 200);
  return nothingReturned('NO_DOMAIN', seen === '' ? none : `${none}: ${seen} is not a domain of the company`);
}

const employerOf = ({ company }: Item): Employer => ({
  name: isPlainObject(company) ? trimmedText(company.name) : '',
  website: isPlainObject(company) ? trimmedText(company.website) : '',
});

/** The request is paid for. The export leaves this person out too. */
function noteSomebodyElse(body: Buffer, asked: Params, company: string, { keepError }: ContactsContext): void {
  const details = readDetails(body);
  if (details === undefined) return;
  const told = { name: trimmedText(details.full_name), company: trimmedText(details.company_name) };
  const name = nameIn(asked);
  if (!isDifferentPerson(told, { name, companies: [trimmedText(asked.company_name), company] })) return;
  const whom = [told.name, told.company].filter((text) => text !== '').join(', ');
  keepError(
    noteOf(
      'SOMEBODY_ELSE',
      `${enrichPerson.name} for ${sanitizeText(name, 200)} returned another person or company (${sanitizeText(whom, 200)}), which is left out`,
    ),
  );
}

const nameIn = ({ first_name, last_name }: Params): string =>
  `${trimmedText(first_name)} ${trimmedText(last_name)}`.trim();

function readDetails(body: Buffer): Item | undefined {
  try {
    const details: unknown = readAnswer(enrichPerson, body);
    return isPlainObject(details) ? details : undefined;
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}

/** The requests for one person. Empty if nothing more is wanted. `reveal_*: false` is always sent (V2-11). */
async function detailsToAsk(
  person: Item,
  index: number,
  domain: string,
  context: ContactsContext,
): Promise<readonly Params[]> {
  const { details, reveal, revealAtMost } = context.options;
  const wanted = index < revealAtMost ? reveal : [];
  const [first = '', ...rest] = trimmedText(person.name).split(/\s+/u);
  if (first === '' || (!details && wanted.length === 0)) return [];
  const company = trimmedText((person.company as Item | null | undefined)?.name);
  const whom = {
    ...(rest.length === 0 ? { last_name: first } : { first_name: first, last_name: rest.join(' ') }),
    ...(company === '' ? {} : { company_name: company }),
    domain,
  };
  return await revealing(whom, wanted, context);
}

const KINDS = ['email', 'phone'] as const;
type Kind = (typeof KINDS)[number];

/** Choices that include the wanted kinds, the smallest first. */
const showing = (wanted: readonly Kind[]): readonly (readonly Kind[])[] => {
  const choices: readonly (readonly Kind[])[] = [[], ['email'], ['phone'], KINDS];
  return choices.filter((kinds) => wanted.every((kind) => kinds.includes(kind)));
};

/** Each reveal is charged: if a part is stored, only the rest is asked for. */
async function revealing(whom: Params, wanted: readonly Kind[], context: ContactsContext): Promise<readonly Params[]> {
  const asking = (kinds: readonly Kind[]): Params => ({
    ...whom,
    reveal_email: kinds.includes('email'),
    reveal_phone: kinds.includes('phone'),
  });
  const isStored = async (kinds: readonly Kind[]) =>
    (await context.stored(enrichPerson, asking(kinds), false)) !== undefined;
  for (const kinds of showing(wanted)) if (await isStored(kinds)) return [asking(kinds)];
  if (wanted.length < KINDS.length) return [asking(wanted)];
  const parts: Kind[] = [];
  for (const kind of wanted) if (await isStored([kind])) parts.push(kind);
  const missing = wanted.filter((kind) => !parts.includes(kind));
  return [...parts.map((kind) => [kind]), ...(missing.length === 0 ? [] : [missing])].map(asking);
}

/**
 * Finds people in the employees module by the company's ID there. Its details have no switch: they show e-mail and
 * phone (V2-11).
 */
async function inEmployees(company: Company, context: ContactsContext): Promise<StageOutcome> {
  const { id, candidate } = requireIdentified(company, 'employees');
  const { options } = context;
  const about = { about: { space: 'employees', id } } as const;
  const wanted = await employeeFilters(context);
  if (wanted.kind !== 'filters') return wanted;
  const filters = { company_id: id, ...wanted.filters };
  const params = { filters, per_page: Math.min(options.peopleAtMost, PER_PAGE) };
  const listed = await askItems(employeesSearch, params, pagesOf(options), context, about);
  if (listed.kind !== 'pages') return listed;
  const asked = { name: trimmedText((candidate ?? confirmedElsewhere(company.ids))?.name), website: '' };
  const people = chosenPeople(
    listed,
    context,
    ({ company_id, company_name }) =>
      (idIn(company_id) ?? id) !== id || worksElsewhere({ name: trimmedText(company_name), website: '' }, asked),
  );
  if (people.length === 0) return noPeople(options);
  const revealed = options.reveal.length === 0 ? [] : people.slice(0, options.revealAtMost);
  for (const person of revealed) {
    const employee = idIn(person.id);
    if (employee === undefined) continue;
    const outcome = await context.call(employeeProfile, { id: employee }, about);
    const trouble = outcome.kind === 'answer' ? undefined : withoutAnswer(outcome);
    if (trouble !== undefined && !isUnknownPerson(trouble, context)) return trouble;
  }
  return { kind: 'done' };
}

const idIn = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : value instanceof ExactNumber ? value.text : undefined;

/** Names become IDs of their vocabulary, which is free and reused for a year. */
async function employeeFilters(
  context: ContactsContext,
): Promise<{ readonly kind: 'filters'; readonly filters: Params } | StageOutcome> {
  const { jobTitle } = context.options;
  const filters: Record<string, unknown> = {};
  for (const name of ['seniority', 'department'] as const) {
    const written = context.options[name];
    if (written.length === 0) continue;
    const resolved = await resolveVocabulary({ name }, written, (operation, params) => context.call(operation, params));
    if (resolved.kind === 'refused') return unknownName(name, resolved.problems[0]?.message ?? '');
    if (resolved.kind !== 'resolved') return withoutAnswer(resolved);
    const ids = resolved.items.map(({ id }) => Number(id));
    if (!ids.every(Number.isSafeInteger)) return unknownName(name, 'an ID of the vocabulary is not a whole number');
    filters[name] = ids;
  }
  if (jobTitle.length > 0) filters.job_title = jobTitle;
  return { kind: 'filters', filters };
}

function unknownName(name: string, message: string): StageOutcome {
  const advice = `\`kybatch vocab ${name}\` lists them. A run keeps its pipeline, so correct the file and start again with \`kybatch run\``;
  return { kind: 'failed', error: noteOf('UNKNOWN_NAME', `contacts.${name}: ${message}. ${advice}`, 'fail_row') };
}
