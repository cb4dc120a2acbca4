import { column, table } from '../table.js';
import { extra, operation, rawSha256 } from './columns.js';

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
  column('country_name', 'text', 'Country', 'liteKyb, kybLite'),
  column('country_region', 'text', 'Region, state or province', 'liteKyb, kybLite'),
  column('address_street', 'text', 'Registered address', 'liteKyb, kybLite'),
  column('address_location', 'text', 'Further line of the registered address', 'liteKyb, kybLite'),
  column('address_city', 'text', 'City', 'liteKyb, kybLite'),
  column('zip_code', 'text', 'Postal code', 'liteKyb, kybLite'),
  column('jurisdiction', 'text', 'Registry jurisdiction', 'liteKyb'),
  column('website', 'text', 'Website of the company', 'liteKyb, kybLite'),
  column('linkedin', 'text', 'The company’s page on a professional network', 'liteKyb, kybLite'),
] as const;

export const companiesTable = table({
  name: 'companies',
  onePer: 'company bought',
  description:
    'The legal identity of each company that was bought, and how much came with it: one line for what v1 says of it, one for what v2 says.',
  source: 'fullKyb, liteKyb and the other modules of v1; v2 kybLite and the lists beside it',
  key: ['v1_company_id', 'v2_company_id'],
  keyAlwaysThere: false,
  knownBy: {
    columns: [['v1_company_id'], ['v2_company_id']],
    single: true,
    // Each period that is new is told with its values.
    besides: ['filed_periods'],
    saidBySome: ['officers_total', 'shareholders_total'],
    besidesInExtra: ['fullKyb', 'liteKyb', 'kybLite'],
  },
  columns: [
    column('v1_company_id', 'id', 'The company, in v1’s ID space; empty where it was bought from v2', 'the request'),
    ...profileFields,
    column(
      'officers_returned',
      'integer',
      'Officers that came, on all pages of the list; empty: it did not come, 0: it came empty. Where the full record and the list by itself were bought, those of the one that is shown',
    ),
    column('shareholders_returned', 'integer', 'Direct shareholders that came, likewise'),
    column('group_links_returned', 'integer', 'Links that came, likewise'),
    column(
      'fetched_at',
      'timestamp',
      'When the answer of `raw_sha256` was bought; of a list on several pages, the first of those that are shown',
      'the call',
    ),
    rawSha256,
    column(
      'filed_periods_returned',
      'integer',
      'Reporting periods of the filed financials that came, likewise',
      'years',
    ),
    ...furtherProfileFields,
    operation,
    column('v2_company_id', 'id', 'The company, in v2’s ID space; empty where it was bought from v1', 'the request'),
    column(
      'officers_total',
      'integer',
      'Officers that there are, as the list itself counts them; empty where the list of the full record is shown, which does not say',
      'total_results',
    ),
    column('shareholders_total', 'integer', 'Direct shareholders that there are, likewise', 'total_results'),
    column(
      'filed_periods',
      'json',
      'Reporting periods of the filed financials, in the order in which they came',
      'years',
    ),
    extra,
  ],
});
