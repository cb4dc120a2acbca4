import type { ColumnNames } from './column-words.js';
import { fold } from './fold.js';
import { ASKED_BY } from './header-claims.js';
import type { AgreedColumns, ColumnSource, InputField } from './types.js';

/** What of an agreement holds for this file. */
export interface StandingAgreement {
  readonly kept: ReadonlyMap<InputField, ColumnSource | null>;
  /** Fields whose columns are not there any more, and what those were called. */
  readonly gone: ReadonlyMap<InputField, string>;
}

/** `isRead`: the fields that this pipeline reads, and nobody has said anything about. */
export function holdAgainst(
  agreed: AgreedColumns | undefined,
  names: ColumnNames,
  isRead: (field: InputField) => boolean,
): StandingAgreement {
  const kept = new Map<InputField, ColumnSource | null>();
  const gone = new Map<InputField, string>();
  for (const [field, pieces] of Object.entries(agreed?.fields ?? {}) as [InputField, readonly string[]][]) {
    if (!isRead(field)) continue;
    const words = pieces.join(' + ');
    const source = pieces.length === 0 ? null : names.findSource(words);
    if (source === undefined) gone.set(field, words);
    else kept.set(field, source);
  }
  return { kept, gone };
}

/**
 * Whether a field whose column is gone needs a word. What rows ask by may neither vanish unnoticed nor come from a column
 * that was there all along and meant something else; a new column that is called so is the old one with another name.
 */
export const needsAWord = (
  field: InputField,
  now: string | undefined,
  { columns }: Pick<AgreedColumns, 'columns'>,
): boolean => ASKED_BY.has(field) && (now === undefined || columns.some((before) => fold(before) === fold(now)));
