import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fieldsOf } from '../../src/domain/change.js';
import { companiesTable } from '../../src/readers/parts/company-row.js';
import { filedFinancialsTable } from '../../src/readers/parts/filed-financials.js';
import { groupLinksTable } from '../../src/readers/parts/group-links.js';
import { officersTable, shareholdersTable } from '../../src/readers/parts/officers-shareholders.js';
import type { RawAnswer } from '../../src/readers/reader.js';
import { recordReader } from '../../src/readers/record.js';
import type { Table } from '../../src/readers/table.js';
import { applyChanges, changesBetween, contentOf, stateFrom } from '../portfolio/apply-changes.js';
import { answer, read } from './support.js';

const DAY = 86_400_000;
type Ids = readonly (number | null)[];
const officers = (ids: Ids) => ids.map((id) => ({ id, last_name: `Officer ${id}` }));
const holders = (ids: Ids) => ids.map((id) => ({ id, name: `Holder ${id}` }));
const links = (ids: Ids) => ids.map((id) => ({ source: 'GB-0', target: `GB-${id}` }));
const tree = (ids: Ids) =>
  ids.length === 0
    ? []
    : [{ id: 0, registration_number: 'GB-0', children: ids.map((id) => ({ id, registration_number: `GB-${id}` })) }];
const statements = (ids: Ids) => ({
  years: ids.map((id) => `202${id}`),
  groups: [
    {
      id: 'g',
      name: 'Group',
      list: [{ name: 'Turnover', list: Object.fromEntries(ids.map((id) => [`202${id}`, 1])) }],
    },
  ],
});

const at = (operation: string, fetchedAt: number, body: unknown, more: Partial<RawAnswer> = {}) =>
  answer(operation, JSON.stringify(body), { fetchedAt, rawSha256: `${operation} ${fetchedAt}`, ...more });
const full = (fetchedAt: number, ...ids: Ids) =>
  at('fullKyb', fetchedAt, { lite: { id: 77, name: 'Acme' }, officers: officers(ids) });
const page = (fetchedAt: number, number: number, pages: number, ...ids: Ids) =>
  at(
    'officersKyb',
    fetchedAt,
    { data: officers(ids), total_pages: pages, total_results: 3 },
    { params: { page: number, per_page: 2 }, rawSha256: `page ${number} ${fetchedAt}` },
  );

/** The exported rows, and the counts in the company's row. */
const shown = (answers: readonly RawAnswer[]) => {
  const out = read(recordReader, answers);
  const [company] = out.rowsOf(companiesTable);
  const lines = out.shownOf(officersTable).map(({ operation, id }) => `${operation} ${id}`);
  return { lines, returned: company?.officers_returned, total: company?.officers_total };
};

describe('V1-26 a list of the full record, also read separately', () => {
  const pages = [page(2 * DAY, 1, 2, 1, 2), page(2 * DAY, 2, 2, 3)];
  const theList = { lines: ['officersKyb 1', 'officersKyb 2', 'officersKyb 3'], returned: '3', total: '3' };
  const theRecord = (...ids: Ids) => ({
    lines: ids.map((id) => `fullKyb ${id}`),
    returned: String(ids.length),
    total: null,
  });

  test.each([
    ['an older record', full(DAY, 1, 2), theList],
    ['an older record with one more: the list is complete', full(DAY, 1, 9), theList],
    ['a simultaneous record', full(2 * DAY, 2, 1), theList],
    ['a newer record that is a part of it', full(3 * DAY, 1, 2), theList],
    ['a newer record that came empty', full(3 * DAY), theList],
    ['a newer record with these people', full(3 * DAY, 3, 1, 2), theRecord(3, 1, 2)],
    ['a newer record with another person', full(3 * DAY, 1, 9), theRecord(1, 9)],
    ['a newer record with a person twice', full(3 * DAY, 1, 1), theRecord(1, 1)],
    ['a newer record with a person without an ID', full(3 * DAY, 1, null), theRecord(1, null)],
    ['a newer record without the list', at('fullKyb', 3 * DAY, { lite: { id: 77 }, officers: null }), theList],
  ])('a complete list, and %s', (_, record, expected) => {
    expect(shown([record, ...pages])).toEqual(expected);
    expect(shown([...pages, record])).toEqual(expected);
  });

  test('a list with a missing page, and an older record with all its entries', () => {
    expect(shown([full(DAY, 1, 2, 3), ...pages.slice(0, 1)])).toEqual(theRecord(1, 2, 3));
    expect(shown([full(DAY, 1, 9, 8), ...pages.slice(0, 1)])).toMatchObject({ returned: '2', total: '3' });
  });

  test('a list shorter than its count may be incomplete', () => {
    const short = page(2 * DAY, 1, 1, 1, 2);
    expect(shown([full(DAY, 1, 2, 3), short])).toEqual(theRecord(1, 2, 3));
    expect(changesBetween(recordReader, [full(DAY, 1, 2, 3)], [full(DAY, 1, 9, 8), short])).not.toContainEqual(
      expect.objectContaining({ kind: 'removed' }),
    );
  });
});

/** One purchase of a list, with the record or separately: its items, or null. */
interface Bought {
  readonly by: 'record' | 'itself';
  readonly ids: readonly number[] | null;
}

interface Kind {
  readonly table: Table;
  readonly count: 'officers_returned' | 'shareholders_returned' | 'group_links_returned' | 'filed_periods_returned';
  readonly record: (ids: Ids | null) => object;
  readonly itself: (ids: Ids | null, fetchedAt: number) => RawAnswer;
}

