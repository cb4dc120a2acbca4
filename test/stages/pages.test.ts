import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { v1Operations } from '../../src/api/v1/operations.js';
import { v2Operations } from '../../src/api/v2/operations.js';
import type { CallOutcome } from '../../src/calls/request.js';
import { askItems, askPages } from '../../src/stages/pages.js';
import type { CallTerms, Params } from '../../src/stages/stage.js';
import { expectGolden } from '../helpers/golden.js';
import { answer, NOW, scene } from './support.js';

const officers = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => ({ id: from + index, last_name: `N${from + index}` }));

const page = (data: unknown, total_pages: number | null, total_results: number | null = null) =>
  answer({ data, total_pages, total_results });

function asking(pages: readonly CallOutcome[], atMost = 20, operation: Parameters<typeof askPages>[0] = officersKyb) {
  const at = scene({ answer: ({ params }) => pages[Number(params.page) - 1] ?? page([], pages.length) });
  const terms: (CallTerms | undefined)[] = [];
  const call: typeof at.context.call = (of, params, said) => {
    terms.push(said);
    return at.context.call(of, params, said);
  };
  const asked = (): readonly Params[] => at.asked.map(({ params }) => params);
  return {
    outcome: askPages(operation, { id: '7' }, atMost, { ...at.context, call }),
    asked,
    errors: at.errors,
    terms,
  };
}

const { officersKyb } = v1Operations;

