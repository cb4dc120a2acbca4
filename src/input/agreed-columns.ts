import type { ColumnNames } from './column-words.js';
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

/** What a row asks by, and is known again by: none of these may come from another column unnoticed. */
export const WATCHED: ReadonlySet<InputField> = new Set([
  'name',
  'country',
  'registration_number',
  'vat_number',
  'state',
  'id',
]);
