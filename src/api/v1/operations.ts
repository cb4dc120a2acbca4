// All operations of v1, and the records that they return.

import { z } from 'zod';
import { type ExactJson, isObject, type JsonObject } from '../../util/exact-json.js';
import { namedByKey } from '../operation.js';
import {
  anyCandidate,
  bareListIfSent,
  companyId,
  dateRange,
  defaultsTo,
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
  number,
  positiveInteger,
  range,
  scalar,
  scalarFields,
  text,
  textFields,
  vocabularyId,
} from '../schema.js';

/** The documented fields of each record. All others pass through unread. */

const source = looseObject({
  category: nullOrAbsent(text),
  comment: nullOrAbsent(text),
  id: nullOrAbsent(id),
  name: nullOrAbsent(text),
  url: nullOrAbsent(text),
});

/** A number instead of a text, or a missing name, is unusual but readable. */
export const candidate = looseObject({
  id,
  ...scalarFields('name', 'registration_number', 'vat_number', 'country_code', 'state', 'jurisdiction'),
  source: nullOrAbsent(source),
});

/** An array of candidates. The response schema also allows an object whose members are not shown (V1-17). */
const searchAnswer = z.union([
  list(anyCandidate),
  z.custom<JsonObject>(
    (answer) =>
      isObject(answer as ExactJson) && list(anyCandidate).safeParse(candidatesIn(answer as JsonObject)).success,
    { error: 'an object without a list of candidates' },
  ),
]);

/** The only list in the object, or the object itself if it is a candidate. An empty object is no readable answer. */
export function candidatesIn(answer: object): readonly unknown[] | undefined {
  const lists = Object.values(answer).filter((member) => Array.isArray(member));
  if (lists.length === 1) return lists[0];
  return Object.hasOwn(answer, 'id') ? [answer] : undefined;
}

/**
 * Grouped with provenance, flat without. The flat keys are not published, so it is recognized by its ID (V1-25) or its
 * group, even if they are null (V1-22).
 */
export const lite = z
  .looseObject({
    id: nullOrAbsent(id),
    basic: nullOrAbsent(
      looseObject({
        ...textFields('name', 'registration_number', 'vat_number', 'incorporation_date', 'status', 'legal_form'),
        ...textFields('ticker'),
        source: nullOrAbsent(source),
      }),
    ),
    ticker: nullOrAbsent(text),
    address: nullOrAbsent(scalarOr(looseObject({ source: nullOrAbsent(source) }))),
    contact: nullOrAbsent(scalarOr(looseObject({ source: nullOrAbsent(source) }))),
  })
  .refine((said) => Object.hasOwn(said, 'id') || Object.hasOwn(said, 'basic') || Object.keys(said).length === 0, {
    error: 'a profile without an ID',
  });

export const officer = looseObject({
  id: nullOrAbsent(id),
  ...scalarFields('first_name', 'last_name', 'appointed_at', 'resigned_at', 'work_status'),
  ...scalarFields('date_of_birth_year', 'date_of_birth_month', 'job_title', 'address_country'),
  ...scalarFields('address_line_1', 'address_locality', 'address_region', 'address_postal_code'),
});

export const shareholder = looseObject({
  id: nullOrAbsent(id),
  ...scalarFields('name', 'percentage', 'quantity', 'share_price', 'share_type', 'share_value', 'currency'),
  ...scalarFields('status', 'total_value'),
});

export const envelope = <T extends z.ZodType>(item: T) =>
  looseObject({
    data: listIfSent(item),
    total_pages: nullOrAbsent(scalar),
    total_results: nullOrAbsent(scalar),
    source: nullOrAbsent(source),
  });

const officerSearchResult = looseObject({
  id: nullOrAbsent(id),
  company_id: nullOrAbsent(id),
  company_name: nullOrAbsent(scalar),
  registration_number: nullOrAbsent(scalar),
});

const shareholderSearchItem = looseObject({ name: nullOrAbsent(scalar), company: nullOrAbsent(looseObject({})) });

/** `children` may be very deep, so it is checked one level at a time while it is walked. */
const groupNode = looseObject({
  id: nullOrAbsent(id),
  ...scalarFields('name', 'country', 'registration_number', 'selected'),
  children: nullOrAbsent(list(z.unknown())),
});

const groupEnvelope = looseObject({ data: listIfSent(groupNode), source: nullOrAbsent(source) });

/** Only the shell: the export reads the values one by one and exactly. */
const filedFinancials = looseObject({
  years: nullOrAbsent(list(scalar)),
  groups: nullOrAbsent(
    list(
      looseObject({
        id: nullOrAbsent(scalar),
        name: nullOrAbsent(text),
        order: nullOrAbsent(number),
        list: nullOrAbsent(list(looseObject({}))),
      }),
    ),
  ),
  source: nullOrAbsent(source),
});

