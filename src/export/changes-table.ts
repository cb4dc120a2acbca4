import { fieldsOf, IMPORTANT_CHANGES, type ItemChange, isImportant } from '../domain/change.js';
import type { MemberChange } from '../ledger/changes.js';
import type { RunRecord } from '../ledger/runs.js';
import { isRecord, isTexts, parseStored } from '../ledger/stored-json.js';
import { column, type RowOf, table, timestamp } from '../readers/table.js';
import { emptyExtra } from '../readers/tables/columns.js';

export const changesTable = table({
  name: 'changes',
  onePer: 'field that differs from the answer before',
  description:
    'What a new answer says otherwise than the one that it took the place of, for each member whose company it is, from when that was known, and while it is in the list. An item of a list that came or went has a line of its own, without `column`, and one for each of its fields.',
  source: 'ledger',
  key: ['changed_at', 'portfolio', 'row', 'input_id', 'new_raw_sha256', 'table', 'key', 'column'],
  keyAlwaysThere: false,
  columns: [
    column('changed_at', 'timestamp', 'When the new answer came'),
    column('portfolio', 'text', 'The portfolio'),
    column('row', 'integer', 'Number of the data line in the newest file; empty: it is not in the list any more'),
    column('input_id', 'text', 'Your own key for it'),
    column('v1_company_id', 'id', 'The company, in v1’s ID space, as it is known now'),
    column('v2_company_id', 'id', 'The company, in v2’s ID space, as it is known now'),
    column('table', 'text', 'The table in which it shows'),
    column(
      'key',
      'json',
      'What the line is known again by: columns and their cells; `copy` counts from 2 where several are alike. Of lists also the `operation` that the line is from, or was, where it is gone',
    ),
    column(
      'column',
      'text',
      'The column; `extra.<field>` for a field that has none; empty: the item as a whole came or went',
    ),
    column(
      'kind',
      'text',
      'added, removed, changed; respelled: the same number, written in another way (`1.10`, `1.1`)',
    ),
    column('old_value', 'text', 'As the answer before had it; empty: not returned'),
    column('new_value', 'text', 'As the new answer has it; empty: not returned'),
    column('old_raw_sha256', 'text', 'SHA-256 of the raw body that the old value stands in'),
    column('new_raw_sha256', 'text', 'SHA-256 of the raw body that the new value stands in'),
    column('run', 'text', 'The run that bought the new answer; empty: bought by hand'),
    column('important', 'boolean', 'Whether it is among the `changes.important` of the pipeline'),
    emptyExtra,
  ],
});

export function changeRows(
  change: MemberChange,
  important: ReadonlySet<string>,
): readonly RowOf<typeof changesTable>[] {
  const shared = {
    changed_at: timestamp(change.changedAt),
    portfolio: change.portfolio,
    row: change.row === null ? null : String(change.row),
    input_id: change.inputId,
    v1_company_id: change.ids.v1 ?? null,
    v2_company_id: change.ids.v2 ?? null,
    run: change.runId,
    extra: null,
  };
  return change.items.flatMap((item: ItemChange) =>
    fieldsOf(item).map((field) => ({
      ...shared,
      table: field.table,
      key: JSON.stringify(field.key),
      column: field.column,
      kind: field.kind,
      old_value: field.oldValue,
      new_value: field.newValue,
      old_raw_sha256: item.oldRawSha256 ?? change.oldRawSha256,
      new_raw_sha256: item.newRawSha256 ?? change.newRawSha256,
      important: String(isImportant(field, important)),
    })),
  );
}

/** What matters to whoever started the run; runs of versions before there was such a key have the default. */
export function importantNames({ settings }: Pick<RunRecord, 'settings'>): ReadonlySet<string> {
  const said = parseStored(settings, isRecord)?.pipeline;
  const names = isRecord(said) ? said.importantChanges : undefined;
  return new Set(isTexts(names) ? names : IMPORTANT_CHANGES);
}
