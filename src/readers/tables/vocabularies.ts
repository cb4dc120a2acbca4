import { column, table } from '../table.js';
import { extra, position, rawSha256 } from './columns.js';

export const vocabularyFields = [
  column('id', 'id', 'ID of the item: what filters take'),
  column('parents', 'scalar', 'The path of IDs that leads to it'),
  column('name', 'text', 'Its name: what people write'),
  column('has_children', 'boolean', 'Whether there are items below it'),
  column('active', 'boolean', 'Whether it is in use'),
] as const;

export const vocabulariesTable = table({
  name: 'vocabularies',
  onePer: 'item of a vocabulary',
  description:
    'What is owned of the provider’s vocabularies, list by list. An item that stands in two lists (all regions; those of a country) has two rows.',
  source: 'v2 nomenclature',
  key: ['vocabulary', 'country', 'parent', 'position'],
  keyAlwaysThere: false,
  columns: [
    column('vocabulary', 'text', 'The vocabulary', 'the request'),
    column('country', 'text', 'Its country; empty but for sic and states', 'the request'),
    ...vocabularyFields,
    column('level', 'integer', 'How many IDs its path has; empty where none came', '`parents`'),
    column('parent', 'text', 'The item that the list is below; empty: the top', 'the request'),
    position,
    column('fetched_at', 'timestamp', 'When the list was fetched', 'the call'),
    rawSha256,
    extra,
  ],
});
