import { anyText, isObject } from '../util/exact-json.js';
import { openUnfiltered } from './parts/open-answer.js';
import { extraOf, readFields } from './parts/read-fields.js';
import { type RawAnswer, ReaderOutput } from './reader.js';
import { column, extraColumn, positionColumn, type RowOf, rawSha256, table, timestamp } from './table.js';

export type VocabularyRow = RowOf<typeof vocabulariesTable>;

/** The rows of one vocabulary list. It is about no company, so no run exports it. */
export function readVocabularyRows(answer: RawAnswer): readonly VocabularyRow[] {
  const opened = openUnfiltered(answer, new ReaderOutput());
  if (opened === undefined) return [];
  const { name, country_code, country, parent } = answer.params;
  return (opened.path.list(opened.body) ?? []).map((item, index) => {
    const { cells, rest } = readFields(isObject(item) ? item : {}, vocabularyFields, opened.path.at(index));
    const { parents } = cells;
    return {
      vocabulary: text(name),
      country: text(country_code ?? country),
      ...cells,
      level: parents === null || parents === '' ? null : String(parents.split('_').length),
      parent: text(parent),
      position: String(index + 1),
      fetched_at: timestamp(answer.fetchedAt),
      raw_sha256: answer.rawSha256,
      // A value that is no item is kept as it came.
      extra: extraOf(isObject(item) ? rest : [['item', item]]),
    };
  });
}

const text = (value: unknown): string | null => (value === undefined || value === null ? null : anyText(value));

const vocabularyFields = [
  column('id', 'id', 'ID of the item, for filters'),
  column('parents', 'scalar', 'The path of IDs that leads to it'),
  column('name', 'text', 'Its name, for people'),
  column('has_children', 'boolean', 'Whether there are items below it'),
  column('active', 'boolean', 'Whether it is in use'),
] as const;

export const vocabulariesTable = table({
  name: 'vocabularies',
  onePer: 'item of a vocabulary',
  description: 'The stored vocabularies of the provider, list by list. An item in two lists has two rows.',
  source: 'v2 nomenclature',
  key: ['vocabulary', 'country', 'parent', 'position'],
  keyAlwaysThere: false,
  columns: [
    column('vocabulary', 'text', 'The vocabulary', 'the request'),
    column('country', 'text', 'Its country. Only for sic and states', 'the request'),
    ...vocabularyFields,
    column('level', 'integer', 'How many IDs its path has. Empty if none was returned', '`parents`'),
    column('parent', 'text', 'The item above the list. Empty for the top', 'the request'),
    positionColumn,
    column('fetched_at', 'timestamp', 'When the list was fetched', 'the call'),
    rawSha256,
    extraColumn,
  ],
});
