import { column, table } from '../table.js';
import { extra, operation, rawSha256, v1CompanyId } from './columns.js';

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

export const companiesTable = table({
  name: 'companies',
  onePer: 'company bought',
  description: 'The legal identity of each company whose record was bought, and how much came with it.',
  source: 'fullKyb /lite; liteKyb',
  key: ['v1_company_id'],
  keyAlwaysThere: true,
  knownBy: { columns: [['v1_company_id']], single: true },
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
