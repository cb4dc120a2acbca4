import { z } from 'zod';
import { anyInteger, anyNumber, dateRange, nonEmpty, oneOf, range, vocabularyId } from '../params.js';
import { vocabularyIds } from './fields.js';

const integers = (what: string) => z.array(anyInteger).optional().describe(what);
const texts = (what: string) => z.array(nonEmpty).optional().describe(what);
/** "Fixed strings": whether one or several is not shown, so both are taken. */
const fixedTexts = <const T extends readonly [string, ...string[]]>(values: T, what: string) =>
  z
    .union([z.enum(values), z.array(z.enum(values)).min(1)], { error: `expected ${values.join(' or ')}` })
    .optional()
    .describe(`${what}: ${values.join(' or ')}`);
const someOfThese = <const T extends readonly [string, ...string[]]>(values: T, what: string) =>
  z.array(z.enum(values)).optional().describe(what);
const amount = (what: string) => range(anyNumber).optional().describe(`${what}: gte and/or lte`);
const classification = (what: string) => vocabularyIds.optional().describe(`IDs of the ${what} vocabulary`);

/** The bands overlap; they are literal strings (V2-14). */
const BANDS = ['0-10000', '1000-100000', '100000-500000', '500000-1000000', '1000000-5000000', '5000000'] as const;

const CONTACTS = [
  'have_email_address',
  'have_telephone',
  'have_fax',
  'have_website',
  'have_vat_number',
  'have_registration_number',
  'have_business_address',
  'have_lat_and_long',
] as const;

/** `parents` is the path of a vocabulary item, `id` goes deeper; whether one or several is not shown, so both are taken. */
const place = (what: string) =>
  z
    .strictObject({
      parents: z.union([nonEmpty, z.array(nonEmpty)]).optional(),
      id: z.union([vocabularyId, z.array(vocabularyId)]).optional(),
    })
    .refine(oneOf('parents', 'id'), { error: 'needs parents, id or both' })
    .optional()
    .describe(`${what}: parents (path of the vocabulary item) and/or id (to go deeper)`);

export const prospectingFilters = z.strictObject({
  company_status: integers('Status IDs: 106 active, 108 inactive, 1615 intermediate'),
  number_of_employees: range(z.int().nonnegative()).optional().describe('Employees: gte and/or lte'),
  company_incorporation: dateRange.optional().describe('Date of incorporation: gte and/or lte, YYYY-MM-DD'),
  company_type: integers('IDs of the company-type vocabulary: head office, branch'),
  legal_form: integers('IDs of the legal-form vocabulary'),
  activity_type: integers('IDs of the activity-type vocabulary: distributor, producer, service provider'),
  trading_activity: someOfThese(['import', 'export'], 'Trading activity'),
  industry_focus: texts('IDs of the industry-focus vocabulary'),
  website_keywords: texts('Words on the website'),
  url: nonEmpty.optional().describe('LinkedIn address of the company'),

  nace: classification('nace'),
  isic: classification('isic'),
  sic_code_gb: classification('sic (GB)'),
  sic_code_us: classification('sic (US)'),
  sic_code_de: classification('sic (DE)'),
  sic_code_fr: classification('sic (FR)'),
  sic_code_it: classification('sic (IT)'),
  sic_code_nl: classification('sic (NL)'),
  sic_code_be: classification('sic (BE)'),
  sic_code_dk: classification('sic (DK)'),
  sic_code_ie: classification('sic (IE)'),
  sic_code_lu: classification('sic (LU)'),
  sic_code_no: classification('sic (NO)'),
  sic_code_se: classification('sic (SE)'),
  sic_code_sg: classification('sic (SG)'),
  sic_code_ca: classification('sic (CA)'),
  sic_code_mx: classification('sic (MX)'),
  sic_code_anz: classification('sic (ANZ)'),

  location_countries: place('Countries'),
  location_regions: place('Regions'),
  location_zip: texts('Postal codes'),
  location_type: texts('Cities or states'),

  financial_currency: texts('Reporting currencies'),
  financial_turnover: amount('Turnover'),
  financial_profit: amount('Profit'),
  financial_liabilities: amount('Liabilities'),
  financial_directors: amount("Directors' remuneration"),
  financial_employee_profit: amount('Profit per employee'),
  financial_exports: amount('Exports'),
  yoy_turnover: amount('Turnover, year over year'),
  yoy_ebitda: amount('EBITDA, year over year'),
  yoy_profit: amount('Profit, year over year'),
  yoy_staff: amount('Staff, year over year'),
  yoy_liabilities: amount('Liabilities, year over year'),
  yoy_exports: amount('Exports, year over year'),

  /** The document lists the values of "ownership parents" beside those of `ownership_accounts`, and no other name for it. */
  ownership_parents: fixedTexts(['has_parents', 'has_no_parents'], 'Parents'),
  foreign_parents: fixedTexts(['has_a_foreign_parent', 'has_no_foreign_parent'], 'Foreign parents'),
  ownership_accounts: fixedTexts(['consolidated', 'not_consolidated'], 'Accounts'),
  insights_visits: someOfThese(BANDS, 'Bands of website visits'),
  insights_technologies: texts('Technologies of the website'),
  /** An object of bands whose member names are not shown. */
  insights_ranking: z
    .record(nonEmpty, z.union([z.enum(BANDS), z.array(z.enum(BANDS))]))
    .optional()
    .describe('Bands of website ranking, as an object'),
  advance_companies: someOfThese(CONTACTS, 'What must be known of the company'),
});
