import { numberInVat, type Subject } from '../../domain/grade.js';
import type { SearchSubject } from '../../domain/search-subject.js';
import type { Fallback } from './fallback-steps.js';

export interface SearchPolicy {
  readonly attempts: number;
  readonly order: readonly ('registration_number' | 'vat_number' | 'name')[];
  readonly furtherSpellings: boolean;
  /** Who is asked, first to last, for the number of a company that no search has found. */
  readonly fallback: readonly Fallback[];
}

/** One search: a location and one thing to look for. */
export type Search = Readonly<Record<string, string>>;

export interface Searches {
  /** May be bought, first to last: each costs a unit, found or not. */
  readonly bought: readonly Search[];
  /** Looked at where somebody has bought them before. Most rows never come to that. */
  readonly owned: () => readonly Search[];
}

/**
 * What to ask, first to last: each key in the order of the policy, further spellings of the number when all else is
 * asked. A VAT number or a name finds the company also where the provider spells its number differently, and where
 * the row has mistyped it; another spelling does only the former. Never more is bought than the policy allows.
 */
export function planSearches(enquiry: SearchSubject, policy: SearchPolicy): Searches {
  const bought = searchesBy(enquiry, policy.order, policy.furtherSpellings).slice(0, policy.attempts);
  const owned = () => {
    const known = new Set(bought.map(inWords));
    return searchesBy(enquiry, KEYS, true).filter((search) => !known.has(inWords(search)));
  };
  return { bought, owned };
}

/** How the part of a message begins that says what was searched by. */
export const SEARCHED_BY = '; searched by ';

/** What was searched by, and what of the row was not, with the key of the pipeline that would change that. */
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

/** Whether there is anything that the policy lets a search ask by. */
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
  // A tax number that stands for the number finds its company as a VAT number, if at all.
  const keys = subject.taxInNumber === true ? [...order].sort((a, b) => Number(isVat(b)) - Number(isVat(a))) : order;
  const planned: Search[] = [];
  const further: Search[] = [];
  const { registrationNumber: own } = subject;
  for (const key of keys) {
    const [best, ...others] = textsFor(key, subject);
    // The same number was asked for as a registration number: a name finds more.
    const isAsked = isVat(key) && own === undefined && planned.some((search) => 'registration_number' in search);
    if (best !== undefined) (isAsked ? further : planned).push({ location, [key]: best });
    if (furtherSpellings) further.push(...others.map((text) => ({ location, [key]: text })));
  }
  planned.push(...further);
  return planned.length === 0 && subject.ticker !== undefined ? [{ location, ticker: subject.ticker }] : planned;
}

/** What a search by this key can look for, the best first. */
function textsFor(
  key: SearchPolicy['order'][number],
  { registrationNumber, vatNumber, name, countryCode }: Subject,
): readonly string[] {
  switch (key) {
    case 'registration_number':
      // Who has no VAT number at the provider is found by the registration number that it is.
      if (registrationNumber === undefined)
        return (vatNumber && numberInVat(vatNumber, countryCode)?.spellings.slice(0, 1)) ?? [];
      // No register has a number without a digit: looking for a word there finds nobody, and costs the same.
      return registrationNumber?.canonical != null && /\d/.test(registrationNumber.canonical)
        ? registrationNumber.spellings
        : [];
    case 'vat_number':
      return vatNumber?.canonical == null ? [] : [vatNumber.canonical];
    case 'name':
      return name === undefined ? [] : [name];
  }
}
