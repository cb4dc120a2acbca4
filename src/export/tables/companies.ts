import { column, contactColumn, table } from '../table.js';
import { extra, operation, position, rawSha256, v1CompanyId, v2CompanyId } from './shared.js';

/** What was bought from the registries. */

/** The eight fields of the full record's `lite`, without its ID. */
export const profileFields = [
  column('name', 'text', 'Registered name'),
  column('registration_number', 'text', 'Local number; leading zeros are kept'),
  column('vat_number', 'text', 'VAT, tax or EIN number'),
  column('incorporation_date', 'date', 'Date of incorporation'),
  column('status', 'text', 'Status as the registry reports it; an open set'),
  column('country_code', 'text', 'ISO alpha-2'),
  column('legal_form', 'text', 'Legal form as the registry reports it'),
] as const;

/** Further fields of the lite profile. */
export const furtherProfileFields = [
  column('ticker', 'text', 'Ticker of a listed company', 'liteKyb basic.ticker or ticker'),
  column('country_name', 'text', 'Country', 'liteKyb address'),
  column('country_region', 'text', 'Region, state or province', 'liteKyb address'),
  column('address_street', 'text', 'Registered address', 'liteKyb address'),
  column('address_location', 'text', 'Further line of the registered address', 'liteKyb address'),
  column('address_city', 'text', 'City', 'liteKyb address'),
  column('zip_code', 'text', 'Postal code', 'liteKyb address'),
  column('jurisdiction', 'text', 'Registry jurisdiction', 'liteKyb address'),
  column('website', 'text', 'Website of the company', 'liteKyb contact'),
  column('linkedin', 'text', 'The company’s page on a professional network', 'liteKyb contact'),
] as const;

export const companies = table({
  name: 'companies',
  onePer: 'company bought',
  description: 'The legal identity of each company whose record was bought, and how much came with it.',
  source: 'fullKyb /lite; liteKyb',
  key: ['v1_company_id'],
  keyAlwaysThere: true,
  columns: [
    v1CompanyId,
    ...profileFields,
    column('officers_returned', 'integer', 'Officers in the record; empty: the list did not come, 0: it came empty'),
    column('shareholders_returned', 'integer', 'Direct shareholders in the record, likewise'),
    column('group_links_returned', 'integer', 'Links in the record, likewise'),
    column('fetched_at', 'timestamp', 'When the record was bought', 'the call'),
    rawSha256,
    column(
      'filed_periods_returned',
      'integer',
      'Reporting periods in the record’s filed financials, likewise',
      '/financial/years',
    ),
    ...furtherProfileFields,
    operation,
    extra,
  ],
});

export const officerFields = [
  column('id', 'id', 'The officer record'),
  column('first_name', 'text', 'Given name'),
  column('last_name', 'text', 'Family name'),
  column('appointed_at', 'date', 'Date of appointment'),
  column('resigned_at', 'date', 'Date of resignation; v2 does not send it, so current or former is unknown there'),
  column('work_status', 'text', 'Status of the appointment; an open set. v2 does not send it'),
  column('date_of_birth_year', 'integer', 'Year of birth; births are partial, no day is made up'),
  column('date_of_birth_month', 'integer', 'Month of birth'),
  column('job_title', 'text', 'Role as the registry reports it'),
  column('address_country', 'text', 'Country of the address'),
  column('address_line_1', 'text', 'Address'),
  column('address_locality', 'text', 'Town'),
  column('address_region', 'text', 'Region'),
  column('address_postal_code', 'text', 'Postal code'),
] as const;

export const officerContacts = [
  contactColumn('email', 'E-mail; only with --include-contacts', 'contact.email'),
  contactColumn('phone', 'Phone; only with --include-contacts', 'contact.phone'),
] as const;

export const officers = table({
  name: 'officers',
  onePer: 'list item',
  description: 'Officers, current and former, as the registry lists them.',
  source: 'fullKyb /officers; officersKyb /data; v2 kybOfficers /data',
  key: ['v1_company_id', 'v2_company_id', 'operation', 'position'],
  keyAlwaysThere: false,
  columns: [v1CompanyId, position, ...officerFields, v2CompanyId, operation, ...officerContacts, rawSha256, extra],
});

export const shareholderFields = [
  column('id', 'id', 'The shareholding record'),
  column('name', 'text', 'Published name of the direct holder; whether a person or a company is not said'),
  column('percentage', 'number', 'Direct holding in percent'),
  column('quantity', 'number', 'Number of shares'),
  column('share_price', 'number', 'Price per share as stated'),
  column('share_type', 'text', 'Class of shares'),
  column('share_value', 'scalar', 'Description of the holding, formatted by the source'),
  column('currency', 'text', 'Currency code'),
  column('status', 'text', 'Status of the holding'),
  column('total_value', 'number', 'Total as reported or calculated'),
] as const;

export const shareholders = table({
  name: 'shareholders',
  onePer: 'list item',
  description:
    'Direct shareholdings, and no more than that: who stands behind a holder is not said. An empty list does not prove that there are none.',
  source: 'fullKyb /shareholders; shareholdersKyb /data; v2 kybShareholders /data',
  key: ['v1_company_id', 'v2_company_id', 'operation', 'position'],
  keyAlwaysThere: false,
  columns: [v1CompanyId, position, ...shareholderFields, v2CompanyId, operation, rawSha256, extra],
});

export const groupLinkFields = [
  column('company_id', 'id', 'The company whose record holds the link'),
  column('country_source', 'text', 'Country of the first end'),
  column('country_target', 'text', 'Country of the second end'),
  column('source', 'text', 'First end: a number qualified by country, or an ID. A text, not a source object'),
  column('target', 'text', 'Second end, likewise'),
  column('title', 'text', 'Name of the first end'),
  column('target_title', 'text', 'Name of the second end'),
  column('temporary', 'boolean', 'As sent; its meaning is not shown'),
] as const;

export const groupLinks = table({
  name: 'group_links',
  onePer: 'list item',
  description:
    'Links between companies of a group. A link is a link: it says nothing about who controls whom, and the last company of a chain is no person.',
  source: 'fullKyb /group_structures_full; the trees of groupLiteKyb and groupFullKyb, one link for each child',
  key: ['v1_company_id', 'operation', 'position'],
  keyAlwaysThere: true,
  columns: [v1CompanyId, position, ...groupLinkFields, operation, rawSha256, extra],
});

export const sourceFields = [
  column('category', 'text', 'Class of evidence: Government Registry, Enriched, Modelled, …'),
  column('comment', 'text', 'Note on the method'),
  column('id', 'id', 'ID in the provider’s catalogue'),
  column('name', 'text', 'Name of the registry or source'),
  column('url', 'text', 'Address of the source'),
] as const;

export const sources = table({
  name: 'sources',
  onePer: 'source object',
  description: 'Where the data comes from. Only with provenance.',
  source: 'the source objects of v1’s answers',
  key: ['v1_company_id', 'operation', 'pointer'],
  keyAlwaysThere: true,
  columns: [
    v1CompanyId,
    column(
      'module',
      'text',
      'The part of the record it stands for: lite, officers, shareholders, …',
      'where it stands',
    ),
    ...sourceFields,
    operation,
    column('pointer', 'text', 'JSON pointer to it in the raw body', 'where it stands'),
    rawSha256,
    extra,
  ],
});
