// v2 operations of the companies and digital insights modules, and autocomplete.

import { z } from 'zod';
import { namedByKey } from '../../operation.js';
import {
  defaultsTo,
  hasAnyOf,
  isoCountry,
  list,
  looseObject,
  needsOneOf,
  nonEmpty,
  nullOrAbsent,
  positiveInteger,
  id as recordId,
  scalar,
  scalarFields,
  text,
  textFields,
} from '../../schema.js';
import {
  enrichedCompany,
  envelope,
  opaque,
  registration_number,
  textId,
  textOrList,
  v2List,
  vat_number,
  vocabularyIds,
} from '../fields.js';

export const LOOKUP_PER_PAGE = 5;

export const lookupHit = looseObject({
  id: recordId,
  ...textFields('name', 'status', 'country_code', 'registration_number'),
});

const classified = nullOrAbsent(
  list(looseObject({ id: nullOrAbsent(recordId), type: nullOrAbsent(scalar), value: nullOrAbsent(scalar) })),
);

const companyProfileBody = looseObject({
  id: nullOrAbsent(recordId),
  name: nullOrAbsent(text),
  registration_number: nullOrAbsent(scalar),
  country_code: nullOrAbsent(text),
  company_phone: nullOrAbsent(list(scalar)),
  ...textFields('company_website', 'company_legal_form', 'status', 'address_city'),
  ...scalarFields('zip_code', 'size', 'founding_date'),
  industry: classified,
  sic: classified,
  linkedin: nullOrAbsent(text),
});

export const companies = namedByKey({
  companiesLookup: {
    ...v2List,
    summary: 'Look a company up by any identifier, paged',
    params: z.strictObject({
      country_code: isoCountry.optional().describe('ISO 3166-1 alpha-2'),
      state: z
        .string()
        .regex(/^[A-Z]{2}$/, { error: 'expected a state code of two letters' })
        .optional()
        .describe('State, two letters, for the US'),
      name: nonEmpty.optional().describe('Company name'),
      registration_number,
      lei_number: nonEmpty.optional().describe('Legal Entity Identifier'),
      vat_number,
      website: nonEmpty.optional().describe('Website'),
      phone_number: nonEmpty.optional().describe('Phone number'),
      person: nonEmpty.optional().describe('Full name of an employee'),
      company_status: vocabularyIds.optional().describe('Status IDs: 106 active, 108 inactive, 1615 intermediate'),
      url: nonEmpty.optional().describe('LinkedIn address of the company'),
      page: defaultsTo(positiveInteger, 1).describe('Page (default: 1)'),
      per_page: z.int().min(1).max(LOOKUP_PER_PAGE).optional().describe('Items per page, at most 5'),
    }),
    body: envelope(lookupHit),
    itemIds: { id: 'companies' },
    pages: { perPageAtMost: LOOKUP_PER_PAGE, countField: 'total_pages' },
  },
  companyProfile: {
    ...v2List,
    keep: { days: 90 },
    subject: { space: 'companies', param: 'id' },
    summary: 'Full company profile',
    params: z.strictObject({ id: textId.describe('ID from companiesLookup') }),
    body: companyProfileBody,
  },
});

export const insightsHit = looseObject({
  id: recordId,
  ...textFields('name', 'country_code', 'registration_number'),
});

const insightsProfileBody = looseObject({
  domain: nullOrAbsent(text),
  nameservers: nullOrAbsent(textOrList),
  ip: nullOrAbsent(textOrList),
  isp_name: nullOrAbsent(text),
  domain_creation_date: nullOrAbsent(text),
  engagement_total_visits: nullOrAbsent(scalar),
  engagement_bounce_rate: nullOrAbsent(scalar),
  engagement_time_on_site: nullOrAbsent(text),
  ...scalarFields('global_rank', 'country_rank', 'stat_organic_search_percent', 'stat_direct_percent'),
  ...scalarFields('stat_referral_percent'),
  technologies: nullOrAbsent(
    list(looseObject({ id: nullOrAbsent(recordId), name: nullOrAbsent(text), list: nullOrAbsent(list(opaque)) })),
  ),
});

export const insights = namedByKey({
  insightsSearch: {
    ...v2List,
    summary: 'Companies with a digital profile',
    params: z
      .strictObject({ name: nonEmpty.optional().describe('Company name'), registration_number })
      .refine(...needsOneOf('name', 'registration_number')),
    body: list(insightsHit),
    itemIds: { id: 'insights' },
  },
  insightsProfile: {
    ...v2List,
    keep: { days: 90 },
    subject: { space: 'insights', param: 'id' },
    summary: 'Digital profile: domain, traffic, technologies',
    params: z.strictObject({ id: textId.describe('ID from insightsSearch') }),
    body: insightsProfileBody,
  },
});

/** E-mail and LinkedIn address are parameters, but a country cannot be paired with them (V2-10). */
const partners = hasAnyOf('name', 'registration_number', 'vat_number', 'website', 'phone_number');

export const autocomplete = namedByKey({
  autocomplete: {
    ...v2List,
    findsOne: true,
    summary: 'Complete a company record from a few fields',
    params: z
      .strictObject({
        country_code: isoCountry.optional().describe('ISO 3166-1 alpha-2; never alone'),
        name: nonEmpty.optional().describe('Company name'),
        registration_number,
        vat_number,
        website: nonEmpty.optional().describe('Website'),
        phone_number: nonEmpty.optional().describe('Phone number'),
        email: nonEmpty.optional().describe('E-mail address'),
        url: nonEmpty.optional().describe('LinkedIn address of the company'),
      })
      .refine((value) => value.country_code === undefined || partners(value), {
        path: ['country_code'],
        error: 'also needs name, registration_number, vat_number, website or phone_number',
      }),
    /** The document does not show whether it is one record or several. */
    body: z.union([enrichedCompany, list(enrichedCompany)]),
  },
});
