// Applies the columns that were agreed for earlier files of a list.

import { type Message, message } from '../util/message-parts.js';
import { isFilled } from './column-content.js';
import type { ColumnNames } from './column-names.js';
import type { SampledColumns } from './decide-columns.js';
import { indicesIn } from './field-text.js';
import { columnsThatFit, contentProblem, countriesOf, shareThatFits, textsOf } from './fitting-columns.js';
import { fold, SEARCH_FIELDS } from './header-meaning.js';
import type { AgreedColumns, ColumnSource, InputField } from './types.js';

/** The parts of an agreement that hold for this file. */
export interface StandingAgreement {
  readonly kept: ReadonlyMap<InputField, ColumnSource | null>;
  /** Fields whose columns are gone, and the old headers. */
  readonly gone: ReadonlyMap<InputField, string>;
  /** Fields whose columns now have other content. */
  readonly changed: ReadonlyMap<InputField, ChangedColumn>;
}

interface ChangedColumn {
  readonly source: ColumnSource;
  readonly why: Message;
}

interface NewFile {
  readonly headers: readonly string[];
  readonly names: ColumnNames;
  readonly sample: SampledColumns;
  readonly country: string | null;
  /** The columns that the user gave for this file. */
  readonly given: ReadonlyMap<InputField, ColumnSource | null>;
}

/** `isRead`: the fields that this pipeline reads and that the user has not given. */
export function applyAgreement(
  agreed: AgreedColumns | undefined,
  { headers, names, sample, country, given }: NewFile,
  isRead: (field: InputField) => boolean,
): StandingAgreement {
  const kept = new Map<InputField, ColumnSource | null>();
  const gone = new Map<InputField, string>();
  const changed = new Map<InputField, ChangedColumn>();
  // If the number of columns changed, a place is another column's.
  const isMoved = (piece: string) =>
    /^#\d+$/.test(piece) && headers.length !== agreed?.columns.length && !headers.some((one) => one.trim() === piece);
  for (const [field, pieces] of Object.entries(agreed?.fields ?? {}) as [InputField, readonly string[]][]) {
    if (!isRead(field)) continue;
    const words = pieces.join(' + ');
    const source = pieces.length === 0 ? null : pieces.some(isMoved) ? undefined : names.findSource(words);
    if (source === undefined) gone.set(field, words);
    else kept.set(field, source);
  }
  const countries = countriesOf(sample, given.get('country') ?? kept.get('country'), country);
  const read = new Set(
    [...kept.values(), ...given.values()].flatMap((source) => (source === null ? [] : indicesIn(source))),
  );
  const isElsewhere = (field: InputField) =>
    columnsThatFit(field, sample, countries, (index) => !read.has(index)).length > 0;
  for (const [field, source] of kept) {
    if (source === null) continue;
    const texts = textsOf(sample, source, field);
    const didFit = agreed?.fitting?.includes(field) === true;
    const isOdd = didFit && (shareThatFits(field, texts, countries) ?? 1) < 0.2;
    // If no other column fits, the rows have lost their numbers, which another check reports.
    const isEmptied = didFit && texts.length >= FEW_ROWS && !texts.some(isFilled) && isElsewhere(field);
    const odd = isOdd ? message('COLUMN_HOLDS_OTHER_FORM', 'has other content than before') : undefined;
    const why = isEmptied ? message('COLUMN_EMPTIED', 'is empty now') : (contentProblem(field, texts) ?? odd);
    if (why === undefined) continue;
    kept.delete(field);
    changed.set(field, { source, why });
  }
  return { kept, gone, changed };
}

/** In fewer rows a column may be empty by chance. */
const FEW_ROWS = 3;

/** The fields whose numbers fit the countries of their rows, stored to check the next file. */
export function fittingFields(
  fields: ReadonlyMap<InputField, { readonly source: ColumnSource }>,
  sample: SampledColumns,
  country: string | null,
): readonly InputField[] {
  const countries = countriesOf(sample, fields.get('country')?.source, country);
  return [...fields].flatMap(([field, { source }]) =>
    (shareThatFits(field, textsOf(sample, source, field), countries) ?? 0) >= 0.8 ? [field] : [],
  );
}

/**
 * Whether a field whose column is gone needs a confirmation. A search field may not vanish unnoticed, nor come from an
 * old column that meant something else. A new column with a fitting header is the old one renamed.
 */
export const needsConfirmation = (
  field: InputField,
  now: string | undefined,
  { columns }: Pick<AgreedColumns, 'columns'>,
): boolean => SEARCH_FIELDS.has(field) && (now === undefined || columns.some((before) => fold(before) === fold(now)));
