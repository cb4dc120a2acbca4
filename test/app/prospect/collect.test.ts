import { expect, test } from 'vitest';
import type { DirectCalls } from '../../../src/app/provider/direct-calls.js';
import { collectProspects } from '../../../src/app/provider/prospect.js';
import { ExactNumber } from '../../../src/util/exact-json.js';

interface PageBody {
  readonly ids: readonly (string | number)[];
  readonly total_pages?: number | null;
  readonly total_companies?: number;
}

/** A provider with these pages that repeats the last one for every further page. */
async function collect(pages: readonly PageBody[], atMost = 10) {
  const asked: unknown[] = [];
  const ask: DirectCalls['ask'] = async (_, params) => {
    asked.push(params.page);
    const { ids, ...totals } = pages[Math.min(Number(params.page), pages.length) - 1] ?? { ids: [] };
    const body = Buffer.from(JSON.stringify({ ...totals, data: ids.map((id) => ({ id, name: `N${id}`, odd: 1 })) }));
    return { kind: 'answer', body, owned: false, fetchedAt: 1, use: null };
  };
  const found = await collectProspects({}, atMost, { ask, answers: { owned: 0, sent: 0 } }, {});
  return { ...found, asked, ids: found.prospects.map(({ id }) => id) };
}

test('prospecting ends with the page count of the provider', async () => {
  const found = await collect([
    { ids: [1, 2], total_pages: 2, total_companies: 3 },
    { ids: ['3'], total_pages: 2, total_companies: 3 },
  ]);
  expect(found).toMatchObject({ ids: ['1', '2', '3'], asked: [1, 2], isPart: false, totalCompanies: 3, notes: [] });
  expect(found.prospects[2]).toMatchObject({ page: 2, rest: [['odd', new ExactNumber('1')]] });
});

test('prospecting ends at an empty page, regardless of the counts, and reports a partial list', async () => {
  const counted = { total_pages: 7, total_companies: 70 };
  const found = await collect([
    { ids: [1], ...counted },
    { ids: [], ...counted },
  ]);
  expect(found).toMatchObject({ asked: [1, 2], isPart: true, totalPages: 7 });
});

test('V2-20 prospecting ends at the maximum and reports a partial list', async () => {
  const many = Array.from({ length: 12 }, (_, index) => ({ ids: [index], total_pages: 12, total_companies: 12 }));
  expect(await collect(many)).toMatchObject({ pages: 10, isPart: true });
  expect(await collect(many.slice(0, 2), 1)).toMatchObject({ pages: 1, isPart: true });
});

test('without a count the list is partial unless its end was seen', async () => {
  expect(await collect([{ ids: [1] }, { ids: [2] }, { ids: [] }])).toMatchObject({ isPart: false, ids: ['1', '2'] });
  expect(await collect([{ ids: [1] }, { ids: [2] }], 2)).toMatchObject({ isPart: true });
  // One page, repeated forever.
  expect(await collect([{ ids: [1] }])).toMatchObject({ asked: [1, 2], ids: ['1'] });
});

test('a repeated company keeps its first place, and a changed total is noted', async () => {
  const found = await collect([
    { ids: [1, 2], total_pages: 2, total_companies: 4 },
    { ids: [2, 3], total_pages: 2, total_companies: 5 },
  ]);
  expect(found).toMatchObject({ ids: ['1', '2', '3'], repeated: 1, totalCompanies: 5 });
  expect(found.prospects.map(({ page }) => page)).toEqual([1, 1, 2]);
  expect(found.notes).toEqual([expect.stringMatching(/\b4 .*\b2 .*\b5 .*\b2 /)]);
});
