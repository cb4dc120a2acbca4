import type { Subject } from './grade.js';
import { leadsIn } from './leads.js';
import { parseRegistrationNumber } from './numbers/parse.js';
import { resolveLocation } from './resolve-location.js';
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
export interface RowFields {
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
}

/** A country that nobody knows is told before anything is searched for. */
export function countryProblem({ country, state }: RowFields): { code: 'BAD_COUNTRY'; message: string } | undefined {
  const place = resolveLocation(country ?? '', state);
  return place.ok ? undefined : { code: 'BAD_COUNTRY', message: place.reason };
}

export function readEnquiry(fields: RowFields): EnquiryReading {
  const place = resolveLocation(fields.country ?? '', fields.state);
  if (!place.ok) return { ok: false, code: 'BAD_COUNTRY', message: place.reason };
  const countryCode = place.countryCode ?? '';
  const state = place.state ?? fields.state;
  const leads = leadsIn({ ...fields });
  const subject: Subject = {
    countryCode,
    ...(place.countryCode === null ? { locationId: place.location } : {}),
    ...(fields.name === undefined ? {} : { name: fields.name }),
    ...(state === undefined ? {} : { state }),
    ...(fields.city === undefined ? {} : { city: fields.city }),
    ...(fields.ticker === undefined ? {} : { ticker: fields.ticker }),
    ...(fields.registration_number === undefined
      ? {}
      : { registrationNumber: parseRegistrationNumber(fields.registration_number, countryCode, state) }),
    ...(fields.vat_number === undefined ? {} : { vatNumber: parseVatNumber(fields.vat_number, countryCode) }),
    ...(leads === undefined ? {} : { leads }),
  };
  return { ok: true, enquiry: { subject, location: place.location } };
}

/** A name or a ticker alone, or a number that cannot be read, is a question for a person however the search ends. */
export function canBeConfirmed({ registrationNumber: number, vatNumber: vat }: Subject): boolean {
  if (number !== undefined) return number.treatment !== 'review';
  return vat !== undefined && vat.treatment !== 'review';
}
