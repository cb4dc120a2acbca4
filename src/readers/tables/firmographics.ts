import { column, contactColumn, table } from '../table.js';
import { extra, operation, position, rawSha256, sameCompanyIn } from './columns.js';

const companiesId = column('companies_id', 'id', 'The company, in the ID space of the companies module', 'the request');

/** The fields of the profile that hold one value, without its ID. */
export const firmographicFields = [
  column('name', 'text', 'Name of the company'),
  column('registration_number', 'text', 'Local number; leading zeros are kept'),
  column('country_code', 'text', 'ISO alpha-2'),
  column('company_website', 'text', 'Website of the company'),
  column('company_legal_form', 'text', 'Legal form'),
  column('status', 'text', 'Status as the module reports it; an open set'),
  column('address_city', 'text', 'City'),
  column('zip_code', 'text', 'Postal code'),
  column('size', 'text', 'Headcount band, as sent'),
  column('founding_date', 'text', 'Founding date, as sent; its form is not documented'),
  column('linkedin', 'text', 'The company’s page on a professional network'),
] as const;

export const firmographicContacts = [
  contactColumn(
    'company_phone',
    'Phone numbers of the company, a JSON list; only with --include-contacts',
    'company_phone',
    'json',
  ),
] as const;

export const firmographicsTable = table({
  name: 'firmographics',
  onePer: 'company',
  description:
    'The profile of each company in the companies module: size, seat, founding, web. What it does is in `classifications`. How many classes came is not compared between two answers: the classes are.',
  source: 'v2 companyProfile',
  key: ['companies_id'],
  keyAlwaysThere: true,
  knownBy: { columns: [['companies_id']], single: true, besides: ['industry_returned', 'sic_returned'] },
  columns: [
    companiesId,
    ...firmographicFields,
    column(
      'industry_returned',
      'integer',
      'Industries in the profile; empty: the list did not come, 0: it came empty',
      '/industry',
    ),
    column('sic_returned', 'integer', 'SIC classes in the profile, likewise', '/sic'),
    column('fetched_at', 'timestamp', 'When the profile was bought', 'the call'),
    rawSha256,
    operation,
    ...sameCompanyIn,
    ...firmographicContacts,
    extra,
  ],
});

export const classificationFields = [
  column('id', 'id', 'The class, in the vocabulary that the type names'),
  column('type', 'text', 'Kind of vocabulary, as sent; an open set'),
  column('value', 'text', 'The class in words'),
] as const;

export const classificationsTable = table({
  name: 'classifications',
  onePer: 'list item',
  description: 'What a company does: the industries and SIC classes of its profile.',
  source: 'v2 companyProfile /industry, /sic',
  key: ['companies_id', 'kind', 'position'],
  keyAlwaysThere: true,
  knownBy: { columns: [['id'], ['type', 'value']], within: 'kind' },
  columns: [
    companiesId,
    column('kind', 'text', 'industry or sic: which list of the profile', 'name of the list'),
    position,
    ...classificationFields,
    rawSha256,
    extra,
  ],
});
