import { column } from '../table.js';

export const v1CompanyId = column('v1_company_id', 'id', 'The company, in v1’s ID space', 'the request');
export const v2CompanyId = column(
  'v2_company_id',
  'id',
  'The company, in v2’s ID space; empty where the item was bought from v1',
  'the request',
);
/** For tables of another ID space: what they are joined with the others by. */
export const sameCompanyIn = [
  column('v1_company_id', 'id', 'The same company in v1’s ID space, where its row knows it', 'the row'),
  column('v2_company_id', 'id', 'The same company in v2’s ID space, where its row knows it', 'the row'),
] as const;
export const position = column('position', 'integer', 'Place in the list, from 1', 'order of the list');
export const operation = column('operation', 'text', 'The operation whose answer holds the item', 'the call');
export const rawSha256 = column('raw_sha256', 'text', 'SHA-256 of the raw body it was read from', 'the call');
export const extra = column(
  'extra',
  'json',
  'Fields that were returned and have no column, and values that do not fit their column',
  'everything else',
);
/** For tables in which everything has a column: each table has it, so that whoever reads them need not know which. */
export const emptyExtra = column('extra', 'json', 'Empty: whatever there is to tell has a column', 'nothing');
export const value = column(
  'value',
  'value',
  'The text of the value as sent, digit for digit; empty for null',
  'the value',
);
export const valueType = column('value_type', 'text', 'number, string, boolean or null', 'the value');
