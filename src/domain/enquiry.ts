import { taxMayConfirm } from './decide.js';
import type { Subject } from './grade.js';
import { leadsIn } from './leads.js';
import { readNumberInName } from './number-in-name.js';
import { lacksCourt } from './numbers/german.js';
import { parseRegistrationNumber } from './numbers/parse.js';
import { type ResolvedLocation, resolveLocation } from './resolve-location.js';
import { suggestCountry } from './suggest-country.js';
import { parseVatNumber } from './vat.js';

/** What one input row asks about, ready to be searched for. */
export interface Enquiry {
  readonly subject: Subject;
  /** As the API takes it. */
  readonly location: string;
}

export type EnquiryReading =
  | { readonly ok: true; readonly enquiry: Enquiry }
  | { readonly ok: false; readonly code: 'BAD_COUNTRY'; readonly message: string };

/** The fields of a row as the input room reads them: trimmed, blank ones absent. */
export type RowFields = {
  readonly name?: string;
  readonly country?: string;
  readonly registration_number?: string;
  readonly vat_number?: string;
  readonly ticker?: string;
  readonly city?: string;
  readonly state?: string;
  readonly website?: string;
  readonly linkedin?: string;
  readonly lei?: string;
  readonly email?: string;
  readonly phone?: string;
};

/** A country that nobody knows is told before anything is searched for. */
export function countryProblem(fields: RowFields): { code: 'BAD_COUNTRY'; message: string } | undefined {
  const place = placeOf(fields);
  return place.ok ? undefined : { code: 'BAD_COUNTRY', message: place.reason };
}

/** The country that the row names, else the one that its numbers tell. */
function placeOf(fields: RowFields): ResolvedLocation & { readonly from?: string } {
  const { country, state } = fields;
  const suggested = country === undefined ? suggestCountry(fields) : undefined;
  const place = resolveLocation(country ?? suggested?.countryCode ?? '', state);
  return suggested === undefined ? place : { ...place, from: suggested.reason };
}

export function readEnquiry(fields: RowFields): EnquiryReading {
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

/** The numbers of a row, wherever they stand: in their columns, in each other's, or behind the name. */
function numbersIn(fields: RowFields, countryCode: string, state: string | undefined): Partial<Subject> {
  const { name, registration_number, vat_number } = fields;
  const vatNumber = vat_number === undefined ? undefined : parseVatNumber(vat_number, countryCode);
  const vat = vatNumber === undefined ? {} : { vatNumber };
  if (registration_number === undefined) {
    const both = name === undefined ? undefined : readNumberInName(name, countryCode, state);
    return both === undefined ? vat : { ...vat, name: both.name, registrationNumber: both.number };
  }
  const number = { registrationNumber: parseRegistrationNumber(registration_number, countryCode, state) };
  if (number.registrationNumber.treatment !== 'review') return { ...number, ...vat };
  const tax = parseVatNumber(registration_number, countryCode);
  const isOther = vatNumber !== undefined && vatNumber.canonical !== tax.canonical;
  // Without a rule of the country any text passes.
  if (tax.treatment === 'review' || tax.valid !== 'yes' || isOther) return { ...number, ...vat };
  return { ...number, vatNumber: tax, taxInNumber: true };
}

const hasPlace = ({ city, state }: Subject): boolean => city !== undefined || state !== undefined;

/**
 * A name or a ticker alone, or a number that cannot be read, is a question for a person however the search ends; so is a number
 * without a name where nobody names the country.
 */
export function canBeConfirmed(subject: Subject): boolean {
  const { registrationNumber: number, vatNumber: vat, name, countryFrom, taxInNumber } = subject;
  if (name === undefined && (countryFrom !== undefined || taxInNumber === true)) return false;
  const byPlace = number !== undefined && lacksCourt(number) && name !== undefined && hasPlace(subject);
  if (number !== undefined) return number.treatment !== 'review' || byPlace || taxMayConfirm(subject);
  return vat !== undefined && vat.treatment !== 'review';
}
