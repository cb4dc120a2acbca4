import { column, table } from '../table.js';
import { extra, operation, rawSha256, v1CompanyId } from './columns.js';

export const sourceFields = [
  column('category', 'text', 'Class of evidence: Government Registry, Enriched, Modelled, …'),
  column('comment', 'text', 'Note on the method'),
  column('id', 'id', 'ID in the provider’s catalogue'),
  column('name', 'text', 'Name of the registry or source'),
  column('url', 'text', 'Address of the source'),
] as const;

export const sourcesTable = table({
  name: 'sources',
  onePer: 'source object',
  description: 'Where the data comes from. Only with provenance.',
  source: 'the source objects of v1’s answers',
  // The pages of a list have the same places.
  key: ['v1_company_id', 'operation', 'pointer', 'raw_sha256'],
  keyAlwaysThere: true,
  columns: [
    v1CompanyId,
    column(
      'module',
      'text',
      'The part of the record it stands for: lite, officers, shareholders, …',
      'where it stands',
    ),
    ...sourceFields,
    operation,
    column('pointer', 'text', 'JSON pointer to it in the raw body', 'where it stands'),
    rawSha256,
    extra,
  ],
  listedLast: true,
});
