// All operations of v1.

import { z } from 'zod';
import type { Operation } from '../operation.js';
import {
  bareListIfSent,
  companyId,
  dateRange,
  defaultsTo,
  isMemberOfAccounts,
  isoCountry,
  location,
  needsOneOf,
  nonEmpty,
  positiveInteger,
  range,
  vocabularyId,
} from '../schema.js';
import * as records from './records.js';

const COMPANY = 'company:read';
const OWNERSHIP = 'ownership:read';
const FINANCIALS = 'financials:read';

const include_provenance = defaultsTo(z.boolean(), false).describe('Add source metadata where the module has it');
const company = { id: companyId.describe('Company ID from a confirmed search candidate'), include_provenance };
const page = defaultsTo(positiveInteger, 1).describe('Page, from 1; without it, the first');
const per_page = defaultsTo(z.int().min(1).max(50), 10).describe(
  'Items a page, 1 to 50; without it, 10; every page costs a unit',
);
const personName = z.string().min(2).max(500).describe('Full or partial name, 2 to 500 characters');
const vocabularyIds = z.array(vocabularyId).optional();
const v1 = { api: 'v1', meter: 'unit', provenance: true } as const;
const ofCompany = { ...v1, subject: { space: 'v1', param: 'id' }, keep: { days: 90 } } as const;
const search = { ...v1, subject: null, keep: { days: 30 } } as const;
const pages = { perPageAtMost: 50, countField: 'total_pages' } as const;

/** The ten operations of v1. Each success costs one unit. A failure costs none. */
export const v1Operations = {
  searchKyb: {
    ...search,
    name: 'searchKyb',
    summary: 'Search companies; the answer is a list of candidates, not a match',
    route: { method: 'POST', path: '/kyb/search' },
    params: z
      .strictObject({
        location: location.describe('ISO country (GB), US/CA/CN state (US-CA), or location ID (1_44)'),
        name: nonEmpty.optional().describe('Company name'),
        registration_number: nonEmpty.optional().describe('Local registration number'),
        vat_number: nonEmpty.optional().describe('VAT, tax or EIN number'),
        ticker: nonEmpty.optional().describe('Ticker of a listed company'),
        city_or_state: z.array(nonEmpty).optional().describe('Narrows the results'),
        include_provenance,
      })
      .refine(...needsOneOf('name', 'registration_number', 'vat_number', 'ticker')),
    body: records.searchAnswer,
    itemIds: { id: 'v1' },
    scopes: [COMPANY],
  },
  liteKyb: {
    ...ofCompany,
    name: 'liteKyb',
    summary: 'Company profile',
    route: { method: 'GET', path: '/kyb/{id}/lite' },
    params: z.strictObject(company),
    body: records.lite,
    scopes: [COMPANY],
  },
  officersKyb: {
    ...ofCompany,
    name: 'officersKyb',
    summary: 'Current and former officers, paged',
    route: { method: 'GET', path: '/kyb/{id}/officers' },
    params: z.strictObject({ ...company, page, per_page }),
    body: records.envelope(records.officer),
    scopes: [COMPANY],
    pages,
  },
  officersSearchKyb: {
    ...search,
    name: 'officersSearchKyb',
    summary: 'Companies where a person holds or held a statutory appointment',
    route: { method: 'POST', path: '/kyb/officers/search' },
    params: z.strictObject({
      name: personName,
      date_of_birth_year: z.int().min(1000).max(9999).optional(),
      country_code: isoCountry.optional(),
      status: z.enum(['C', 'P']).optional().describe('C current, P previous'),
      appointment_date: dateRange.optional().describe('gte and/or lte, YYYY-MM-DD'),
      resignation_date: dateRange.optional().describe('gte and/or lte, YYYY-MM-DD'),
      company_name: nonEmpty.optional(),
      company_reg_number: nonEmpty.optional(),
      company_status: vocabularyIds.describe('IDs of the company-status vocabulary'),
      company_countries: vocabularyIds.describe('IDs of the country vocabulary'),
      include_provenance,
    }),
    body: bareListIfSent(records.officerSearchResult),
    scopes: [COMPANY],
  },
  shareholdersKyb: {
    ...ofCompany,
    name: 'shareholdersKyb',
    summary: 'Direct shareholders, paged; an empty list does not prove that there are none',
    route: { method: 'GET', path: '/kyb/{id}/shareholders' },
    params: z.strictObject({ ...company, page, per_page }),
    body: records.envelope(records.shareholder),
    scopes: [OWNERSHIP],
    pages,
  },
  shareholdersSearchKyb: {
    ...search,
    name: 'shareholdersSearchKyb',
    summary: 'Holdings of a person or company, paged',
    route: { method: 'POST', path: '/kyb/shareholders/search/{view_mode}' },
    params: z.strictObject({
      view_mode: z.enum(['lite', 'full']).describe('lite: holder and company only'),
      name: personName,
      company_name: nonEmpty.optional(),
      registration_number: nonEmpty.optional(),
      vat_number: nonEmpty.optional(),
      location_countries: z.array(isoCountry).optional(),
      percentage: range(z.int().min(1).max(100)).optional().describe('gte and/or lte, 1 to 100'),
      page,
      per_page,
      include_provenance,
    }),
    body: records.envelope(records.shareholderSearchItem),
    scopes: [OWNERSHIP],
    pages,
  },
  groupLiteKyb: {
    ...ofCompany,
    name: 'groupLiteKyb',
    summary: 'Immediate group links; links are not ownership',
    route: { method: 'GET', path: '/kyb/{id}/group-structures/lite' },
    params: z.strictObject(company),
    body: records.groupEnvelope,
    scopes: [OWNERSHIP],
  },
  groupFullKyb: {
    ...ofCompany,
    name: 'groupFullKyb',
    summary: 'Group links over several levels; links are not ownership',
    route: { method: 'GET', path: '/kyb/{id}/group-structures/full' },
    params: z.strictObject(company),
    body: records.groupEnvelope,
    scopes: [OWNERSHIP],
  },
  financialKyb: {
    ...ofCompany,
    name: 'financialKyb',
    summary: 'Filed financial statements',
    route: { method: 'GET', path: '/kyb/{id}/financial' },
    params: z.strictObject(company),
    body: records.filedFinancials,
    knownBy: isMemberOfAccounts,
    scopes: [FINANCIALS],
  },
  fullKyb: {
    ...ofCompany,
    name: 'fullKyb',
    summary: 'The complete record in one call',
    route: { method: 'GET', path: '/kyb/{id}/full' },
    params: z.strictObject(company),
    body: records.completeRecord,
    knownBy: records.isMemberOfRecord,
    readsMember: 'lite',
    scopes: [COMPANY, OWNERSHIP, FINANCIALS],
  },
} as const satisfies Readonly<Record<string, Operation>>;

export type V1OperationName = keyof typeof v1Operations;
