// Turns the fields of a row into values to search for.

import { LONGEST_NAME } from '../util/text-limits.js';
import { barredWords, dataFile } from '../util/yaml.js';
import type { Subject } from './candidate-grade.js';
import { type Leads, leadsIn } from './leads.js';
import { taxMayConfirm } from './match-decision.js';
import { hasLegalForm } from './names/similarity.js';
import { isNumberedByState } from './numbers/country-formats.js';
import { moreDoubtful, type ParsedNumber, plainCharacters, type RepairRule } from './numbers/number-text.js';
import { parseRegistrationNumber } from './numbers/parse.js';
import { parseVatNumber } from './numbers/vat.js';
import { type ResolvedLocation, resolveLocation } from './places/resolve-location.js';
import { suggestCountry } from './places/suggest-country.js';

export interface SearchSubject {
  readonly subject: Subject;
  readonly location: string;
}

export type SearchSubjectReading =
  | { readonly ok: true; readonly enquiry: SearchSubject }
  | { readonly ok: false; readonly code: 'BAD_COUNTRY'; readonly message: string };

/** The fields of a row from src/input: trimmed, without blank ones. */
export type RowFields = Leads & {
  readonly [F in 'name' | 'country' | 'registration_number' | 'vat_number' | 'ticker' | 'city' | 'state']?: string;
};

const htmlEntities = dataFile('domain/html-entities', (z) =>
  z
    .strictObject({ latin: barredWords(z), others: z.record(z.string(), z.string()) })
    .transform(
      ({ latin, others }) =>
        new Map([
          ...latin.map((name, at) => [name, String.fromCodePoint(0xa0 + at)] as const),
          ...Object.entries(others),
        ]),
    ),
);

/** The fields without the spellings of a web page: `&amp;`, `&uuml;`, `&#252;`. The row itself stays as written. */
function decodeEntities(fields: RowFields): RowFields {
  if (!Object.values(fields).some((text) => text.includes('&') && text.includes(';'))) return fields;
  return Object.fromEntries(
    Object.entries(fields).map(([field, text]) => [
      field,
      text.replace(ENTITY, (whole, name) => character(name) ?? whole),
    ]),
  );
}

