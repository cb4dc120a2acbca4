// v2 operations for prospecting and its vocabularies.

import { z } from 'zod';
import { namedByKey } from '../../operation.js';
import {
  anyInteger,
  anyNumber,
  dateRange,
  id,
  list,
  longInteger,
  looseObject,
  needsOneOf,
  nonEmpty,
  nullOrAbsent,
  range,
  scalar,
  text,
  vocabularyId,
} from '../../schema.js';
import { envelope, per_page, v2List, vocabularyIds } from '../fields.js';

const integers = (what: string) => z.array(anyInteger).optional().describe(what);
const texts = (what: string) => z.array(nonEmpty).optional().describe(what);

/** "Fixed strings": the document does not say one or several, so both are accepted. */
const fixedTexts = <const T extends readonly [string, ...string[]]>(values: T, what: string) =>
  z
    .union([z.enum(values), z.array(z.enum(values)).min(1)], { error: `expected ${values.join(' or ')}` })
    .optional()
    .describe(`${what}: ${values.join(' or ')}`);
const someOfThese = <const T extends readonly [string, ...string[]]>(values: T, what: string) =>
  z.array(z.enum(values)).optional().describe(what);
const amount = (what: string) => range(anyNumber).optional().describe(`${what}: gte and/or lte`);
const classification = (what: string) => vocabularyIds.optional().describe(`IDs of the ${what} vocabulary`);

/** Countries with a SIC list of their own. */
const SIC = ['gb', 'us', 'de', 'fr', 'it', 'nl', 'be', 'dk', 'ie', 'lu', 'no', 'se', 'sg', 'ca', 'mx', 'anz'] as const;

const sicFilters = Object.fromEntries(
  SIC.map((code) => [`sic_code_${code}`, classification(`sic (${code.toUpperCase()})`)]),
) as Record<`sic_code_${(typeof SIC)[number]}`, ReturnType<typeof classification>>;

/** The bands overlap. They are literal strings (V2-14). */
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

/**
 * `parents` is the path of a vocabulary item, `id` goes deeper. The document does not say one or several, so both are
 * accepted.
 */
const place = (what: string) =>
  z
    .strictObject({
      parents: z.union([nonEmpty, z.array(nonEmpty)]).optional(),
      id: z.union([vocabularyId, z.array(vocabularyId)]).optional(),
    })
    .refine(...needsOneOf('parents', 'id'))
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
  ...sicFilters,

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

  /** The document lists the values of "ownership parents" beside `ownership_accounts`, and gives no other name. */
  ownership_parents: fixedTexts(['has_parents', 'has_no_parents'], 'Parents'),
  foreign_parents: fixedTexts(['has_a_foreign_parent', 'has_no_foreign_parent'], 'Foreign parents'),
  ownership_accounts: fixedTexts(['consolidated', 'not_consolidated'], 'Accounts'),
  insights_visits: someOfThese(BANDS, 'Bands of website visits'),
  insights_technologies: texts('Technologies of the website'),
  /** An object of bands whose member names are not published. */
  insights_ranking: z
    .record(nonEmpty, z.union([z.enum(BANDS), z.array(z.enum(BANDS))]))
    .optional()
    .describe('Bands of website ranking, as an object'),
  advance_companies: someOfThese(CONTACTS, 'What the provider must have about the company'),
});

export const prospecting = namedByKey({
  prospecting: {
    ...v2List,
    summary: 'Find companies by filters. The answer lists IDs and names, at most 10 pages',
    route: { method: 'POST', path: '/prospecting' },
    params: z.strictObject({
      page: z.int().min(1).max(10).optional().describe('Page, 1 to 10'),
      per_page,
      filters: prospectingFilters.optional().describe('The filters. A company must fit all of them'),
    }),
    body: envelope(looseObject({ id, name: nullOrAbsent(text) }), 'total_companies'),
    // The document does not say that this is one ID space (V2-18). `erase` removes one list too many rather than one too few.
    itemIds: { id: 'companies' },
    pages: { perPageAtMost: null, pageAtMost: 10, countField: 'total_pages' },
  },
});

/**
 * The form in which a filter takes vocabulary items. IDs are whole numbers, text, or either. A place has the path
 * (`parents`) or the ID.
 */
export type ItemForm = 'integers' | 'texts' | 'either' | 'place';

export interface FilterVocabulary {
  readonly vocabulary: Vocabulary;
  readonly form: ItemForm;
}

