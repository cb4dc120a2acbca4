/** What an answer says otherwise than the one before it. */

/** `respelled`: the same number, written in another way (`1.10`, `1.1`). */
export type ChangeKind = 'added' | 'removed' | 'changed' | 'respelled';

/** What an item is known again by: columns and their cells; `copy` from 2 on where several say the same. */
export type ChangeKey = Readonly<Record<string, string | number | null>>;

/** One line of a table that came, went, or says something else. This is also how changes are kept. */
export interface ItemChange {
  readonly table: string;
  readonly key: ChangeKey;
  readonly kind: 'added' | 'removed' | 'changed';
  /** Null: the cell was, or is, empty. */
  readonly fields: readonly FieldDifference[];
  /** The raw answer that the old values stand in, where it is another than the one before: an earlier one, another page. */
  readonly oldRawSha256?: string;
  /** The same for the new values. */
  readonly newRawSha256?: string;
}

export interface FieldDifference {
  readonly column: string;
  readonly old: string | null;
  readonly new: string | null;
  readonly respelled?: true;
}

/** One field, as tables show it. Without a column it is the item as a whole that came or went. */
export interface FieldChange {
  readonly table: string;
  readonly key: ChangeKey;
  readonly column: string | null;
  readonly kind: ChangeKind;
  readonly oldValue: string | null;
  readonly newValue: string | null;
  /** It belongs to an item that came or went, which is told by itself. */
  readonly ofItem: boolean;
}

/** The item where it came or went, then its fields. */
export function fieldsOf({ table, key, kind, fields }: ItemChange): readonly FieldChange[] {
  const ofItem = kind !== 'changed';
  const single = fields.map(
    (field): FieldChange => ({
      table,
      key,
      column: field.column,
      kind: kindOf(field),
      oldValue: field.old,
      newValue: field.new,
      ofItem,
    }),
  );
  return ofItem
    ? [{ table, key, column: null, kind, oldValue: null, newValue: null, ofItem: false }, ...single]
    : single;
}

function kindOf(field: FieldDifference): ChangeKind {
  if (field.respelled === true) return 'respelled';
  if (field.old === null) return 'added';
  return field.new === null ? 'removed' : 'changed';
}

/**
 * What matters, by name: `officers` is an officer who came or went, `companies.status` a status that is another one. What
 * an item that came or went said is not named once more, and another spelling never matters.
 */
export function isImportant(change: FieldChange, names: ReadonlySet<string>): boolean {
  if (change.kind === 'respelled' || change.ofItem) return false;
  return names.has(change.column === null ? change.table : `${change.table}.${change.column}`);
}

/** Where the pipeline says nothing. */
export const IMPORTANT_CHANGES: readonly string[] = [
  'companies.status',
  'companies.name',
  'companies.registration_number',
  'companies.country_code',
  'companies.legal_form',
  'officers',
  'officers.first_name',
  'officers.last_name',
  'shareholders',
  'shareholders.name',
  'filed_financials.period',
  'flat_financials.year',
  'credit_reports.common_value',
  'credit_reports.credit_limit_value',
];
