// Plans which searches to buy for a row.

import { numberInVat, type Subject } from '../../domain/grade.js';
import type { SearchSubject } from '../../domain/search-subject.js';
import type { Fallback } from './fallback-steps.js';

export interface SearchPolicy {
  readonly attempts: number;
  readonly order: readonly ('registration_number' | 'vat_number' | 'name')[];
  readonly furtherSpellings: boolean;
  /** The fallback steps in order, for a company that no search found. */
  readonly fallback: readonly Fallback[];
}

/** One search: a location and one value. */
export type Search = Readonly<Record<string, string>>;

export interface Searches {
  /** Searches that may be bought, in order: each costs a unit, found or not. */
  readonly bought: readonly Search[];
  /** Searches that are only used if they are stored. Most rows never need them. */
  readonly ifStored: () => readonly Search[];
}

/**
 * The searches in order: each key in the policy's order, then further spellings of the number. A VAT number or a name
 * also finds the company if the row's number is mistyped. Another spelling does not. Never more is bought than the
 * policy allows.
 */
export function planSearches(enquiry: SearchSubject, policy: SearchPolicy): Searches {
  const bought = searchesBy(enquiry, policy.order, policy.furtherSpellings).slice(0, policy.attempts);
  const ifStored = () => {
    const known = new Set(bought.map(inWords));
    return searchesBy(enquiry, KEYS, true).filter((search) => !known.has(inWords(search)));
  };
  return { bought, ifStored };
}

/** The beginning of the message part that lists the searches. */
export const SEARCHED_BY = '; searched by ';

/** The values searched by, the values not used, and the pipeline key that would change that. */
export function searchedInWords(
  enquiry: SearchSubject,
  { attempts, order }: SearchPolicy,
  sent: readonly Search[],
): string {
  if (sent.length === 0) return '';
  const tried = KEYS.filter((key) => sent.some((search) => search[key] !== undefined));
  const untried = KEYS.filter((key) => !tried.includes(key) && textsFor(key, enquiry.subject).length > 0);
  const why = (key: SearchKey) =>
    order.includes(key) ? `search.attempts is ${attempts}` : 'it is not in search.order of the pipeline';
  const words = tried.length === 0 ? ['ticker'] : tried.map((key) => KEY_WORDS[key]);
  return [
    `${SEARCHED_BY}${words.join(', ')}`,
    ...untried.map((key) => `the ${KEY_WORDS[key]} was not searched: ${why(key)}`),
  ].join('; ');
}

type SearchKey = SearchPolicy['order'][number];

const KEY_WORDS: Readonly<Record<SearchKey, string>> = {
  registration_number: 'registration number',
  vat_number: 'VAT number',
  name: 'name',
};

/** Whether the policy allows a search by any value of the row. */
export const asksAnything = ({ subject }: SearchSubject, { order }: SearchPolicy): boolean =>
  subject.ticker !== undefined || order.some((key) => textsFor(key, subject).length > 0);

const KEYS: SearchPolicy['order'] = ['registration_number', 'vat_number', 'name'];

const inWords = (search: Search): string => JSON.stringify(search);

const isVat = (key: SearchPolicy['order'][number]): boolean => key === 'vat_number';

function searchesBy(
  { subject, location }: SearchSubject,
  order: SearchPolicy['order'],
  furtherSpellings: boolean,
): readonly Search[] {
  // A tax number in the number's column finds its company as a VAT number, if at all.
  const keys = subject.taxInNumber === true ? [...order].sort((a, b) => Number(isVat(b)) - Number(isVat(a))) : order;
  const planned: Search[] = [];
  const further: Search[] = [];
  const { registrationNumber: own } = subject;
  for (const key of keys) {
    const [best, ...others] = textsFor(key, subject);
    // The same number was already searched as a registration number: a name finds more.
    const isAsked = isVat(key) && own === undefined && planned.some((search) => 'registration_number' in search);
    if (best !== undefined) (isAsked ? further : planned).push({ location, [key]: best });
    if (furtherSpellings) further.push(...others.map((text) => ({ location, [key]: text })));
  }
  planned.push(...further);
  return planned.length === 0 && subject.ticker !== undefined ? [{ location, ticker: subject.ticker }] : planned;
}

/** The texts to search for by this key, the best first. */
function textsFor(
  key: SearchPolicy['order'][number],
  { registrationNumber, vatNumber, name, countryCode }: Subject,
): readonly string[] {
  switch (key) {
    case 'registration_number':
      // If the provider has no VAT number of the company, the registration number inside it may find it.
      if (registrationNumber === undefined)
        return (vatNumber && numberInVat(vatNumber, countryCode)?.spellings.slice(0, 1)) ?? [];
      // Every register number has a digit: a search for a word costs the same and finds nothing.
      return registrationNumber?.canonical != null && /\d/.test(registrationNumber.canonical)
        ? registrationNumber.spellings
        : [];
    case 'vat_number':
      return vatNumber?.canonical == null ? [] : [vatNumber.canonical];
    case 'name':
      return name === undefined ? [] : [name];
  }
}
