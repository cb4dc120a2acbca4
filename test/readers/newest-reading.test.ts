import fc from 'fast-check';
import { expect, test } from 'vitest';
import { companiesTable } from '../../src/readers/parts/company-row.js';
import { newestReading } from '../../src/readers/parts/newest-reading.js';
import { officersTable } from '../../src/readers/parts/officers-shareholders.js';
import { recordReader, registryReader } from '../../src/readers/record.js';
import type { ListPage } from '../../src/util/list-page.js';
import { answer, read } from './support.js';

/** A list with this many items, read in pages of one size from a moment on. `bought`: the received pages. */
function reading(items: number, perPage: number, from: number, bought = Number.POSITIVE_INFINITY): ListPage[] {
  const pages = Math.max(1, Math.ceil(items / perPage));
  return Array.from({ length: Math.min(pages, bought) }, (_, index) => ({
    page: index + 1,
    perPage,
    fetchedAt: from + index,
    items: Math.min(perPage, items - index * perPage),
    pages,
    total: items,
    rawSha256: `${from}/${index + 1}`,
  }));
}

/** The state of the ledger after readings of equal size: the newest answer to each page. */
const owned = (readings: readonly ListPage[][]): ListPage[] => [
  ...new Map(readings.flat().map((page) => [`${page.perPage}/${page.page}`, page])).values(),
];

const shownOf = (pages: readonly ListPage[]) => newestReading(pages).map(({ at }) => at.rawSha256);

test('V1-7 the newest complete reading counts, even beside parts of older and longer ones', () => {
  const lengths = fc.array(fc.nat({ max: 260 }), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(lengths, fc.integer({ min: 1, max: 50 }), fc.nat(), (items, perPage, shuffle) => {
      const readings = items.map((count, year) => reading(count, perPage, year * 1000));
      const pages = owned(readings);
      const from = shuffle % pages.length;
      const placed = newestReading([...pages.slice(from), ...pages.slice(0, from)]);
      expect(placed.map(({ at }) => at)).toEqual(readings.at(-1));
      const positions = placed.flatMap(({ at, offset }) => Array.from({ length: at.items ?? 0 }, (_, i) => offset + i));
      expect(positions).toEqual(Array.from({ length: items.at(-1) ?? 0 }, (_, index) => index));
    }),
    { numRuns: 200 },
  );
});

test('of all answers the newest complete reading counts, or else the one with the most items', () => {
  const one = fc.record({ items: fc.nat({ max: 260 }), bought: fc.integer({ min: 1, max: 6 }) });
  const sizes = fc.integer({ min: 20, max: 50 });
  fc.assert(
    fc.property(fc.array(one, { minLength: 1, maxLength: 6 }), sizes, fc.nat(), (years, perPage, shuffle) => {
      const readings = years.map(({ items, bought }, year) => reading(items, perPage, year * 1000, bought));
      const all = readings.flat();
      const from = shuffle % all.length;
      const shown = newestReading([...all.slice(from), ...all.slice(0, from)]).map(({ at }) => at);
      const came = (pages: readonly ListPage[]) => pages.reduce((sum, { items }) => sum + (items ?? 0), 0);
      const most = Math.max(...readings.map(came));
      const whole = readings.findLast((pages) => pages.length === pages[0]?.pages);
      expect(shown).toEqual(whole ?? readings.findLast((pages) => came(pages) === most));
    }),
    { numRuns: 200 },
  );
});

test('V1-7 a list that grew while it was read is shown with everything bought', () => {
  const [first, ...others] = reading(230, 50, 0);
  if (first === undefined) throw new Error('a page');
  const pages = [{ ...first, pages: 3, total: 130 }, ...others];
  expect(shownOf([...pages])).toEqual(['0/1', '0/2', '0/3', '0/4', '0/5']);
  expect(shownOf([...reading(240, 50, -1000), ...pages])).toHaveLength(5);
  expect(shownOf([...reading(240, 50, -1000), ...pages.slice(0, 4)])[0]).toBe('-1000/1');
});

test('V1-22 a reading whose last page has no list removes no entry', () => {
  const whole = reading(120, 50, 0);
  const again = reading(120, 50, 1000).map((page) => (page.page === 3 ? { ...page, items: null } : page));
  expect(shownOf([...whole, ...again])).toEqual(['0/1', '0/2', '0/3']);
});

