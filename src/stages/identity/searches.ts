import type { Enquiry } from '../../domain/enquiry.js';

export interface SearchPolicy {
  readonly attempts: number;
  readonly order: readonly ('registration_number' | 'vat_number' | 'name')[];
  readonly furtherSpellings: boolean;
}

/** One search: a location and one thing to look for. */
export type Search = Readonly<Record<string, string>>;

/**
 * What to ask, first to last: each key in the order of the policy, further spellings of the number when all else is
 * asked. A VAT number or a name finds the company also where the provider spells its number differently, and where
 * the row has mistyped it; another spelling does only the former. Never more than the policy allows: each costs a
 * unit, found or not.
 */
export function planSearches({ subject, location }: Enquiry, policy: SearchPolicy): readonly Search[] {
  const number = subject.registrationNumber;
  const spellings = number === undefined || number.canonical === null ? [] : number.spellings;
  const vat = subject.vatNumber?.canonical ?? null;
  const by: Readonly<Record<SearchPolicy['order'][number], readonly Search[]>> = {
    registration_number: spellings
      .slice(0, policy.furtherSpellings ? undefined : 1)
      .map((spelling) => ({ location, registration_number: spelling })),
    vat_number: vat === null ? [] : [{ location, vat_number: vat }],
    name: subject.name === undefined ? [] : [{ location, name: subject.name }],
  };
  const planned = [
    ...policy.order.flatMap((key) => by[key].slice(0, 1)),
    ...policy.order.flatMap((key) => by[key].slice(1)),
  ];
  if (planned.length === 0 && subject.ticker !== undefined) return [{ location, ticker: subject.ticker }];
  return planned.slice(0, policy.attempts);
}