const ENTITY = /&(#\d{1,6}|#x[\da-f]{1,5}|[a-z]{2,8}\d{0,2});/gi;

function character(name: string): string | undefined {
  const [, hex, decimal] = /^#(?:x([\da-f]+)|(\d+))$/i.exec(name) ?? [];
  if (hex === undefined && decimal === undefined) return htmlEntities().get(name);
  const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
  return code < 0x20 || (code >= 0xd800 && code < 0xe000) ? undefined : String.fromCodePoint(code);
}

/** An unknown country is reported before any search. */
export function countryProblem(written: RowFields): { code: 'BAD_COUNTRY'; message: string } | undefined {
  const place = placeOf(decodeEntities(written));
  return place.ok ? undefined : { code: 'BAD_COUNTRY', message: place.reason };
}

/** The row's country, else the country of its numbers. */
function placeOf(fields: RowFields): ResolvedLocation & { readonly from?: string } {
  const { country, state } = fields;
  const suggested = country === undefined ? suggestCountry(fields) : undefined;
  const place = resolveLocation(country ?? suggested?.countryCode ?? '', state);
  return suggested === undefined ? place : { ...place, from: suggested.reason };
}

export function readSearchSubject(written: RowFields): SearchSubjectReading {
  const fields = decodeEntities(written);
  const place = placeOf(fields);
  if (!place.ok) return { ok: false, code: 'BAD_COUNTRY', message: place.reason };
  const countryCode = place.countryCode ?? '';
  const state = place.state ?? fields.state;
  const leads = leadsIn(fields);
  const subject: Subject = {
    countryCode,
    ...(place.countryCode === null ? { locationId: place.location } : {}),
    ...(place.from === undefined ? {} : { countryFrom: place.from }),
    ...(fields.name === undefined ? {} : { name: fields.name }),
    ...(state === undefined ? {} : { state }),
    ...(fields.city === undefined ? {} : { city: fields.city }),
    ...(fields.ticker === undefined ? {} : { ticker: fields.ticker }),
    ...numbersIn(fields, countryCode, state),
    ...(leads === undefined ? {} : { leads }),
  };
  return { ok: true, enquiry: { subject, location: place.location } };
}

/** The numbers of a row: in their columns, in each other's, or after the name. */
function numbersIn(fields: RowFields, countryCode: string, state: string | undefined): Partial<Subject> {
  const { name, registration_number, vat_number } = fields;
  const vatNumber = vat_number === undefined ? undefined : parseVatNumber(vat_number, countryCode);
  const vat = vatNumber === undefined ? {} : { vatNumber };
  const both = name === undefined ? undefined : readNumberInName(name, countryCode, state);
  if (registration_number === undefined)
    return both === undefined ? vat : { ...vat, name: both.name, registrationNumber: both.number };
  const registrationNumber = parseRegistrationNumber(registration_number, countryCode, state);
  // The row's own number, repeated after the name, is no part of the name.
  const isRepeated = both !== undefined && both.number.canonical === registrationNumber.canonical;
  const number = { registrationNumber, ...(isRepeated ? { name: both.name } : {}) };
  if (number.registrationNumber.treatment !== 'review') return { ...number, ...vat };
  const tax = parseVatNumber(registration_number, countryCode);
  const isOther = vatNumber !== undefined && vatNumber.canonical !== tax.canonical;
  // Without a rule for the country any text would pass.
  if (tax.treatment === 'review' || tax.valid !== 'yes' || isOther) return { ...number, ...vat };
  return { ...number, vatNumber: tax, taxInNumber: true };
}

/** The row gives a number without the state or province that numbers its companies. */
export function lacksState(fields: RowFields): boolean {
  const reading = readSearchSubject(fields);
  if (!reading.ok) return false;
  const { countryCode, state, registrationNumber: number } = reading.enquiry.subject;
  return isNumberedByState(countryCode) && state === undefined && number !== undefined && number.register === undefined;
}

export function lacksCourt(fields: RowFields): boolean {
  const reading = readSearchSubject(fields);
  return reading.ok && reading.enquiry.subject.registrationNumber?.lacksCourt === true;
}

/**
 * Why the country of the row may be wrong, in words: another country uses the form of its number, or its VAT number
 * names a country that the number fits.
 */
export function otherCountryInWords(fields: RowFields): string | undefined {
  const { registration_number: number, vat_number: vat = '', country = '', state = '' } = fields;
  const place = resolveLocation(country, state);
  if (!place.ok || place.countryCode === null) return undefined;
  const named = suggestCountry({ vat_number: vat })?.countryCode;
  if (named !== undefined && named !== place.countryCode) {
    const fits = number === undefined || parseRegistrationNumber(number, named).treatment !== 'review';
    const which = number === undefined ? 'The VAT number fits' : 'The number and the VAT number fit';
    if (fits) return `${which} ${named}, not ${place.countryCode}. Correct the country of the row`;
  }
  const own = suggestCountry({ registration_number: number ?? '', state })?.countryCode;
  if (own === undefined || own === place.countryCode) return undefined;
  return `The number fits ${own}, not ${place.countryCode}. Check both`;
}

const hasPlace = ({ city, state }: Subject): boolean => city !== undefined || state !== undefined;

/**
 * False for rows that always end in a review question: a name or a ticker alone, an unreadable number, or a number
 * without a name and a country.
 */
export function canBeConfirmed(subject: Subject): boolean {
  const { registrationNumber: number, vatNumber: vat, name, countryFrom, taxInNumber } = subject;
  if (name === undefined && (countryFrom !== undefined || taxInNumber === true)) return false;
  const byPlace = number?.lacksCourt === true && name !== undefined && hasPlace(subject);
  if (number !== undefined) return number.treatment !== 'review' || byPlace || taxMayConfirm(subject);
  return vat !== undefined && vat.treatment !== 'review';
}

export interface NumberInName {
  readonly name: string;
  readonly number: ParsedNumber;
}

/**
 * "Acme Ltd (11247631)", "Acme Ltd 11247631", "Acme - SC123456", "Acme GmbH AG Köln HRB 12": name and number in one
 * cell. The number must be valid in the country as written and not padded, so that "Studio 54", "Hotel 1900 (2019)" and
 * "Fund 11" stay names. It counts only together with the name.
 */
export function readNumberInName(text: string, countryCode: string, state?: string): NumberInName | undefined {
  const fewest = countryCode === 'DE' ? 1 : FEWEST_DIGITS;
  if (text.length > LONGEST_NAME || countDigits(text) < fewest) return undefined;
  const plain = plainCharacters(text).trimEnd();
  const [, before = '', bracketed, trailing] = AT_THE_END.exec(plain) ?? [];
  const ends = [...afterLegalForm(plain, countryCode), [before, (bracketed ?? trailing ?? '').trim()] as const];
  // Behind the number, a place in brackets is the court of a German one, and says nothing about others.
  const readings = ends.flatMap(([name, written]) => [
    [name, written] as const,
    [name, written.replace(/\s{0,9}[([][^()[\]\d]{1,60}[)\]]$/, '')] as const,
  ]);
  for (const [name, written] of readings) {
    if (countDigits(written) < fewest || DATES.test(written) || !/\p{L}.*\p{L}/u.test(name)) continue;
    const number = parseRegistrationNumber(written, countryCode, state);
    if (!isClear(number, countryCode)) continue;
    const found = { rule: 'number_in_name', before: text, after: written } as const;
    const reason = number.lacksCourt === true ? number.reason : undefined;
    return {
      name: name.trim(),
      number: {
        ...number,
        repairs: [found, ...number.repairs],
        treatment: moreDoubtful(number.treatment, 'needs_name'),
        reason: reason ?? `the number is in the name, "${text}"`,
      },
    };
  }
  return undefined;
}

/**
 * A legal form ends the name, so no sign has to part it from the number. Behind a form or a number, "AG" is a court, and
 * the code of the country begins the number: "Acme AB (SE 556012-3456)".
 */
function afterLegalForm(text: string, countryCode: string): readonly (readonly [name: string, rest: string])[] {
  const ends = [...text.matchAll(/[\s,;][\s,;:|/#([–—-]*/g)].map(({ index }) => index).slice(-MOST_WORDS);
  const named = ends.filter((at) => hasLegalForm(text.slice(0, at)));
  const end = named.findLast((at, index) => !beginsNumber(text.slice(named[index - 1] ?? 0, at), countryCode));
  if (end === undefined) return [];
  const rest = text.slice(end).replace(/^[\s,;:|/#–—-]+/, '');
  return [[text.slice(0, end), /^[([]([^()[\]]*)[)\]]$/.exec(rest)?.[1] ?? rest]];
}

const MOST_WORDS = 10;

/** The text ends with a court's "AG" or a country code. Before it is no letter, or a digit and a sign that is no letter. */
function beginsNumber(text: string, countryCode: string): boolean {
  const lead = ['AG', countryCode].find((one) => one !== '' && text.endsWith(one));
  if (lead === undefined) return false;
  const before = text.slice(0, -lead.length);
  return !/\p{L}/u.test(before) || (/\d/.test(before.slice(0, -1)) && /\P{L}$/u.test(before));
}

/** Brackets, or a separator that is not used inside names: a comma, a slash, a dash with spaces around it. */
const AT_THE_END =
  /^(.*?\S)(?:\s{0,9}[([]([^()[\]]{5,60})[)\]]|(?:\s{0,9}[,;|]\s{0,9}|\s{1,9}[-–—/#:]\s{1,9})([^,;|()[\]]{5,60}(?:[([][^()[\]]{2,40}[)\]])?))$/u;

/** A German number is clear by its register and court. */
const FEWEST_DIGITS = 5;

const countDigits = (text: string): number => (text.match(/\p{Nd}/gu) ?? []).length;

/** A year, years, or a day: `2019`, `2010-2019`, `20190131`, `31.01.2019`. */
const DATES =
  /^(?:(?:19|20)\d{2}(?:\s*[-–/]\s*(?:(?:19|20)\d{2}|\d{2}))?|(?:19|20)\d{2}[-./]?(?:0[1-9]|1[0-2])[-./]?(?:0[1-9]|[12]\d|3[01])|\d{1,2}[-./]\d{1,2}[-./](?:19|20)?\d{2})$/;

/**
 * Of a country whose numbers have a form, and of that form without a guess. A label or a letter of the register is clear
 * in every country. A state's number needs its state.
 */
function isClear(
  { treatment, repairs, canonical, register, valid, spellings, lacksCourt }: ParsedNumber,
  countryCode: string,
): boolean {
  if ((treatment === 'review' && lacksCourt === undefined) || canonical === null || spellings.length === 0)
    return false;
  if (repairs.some(({ rule }) => !PLAIN.has(rule))) return false;
  if (isNumberedByState(countryCode)) return register !== undefined;
  const isLabelled = repairs.some(({ rule }) => rule === 'label') || /\p{L}/u.test(canonical);
  return valid === 'yes' || HAVE_A_FORM.has(countryCode) || isLabelled;
}

const PLAIN: ReadonlySet<RepairRule> = new Set([
  'spaces',
  'full_width',
  'case',
  'separators',
  'label',
  'country_prefix',
  'tax_suffix',
  'register_spelling',
  'siret_to_siren',
]);

/** Countries without check digits whose numbers still have a clear form. New Zealand's are any digits. */
const HAVE_A_FORM: ReadonlySet<string> = new Set('GB IE DE NL PL AT LU HU LV LT MT CY HK IN LI CH CN ZA'.split(' '));