export const filterVocabularies: Readonly<Record<string, FilterVocabulary>> = {
  company_status: { vocabulary: { name: 'company-status' }, form: 'integers' },
  company_type: { vocabulary: { name: 'company-type' }, form: 'integers' },
  legal_form: { vocabulary: { name: 'legal-form' }, form: 'integers' },
  activity_type: { vocabulary: { name: 'activity-type' }, form: 'integers' },
  industry_focus: { vocabulary: { name: 'industry-focus' }, form: 'texts' },
  nace: { vocabulary: { name: 'nace' }, form: 'either' },
  isic: { vocabulary: { name: 'isic' }, form: 'either' },
  ...Object.fromEntries(
    SIC.map((code) => [
      `sic_code_${code}`,
      { vocabulary: { name: 'sic', country: code.toUpperCase() }, form: 'either' } satisfies FilterVocabulary,
    ]),
  ),
  location_countries: { vocabulary: { name: 'country' }, form: 'place' },
  location_regions: { vocabulary: { name: 'region' }, form: 'place' },
  // The document does not show whether these two take IDs or names. Other filters take IDs, so these do too.
  financial_currency: { vocabulary: { name: 'currency' }, form: 'texts' },
  insights_technologies: { vocabulary: { name: 'technology' }, form: 'texts' },
};

const FLAT = [
  'seniority',
  'department',
  'activity-type',
  'company-type',
  'company-status',
  'legal-form',
  'states',
  'currency',
] as const;
const TREES = ['industry-focus', 'isic', 'nace', 'sic', 'country', 'region', 'technology'] as const;

const trees: ReadonlySet<string> = new Set(TREES);

export type VocabularyName = (typeof FLAT)[number] | (typeof TREES)[number];

export const VOCABULARY_NAMES: readonly VocabularyName[] = [...FLAT, ...TREES];

export const isTree = (name: VocabularyName): boolean => trees.has(name);

export const nomenclatureItem = looseObject({
  id: nullOrAbsent(id),
  parents: nullOrAbsent(scalar),
  name: nullOrAbsent(text),
  has_children: nullOrAbsent(z.boolean()),
  active: nullOrAbsent(z.boolean()),
});

const params = z
  .strictObject({
    name: z.enum([...FLAT, ...TREES]).describe('Vocabulary'),
    country_code: z
      .string()
      .regex(/^[A-Za-z]{2,3}$/, { error: 'expected a country code' })
      .optional()
      .describe('Country of the sic vocabulary. The accepted codes are not documented'),
    country: z.enum(['US', 'CA']).optional().describe('Country of the states vocabulary'),
    parent: z
      .union([z.int().nonnegative(), longInteger, nonEmpty])
      .transform(String)
      .optional()
      .describe('Item of a tree, to list the level below it'),
  })
  .refine((value) => (value.name === 'sic') === (value.country_code !== undefined), {
    path: ['country_code'],
    error: 'required for sic, not allowed for other vocabularies',
  })
  .refine((value) => (value.name === 'states') === (value.country !== undefined), {
    path: ['country'],
    error: 'required for states, not allowed for other vocabularies',
  })
  .refine((value) => value.parent === undefined || trees.has(value.name), {
    path: ['parent'],
    error: `only trees have levels: ${TREES.join(', ')}`,
  });

export const nomenclature = namedByKey({
  nomenclature: {
    ...v2List,
    meter: 'free',
    keep: { days: 365 },
    summary: 'A controlled vocabulary, whose IDs are used in filters',
    route: { method: 'GET', path: '/nomenclatures/{name}{/country_code}' },
    params,
    body: list(nomenclatureItem),
  },
});

export interface Vocabulary {
  readonly name: VocabularyName;
  /** For `sic` and `states`. */
  readonly country?: string | undefined;
}

/** `sic (GB)` */
export const vocabularyLabel = ({ name, country }: Vocabulary): string =>
  country === undefined ? name : `${name} (${country})`;

/** The parameters for one level of a vocabulary. The first level has no parent. */
export const vocabularyParams = ({ name, country }: Vocabulary, parent?: string): Readonly<Record<string, string>> => ({
  name,
  ...(country === undefined ? {} : { [COUNTRY_PARAMS[name] ?? 'country']: country }),
  ...(parent === undefined ? {} : { parent }),
});

export function vocabularyOf(params: Readonly<Record<string, unknown>>): Vocabulary | undefined {
  const name = VOCABULARY_NAMES.find((known) => known === params.name);
  const country = params.country_code ?? params.country;
  return name && { name, ...(typeof country === 'string' ? { country } : {}) };
}

/** The country parameter of a vocabulary. Undefined: it takes none. */
const COUNTRY_PARAMS: Readonly<Partial<Record<VocabularyName, string>>> = { sic: 'country_code', states: 'country' };

export const takesCountry = (name: VocabularyName): boolean => COUNTRY_PARAMS[name] !== undefined;
