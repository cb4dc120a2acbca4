import { z } from 'zod';
import type { Operation } from '../../operation.js';
import { isoCountry, nonEmpty, oneOf } from '../../params.js';
import { nullable, record, scalar } from '../../schema.js';
import {
  page,
  per_page,
  registration_number,
  reveal_email,
  reveal_phone,
  totalPages,
  v2List,
  vat_number,
} from '../fields.js';
import { employeesEnvelope, enrichedCompany, enrichedPerson, textOrList } from '../records.js';

const texts = (what: string) => z.array(nonEmpty).optional().describe(what);

const employee = record({
  name: nullable(scalar),
  seniority_level: nullable(textOrList),
  job_title: nullable(scalar),
  country: nullable(scalar),
  city: nullable(scalar),
  company: nullable(
    record({ name: nullable(scalar), website: nullable(scalar), country: nullable(scalar), city: nullable(scalar) }),
  ),
});

/** In which module's space it is, nothing says: for a purge it is that of either. */
const COMPANY_OF_PERSON = { company_id: ['employees', 'companies'] } as const;

export const enrichment = {
  enrichCompanyByWebsite: {
    ...v2List,
    keep: { days: 90 },
    findsOne: true,
    name: 'enrichCompanyByWebsite',
    summary: 'Company from its website',
    route: null,
    params: z.strictObject({ url: nonEmpty.describe('Website of the company') }),
    body: enrichedCompany,
  },
  enrichCompanyByLinkedin: {
    ...v2List,
    keep: { days: 90 },
    findsOne: true,
    name: 'enrichCompanyByLinkedin',
    summary: 'Company from its LinkedIn page',
    route: null,
    params: z.strictObject({ linkedin: nonEmpty.describe('LinkedIn address of the company') }),
    body: enrichedCompany,
  },
  enrichCompanyByRegistry: {
    ...v2List,
    keep: { days: 90 },
    findsOne: true,
    name: 'enrichCompanyByRegistry',
    summary: 'Company from its registration number or VAT number, and its country',
    route: null,
    params: z
      .strictObject({
        registration_number,
        vat_number,
        country_code: isoCountry.describe('ISO 3166-1 alpha-2'),
        state: nonEmpty.optional().describe('State; required when country_code is US'),
      })
      .refine(oneOf('registration_number', 'vat_number'), { error: 'needs registration_number, vat_number or both' })
      .refine((value) => value.country_code !== 'US' || value.state !== undefined, {
        path: ['state'],
        error: 'required when country_code is US',
      }),
    body: enrichedCompany,
  },
  enrichPersonByEmail: {
    ...v2List,
    keep: { days: 90 },
    findsOne: true,
    name: 'enrichPersonByEmail',
    summary: 'Person from an e-mail address',
    route: null,
    params: z.strictObject({ email: nonEmpty.describe('E-mail address of the person'), reveal_phone }),
    body: enrichedPerson,
    itemIds: COMPANY_OF_PERSON,
  },
  enrichPersonByLinkedin: {
    ...v2List,
    keep: { days: 90 },
    findsOne: true,
    name: 'enrichPersonByLinkedin',
    summary: 'Person from a LinkedIn page',
    route: null,
    params: z.strictObject({
      linkedin: nonEmpty.describe('LinkedIn address of the person'),
      reveal_email,
      reveal_phone,
    }),
    body: enrichedPerson,
    itemIds: COMPANY_OF_PERSON,
  },
  enrichPerson: {
    ...v2List,
    keep: { days: 90 },
    findsOne: true,
    name: 'enrichPerson',
    summary: 'Person from any combination of name, company, domain, e-mail and LinkedIn page',
    route: null,
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
      .refine(oneOf('first_name', 'last_name', 'company_name', 'domain', 'email', 'linkedin'), {
        error: 'needs at least one of first_name, last_name, company_name, domain, email, linkedin',
      }),
    body: enrichedPerson,
    itemIds: COMPANY_OF_PERSON,
  },
  enrichEmployeesSearch: {
    ...v2List,
    name: 'enrichEmployeesSearch',
    summary: 'Employees by domain, place and seniority, paged',
    route: null,
    params: z.strictObject({
      domain_list: texts('Domains of the companies'),
      company_locations: texts('Where the companies are'),
      employee_locations: texts('Where the people are'),
      employee_seniorities: texts('Seniorities; the allowed values are not documented'),
      page,
      per_page,
    }),
    body: employeesEnvelope(employee),
    pages: totalPages,
  },
} as const satisfies Readonly<Record<string, Operation>>;