describe('a list is read page by page', () => {
  test('V1-7 with the largest page size, to the last page of the envelope', async () => {
    const { outcome, asked, errors } = asking([page(officers(1, 50), 2, 60), page(officers(51, 10), 2, 60)]);
    expect(await outcome).toMatchObject({ kind: 'pages', total: 60, count: 60 });
    expect(asked()).toEqual([
      { id: '7', per_page: 50, page: 1 },
      { id: '7', per_page: 50, page: 2 },
    ]);
    expect(errors).toEqual([]);
  });

  test("V2-12 with the provider's page size if no maximum is documented", async () => {
    const { outcome, asked } = asking([page(officers(1, 3), 1)], 20, v2Operations.kybOfficers);
    expect(await outcome).toMatchObject({ kind: 'pages', total: null });
    expect(asked()).toEqual([{ id: '7', page: 1 }]);
  });

  test('until an empty page, regardless of the envelope', async () => {
    const { outcome, asked } = asking([page(officers(1, 50), 9), page([], 9)]);
    expect(await outcome).toMatchObject({ count: 50 });
    expect(asked()).toHaveLength(2);
  });

  test.each([null, undefined])('V1-22 until a page whose list is %s, which is noted', async (nothing) => {
    const { outcome, asked, errors } = asking([page(officers(1, 50), 3), page(nothing, 3), page(officers(51, 1), 3)]);
    expect(await outcome).toMatchObject({ kind: 'pages', came: true, count: 50 });
    expect(asked()).toHaveLength(2);
    expect(errors).toMatchObject([{ class: 'not_available', code: 'PAGE_NOT_RETURNED' }]);
    expect(await asking([page(nothing, 0, 0)]).outcome).toMatchObject({ kind: 'pages', came: false, count: 0 });
  });

  test('with counts in quotes', async () => {
    const quoted = (data: unknown) => answer({ data, total_pages: '2', total_results: '60' });
    const { outcome, asked } = asking([quoted(officers(1, 50)), quoted(officers(51, 10))]);
    expect(await outcome).toMatchObject({ kind: 'pages', total: 60, count: 60 });
    expect(asked()).toHaveLength(2);
  });

  test('until the empty page without a count', async () => {
    const { outcome, asked } = asking([page(officers(1, 5), null), page(officers(6, 5), null), page([], null)]);
    expect(await outcome).toMatchObject({ count: 10 });
    expect(asked()).toHaveLength(3);
  });

  test('until a repeated page, which is not counted twice', async () => {
    const same = page(officers(1, 50), 99);
    const { outcome, asked } = asking([same, same, same]);
    expect(await outcome).toMatchObject({ count: 50 });
    expect(asked()).toHaveLength(2);
  });

  test('until the maximum, with a note that there is more', async () => {
    const { outcome, errors } = asking([page(officers(1, 50), 3), page(officers(51, 50), 3)], 2);
    expect(await outcome).toMatchObject({ count: 100 });
    expect(errors).toMatchObject([{ code: 'PAGES_LEFT', message: expect.stringMatching(/\b3 .*\b2\b/) }]);
  });

  test('until a maximum of one page, noted unless the caller counts differently', async () => {
    const told = asking([page(officers(1, 50), 3, 120)], 1);
    expect(await told.outcome).toMatchObject({ total: 120, count: 50 });
    expect(told.errors).toMatchObject([{ code: 'PAGES_LEFT', message: expect.stringMatching(/\b3\b/) }]);
    const { context, errors } = scene({ answer: () => page(officers(1, 50), 3, 120) });
    expect(await askItems(officersKyb, { id: '7' }, 1, context)).toMatchObject({
      total: 120,
      items: officers(1, 50).map(({ last_name }) => ({ last_name })),
    });
    expect(errors).toEqual([]);
  });

  test('a changed total is noted', async () => {
    const { outcome, errors } = asking([page(officers(1, 50), 2, 60), page(officers(51, 9), 2, 59)]);
    expect(await outcome).toMatchObject({ total: 60 });
    const figures = expect.stringMatching(/\b60 .*\b2 .*\b59 .*\b2 .*\b2\b/);
    expect(errors).toMatchObject([{ code: 'TOTAL_CHANGED', message: figures }]);
  });

  const differing: readonly (readonly [string, readonly CallOutcome[], RegExp])[] = [
    ['an empty page before the last', [page(officers(1, 50), 3, 130), page([], 3, 130)], /130.*3.*50.*2/],
    ['an empty last page', [page(officers(1, 50), 2), page([], 2)], /2.*50.*2/],
    ['many more pages than come', [page(officers(1, 50), 1e9, 50), page([], 1e9, 50)], /50.*1000000000.*50/],
    ['a page that repeats', [page(officers(1, 50), 3, 130), page(officers(1, 50), 3, 130)], /130.*3.*50.*2.*1/],
    ['pages below none', [page(officers(1, 50), -1)], /-1.*50/],
    ['no pages', [page(officers(1, 5), 0)], /0.*5/],
    ['fewer items', [page(officers(1, 50), 2, 80), page(officers(51, 10), 2, 80)], /80.*2.*60/],
    ['more items', [page(officers(1, 60), 1, 50)], /50.*1.*60/],
  ];
  test.each(differing)('a count that differs from the items is noted: %s', async (_, pages, figures) => {
    const { outcome, errors } = asking(pages);
    expect(await outcome).toMatchObject({ kind: 'pages' });
    expect(errors).toMatchObject([{ code: 'LIST_DIFFERS', message: expect.stringMatching(figures) }]);
  });

  test('the words of each note', async () => {
    const more: typeof differing = [
      ['a changed total', [page(officers(1, 50), 2, 60), page(officers(51, 9), 2, 59)], /^/],
    ];
    const words = [...differing, ...more].map(async ([given, pages]): Promise<[string, string]> => {
      const { outcome, errors } = asking(pages);
      await outcome;
      return [given, errors.map(({ message }) => message).join('\n')];
    });
    await expectGolden('pages', await Promise.all(words));
  });

  test.each([
    ['no person', [page([], 1, 0)]],
    ['no person in no page', [page([], 0, 0)]],
    ['nothing counted', [page(officers(1, 5), null), page([], null)]],
    ['items counted, pages not', [page(officers(1, 5), null, 5), page([], null, 5)]],
  ])('a correct count is not noted: %s', async (_, pages) => {
    const { outcome, errors } = asking(pages);
    expect(await outcome).toMatchObject({ kind: 'pages' });
    expect(errors).toEqual([]);
  });

  test("a lost page is the stage's outcome, and only that page is asked for again", async () => {
    const lost: CallOutcome = { kind: 'parked', reason: 'allowance', until: null, message: 'spent' };
    const { outcome, asked } = asking([page(officers(1, 50), 3), lost]);
    expect(await outcome).toMatchObject({ kind: 'parked', reason: 'allowance' });
    expect(asked()).toHaveLength(2);
  });

  test('a later page is not older than the first', async () => {
    const { outcome, terms } = asking([page(officers(1, 50), 2), page(officers(51, 1), 2)]);
    await outcome;
    expect(terms.map((said) => said?.notBefore)).toEqual([0, NOW]);
  });

  test('for any envelope it ends within the maximum and loses no item', async () => {
    const pages = fc.array(fc.record({ items: fc.nat(3), claims: fc.option(fc.integer({ min: -1, max: 30 })) }), {
      maxLength: 12,
    });
    await fc.assert(
      fc.asyncProperty(pages, fc.integer({ min: 1, max: 10 }), async (list, atMost) => {
        let next = 0;
        const answers = list.map(({ items, claims }) => {
          next += items;
          return page(officers(next, items), claims);
        });
        const { outcome, asked } = asking(answers, atMost);
        const met = await outcome;
        if (met.kind !== 'pages') throw new Error(`ended ${met.kind}`);
        const seen = list.slice(0, asked().length);
        expect(asked().length).toBeLessThanOrEqual(atMost);
        expect(met.count).toBe(seen.reduce((sum, { items }) => sum + items, 0));
        expect(seen.slice(0, -1).every(({ items, claims }) => items > 0 && (claims === null || claims > 0))).toBe(true);
      }),
    );
  });
});
