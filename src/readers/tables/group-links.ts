import { column, table } from '../table.js';
import { extra, operation, position, rawSha256, v1CompanyId, v2CompanyId } from './columns.js';

export const groupLinkFields = [
  column('company_id', 'id', 'The company whose record holds the link; a tree does not say it'),
  column('country_source', 'text', 'Country of the first end'),
  column('country_target', 'text', 'Country of the second end'),
  column(
    'source',
    'text',
    'First end: as the record has it; of a tree the number qualified by country. A text, not a source object',
  ),
  column('target', 'text', 'Second end, likewise'),
  column('title', 'text', 'Name of the first end'),
  column('target_title', 'text', 'Name of the second end'),
  column('temporary', 'boolean', 'As sent; its meaning is not shown'),
] as const;

/** What only a tree tells. */
const placeInTree = [
  column(
    'depth',
    'integer',
    'Levels between the root of the tree and the second end; 1: a child of the root, 0: the root itself',
    'order of the tree',
  ),
  column('source_id', 'id', 'First end: the ID of the node, as sent', 'id of the parent'),
  column('target_id', 'id', 'Second end, likewise', 'id of the child'),
  column('source_selected', 'boolean', 'Whether the first end is the company asked about', 'selected of the parent'),
  column('selected', 'boolean', 'Whether the second end is the company asked about', 'selected of the child'),
] as const;

export const groupLinksTable = table({
  name: 'group_links',
  onePer: 'list item',
  description:
    'Links between companies of a group: from the full record as they come, from a tree with the place of the child in it; of v1 one of them is shown. The root of a tree has a line without a first end where it stands alone, or says something that no link shows. A link is a link: it says nothing about who controls whom, and the last company of a chain is no person.',
  source:
    'fullKyb /group_structures_full; the trees of groupLiteKyb, groupFullKyb and v2 ownership, one link for each child',
  key: ['v1_company_id', 'v2_company_id', 'operation', 'position'],
  keyAlwaysThere: false,
  // One company more at the top moves all the others down.
  knownBy: {
    columns: [
      ['source', 'target'],
      ['source_id', 'target_id'],
      ['source', 'target', 'target_id'],
    ],
    origin: 'operation',
    besides: ['depth'],
  },
  columns: [v1CompanyId, position, ...groupLinkFields, operation, rawSha256, v2CompanyId, ...placeInTree, extra],
});
