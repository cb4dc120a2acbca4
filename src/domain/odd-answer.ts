import { comparable } from './numbers/compare.js';

/** How an answer that was bought differs from the company that was confirmed. */
export interface OddAnswer {
  readonly confirmed: Told;
  readonly bought: Told;
}

interface Told {
  readonly registrationNumber: string | null;
  /** Null as well where the answer tells none. */
  readonly countryCode: string | null;
}

/**
 * Read out of the key of the question about it, which holds for this very difference. Undefined: the question is about no
 * answer, or nothing can be told.
 */
export function oddAnswer(key: string): OddAnswer | undefined {
  const stage = key.slice(0, key.indexOf('|'));
  const list = key.indexOf('|[', stage.length + 1) + 1;
  const said = list === 0 ? [] : parsed(key.slice(list, key.lastIndexOf(']') + 1));
  if (said.length < 4) return undefined;
  const [first, confirmed, third, bought] = said.map((cell) => (typeof cell === 'string' && cell !== '' ? cell : null));
  // The keys of reports and of ownership have the numbers in the same places, and no countries.
  const countries = stage === 'report' || stage === 'ownership' ? [] : [first, third];
  return {
    confirmed: { registrationNumber: confirmed ?? null, countryCode: countries[0] ?? null },
    bought: { registrationNumber: bought ?? null, countryCode: countries[1] ?? null },
  };
}

function parsed(list: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(list);
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}

const hasOtherNumber = ({ confirmed, bought }: OddAnswer): boolean =>
  confirmed.registrationNumber !== null &&
  bought.registrationNumber !== null &&
  comparable(confirmed.registrationNumber, confirmed.countryCode ?? '') !==
    comparable(bought.registrationNumber, confirmed.countryCode ?? '');

const isOfOtherCountry = ({ confirmed, bought }: OddAnswer): boolean =>
  confirmed.countryCode !== null &&
  bought.countryCode !== null &&
  confirmed.countryCode.toUpperCase() !== bought.countryCode.toUpperCase();

/** "has number X": what the answer says of itself. */
export function oddInWords(odd: OddAnswer | undefined): string {
  if (odd === undefined) return 'names another company';
  const { registrationNumber, countryCode } = odd.bought;
  if (hasOtherNumber(odd)) return `has number ${registrationNumber}`;
  if (isOfOtherCountry(odd)) return `is of ${countryCode}`;
  return registrationNumber === null ? 'has no number' : 'names another company';
}

/** The grade of the search's candidate, held against what was bought: what is different there is not the same here. */
export function gradeOfBought(grade: string, odd: OddAnswer): string {
  if (grade.length !== 5) return grade;
  const number = odd.bought.registrationNumber === null ? 'Z' : hasOtherNumber(odd) ? 'F' : grade.charAt(0);
  const country = isOfOtherCountry(odd) ? 'F' : grade.charAt(3);
  return `${number}${grade.slice(1, 3)}${country}${grade.slice(4)}`;
}