test('V1-7 a directly repeated page is not mixed into the reading, but replaces one without its list', () => {
  const [first, second] = reading(60, 50, 0);
  if (first === undefined || second === undefined) throw new Error('two pages');
  expect(shownOf([first, second, { ...second, fetchedAt: 5, rawSha256: 'again' }])).toEqual(['0/1', '0/2']);
  const lost = { ...second, items: null };
  expect(shownOf([first, lost, { ...second, fetchedAt: 5, rawSha256: 'again' }])).toEqual(['0/1', 'again']);
});

test('a directly bought part with another page size does not replace a complete list', () => {
  fc.assert(
    fc.property(fc.integer({ min: 11, max: 200 }), fc.boolean(), (items, later) => {
      const whole = reading(items, 50, 1000);
      const byHand = reading(items, 10, later ? 2000 : 0, 1);
      expect(newestReading([...byHand, ...whole]).map(({ at }) => at)).toEqual(whole);
    }),
  );
});

test('two readings are not mixed while the new one is incomplete', () => {
  const old = reading(120, 50, 0);
  expect(shownOf(owned([old, reading(130, 50, 1000, 2)]))).toEqual(['1000/1', '1000/2']);
  expect(shownOf(owned([old, reading(130, 50, 1000, 1)]))).toEqual(['1000/1']);
});

test('without a complete reading the one with the most items counts, and a lost page keeps its positions', () => {
  const [first, , third] = reading(120, 50, 0);
  if (first === undefined || third === undefined) throw new Error('three pages');
  const placed = newestReading([...reading(120, 10, 5, 2), first, third]);
  expect(placed.map(({ at, offset }) => [at.rawSha256, offset])).toEqual([
    ['0/1', 0],
    ['0/3', 100],
  ]);
  // A single second page keeps its position.
  expect(newestReading([{ ...first, page: 2, perPage: 10, items: 10 }])[0]?.offset).toBe(10);
});

test('a repeated page is no separate page', () => {
  const [page] = reading(50, 50, 0);
  if (page === undefined) throw new Error('one page');
  const unbounded = { ...page, pages: null };
  expect(newestReading([unbounded, { ...unbounded, page: 2, fetchedAt: 1 }])).toHaveLength(1);
});

test('V1-26 rows, counts and the total come from the newest reading', () => {
  const page = (ids: readonly number[], params: object, fetchedAt: number, total: number) =>
    answer(
      'officersKyb',
      JSON.stringify({ data: ids.map((id) => ({ id })), total_pages: Math.ceil(total / 2), total_results: total }),
      { params: { per_page: 2, ...params }, fetchedAt, rawSha256: `${fetchedAt}` },
    );
  const out = read(recordReader, [
    page([8, 9], { page: 3 }, 13, 6),
    page([1, 2], { page: 1 }, 21, 3),
    page([3], { page: 2 }, 22, 3),
    page([1], { page: 1, per_page: 1 }, 30, 3),
  ]);
  expect(out.rowsOf(officersTable).map(({ position, id }) => [position, id])).toEqual([
    ['1', '1'],
    ['2', '2'],
    ['3', '3'],
  ]);
  expect(out.rowsOf(companiesTable)).toMatchObject([{ officers_returned: '3', officers_total: '3', extra: null }]);
});

test('a complete list shown beside a newer part keeps its own date', () => {
  const page = (params: Readonly<Record<string, unknown>>, fetchedAt: number, items: number) =>
    answer('kybOfficers', JSON.stringify({ data: officersUpTo(items), total_pages: 22 / items, total_results: 22 }), {
      params,
      fetchedAt,
      rawSha256: `${fetchedAt}`,
    });
  const whole = page({}, 0, 22);
  const part = page({ per_page: 11 }, 100 * 86_400_000, 11);
  for (const answers of [
    [whole, part],
    [part, whole],
  ]) {
    const out = read(registryReader, answers);
    expect(out.shownOf(officersTable)).toHaveLength(22);
    expect(out.rowsOf(companiesTable)).toMatchObject([
      { officers_returned: '22', officers_total: '22', fetched_at: '1970-01-01T00:00:00.000Z', raw_sha256: '0' },
    ]);
  }
});

const officersUpTo = (count: number) => Array.from({ length: count }, (_, id) => ({ id }));
