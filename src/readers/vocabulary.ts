import { isObject } from './parts/body-path.js';
import { openWhole } from './parts/open-answer.js';
import { extraOf, readFields } from './parts/read-fields.js';
import { type RawAnswer, ReaderOutput } from './reader.js';
import { type RowOf, timestamp } from './table.js';
import { type vocabulariesTable, vocabularyFields } from './tables/vocabularies.js';

export type VocabularyRow = RowOf<typeof vocabulariesTable>;

/** One list of a vocabulary, row by row. It is about no company, so no run's export has it. */
export function readVocabularyRows(answer: RawAnswer): readonly VocabularyRow[] {
  const opened = openWhole(answer, new ReaderOutput());
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
      // What is no item is kept as it came.
      extra: extraOf(isObject(item) ? rest : [['item', item]]),
    };
  });
}

const text = (value: unknown): string | null => (value === undefined || value === null ? null : String(value));
