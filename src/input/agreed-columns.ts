import { isFilled } from './column-content.js';
import type { ColumnNames } from './column-names.js';
import type { SampledColumns } from './decide-columns.js';
import { indicesIn } from './field-text.js';
import { columnsThatFit, contentProblem, countriesOf, shareThatFits, textsOf } from './fitting-columns.js';
import { fold, SEARCH_FIELDS } from './header-meaning.js';
import type { AgreedColumns, ColumnSource, InputField } from './types.js';

/** What of an agreement holds for this file. */
export interface StandingAgreement {
  readonly kept: ReadonlyMap<InputField, ColumnSource | null>;
  /** Fields whose columns are not there any more, and what those were called. */
  readonly gone: ReadonlyMap<InputField, string>;
  /** Fields whose columns are there, and hold something else now. */
  readonly changed: ReadonlyMap<InputField, ChangedColumn>;
}

interface ChangedColumn {
  readonly source: ColumnSource;
  readonly why: string;
}

interface NewFile {
  readonly headers: readonly string[];
  readonly names: ColumnNames;
  readonly sample: SampledColumns;
  readonly country: string | null;
  /** What somebody has said about this file. */
  readonly given: ReadonlyMap<InputField, ColumnSource | null>;
}

/** `isRead`: the fields that this pipeline reads, and nobody has said anything about. */
export function applyAgreement(
  agreed: AgreedColumns | undefined,
  { headers, names, sample, country, given }: NewFile,
  isRead: (field: InputField) => boolean,
): StandingAgreement {
  const kept = new Map<InputField, ColumnSource | null>();
  const gone = new Map<InputField, string>();
  const changed = new Map<InputField, ChangedColumn>();
  // With a column more or less, a place is another column's.
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
    // Where no other column could have it, the rows have lost their numbers, which is another matter.
    const isEmptied = didFit && texts.length >= FEW_ROWS && !texts.some(isFilled) && isElsewhere(field);
    const odd = isOdd ? 'holds nothing of the form that it held before' : undefined;
    const why = isEmptied ? 'is empty now' : (contentProblem(field, texts) ?? odd);
    if (why === undefined) continue;
    kept.delete(field);
    changed.set(field, { source, why });
  }
  return { kept, gone, changed };
}

/** In fewer, a column may be empty by chance. */
const FEW_ROWS = 3;

/** The fields whose numbers have the form that the countries of their rows give them: for the next file to be held against. */
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
 * Whether a field whose column is gone needs a word. What rows ask by may neither vanish unnoticed nor come from a column
 * that was there all along and meant something else; a new column that is called so is the old one with another name.
 */
export const needsConfirmation = (
  field: InputField,
  now: string | undefined,
  { columns }: Pick<AgreedColumns, 'columns'>,
): boolean => SEARCH_FIELDS.has(field) && (now === undefined || columns.some((before) => fold(before) === fold(now)));
