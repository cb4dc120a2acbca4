// Checks that a bought answer is about the confirmed company.

import type { CandidateFacts } from './candidate-grade.js';
import { comparableNumber, compareRegistration } from './numbers/compare.js';
import { parseRegistrationNumber } from './numbers/parse.js';

export type RecordIdentityCheck =
  | { readonly ok: true }
  | {
      readonly ok: false;
      readonly reason: 'number_differs' | 'number_missing' | 'country_differs';
      readonly message: string;
    };

/** The bought record must be the confirmed company: same number, same country. */
export function checkRecordIdentity(
  candidate: Pick<CandidateFacts, 'id' | 'registration_number' | 'country_code'>,
  record: { readonly registration_number?: string | null; readonly country_code?: string | null },
): RecordIdentityCheck {
  const country = candidate.country_code?.toUpperCase() ?? '';
  const theirs = record.country_code?.toUpperCase() ?? '';
  if (country !== '' && theirs !== '' && country !== theirs) {
    const message = `the bought record is in ${theirs}, the confirmed candidate in ${country}`;
    return { ok: false, reason: 'country_differs', message };
  }
  const confirmed = candidate.registration_number ?? '';
  const found = record.registration_number ?? '';
  if (confirmed === '') return { ok: true };
  if (found === '') {
    const message = `the bought record has no registration number, the confirmed candidate has ${confirmed}`;
    return { ok: false, reason: 'number_missing', message };
  }
  if (comparableNumber(confirmed, country) === comparableNumber(found, country)) return { ok: true };
  const message = `the bought record has registration number ${found}, the confirmed candidate ${confirmed}`;
  return { ok: false, reason: 'number_differs', message };
}

/** How a bought answer differs from the confirmed company. */
export interface IdentityMismatch {
  readonly confirmed: Told;
  readonly bought: Told;
}

interface Told {
  readonly registrationNumber: string | null;
  /** Also null if the answer has none. */
  readonly countryCode: string | null;
}

/**
 * Reads the difference from the key of its question. Undefined if the question is not about an answer, or the key lacks
 * it.
 */
export function readIdentityMismatch(key: string): IdentityMismatch | undefined {
  const stage = key.slice(0, key.indexOf('|'));
  const list = key.indexOf('|[', stage.length + 1) + 1;
  const said = list === 0 ? [] : parsed(key.slice(list, key.lastIndexOf(']') + 1));
  if (said.length < 4) return undefined;
  const [first, confirmed, third, bought] = said.map((cell) => (typeof cell === 'string' && cell !== '' ? cell : null));
  // The keys of reports and ownership have the numbers in the same places, but no countries.
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

const hasOtherNumber = ({ confirmed, bought }: IdentityMismatch): boolean =>
  confirmed.registrationNumber !== null &&
  bought.registrationNumber !== null &&
  comparableNumber(confirmed.registrationNumber, confirmed.countryCode ?? '') !==
    comparableNumber(bought.registrationNumber, confirmed.countryCode ?? '');

const isOfOtherCountry = ({ confirmed, bought }: IdentityMismatch): boolean =>
  confirmed.countryCode !== null &&
  bought.countryCode !== null &&
  confirmed.countryCode.toUpperCase() !== bought.countryCode.toUpperCase();

/** "has number X": the identity that the answer states. */
export function mismatchInWords(odd: IdentityMismatch | undefined): string {
  if (odd === undefined) return 'names another company';
  const { registrationNumber, countryCode } = odd.bought;
  if (hasOtherNumber(odd)) return `has number ${registrationNumber}`;
  if (isOfOtherCountry(odd)) return `is in ${countryCode}`;
  return registrationNumber === null ? 'has no number' : 'names another company';
}

/** The grade of the search's candidate, adapted to the bought answer: different values no longer count as equal. */
export function gradeOfBought(grade: string, odd: IdentityMismatch): string {
  if (grade.length !== 5) return grade;
  const number = odd.bought.registrationNumber === null ? 'Z' : hasOtherNumber(odd) ? 'F' : grade.charAt(0);
  const country = isOfOtherCountry(odd) ? 'F' : grade.charAt(3);
  return `${number}${grade.slice(1, 3)}${country}${grade.slice(4)}`;
}

/** The company that a provider's ID was confirmed as, by its search answer. */
export type IdOwner = Pick<CandidateFacts, 'registration_number' | 'country_code' | 'state' | 'jurisdiction'>;

/**
 * An ID belongs to one company. Returns the company that already has it, if it is not `own`. Without a
 * registration number nothing can be compared.
 */
export function otherOwner<Owner extends IdOwner>(own: IdOwner, owners: readonly Owner[]): Owner | undefined {
  if (own.registration_number === null) return undefined;
  const numbered = owners.filter((owner) => owner.registration_number !== null);
  return numbered.some((owner) => isSameCompany(own, owner)) ? undefined : numbered[0];
}

function isSameCompany(a: IdOwner, b: IdOwner): boolean {
  const [country, theirs] = [a.country_code?.toUpperCase() ?? '', b.country_code?.toUpperCase() ?? ''];
  if (country !== '' && theirs !== '' && country !== theirs) return false;
  const [ours, other] = [a.registration_number ?? '', b.registration_number ?? ''];
  const code = country || theirs;
  const parsed = parseRegistrationNumber(ours, code, a.state ?? a.jurisdiction ?? undefined);
  const { letter } = compareRegistration(parsed, other, code, b);
  return letter === 'Z' ? comparableNumber(ours, code) === comparableNumber(other, code) : letter !== 'F';
}
