import { z } from 'zod';
import { ExactNumber } from '../../util/exact-json.js';
import {
  companyId,
  digitsId,
  id,
  list,
  listIfSent,
  nonEmpty,
  nullable,
  number,
  positiveInteger,
  record,
  scalar,
  text,
  vocabularyId,
} from '../schema.js';

/** Parts that several v2 operations share. */
export const v2 = { api: 'v2', scopes: [], meter: 'not_told' } as const;

/** A list that names no company by ID. */
export const v2List = { ...v2, subject: null, keep: { days: 30 } } as const;

/** The present state, or a change of it. */
export const v2State = { ...v2, subject: null, keep: 'never' } as const;
export const aboutV2Company = { ...v2, subject: { space: 'v2', param: 'id' }, keep: { days: 90 } } as const;

export const v2Id = digitsId.describe('v2 company ID, digits');

/** For IDs that the document only calls strings. */
export const textId = companyId;
export const page = positiveInteger.optional().describe('Page, from 1');
export const per_page = positiveInteger.optional().describe('Items a page');
export const registration_number = nonEmpty.optional().describe('Registration number');
export const vat_number = nonEmpty.optional().describe('VAT number');

/** For vocabulary IDs whose form the document does not give. */
export const vocabularyIds = z.array(vocabularyId);

/** False by default: the server's own default is true, which reveals contacts and charges for them (V2-11). */
export const reveal_email = z.boolean().default(false).describe('Reveal the e-mail address; charged');
export const reveal_phone = z.boolean().default(false).describe('Reveal the phone number; charged');

/** An ID that is sent as a JSON integer, exact beyond 2^53. */
export const wireInteger = digitsId.transform((digits) => new ExactNumber(digits.replace(/^0+(?=\d)/, '')));

/** The document shows no maximum for `per_page`. */
export const totalPages = { perPageAtMost: null, countField: 'total_pages' } as const;
export const envelopePages = { perPageAtMost: null, countField: 'pages' } as const;

export type PlainObject = Readonly<Record<string, unknown>>;

export const isPlainObject = (value: unknown): value is PlainObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber);

/** An object whose members are neither checked nor copied. */
export const opaque = z.custom<PlainObject>(isPlainObject, { error: 'expected an object' });

/** The documented fields of each record. All others pass through unread. */
export const candidate = record({
  id,
  name: nullable(scalar),
  registration_number: nullable(scalar),
  vat_number: nullable(scalar),
  country_code: nullable(scalar),
  state: nullable(scalar),
});

export const companyLite = record({
  id: nullable(id),
  name: nullable(text),
  registration_number: nullable(text),
  vat_number: nullable(text),
  incorporation_date: nullable(scalar),
  status: nullable(text),
  country_code: nullable(text),
  country_name: nullable(text),
  country_region: nullable(text),
  address_street: nullable(scalar),
  address_location: nullable(scalar),
  address_city: nullable(scalar),
  zip_code: nullable(scalar),
  legal_form: nullable(text),
  website: nullable(text),
  linkedin: nullable(text),
});

/** There is no resigned_at and no work_status, so current or former is unknown (V2-9). */
export const officer = record({
  id: nullable(id),
  first_name: nullable(scalar),
  last_name: nullable(scalar),
  appointed_at: nullable(scalar),
  date_of_birth_year: nullable(scalar),
  date_of_birth_month: nullable(scalar),
  job_title: nullable(scalar),
  address_country: nullable(scalar),
  address_line_1: nullable(scalar),
  address_locality: nullable(scalar),
  address_region: nullable(scalar),
  address_postal_code: nullable(scalar),
});

export const officerSearchResult = record({
  id: nullable(id),
  company_id: nullable(id),
  company_name: nullable(scalar),
  registration_number: nullable(scalar),
  company_status: nullable(scalar),
  incorporation_date: nullable(scalar),
  full_name: nullable(scalar),
  title: nullable(scalar),
  nationality: nullable(scalar),
  officer_role: nullable(scalar),
  appointed_at: nullable(scalar),
  resigned_at: nullable(scalar),
  country_of_residence: nullable(scalar),
  address_postal_code: nullable(scalar),
});

export const shareholder = record({
  id: nullable(id),
  name: nullable(scalar),
  quantity: nullable(scalar),
  currency: nullable(scalar),
  company_id: nullable(id),
  share_value: nullable(scalar),
  share_type: nullable(scalar),
  share_price: nullable(scalar),
  total_value: nullable(scalar),
});

/** Only the shell: the export reads the values one by one and exactly. */
export const filedFinancials = record({
  years: nullable(list(scalar)),
  groups: nullable(
    list(record({ id: nullable(scalar), name: nullable(text), order: nullable(number), list: nullable(list(opaque)) })),
  ),
});

/** The names of the totals differ between modules (V2-12). */
export const envelope = <T extends z.ZodType>(item: T) =>
  record({ data: listIfSent(item), total_results: nullable(scalar), total_pages: nullable(scalar) });

export const companiesEnvelope = <T extends z.ZodType>(item: T) =>
  record({ data: listIfSent(item), total_companies: nullable(scalar), total_pages: nullable(scalar) });

export const employeesEnvelope = <T extends z.ZodType>(item: T) =>
  record({ data: listIfSent(item), total_employees: nullable(scalar), total_pages: nullable(scalar) });

/** For watch and report history: a missing entry would be asked for or bought again, so an absent list is no answer. */
export const pagesEnvelope = <T extends z.ZodType>(item: T) =>
  record({ data: list(item), total_results: nullable(number), pages: nullable(number) });

/** A text or a list of texts: the document shows both for the same name. */
export const textOrList = z.union([text, list(text)]);

export const enrichedCompany = record({
  id: nullable(id),
  name: nullable(text),
  registration_number: nullable(text),
  country_code: nullable(text),
  company_legal_form: nullable(text),
  address_city: nullable(text),
  size: nullable(scalar),
  founding_date: nullable(scalar),
});

export const enrichedPerson = record({
  id: nullable(id),
  full_name: nullable(text),
  gender: nullable(text),
  seniority_level: nullable(textOrList),
  function_original_name: nullable(text),
  phone: nullable(textOrList),
  email: nullable(textOrList),
  company_id: nullable(id),
  company_name: nullable(text),
});
