import { z } from 'zod';
import { id, list, nullable, number, record, scalar, text } from '../schema.js';
import { opaque } from './fields.js';

/** What the v2 document shows of each record. Everything else passes through unread. */

export const candidate = record({
  id,
  name: nullable(text),
  registration_number: nullable(text),
  vat_number: nullable(text),
  country_code: nullable(text),
  state: nullable(text),
});

export const companyLite = record({
  id: nullable(id),
  name: nullable(text),
  registration_number: nullable(text),
  vat_number: nullable(text),
  incorporation_date: nullable(text),
  status: nullable(text),
  country_code: nullable(text),
  country_name: nullable(text),
  country_region: nullable(text),
  address_street: nullable(text),
  address_location: nullable(text),
  address_city: nullable(text),
  zip_code: nullable(text),
  legal_form: nullable(text),
  website: nullable(text),
  linkedin: nullable(text),
});

/** No resigned_at, no work_status: current or former is unknown (V2-9). */
export const officer = record({
  id: nullable(id),
  first_name: nullable(text),
  last_name: nullable(text),
  appointed_at: nullable(text),
  date_of_birth_year: nullable(scalar),
  date_of_birth_month: nullable(scalar),
  job_title: nullable(text),
  address_country: nullable(text),
  address_line_1: nullable(text),
  address_locality: nullable(text),
  address_region: nullable(text),
  address_postal_code: nullable(text),
});

export const officerSearchResult = record({
  id: nullable(id),
  company_id: nullable(id),
  company_name: nullable(text),
  registration_number: nullable(text),
  company_status: nullable(text),
  incorporation_date: nullable(text),
  full_name: nullable(text),
  title: nullable(text),
  nationality: nullable(text),
  officer_role: nullable(text),
  appointed_at: nullable(text),
  resigned_at: nullable(text),
  country_of_residence: nullable(text),
  address_postal_code: nullable(text),
});

export const shareholder = record({
  id: nullable(id),
  name: nullable(text),
  quantity: nullable(scalar),
  currency: nullable(text),
  company_id: nullable(id),
  share_value: nullable(scalar),
  share_type: nullable(text),
  share_price: nullable(scalar),
  total_value: nullable(scalar),
});

/** Only the shell: the values are read, one by one and exactly, by the export. */
export const filedFinancials = record({
  years: nullable(list(scalar)),
  groups: nullable(
    list(record({ id: nullable(scalar), name: nullable(text), order: nullable(number), list: nullable(list(opaque)) })),
  ),
});

/** The names for the totals differ from module to module (V2-12). */
export const envelope = <T extends z.ZodType>(item: T) =>
  record({ data: list(item), total_results: nullable(number), total_pages: nullable(number) });

export const companiesEnvelope = <T extends z.ZodType>(item: T) =>
  record({ data: list(item), total_companies: nullable(number), total_pages: nullable(number) });

export const employeesEnvelope = <T extends z.ZodType>(item: T) =>
  record({ data: list(item), total_employees: nullable(number), total_pages: nullable(number) });

/** Watch and report history. */
export const pagesEnvelope = <T extends z.ZodType>(item: T) =>
  record({ data: list(item), total_results: nullable(number), pages: nullable(number) });

/** A text, or a list of texts: the document shows both for the same name. */
export const textOrList = z.union([text, list(text)]);

export const enrichedCompany = record({
  id: nullable(id),
  name: nullable(text),
  registration_number: nullable(text),
  country_code: nullable(text),
  company_legal_form: nullable(text),
  address_city: nullable(text),
  size: nullable(text),
  founding_date: nullable(text),
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
