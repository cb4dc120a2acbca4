import { z } from 'zod';
import { defaultsTo } from '../../documented-defaults.js';
import type { Operation } from '../../operation.js';
import { isoCountry, nonEmpty, positiveInteger } from '../../params.js';
import { list, nullable, record, id as recordId, scalar, text } from '../../schema.js';
import { registration_number, textId, v2List, vat_number, vocabularyIds } from '../fields.js';
import { envelope } from '../records.js';

export const LOOKUP_PER_PAGE = 5;

export const lookupHit = record({
  id: recordId,
  name: nullable(text),
  status: nullable(text),
  country_code: nullable(text),
  registration_number: nullable(text),
});

const classified = nullable(list(record({ id: nullable(recordId), type: nullable(scalar), value: nullable(scalar) })));

const profile = record({
  id: nullable(recordId),
  name: nullable(text),
  registration_number: nullable(scalar),
  country_code: nullable(text),
  company_phone: nullable(list(scalar)),
  company_website: nullable(text),
  company_legal_form: nullable(text),
  status: nullable(text),
  address_city: nullable(text),
  zip_code: nullable(scalar),
  size: nullable(scalar),
  founding_date: nullable(scalar),
  industry: classified,
  sic: classified,
  linkedin: nullable(text),
});

export const companies = {
  companiesLookup: {
    ...v2List,
    name: 'companiesLookup',
    summary: 'Look a company up by any identifier, paged',
    route: null,
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
      page: defaultsTo(positiveInteger, 1).describe('Page, from 1; without it, the first'),
      per_page: z.int().min(1).max(LOOKUP_PER_PAGE).optional().describe('Items a page, at most 5'),
    }),
    body: envelope(lookupHit),
    itemIds: { id: 'companies' },
    pages: { perPageAtMost: LOOKUP_PER_PAGE, countField: 'total_pages' },
  },
  companyProfile: {
    ...v2List,
    keep: { days: 90 },
    subject: { space: 'companies', param: 'id' },
    name: 'companyProfile',
    summary: 'Full company profile',
    route: null,
    params: z.strictObject({ id: textId.describe('ID of a hit of companiesLookup') }),
    body: profile,
  },
} as const satisfies Readonly<Record<string, Operation>>;
