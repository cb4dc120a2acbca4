// Differences between an answer and the previous one.

import { type ExactJson, isObject, parseExact, stringifyExact } from '../util/exact-json.js';

/** `respelled`: the same number in another spelling (`1.10`, `1.1`). */
export type ChangeKind = 'added' | 'removed' | 'changed' | 'respelled';

/** The columns and cells that identify an item. `copy` counts from 2 if several are equal. */
export type ChangeKey = Readonly<Record<string, string | number | null>>;

/** One line of a table that was added, removed or changed. Changes are stored in this form. */
export interface ItemChange {
  readonly table: string;
  readonly key: ChangeKey;
  readonly kind: 'added' | 'removed' | 'changed';
  readonly fields: readonly FieldDifference[];
  /** The raw answer with the old values, if it is not the previous one: an earlier one, or another page. */
  readonly oldRawSha256?: string;
  readonly newRawSha256?: string;
}

export interface FieldDifference {
  readonly column: string;
  readonly old: string | null;
  readonly new: string | null;
  readonly respelled?: true;
}

/** One field, as tables show it. Without a column, the whole item was added or removed. */
export interface FieldChange {
  readonly table: string;
  readonly key: ChangeKey;
  readonly column: string | null;
  readonly kind: ChangeKind;
  readonly oldValue: string | null;
  readonly newValue: string | null;
  /** It belongs to an item that was added or removed, which is reported itself. */
  readonly ofItem: boolean;
}

/** The item if it was added or removed, then its fields. */
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
 * Important changes by name: `officers` is an added or removed officer, `companies.status` a changed status. Fields of
 * an added or removed item do not count, and another spelling never does.
 */
export function isImportant(change: FieldChange, names: ReadonlySet<string>): boolean {
  if (change.kind === 'respelled' || change.ofItem) return false;
  return names.has(change.column === null ? change.table : `${change.table}.${change.column}`);
}

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

/** A member of a JSON object, such as `address.city`, and its text. Null: it is missing. */
export interface MemberDifference {
  readonly path: string;
  readonly old: string | null;
  readonly new: string | null;
}

/** The members in which two cells with JSON objects differ. Undefined: one of them is no object. */
export function differingMembers(old: string | null, now: string | null): readonly MemberDifference[] | undefined {
  const [before, after] = [objectIn(old), objectIn(now)];
  return before === undefined || after === undefined ? undefined : [...differences(before, after, '')];
}

function objectIn(cell: string | null) {
  if (!cell?.startsWith('{')) return undefined;
  try {
    const value = parseExact(cell);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function* differences(
  old: ExactJson | undefined,
  now: ExactJson | undefined,
  path: string,
): Generator<MemberDifference> {
  if (isObject(old) && isObject(now)) {
    const names = new Set([...Object.keys(old), ...Object.keys(now)]);
    for (const name of names) yield* differences(old[name], now[name], path === '' ? name : `${path}.${name}`);
    return;
  }
  const [before, after] = [textOf(old), textOf(now)];
  if (before !== after) yield { path, old: before, new: after };
}

const textOf = (value: ExactJson | undefined): string | null =>
  value === undefined || value === null ? null : typeof value === 'string' ? value : stringifyExact(value);
