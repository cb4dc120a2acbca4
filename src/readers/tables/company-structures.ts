import { column, table } from '../table.js';
import { extra, operation, rawSha256, sameCompanyIn } from './columns.js';

export const structureFields = [column('registration_number', 'text', 'The number that the answer names')] as const;

export const companyStructuresTable = table({
  name: 'company_structures',
  onePer: 'company',
  description:
    'What the ownership module answered about each company, and how much came with it: its shareholders are in `shareholders`, its tree is in `group_links`. A list that came empty does not prove that there are none.',
  source: 'v2 ownership',
  key: ['ownership_number', 'v1_company_id', 'v2_company_id', 'raw_sha256'],
  keyAlwaysThere: false,
  columns: [
    column('ownership_number', 'id', 'The number that was asked for', 'the request'),
    ...structureFields,
    column(
      'shareholders_returned',
      'integer',
      'Direct shareholders that came; empty: the list did not come, 0: it came empty',
      '/shareholders',
    ),
    column('group_links_returned', 'integer', 'Lines of `group_links` that came, likewise', '/group_structure'),
    column('fetched_at', 'timestamp', 'When the answer was bought', 'the call'),
    rawSha256,
    operation,
    ...sameCompanyIn,
    extra,
  ],
});