/** The lists have no envelope, so it is unknown whether they are complete (V1-26). */
const completeRecord = looseObject({
  lite: nullOrAbsent(
    looseObject({
      id: nullOrAbsent(id),
      ...textFields('name', 'registration_number', 'vat_number', 'incorporation_date', 'status'),
      ...textFields('country_code', 'legal_form'),
    }),
  ),
  officers: nullOrAbsent(list(looseObject({}))),
  shareholders: nullOrAbsent(list(looseObject({}))),
  group_structures_full: nullOrAbsent(list(looseObject({ source: nullOrAbsent(scalarOr(looseObject({}))) }))),
  financial: nullOrAbsent(looseObject({})),
});

/** Null means "not returned" and is accepted too. */
const isMemberOfRecord = (member: string, first: string): boolean =>
  first === 'n' ? MEMBERS.has(member) : MEMBERS.get(member) === first;

const MEMBERS: ReadonlyMap<string, string> = new Map([
  ['lite', '{'],
  ['officers', '['],
  ['shareholders', '['],
  ['group_structures_full', '['],
  ['financial', '{'],
]);

function scalarOr<T extends z.ZodType>(schema: T) {
  return z.union([scalar, schema]);
}

const COMPANY = 'company:read';
const OWNERSHIP = 'ownership:read';
const FINANCIALS = 'financials:read';

const include_provenance = defaultsTo(z.boolean(), false).describe('Add sources if the module has them');
const company = { id: companyId.describe('Company ID from a confirmed search candidate'), include_provenance };
const page = defaultsTo(positiveInteger, 1).describe('Page (default: 1)');
const per_page = defaultsTo(z.int().min(1).max(50), 10).describe(
  'Items per page, 1 to 50 (default: 10). Every page costs a unit',
);
const personName = z.string().min(2).max(500).describe('Full or partial name, 2 to 500 characters');
const vocabularyIds = z.array(vocabularyId).optional();
const v1 = { api: 'v1', meter: 'unit', provenance: true } as const;
const ofCompany = { ...v1, subject: { space: 'v1', param: 'id' }, keep: { days: 90 } } as const;
const search = { ...v1, subject: null, keep: { days: 30 } } as const;
const pages = { perPageAtMost: 50, countField: 'total_pages' } as const;

/** The ten operations of v1. Each success costs one unit. A failure costs none. */
export const v1Operations = namedByKey({
  searchKyb: {
    ...search,
    summary: 'Search companies. The answer lists candidates, not a match',
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
    body: searchAnswer,
    itemIds: { id: 'v1' },
    scopes: [COMPANY],
  },
  liteKyb: {
    ...ofCompany,
    summary: 'Company profile',
    route: { method: 'GET', path: '/kyb/{id}/lite' },
    params: z.strictObject(company),
    body: lite,
    scopes: [COMPANY],
  },
  officersKyb: {
    ...ofCompany,
    summary: 'Current and former officers, paged',
    route: { method: 'GET', path: '/kyb/{id}/officers' },
    params: z.strictObject({ ...company, page, per_page }),
    body: envelope(officer),
    scopes: [COMPANY],
    pages,
  },
  officersSearchKyb: {
    ...search,
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
    body: bareListIfSent(officerSearchResult),
    scopes: [COMPANY],
  },
  shareholdersKyb: {
    ...ofCompany,
    summary: 'Direct shareholders, paged. An empty list does not prove that there are none',
    route: { method: 'GET', path: '/kyb/{id}/shareholders' },
    params: z.strictObject({ ...company, page, per_page }),
    body: envelope(shareholder),
    scopes: [OWNERSHIP],
    pages,
  },
  shareholdersSearchKyb: {
    ...search,
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
    body: envelope(shareholderSearchItem),
    scopes: [OWNERSHIP],
    pages,
  },
  groupLiteKyb: {
    ...ofCompany,
    summary: 'Immediate group links. A link is not ownership',
    route: { method: 'GET', path: '/kyb/{id}/group-structures/lite' },
    params: z.strictObject(company),
    body: groupEnvelope,
    scopes: [OWNERSHIP],
  },
  groupFullKyb: {
    ...ofCompany,
    summary: 'Group links over several levels. A link is not ownership',
    route: { method: 'GET', path: '/kyb/{id}/group-structures/full' },
    params: z.strictObject(company),
    body: groupEnvelope,
    scopes: [OWNERSHIP],
  },
  financialKyb: {
    ...ofCompany,
    summary: 'Filed financial statements',
    route: { method: 'GET', path: '/kyb/{id}/financial' },
    params: z.strictObject(company),
    body: filedFinancials,
    knownBy: isFiledFinancialsMember,
    scopes: [FINANCIALS],
  },
  fullKyb: {
    ...ofCompany,
    summary: 'The complete record in one call',
    route: { method: 'GET', path: '/kyb/{id}/full' },
    params: z.strictObject(company),
    body: completeRecord,
    knownBy: isMemberOfRecord,
    readsMember: 'lite',
    scopes: [COMPANY, OWNERSHIP, FINANCIALS],
  },
});

export type V1OperationName = keyof typeof v1Operations;
