import { column, contactColumn, table } from '../table.js';
import { extra, operation, position, rawSha256, v1CompanyId, v2CompanyId } from './columns.js';

export const officerFields = [
  column('id', 'id', 'The officer record'),
  column('first_name', 'text', 'Given name'),
  column('last_name', 'text', 'Family name'),
  column('appointed_at', 'date', 'Date of appointment'),
  column('resigned_at', 'date', 'Date of resignation; v2 does not send it, so current or former is unknown there'),
  column('work_status', 'text', 'Status of the appointment; an open set. v2 does not send it'),
  column('date_of_birth_year', 'integer', 'Year of birth; births are partial, no day is made up'),
  column('date_of_birth_month', 'integer', 'Month of birth'),
  column('job_title', 'text', 'Role as the registry reports it'),
  column('address_country', 'text', 'Country of the address'),
  column('address_line_1', 'text', 'Address'),
  column('address_locality', 'text', 'Town'),
  column('address_region', 'text', 'Region'),
  column('address_postal_code', 'text', 'Postal code'),
] as const;

export const officerContacts = [
  contactColumn('email', 'E-mail; only with --include-contacts', 'contact.email'),
  contactColumn('phone', 'Phone; only with --include-contacts', 'contact.phone'),
] as const;

export const officersTable = table({
  name: 'officers',
  onePer: 'list item',
  description:
    'Officers, current and former, as the registry lists them. v1 and v2 are two sources: `operation` tells them apart. Of v1 one reading of the list is shown, be it from the full record or from the list by itself.',
  source: 'fullKyb /officers; officersKyb /data; v2 kybOfficers /data',
  key: ['v1_company_id', 'v2_company_id', 'operation', 'position'],
  keyAlwaysThere: false,
  knownBy: { columns: [['id'], ['first_name', 'last_name', 'appointed_at']], origin: 'operation' },
  columns: [v1CompanyId, position, ...officerFields, v2CompanyId, operation, ...officerContacts, rawSha256, extra],
});
