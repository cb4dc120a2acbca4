// v2 operations for people and for enrichment.

import { z } from 'zod';
import { namedByKey } from '../../operation.js';
import {
  anyInteger,
  id,
  isoCountry,
  looseObject,
  needsOneOf,
  nonEmpty,
  nullOrAbsent,
  scalar,
  scalarFields,
  text,
  textFields,
} from '../../schema.js';
import {
  enrichedCompany,
  enrichedPerson,
  envelope,
  page,
  per_page,
  registration_number,
  reveal_email,
  reveal_phone,
  textId,
  textOrList,
  totalPages,
  v2List,
  v2Record,
  vat_number,
  wireInteger,
} from '../fields.js';

const texts = (what: string) => z.array(nonEmpty).optional().describe(what);

const enrichedEmployee = looseObject({
  name: nullOrAbsent(scalar),
  seniority_level: nullOrAbsent(textOrList),
  ...scalarFields('job_title', 'country', 'city'),
  company: nullOrAbsent(
    looseObject({
      name: nullOrAbsent(scalar),
      website: nullOrAbsent(scalar),
      country: nullOrAbsent(scalar),
      city: nullOrAbsent(scalar),
    }),
  ),
});

/** The ID space is not documented, so `erase` treats it as either. */
const COMPANY_OF_PERSON = { company_id: ['employees', 'companies'] } as const;

export const enrichment = namedByKey({
  enrichCompanyByWebsite: {
    ...v2Record,
    summary: 'Company from its website',
    params: z.strictObject({ url: nonEmpty.describe('Website of the company') }),
    body: enrichedCompany,
  },
  enrichCompanyByLinkedin: {
    ...v2Record,
    summary: 'Company from its LinkedIn page',
    params: z.strictObject({ linkedin: nonEmpty.describe('LinkedIn address of the company') }),
    body: enrichedCompany,
  },
  enrichCompanyByRegistry: {
    ...v2Record,
    summary: 'Company from its registration number or VAT number, and its country',
    params: z
      .strictObject({
        registration_number,
        vat_number,
        country_code: isoCountry.describe('ISO 3166-1 alpha-2'),
        state: nonEmpty.optional().describe('State, required if country_code is US'),
      })
      .refine(...needsOneOf('registration_number', 'vat_number'))
      .refine((value) => value.country_code !== 'US' || value.state !== undefined, {
        path: ['state'],
        error: 'required if country_code is US',
      }),
    body: enrichedCompany,
  },
  enrichPersonByEmail: {
    ...v2Record,
    summary: 'Person from an e-mail address',
    params: z.strictObject({ email: nonEmpty.describe('E-mail address of the person'), reveal_phone }),
    body: enrichedPerson,
    itemIds: COMPANY_OF_PERSON,
  },
  enrichPersonByLinkedin: {
    ...v2Record,
    summary: 'Person from a LinkedIn page',
    params: z.strictObject({
      linkedin: nonEmpty.describe('LinkedIn address of the person'),
      reveal_email,
      reveal_phone,
    }),
    body: enrichedPerson,
    itemIds: COMPANY_OF_PERSON,
  },
  enrichPerson: {
    ...v2Record,
    summary: 'Person from any combination of name, company, domain, e-mail and LinkedIn page',
    params: z
      .strictObject({
        first_name: nonEmpty.optional().describe('First name'),
        last_name: nonEmpty.optional().describe('Last name'),
        company_name: nonEmpty.optional().describe('Name of the company'),
        domain: nonEmpty.optional().describe('Domain of the company'),
        email: nonEmpty.optional().describe('E-mail address of the person'),
        linkedin: nonEmpty.optional().describe('LinkedIn address of the person'),
        reveal_email,
        reveal_phone,
      })
      .refine(...needsOneOf('first_name', 'last_name', 'company_name', 'domain', 'email', 'linkedin')),
    body: enrichedPerson,
    itemIds: COMPANY_OF_PERSON,
  },
  enrichEmployeesSearch: {
    ...v2List,
    summary: 'Employees by domain, place and seniority, paged',
    params: z.strictObject({
      domain_list: texts('Domains of the companies'),
      company_locations: texts('Places of the companies'),
      employee_locations: texts('Places of the people'),
      employee_seniorities: texts('Seniorities. The allowed values are not documented'),
      page,
      per_page,
    }),
    body: envelope(enrichedEmployee, 'total_employees'),
    pages: totalPages,
  },
});

const filters = z.strictObject({
  full_name: nonEmpty.optional().describe('Name of the person'),
  company_id: wireInteger.optional().describe('The company, in the ID space of this module (V2-18)'),
  seniority: z.array(anyInteger).optional().describe('IDs of the seniority vocabulary'),
  department: z.array(anyInteger).optional().describe('IDs of the department vocabulary'),
  job_title: z.array(nonEmpty).optional().describe('Job titles'),
  advance: z
    .array(z.enum(['have_email_address', 'have_telephone']))
    .optional()
    .describe('Contacts that the provider must have'),
  url: nonEmpty.optional().describe('LinkedIn address of the person'),
});

const employee = looseObject({
  id,
  name: nullOrAbsent(text),
  company_id: nullOrAbsent(id),
  company_name: nullOrAbsent(text),
});

const profile = looseObject({
  id: nullOrAbsent(id),
  ...textFields('full_name', 'first_name', 'last_name', 'gender'),
  seniority_level: nullOrAbsent(textOrList),
  function_original_name: nullOrAbsent(text),
  phone: nullOrAbsent(textOrList),
  email: nullOrAbsent(textOrList),
  company_name: nullOrAbsent(text),
});

export const employees = namedByKey({
  employeesSearch: {
    ...v2List,
    summary: 'Find people within companies, paged',
    params: z.strictObject({
      page,
      per_page,
      filters: filters.optional().describe('The filters. A person must fit all of them'),
    }),
    body: envelope(employee, 'total_employees'),
    pages: totalPages,
    itemIds: { company_id: 'employees' },
    paramIds: { 'filters.company_id': 'employees' },
  },
  employeeProfile: {
    ...v2Record,
    summary: 'One person: role and contacts',
    params: z.strictObject({ id: textId.describe('Employee ID') }),
    body: profile,
  },
});
