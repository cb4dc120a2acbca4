import { column, contactColumn, table } from '../table.js';
import { extra, operation, position, rawSha256, sameCompanyIn } from './columns.js';

/** What the four operations about people return of each; none of them returns all. */
export const personFields = [
  column('name', 'text', 'Name, as a list of people has it'),
  column('full_name', 'text', 'Name, as the details of one person have it'),
  column('first_name', 'text', 'Given name'),
  column('last_name', 'text', 'Family name'),
  column('job_title', 'text', 'Role'),
  column('function_original_name', 'text', 'Role in the words of its source'),
  column('seniority_level', 'text_or_list', 'Seniority: a text, or a list as JSON'),
  column('gender', 'text', 'As sent'),
  column('country', 'text', 'Where the person is'),
  column('city', 'text', 'Where the person is'),
  column('company_name', 'text', 'Name of the company, as it stands with the person'),
  column('company_id', 'id', 'ID of the company, as it stands with the person'),
] as const;

/** The company of an item, where it is a part of its own. */
export const employerFields = [
  column('company_website', 'text', 'Its website', 'company.website'),
  column('company_country', 'text', 'Its country', 'company.country'),
  column('company_city', 'text', 'Its city', 'company.city'),
] as const;

export const personContacts = [
  contactColumn('email', 'E-mail, a text, or a list as JSON; only with --include-contacts', 'email', 'text_or_list'),
  contactColumn('phone', 'Phone, a text, or a list as JSON; only with --include-contacts', 'phone', 'text_or_list'),
] as const;

export const peopleTable = table({
  name: 'people',
  onePer: 'person returned',
  description:
    'People who work for a company, as lists of people have them, and details of single ones in lines of their own. What a list and the details say of one name is not put together. Who is said to work for another company is left out.',
  source: 'v2 enrichEmployeesSearch /data, enrichPerson; employeesSearch /data, employeeProfile',
  key: ['companies_id', 'employees_company_id', 'operation', 'position'],
  keyAlwaysThere: false,
  columns: [
    column('companies_id', 'id', 'The company, in the ID space of the companies module', 'the request'),
    column('employees_company_id', 'id', 'The company, in the ID space of the employees module', 'the request'),
    ...sameCompanyIn,
    position,
    column('employee_id', 'id', 'The person, as the module has it', 'id'),
    ...personFields,
    ...employerFields,
    operation,
    rawSha256,
    ...personContacts,
    extra,
  ],
});
