import { column, table } from '../table.js';
import { extra, operation, position, rawSha256, v1CompanyId, v2CompanyId } from './columns.js';

export const shareholderFields = [
  column('id', 'id', 'The shareholding record'),
  column('name', 'text', 'Published name of the direct holder; whether a person or a company is not said'),
  column('percentage', 'number', 'Direct holding in percent'),
  column('quantity', 'number', 'Number of shares'),
  column('share_price', 'number', 'Price per share as stated'),
  column('share_type', 'text', 'Class of shares'),
  column('share_value', 'scalar', 'Description of the holding, formatted by the source'),
  column('currency', 'text', 'Currency code'),
  column('status', 'text', 'Status of the holding'),
  column('total_value', 'number', 'Total as reported or calculated'),
] as const;

export const shareholdersTable = table({
  name: 'shareholders',
  onePer: 'list item',
  description:
    'Direct shareholdings, and no more than that: who stands behind a holder is not said. An empty list does not prove that there are none. The record, the registry of v2 and the ownership module are sources of their own, and a holder may have a line from each: `operation` tells them apart. Of v1 one reading of the list is shown, be it from the full record or from the list by itself.',
  source: 'fullKyb /shareholders; shareholdersKyb /data; v2 kybShareholders /data; v2 ownership /shareholders',
  key: ['v1_company_id', 'v2_company_id', 'operation', 'position'],
  keyAlwaysThere: false,
  knownBy: { columns: [['id'], ['name', 'share_type']], origin: 'operation' },
  columns: [v1CompanyId, position, ...shareholderFields, v2CompanyId, operation, rawSha256, extra],
});
