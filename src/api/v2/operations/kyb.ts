// v2 operations for registry data, flat financials and ownership.

import { z } from 'zod';
import type { ExactJson } from '../../../util/exact-json.js';
import { namedByKey } from '../../operation.js';
import {
  anyCandidate,
  bareListIfSent,
  dateRange,
  id,
  isFiledFinancialsMember,
  isoCountry,
  list,
  listIfSent,
  location,
  looseObject,
  needsOneOf,
  nonEmpty,
  nullOrAbsent,
  scalar,
  scalarFields,
} from '../../schema.js';
import * as records from '../fields.js';
import {
  aboutV2Company,
  isPlainObject,
  opaque,
  page,
  per_page,
  registration_number,
  shareholder,
  totalPages,
  v2Id,
  v2List,
  vocabularyIds,
} from '../fields.js';

export const kyb = namedByKey({
  kybSearch: {
    ...v2List,
    summary: 'Search companies. The answer lists candidates, not a match',
    route: { method: 'POST', path: '/kyb/search' },
    params: z
      .strictObject({
        location: location.describe('ISO country (GB), US/CA/CN state (US-CA), or location ID (1_44)'),
        name: nonEmpty.optional().describe('Company name'),
        registration_number,
        vat_number: nonEmpty.optional().describe('VAT or EIN number'),
        ticker: nonEmpty.optional().describe('Ticker of a listed company'),
      })
      .refine(...needsOneOf('name', 'registration_number', 'vat_number', 'ticker')),
    body: list(anyCandidate),
    itemIds: { id: 'v2' },
  },
  kybLite: {
    ...aboutV2Company,
    summary: 'Company profile, flat',
    route: { method: 'GET', path: '/kyb/{id}/lite' },
    params: z.strictObject({ id: v2Id }),
    body: records.companyLite,
  },
  kybOfficers: {
    ...aboutV2Company,
    summary: 'Officers, paged. It does not show who has resigned',
    route: { method: 'GET', path: '/kyb/{id}/officers' },
    params: z.strictObject({ id: v2Id, page, per_page }),
    body: records.envelope(records.officer),
    pages: totalPages,
  },
  kybOfficersSearch: {
    ...v2List,
    summary: 'Appointments of a person, in all jurisdictions',
    params: z.strictObject({
      name: z.string().min(2).describe('Full or partial name, at least 2 characters'),
      date_of_birth_year: z.int().min(1000).max(9999).optional().describe('Year of birth, 4 digits'),
      country_code: isoCountry.optional().describe('ISO 3166-1 alpha-2'),
      status: z.enum(['C', 'P']).optional().describe('C current, P previous'),
      appointment_date: dateRange.optional().describe('gte and/or lte, YYYY-MM-DD'),
      resignation_date: dateRange.optional().describe('gte and/or lte, YYYY-MM-DD'),
      company_name: nonEmpty.optional().describe('Name of the company'),
      company_reg_number: nonEmpty.optional().describe('Registration number of the company'),
      company_status: vocabularyIds.optional().describe('IDs of the company-status vocabulary'),
      company_countries: vocabularyIds.optional().describe('IDs of the country vocabulary'),
    }),
    body: bareListIfSent(records.officerSearchResult),
  },
  kybShareholders: {
    ...aboutV2Company,
    summary: 'Direct shareholders, paged. An empty list does not prove that there are none',
    params: z.strictObject({ id: v2Id, page, per_page }),
    body: records.envelope(records.shareholder),
    pages: totalPages,
  },
  kybFinancial: {
    ...aboutV2Company,
    summary: 'Filed financial statements',
    params: z.strictObject({ id: v2Id }),
    body: records.filedFinancials,
    knownBy: isFiledFinancialsMember,
  },
});

type FlatFinancials = Readonly<Record<string, Readonly<Record<string, ExactJson>> | null>>;

/** Only the shell: there are more than 250 indicators a year, and unknown ones are accepted (V2-8). */
const flatFinancials = z.custom<FlatFinancials>(
  (value) => isPlainObject(value) && Object.values(value).every((year) => year === null || isPlainObject(year)),
  { error: 'expected an object of years' },
);

export const financial = namedByKey({
  financial: {
    ...aboutV2Company,
    summary: 'Flat financials: indicators by reporting year. It does not name the company, so confirm the ID first',
    route: { method: 'GET', path: '/financial/{id}' },
    params: z.strictObject({ id: v2Id, year: z.int().min(1).max(9999).optional().describe('One reporting year only') }),
    body: flatFinancials,
    knownBy: (year, first) => /^\d/.test(year) && (first === '{' || first === 'n'),
  },
});

/** `children` may be very deep, so it is checked one level at a time while it is walked. */
const groupNode = looseObject({
  id: nullOrAbsent(id),
  ...scalarFields('registration_number', 'name', 'selected'),
  children: nullOrAbsent(list(opaque)),
});

export const ownership = namedByKey({
  ownership: {
    ...v2List,
    keep: { days: 90 },
    // Ownership has no IDs: the registration number identifies the company. A request by name has no company yet
    // (V2-22).
    subject: { space: 'ownership', param: 'registration_number' },
    summary: 'Direct shareholders and group tree. A link is not ownership',
    params: z
      .strictObject({ name: nonEmpty.optional().describe('Company name'), registration_number })
      .refine(...needsOneOf('name', 'registration_number')),
    body: looseObject({
      shareholders: listIfSent(shareholder),
      group_structure: listIfSent(groupNode),
      registration_number: nullOrAbsent(scalar),
    }),
  },
});