const listed = (operation: string, items: (ids: Ids) => unknown) => (ids: Ids | null, fetchedAt: number) =>
  at(operation, fetchedAt, { data: ids && items(ids), total_pages: 1, total_results: ids?.length ?? 0 });

const KINDS: readonly Kind[] = [
  {
    table: officersTable,
    count: 'officers_returned',
    record: (ids) => ({ officers: ids && officers(ids) }),
    itself: listed('officersKyb', officers),
  },
  {
    table: shareholdersTable,
    count: 'shareholders_returned',
    record: (ids) => ({ shareholders: ids && holders(ids) }),
    itself: listed('shareholdersKyb', holders),
  },
  {
    table: groupLinksTable,
    count: 'group_links_returned',
    record: (ids) => ({ group_structures_full: ids && links(ids) }),
    itself: listed('groupFullKyb', tree),
  },
  {
    table: filedFinancialsTable,
    count: 'filed_periods_returned',
    record: (ids) => ({ financial: ids && statements(ids) }),
    itself: (ids, fetchedAt) => at('financialKyb', fetchedAt, ids === null ? {} : statements(ids)),
  },
];

const some = fc.option(fc.uniqueArray(fc.integer({ min: 1, max: 6 }), { maxLength: 6 }));
const history = fc.array(fc.record({ by: fc.constantFrom<Bought['by']>('record', 'itself'), ids: some }), {
  minLength: 1,
  maxLength: 6,
});

const toAnswer = ({ record, itself }: Kind, { by, ids }: Bought, day: number): RawAnswer =>
  by === 'record' ? at('fullKyb', day * DAY, { lite: { id: 77 }, ...record(ids) }) : itself(ids, day * DAY);

/** The newest answer to each request, as the ledger gives them. */
const newest = (answers: readonly RawAnswer[]) => [...new Map(answers.map((one) => [one.operation, one])).values()];

describe.each(KINDS.map((kind) => [kind.table.name, kind] as const))('of %s', { tags: 'long' }, (_, kind) => {
  test('one version is shown and counted, for any purchases in any order', () => {
    fc.assert(
      fc.property(history, fc.boolean(), (bought, turned) => {
        const owned = newest(bought.map((one, day) => toAnswer(kind, one, day)));
        const out = read(recordReader, turned ? [...owned].reverse() : owned);
        const lines = out.shownOf(kind.table);
        const came = (by: Bought['by']) => bought.findLast((one) => one.by === by)?.ids ?? null;
        const [record, itself] = [came('record'), came('itself')];
        const isNewer =
          bought.findLastIndex(({ by }) => by === 'record') > bought.findLastIndex(({ by }) => by === 'itself');
        const hasMore = (itself?.length ?? 0) > (record?.length ?? 0) && record?.every((id) => itself?.includes(id));
        const expected = record === null || (itself !== null && !(isNewer && hasMore !== true)) ? itself : record;
        expect(lines).toHaveLength(expected?.length ?? 0);
        expect(new Set(lines.map(({ operation }) => operation)).size).toBeLessThanOrEqual(1);
        if (record !== itself && expected !== null && expected.length > 0)
          expect(lines[0]?.operation === 'fullKyb').toBe(expected === record);
        expect(out.rowsOf(companiesTable)[0]?.[kind.count]).toBe(expected === null ? null : String(expected.length));
      }),
      { numRuns: 100 },
    );
  });

  test('the changes of successive answers lead from the first shown list to the last', () => {
    fc.assert(
      fc.property(history, (bought) => {
        const answers = bought.map((one, day) => toAnswer(kind, one, day));
        const last = answers.at(-1);
        const before = newest(answers.slice(0, -1));
        // Only an answer that replaces another is compared.
        if (!before.some(({ operation }) => operation === last?.operation)) return;
        const now = newest(answers);
        const changes = changesBetween(recordReader, before, now).filter(({ table }) => table === kind.table.name);
        const names = (of: ReturnType<typeof contentOf>) => (of[`${kind.table.name} `] ?? []).map(keyOf).sort();
        const applied = applyChanges(recordReader, stateFrom(recordReader, before), changes);
        expect(names(applied)).toEqual(names(contentOf(recordReader, before, now)));
      }),
      { numRuns: 100 },
    );
  });
});

/** The identity of an entry, without fields that another operation does not return. */
const keyOf = (content: string): string => JSON.stringify((JSON.parse(content) as [object])[0]);

test('no entry comes, goes or changes when one operation replaces the other, and a departure is reported once', () => {
  const told = (old: readonly RawAnswer[], now: readonly RawAnswer[]) =>
    changesBetween(recordReader, old, now)
      .flatMap(fieldsOf)
      .filter(({ ofItem }) => !ofItem)
      .map(({ table, key, kind, column }) => `${table} ${key.operation ?? ''} ${kind} ${column ?? key.id}`);
  const list = (day: number, ...ids: Ids) => listed('officersKyb', officers)(ids, day * DAY);
  const first = [full(0, 1, 2, 3), list(1, 1, 2, 3)];
  expect(told(first, [full(30 * DAY, 1, 2, 3), list(1, 1, 2, 3)])).toEqual([]);
  // The record has one person less and one more, so it is shown from now on.
  const second = [full(30 * DAY, 1, 2, 4), list(1, 1, 2, 3)];
  expect(told(first, second)).toEqual(['officers fullKyb added 4', 'officers officersKyb removed 3']);
  // The list is unchanged: it is shown again, and nothing is reported again.
  expect(told(second, [full(30 * DAY, 1, 2, 4), list(31, 1, 2, 4)])).toEqual([]);
});
