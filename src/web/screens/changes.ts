import { type ChangeView, type RecentChangesView, recentChanges } from '../../app/portfolio/changes.js';
import { differingMembers, type FieldChange } from '../../domain/change.js';
import { INFORMATIVE_SPACES } from '../../domain/provider.js';
import { type Html, html, type Markup } from '../../util/html.js';
import { count, iso, moment } from '../../util/words.js';
import { addressWith, chip, dataTable, dim, heading } from '../layout.js';
import { csvOf, screen } from '../site.js';
import { companyAddress } from './companies.js';

export const changesScreen = screen<RecentChangesView>({
  path: '/changes',
  nothing: { changes: [], nextBefore: null, notCompared: 0 },
  load({ query }, { options, environment }) {
    const before = Number.parseInt(query.get('before') ?? '', 10);
    const asked = { portfolio: query.get('portfolio') || undefined, ...(before > 0 ? { before } : {}) };
    return recentChanges({ ...options, ...asked }, environment);
  },
  show({ changes, nextBefore, notCompared }, { path, query }) {
    const isShort = query.has('important');
    const lines = changeLines(changes, isShort);
    return {
      title: 'Changes',
      body: html`${heading(
        'Changes',
        html`New answers that differ from the ones before, newest first${notCompared > 0 && html` · ${count(notCompared, 'answer is', 'answers are')} not compared yet`}`,
        html`<a class="btn" href="${addressWith(path, query, { important: isShort ? null : '1' })}">${isShort ? 'Show all changes' : 'Show important ones only'}</a>`,
      )}
${dataTable(['When', 'Company', 'Field', 'Before → now', ''], lines, isShort ? 'No important change on this page.' : 'No change yet. The next answer about a company is compared with the one before.')}
${nextBefore !== null && html`<p><a class="btn" href="${addressWith(path, query, { before: String(nextBefore) })}">Older changes</a></p>`}`,
    };
  },
  nextPage: ({ nextBefore }) => (nextBefore === null ? null : { before: String(nextBefore) }),
  csv: csvOf(
    ({ changes }) =>
      changes.flatMap(({ items, ...change }) =>
        items.flatMap(({ fields }) => fields.map((field) => ({ ...change, ...field }))),
      ),
    {
      changed_at: (one) => iso(one.changedAt),
      portfolio: (one) => one.portfolio,
      row: (one) => one.row,
      input_id: (one) => one.inputId,
      name: (one) => one.name,
      table: (one) => one.table,
      column: (one) => one.column,
      kind: (one) => one.kind,
      old_value: (one) => one.oldValue,
      new_value: (one) => one.newValue,
      important: (one) => String(one.important),
      run: (one) => one.runId,
    },
  ),
});

/** Fields of an item are in its line. */
export const changedFields = (changes: readonly ChangeView[]) =>
  changes.flatMap((change) =>
    change.items.flatMap(({ fields }) => fields.filter(({ ofItem }) => !ofItem).map((field) => ({ change, field }))),
  );

/** A line for each field. The day and the company are in the first of their lines. */
const changeLines = (changes: readonly ChangeView[], isShort: boolean): readonly (readonly Markup[])[] =>
  changedFields(changes)
    .filter(({ field }) => field.important || !isShort)
    .map(({ change, field }, at, lines) => {
      const [day, company] = [moment(change.changedAt).slice(0, 10), companyLink(change)];
      const before = lines[at - 1]?.change;
      const isSameDay = before !== undefined && moment(before.changedAt).slice(0, 10) === day;
      const isSame = isSameDay && String(companyLink(before)) === String(company);
      return [
        !isSameDay && html`<time datetime="${iso(change.changedAt)}">${day}</time>`,
        !isSame && company,
        fieldInWords(field),
        changeInWords(field),
        field.important && chip('attention', 'important'),
      ];
    });

function companyLink({ ids, name, row }: ChangeView): Html {
  const space = INFORMATIVE_SPACES.find((known) => ids[known] !== undefined);
  const id = space && ids[space];
  const words = name ?? (row === null ? 'no name' : `row ${row}`);
  return space === undefined || id === undefined
    ? html`${words}`
    : html`<a href="${companyAddress({ space, id })}">${words}</a>`;
}

/** "status", or "officers: Ines Rodríguez". */
export function fieldInWords({ table, column, key }: FieldChange): Markup {
  const named = Object.entries(key).flatMap(([name, value]) =>
    value === null || name === 'copy' || name === 'operation' || name.endsWith('_id') ? [] : [String(value)],
  );
  const words = table === 'companies' ? [column] : [table.replaceAll('_', ' '), ...named, column];
  return html`${words.filter((word) => word !== null).map((word, at) => html`${at > 0 && ' · '}${String(word).replaceAll('_', ' ')}`)}`;
}

/** An empty cell was not returned, which does not mean that it is empty. */
export function changeInWords({ kind, column, oldValue, newValue }: FieldChange): Markup {
  if (column === null) return kind === 'added' ? html`<b>+ new</b>` : html`<b>− no longer returned</b>`;
  const value = (text: string | null, isNew: boolean) =>
    text === null ? dim('not returned') : isNew ? html`<b>${text}</b>` : dim(text);
  const members = differingMembers(oldValue, newValue);
  const shown = members?.length ? members : [{ path: '', old: oldValue, new: newValue }];
  return shown.map(
    ({ path, old, new: now }, at) =>
      html`${at > 0 && html`<br>`}${path !== '' && `${path.replaceAll('_', ' ')}: `}${value(old, false)} → ${value(now, true)}`,
  );
}
