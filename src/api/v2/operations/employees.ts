import { z } from 'zod';
import type { Operation } from '../../operation.js';
import { anyInteger, nonEmpty } from '../../params.js';
import { id, nullable, record, text } from '../../schema.js';
import { page, per_page, textId, totalPages, v2List, wireInteger } from '../fields.js';
import { employeesEnvelope, textOrList } from '../records.js';

const filters = z.strictObject({
  full_name: nonEmpty.optional().describe('Name of the person'),
  company_id: wireInteger.optional().describe('The company, in the ID space of this module (V2-18)'),
  seniority: z.array(anyInteger).optional().describe('IDs of the seniority vocabulary'),
  department: z.array(anyInteger).optional().describe('IDs of the department vocabulary'),
  job_title: z.array(nonEmpty).optional().describe('Job titles'),
  advance: z
    .array(z.enum(['have_email_address', 'have_telephone']))
    .optional()
    .describe('Contacts that must be known'),
  url: nonEmpty.optional().describe('LinkedIn address of the person'),
});

const employee = record({ id, name: nullable(text), company_id: nullable(id), company_name: nullable(text) });

const profile = record({
  id: nullable(id),
  full_name: nullable(text),
  first_name: nullable(text),
  last_name: nullable(text),
  gender: nullable(text),
  seniority_level: nullable(textOrList),
  function_original_name: nullable(text),
  phone: nullable(textOrList),
  email: nullable(textOrList),
  company_name: nullable(text),
});

export const employees = {
  employeesSearch: {
    ...v2List,
    name: 'employeesSearch',
    summary: 'Find people within companies, paged',
    route: null,
    params: z.strictObject({
      page,
      per_page,
      filters: filters.optional().describe('The filters, all of which must hold'),
    }),
    body: employeesEnvelope(employee),
    pages: totalPages,
    itemIds: { company_id: 'employees' },
    paramIds: { 'filters.company_id': 'employees' },
  },
  employeeProfile: {
    ...v2List,
    keep: { days: 90 },
    findsOne: true,
    name: 'employeeProfile',
    summary: 'One person: role and contacts',
    route: null,
    params: z.strictObject({ id: textId.describe('Employee ID') }),
    body: profile,
  },
} as const satisfies Readonly<Record<string, Operation>>;
