import { column, contactColumn, table } from '../table.js';
import { extra, operation, position, rawSha256 } from './columns.js';

/** Who was looked for, and whose officer or shareholder has that name. */
export const screenedName = column(
  'screened_name',
  'text',
  'The name that was looked for: that of an officer or shareholder of the company',
  'the request',
);

/** Where its row knows both IDs, both are there, whichever API was searched. */
export const screenedCompany = [
  column('v1_company_id', 'id', 'The company, in v1’s ID space; empty where its row does not know it', 'the row'),
  column('v2_company_id', 'id', 'The company, in v2’s ID space; empty where its row does not know it', 'the row'),
] as const;

/** What the search for officers returns of each appointment; v2 sends fewer of them. */
export const appointmentFields = [
  column('id', 'id', 'The officer record'),
  column('company_id', 'id', 'The connected company, as the search has it'),
  column('company_name', 'text', 'Its name'),
  column('registration_number', 'text', 'Its number'),
  column('company_status', 'text', 'Its status; an open set'),
  column('incorporation_date', 'date', 'Its date of incorporation'),
  column('full_name', 'text', 'Name of the person found'),
  column('first_name', 'text', 'Given name'),
  column('middle_name', 'text', 'Middle name'),
  column('last_name', 'text', 'Family name'),
  column('title', 'text', 'Title'),
  column('sex', 'text', 'As sent'),
  column('nationality', 'text', 'As sent'),
  column('country_of_residence', 'text', 'As sent'),
  column('date_of_birth_year', 'integer', 'Year of birth; births are partial, no day is made up'),
  column('date_of_birth_month', 'integer', 'Month of birth'),
  column('officer_role', 'text', 'Role as the registry reports it'),
  column('appointed_at', 'date', 'Date of appointment'),
  column('resigned_at', 'date', 'Date of resignation'),
  column('work_status', 'text', 'Status of the appointment; an open set. v2 does not send it'),
  column('address_country', 'text', 'Country of the address'),
  column('address_line_1', 'text', 'Address'),
  column('address_locality', 'text', 'Town'),
  column('address_region', 'text', 'Region'),
  column('address_postal_code', 'text', 'Postal code'),
] as const;

export const appointmentContacts = [
  contactColumn('email', 'E-mail; only with --include-contacts', 'email, contact.email'),
  contactColumn('phone', 'Phone; only with --include-contacts', 'phone, contact.phone'),
] as const;

export const isSubject = column(
  'is_subject',
  'boolean',
  'Whether the connected company has the ID of the company itself; empty where the search names none. It says nothing about who the person is',
  'company_id, compared',
);

export const appointmentsTable = table({
  name: 'appointments',
  onePer: 'appointment found',
  description:
    'Appointments of people who have the name of an officer of the company. Candidates by name, not identified persons: whether one is the same person is not said by any line.',
  source: 'officersSearchKyb; v2 kybOfficersSearch',
  key: ['v1_company_id', 'v2_company_id', 'operation', 'screened_name', 'screened_birth_year', 'position'],
  keyAlwaysThere: false,
  columns: [
    ...screenedCompany,
    screenedName,
    column(
      'screened_birth_year',
      'integer',
      'The year of birth that was asked for; empty: none was known',
      'the request',
    ),
    position,
    ...appointmentFields,
    isSubject,
    operation,
    rawSha256,
    ...appointmentContacts,
    extra,
  ],
});
