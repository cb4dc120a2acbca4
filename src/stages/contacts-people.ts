import type { ContactsOptions } from './contacts-options.js';
import { noteOf, nothingReturned } from './nothing-returned.js';
import type { PagesWithItems } from './pages.js';
import type { StageContext, StageOutcome } from './stage.js';

/** As many as are wanted are asked for at once: a page may cost. */
export const PER_PAGE = 50;

export type ContactsContext = StageContext<ContactsOptions>;
export type Item = Readonly<Record<string, unknown>>;

/** That nobody fits what the pipeline asks for does not say that nobody works there. */
export function nobody({ seniority, department }: ContactsOptions): ReturnType<typeof nothingReturned> {
  const isChosen = seniority.length + department.length > 0;
  const fitting = isChosen ? ' and is as contacts.seniority and contacts.department ask' : '';
  return nothingReturned('NO_PEOPLE', `the provider returned nobody who works for the company${fitting}`);
}

/** Those of the company, as many as are wanted. Who is said to work elsewhere, or is left, is noted. */
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

/** One whom the provider does not know keeps nobody else from being asked for. */
export function goesOn(outcome: StageOutcome, { keepError }: ContactsContext): boolean {
  if (outcome.kind !== 'not_available') return false;
  if (outcome.error !== undefined) keepError(outcome.error);
  return true;
}
