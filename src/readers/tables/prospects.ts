import { column, table } from '../table.js';
import { extra, position, rawSha256 } from './columns.js';
import { firmographicContacts } from './firmographics.js';

/** What the companies module says of it. */
export const prospectProfileFields = [
  column('registration_number', 'text', 'Registration number, as sent', 'companyProfile'),
  column('country_code', 'text', 'ISO alpha-2', 'companyProfile'),
  column('status', 'text', 'Status', 'companyProfile'),
  column('company_website', 'text', 'Website', 'companyProfile'),
  column('company_legal_form', 'text', 'Legal form', 'companyProfile'),
  column('address_city', 'text', 'City', 'companyProfile'),
  column('zip_code', 'text', 'Postal code', 'companyProfile'),
  column('size', 'text', 'Band of employees', 'companyProfile'),
  column('founding_date', 'text', 'Founded, as sent', 'companyProfile'),
  column('linkedin', 'text', 'LinkedIn address', 'companyProfile'),
] as const;

/** What came to the table after it was published, at its end. */
export const furtherProspectFields = [
  column('industry', 'json', 'Industries, each with id, type and value', 'companyProfile'),
  column('sic', 'json', 'SIC classes, likewise', 'companyProfile'),
  ...firmographicContacts,
] as const;

export const prospectsTable = table({
  name: 'prospects',
  onePer: 'company that the filters found',
  description:
    'What `kybatch prospect` found, in the order in which it came. The columns of the profile are filled where `profile` is `agrees`: IDs of prospecting and of the companies module are not said to be one space, so the name decides.',
  source: 'v2 prospecting, v2 companyProfile',
  key: ['position'],
  keyAlwaysThere: true,
  columns: [
    { ...position, description: 'Place among all that was found, from 1', from: 'order of the pages' },
    column('page', 'integer', 'The page it stands on', 'the request'),
    column('companies_id', 'id', 'ID that prospecting gives it', '`id` of prospecting'),
    column('name', 'text', 'Name', 'prospecting'),
    ...prospectProfileFields,
    column(
      'profile',
      'text',
      'agrees; other_name: the profile under this ID is called otherwise, and is not used; no_name; not_available; failed; not_asked',
      'the comparison',
    ),
    column('profile_name', 'text', 'What the profile is called', '`name` of companyProfile'),
    column('is_part', 'boolean', 'Whether there are more companies than were asked for', '`total_pages`'),
    column('total_companies', 'integer', 'How many the provider counts, on this page', 'prospecting'),
    column('total_pages', 'integer', 'In how many pages, on this page', 'prospecting'),
    column('fetched_at', 'timestamp', 'When the page was fetched', 'the call'),
    rawSha256,
    column('profile_fetched_at', 'timestamp', 'When the profile was fetched', 'the call'),
    column('profile_raw_sha256', 'text', 'SHA-256 of the raw body of the profile', 'the call'),
    ...furtherProspectFields,
    {
      ...extra,
      description:
        'What else prospecting said of it; of its page in `page`, and of its profile in `companyProfile`, where it agrees',
    },
  ],
});
