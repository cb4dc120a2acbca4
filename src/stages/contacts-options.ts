// The options of the stage `contacts`, and its choice of people.

import { z } from 'zod';
import { choice, filledText, integerWithin, section, yesOrNo } from '../domain/options.js';
import type { PagesWithItems } from './pages.js';
import { noteOf, nothingReturned, type StageContext, type StageOptions, type StageOutcome } from './stage.js';

export interface ContactsOptions {
  readonly from: 'domain' | 'employees';
  readonly peopleAtMost: number;
  readonly details: boolean;
  readonly reveal: readonly ('email' | 'phone')[];
  readonly revealAtMost: number;
  readonly seniority: readonly (number | string)[];
  readonly department: readonly (number | string)[];
  readonly jobTitle: readonly string[];
}

const list = <Item extends z.ZodType>(item: Item) =>
  z
    .array(item, 'must be a list')
    .refine((items) => new Set(items).size === items.length, 'must not name anything twice')
    .meta({ uniqueItems: true });

const ENTRY = 'must be a name or an ID of the vocabulary (`kybatch vocab`)';
const entry = () => z.union([z.int().min(0), filledText()], ENTRY);

export const contactsOptions: StageOptions<ContactsOptions> = {
  key: 'contacts',
  schema: section({
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
      error:
        'must be false with contacts.from: employees, whose details show e-mail and phone: say so in contacts.reveal',
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
      error: 'must hold texts with contacts.from: domain, which takes no IDs',
    })
    .transform((file) => ({
      from: file.from,
      peopleAtMost: file.people_at_most,
      details: file.details,
      reveal: file.reveal,
      revealAtMost: file.reveal_at_most,
      seniority: file.seniority,
      department: file.department,
      jobTitle: file.job_title,
    }))
    .prefault({})
    .describe('People of a company. No contact is revealed unless `reveal` names it'),
  decisive: (options) => options,
};

/** The number of people wanted is asked for at once, because each page may cost. */
export const PER_PAGE = 50;

export type ContactsContext = StageContext<ContactsOptions>;
export type Item = Readonly<Record<string, unknown>>;

/** No match for the pipeline's filters does not mean that no one works there. */
export function noPeople({ seniority, department }: ContactsOptions): ReturnType<typeof nothingReturned> {
  const isChosen = seniority.length + department.length > 0;
  const fitting = isChosen ? ' and is as contacts.seniority and contacts.department ask' : '';
  return nothingReturned('NO_PEOPLE', `the provider returned no people who work for the company${fitting}`);
}

/** The people of the company, as many as wanted. People who work elsewhere or are left out are noted. */
export function chosenPeople(
  { items, total }: PagesWithItems,
  { options: { peopleAtMost }, keepError }: ContactsContext,
  isElsewhere: (item: Item) => boolean,
): readonly Item[] {
  const people = items.filter(isItem);
  const own = people.filter((item) => !isElsewhere(item));
  const elsewhere = people.length - own.length;
  if (elsewhere > 0)
    keepError(
      noteOf('OTHER_COMPANY', `${elsewhere} of the people returned work for another company: they are left out`),
    );
  const left = Math.max(total ?? 0, people.length) - people.length + Math.max(0, own.length - peopleAtMost);
  if (left > 0)
    keepError(
      noteOf(
        'PEOPLE_LEFT',
        `${left} more people are counted than were asked for, as the pipeline says (contacts.people_at_most)`,
      ),
    );
  return own.slice(0, peopleAtMost);
}

export const isItem = (item: unknown): item is Item =>
  typeof item === 'object' && item !== null && !Array.isArray(item);

export const textOf = (value: unknown): string => (typeof value === 'string' ? value.trim() : '');

/** A person whom the provider does not know does not stop the others. */
export function isUnknownPerson(outcome: StageOutcome, { keepError }: ContactsContext): boolean {
  if (outcome.kind !== 'not_available') return false;
  if (outcome.error !== undefined) keepError(outcome.error);
  return true;
}
