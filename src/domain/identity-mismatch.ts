// Checks that a bought answer is about the confirmed company.

import { type ExactJson, ExactNumber, isObject, type JsonObject } from '../util/exact-json.js';
import { LONGEST_NAME } from '../util/text-limits.js';
import type { CandidateFacts } from './candidate-grade.js';
import { nameSimilarity } from './names/similarity.js';
import { comparableNumber, compareRegistration } from './numbers/compare.js';
import { parseRegistrationNumber } from './numbers/parse.js';
import { findCountry } from './places/resolve-location.js';

/** Why a bought record is not the confirmed company: same number, same country. Undefined if it is. */
export function recordProblem(
  candidate: Pick<CandidateFacts, 'registration_number' | 'country_code'>,
  record: { readonly registration_number?: string | null; readonly country_code?: string | null },
): string | undefined {
  const country = candidate.country_code?.toUpperCase() ?? '';
  const theirs = record.country_code?.toUpperCase() ?? '';
  if (country !== '' && theirs !== '' && country !== theirs)
    return `the bought record is in ${theirs}, the confirmed candidate in ${country}`;
  const confirmed = candidate.registration_number ?? '';
  const found = record.registration_number ?? '';
  if (confirmed === '') return undefined;
  if (found === '') return `the bought record has no registration number, the confirmed candidate has ${confirmed}`;
  if (comparableNumber(confirmed, country) === comparableNumber(found, country)) return undefined;
  return `the bought record has registration number ${found}, the confirmed candidate ${confirmed}`;
}

const STATED = ['id', 'name', 'registration_number', 'vat_number', 'country_code'] as const;

/** A company as an answer states it. Null: not stated. */
export type StatedCompany = Readonly<Record<(typeof STATED)[number], string | null>>;

/**
 * What an answer states as an identifier or a name. Only text and numbers identify. A text that is too long to be read
 * is still different from any other.
 */
export function identifierText(value: unknown): string | null {
  const text =
    typeof value === 'string' || value instanceof ExactNumber ? String(value).slice(0, LONGEST_NAME + 1) : '';
  return text.trim() === '' ? null : text;
}

/**
 * The names of the fields, without case and separators. The documents show `registration_number`, `company_reg_number`
 * and `company_id`, and camel case in credit reports.
 */
const FIELD_OF: ReadonlyMap<string, keyof StatedCompany> = new Map([
  ['id', 'id'],
  ['companyid', 'id'],
  ['name', 'name'],
  ['companyname', 'name'],
  ...['registrationnumber', 'registrationno', 'regnumber', 'regno', 'companynumber'].map(numberField),
  ...['companyregistrationnumber', 'companyregistrationno', 'companyregnumber', 'companyregno'].map(numberField),
  ['vatnumber', 'vat_number'],
  ['companyvatnumber', 'vat_number'],
  ['countrycode', 'country_code'],
  ['country', 'country_code'],
]);

function numberField(name: string): [string, keyof StatedCompany] {
  return [name, 'registration_number'];
}

const plainName = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');

/** Groups of a profile with fields of its company (V1-25), and the company of an item. */
const GROUPS: ReadonlySet<string> = new Set(['basic', 'address', 'company', 'companydata']);
const ADDRESS = 'address';

export const isStatement = (name: string): boolean => FIELD_OF.has(plainName(name)) || GROUPS.has(plainName(name));

/**
 * The companies that an object states: mostly one. Each further value of a field is a company of its own, so that a
 * second spelling is compared too. Empty: none.
 */
export function statedCompanies(object: ExactJson | undefined): readonly StatedCompany[] {
  if (!isObject(object)) return [];
  const values = new Map(STATED.map((field) => [field, new Set<string>()]));
  const collect = (members: JsonObject, group?: string) => {
    for (const [name, value] of Object.entries(members)) {
      const plain = plainName(name);
      if (group === undefined && isObject(value) && GROUPS.has(plain)) collect(value, plain);
      const field = FIELD_OF.get(plain);
      if (field === undefined || (group === ADDRESS && field !== 'country_code')) continue;
      const text = identifierText(value)?.trim() ?? '';
      if (text !== '') values.get(field)?.add(field === 'country_code' ? (findCountry(text) ?? '') : text);
    }
  };
  collect(object);
  const several = Math.max(...[...values.values()].map(({ size }) => size));
  return Array.from({ length: several }, (_, place) => {
    // Empty: a country that is not known.
    const at = (field: keyof StatedCompany) => [...(values.get(field) ?? [])][place] || null;
    return Object.fromEntries(STATED.map((field) => [field, at(field)])) as StatedCompany;
  });
}

/** The confirmed company, as parts of its answers are compared with it. */
export interface ConfirmedFacts extends Pick<CandidateFacts, 'id' | 'registration_number' | 'country_code'> {
  readonly names: readonly string[];
  readonly nameAgreement: number;
}

/**
 * How a part of an answer contradicts the confirmed company, in words. Empty: it does not. An absent value contradicts
 * nothing. A number is better evidence than a name, which may have changed.
 */
export function contradictionsOf(stated: StatedCompany, confirmed: ConfirmedFacts): readonly string[] {
  const { id, name, registration_number: number, country_code } = stated;
  const problem = recordProblem(confirmed, {
    registration_number: number ?? confirmed.registration_number,
    country_code,
  });
  const isSameNumber = number !== null && (confirmed.registration_number ?? '') !== '' && problem === undefined;
  const isOtherName =
    name !== null &&
    !isSameNumber &&
    confirmed.names.length > 0 &&
    confirmed.names.every((known) => nameSimilarity(known, name) < confirmed.nameAgreement);
  return [
    ...(id === null || id === confirmed.id ? [] : [`it is of ${id}, but kybatch asked for ${confirmed.id}`]),
    ...(problem === undefined ? [] : [problem]),
    ...(isOtherName ? [`it is about ${name}, the confirmed candidate is ${confirmed.names[0]}`] : []),
  ];
}

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
