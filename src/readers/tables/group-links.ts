import { column, table } from '../table.js';
import { extra, operation, position, rawSha256, v1CompanyId } from './columns.js';

export const groupLinkFields = [
  column('company_id', 'id', 'The company whose record holds the link'),
  column('country_source', 'text', 'Country of the first end'),
  column('country_target', 'text', 'Country of the second end'),
  column('source', 'text', 'First end: a number qualified by country, or an ID. A text, not a source object'),
  column('target', 'text', 'Second end, likewise'),
  column('title', 'text', 'Name of the first end'),
  column('target_title', 'text', 'Name of the second end'),
  column('temporary', 'boolean', 'As sent; its meaning is not shown'),
] as const;

export const groupLinksTable = table({
  name: 'group_links',
  onePer: 'list item',
  description:
    'Links between companies of a group. A link is a link: it says nothing about who controls whom, and the last company of a chain is no person.',
  source: 'fullKyb /group_structures_full; the trees of groupLiteKyb and groupFullKyb, one link for each child',
  key: ['v1_company_id', 'operation', 'position'],
  keyAlwaysThere: true,
  knownBy: { columns: [['source', 'target']], within: 'operation' },
  columns: [v1CompanyId, position, ...groupLinkFields, operation, rawSha256, extra],
});
