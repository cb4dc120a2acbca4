import type { Enquiry } from '../../domain/enquiry.js';
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
export function planSearches(enquiry: Enquiry, policy: SearchPolicy): Searches {
  const bought = searchesBy(enquiry, policy.order, policy.furtherSpellings).slice(0, policy.attempts);
  const owned = () => {
    const known = new Set(bought.map(inWords));
    return searchesBy(enquiry, KEYS, true).filter((search) => !known.has(inWords(search)));
  };
  return { bought, owned };
}

/** Whether there is anything that the policy lets a search ask by. */
export const asksAnything = (enquiry: Enquiry, { order }: SearchPolicy): boolean =>
  searchesBy(enquiry, order, false).length > 0;

const KEYS: SearchPolicy['order'] = ['registration_number', 'vat_number', 'name'];

const inWords = (search: Search): string => JSON.stringify(search);

const isVat = (key: SearchPolicy['order'][number]): boolean => key === 'vat_number';

function searchesBy(
  { subject, location }: Enquiry,
  order: SearchPolicy['order'],
  furtherSpellings: boolean,
): readonly Search[] {
  const number = subject.registrationNumber;
  // No register has a number without a digit: looking for a word there finds nobody, and costs the same.
  const isSearched = number !== undefined && number.canonical !== null && /\d/.test(number.canonical);
  const spellings = isSearched ? number.spellings : [];
  const vat = subject.vatNumber?.canonical ?? null;
  const by: Readonly<Record<SearchPolicy['order'][number], readonly Search[]>> = {
    registration_number: spellings
      .slice(0, furtherSpellings ? undefined : 1)
      .map((spelling) => ({ location, registration_number: spelling })),
    vat_number: vat === null ? [] : [{ location, vat_number: vat }],
    name: subject.name === undefined ? [] : [{ location, name: subject.name }],
  };
  // A tax number that stands for the number finds its company as a VAT number, if at all.
  const keys = subject.taxInNumber === true ? [...order].sort((a, b) => Number(isVat(b)) - Number(isVat(a))) : order;
  const planned = [...keys.flatMap((key) => by[key].slice(0, 1)), ...keys.flatMap((key) => by[key].slice(1))];
  return planned.length === 0 && subject.ticker !== undefined ? [{ location, ticker: subject.ticker }] : planned;
}
