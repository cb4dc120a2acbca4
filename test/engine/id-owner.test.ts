import { expect, test } from 'vitest';
import type { IdSpace } from '../../src/domain/provider.js';
import type { RowRecord } from '../../src/ledger/rows/runs.js';
import { type Passing, type Reply, withProxy } from '../helpers/proxy.js';
import { idOf, lineOf, type Workshop, wholeCompanies, withWorkshop } from './support.js';

const SHARED = '777';
const ok = (body: unknown): Reply => ({ status: 200, body: JSON.stringify(body) });

/** A provider whose searches give every company one ID, with the requested number. */
function oneIdForAll({ sandbox }: Workshop, { path, method, body }: Passing): Reply | undefined {
  if (method !== 'POST' || !path.endsWith('/search')) return undefined;
  const asked = (JSON.parse(body) as { registration_number?: string }).registration_number;
  const company = wholeCompanies(sandbox, 3).find(({ registrationNumber }) => registrationNumber === asked);
  if (company === undefined) return undefined;
  const { name, countryCode, registrationNumber } = company;
  return ok([{ id: SHARED, name, registration_number: registrationNumber, country_code: countryCode }]);
}

const endings = (rows: readonly RowRecord[], space: IdSpace) =>
  rows.map((row) => [row.outcome === 'needs_review' ? row.errorCode : 'settled', idOf(row, space)]);

test.each([
  ['v1', 'record'],
  ['v2', 'financials'],
  ['credit', 'credit-report'],
] as const)(
  'X-7 V2-4 one %s ID for two companies is a review question, for rows at once and in a later run',
  async (space, stage) => {
    await withWorkshop({ pipeline: { stages: [stage] } }, async (workshop) => {
      const [first = '', second = '', third = ''] = wholeCompanies(workshop.sandbox, 3).map((one) => lineOf(one));
      await withProxy(
        workshop,
        (request) => oneIdForAll(workshop, request),
        async (sources) => {
          const run = await workshop.open([first, second]);
          await workshop.work(run, { sources });
          const both = endings(await workshop.rows(run), space);
          expect(both.filter(([ending]) => ending === 'ID_TAKEN')).toEqual([['ID_TAKEN', undefined]]);
          const winner = both[0]?.[0] === 'ID_TAKEN' ? second : first;
          const later = await workshop.open([winner, third, winner]);
          await workshop.work(later, { sources });
          const [same, other, again] = endings(await workshop.rows(later), space);
          expect(other).toEqual(['ID_TAKEN', undefined]);
          expect([same?.[0], again?.[0]]).toEqual(['settled', 'settled']);
        },
      );
    });
  },
);

test('X-7 one report ID for two companies is a review question', async () => {
  const pipeline = { stages: ['credit-report'], report: { giveUpAfterMs: 20 } };
  await withWorkshop({ pipeline }, async (workshop) => {
    const run = await workshop.open(wholeCompanies(workshop.sandbox, 2).map((one) => lineOf(one)));
    const generate = ({ path, method }: Passing) =>
      method === 'POST' && /generate|report$/.test(path) ? ok({ id: SHARED, status: 'finish' }) : undefined;
    await withProxy(workshop, generate, async (sources) => {
      await workshop.work(run, { sources });
      const both = endings(await workshop.rows(run), 'report');
      expect(both.filter(([ending]) => ending === 'ID_TAKEN')).toEqual([['ID_TAKEN', undefined]]);
    });
  });
});

test('X-7 rows whose new reports are all of another company count as failing alike', async () => {
  const guards = { failingAlike: 30, rowsLost: null };
  const pipeline = { stages: ['credit-report'], report: { giveUpAfterMs: 20 }, guards };
  await withWorkshop({ pipeline }, async (workshop) => {
    const run = await workshop.open(wholeCompanies(workshop.sandbox, 30).map((one) => lineOf(one)));
    let bought = 0;
    const generate = ({ path, method }: Passing) => {
      if (method !== 'POST' || !/generate|report$/.test(path)) return undefined;
      bought += 1;
      return ok({ id: SHARED, status: 'finish' });
    };
    await withProxy(workshop, generate, async (sources) => {
      const end = await workshop.work(run, { sources, concurrency: 1 });
      expect(end).toMatchObject({ finished: false, stopped: { code: 'FAILING_ALIKE', exit: 6 } });
      // Rows in progress finish.
      expect(bought).toBeLessThan(25);
    });
  });
});

test('X-7 if another machine took the ID first, the row is processed again and asks', async () => {
  await withWorkshop({ pipeline: { stages: ['financials'] } }, async (workshop) => {
    const { ledger } = workshop;
    const [first = '', second = ''] = wholeCompanies(workshop.sandbox, 2).map((one) => lineOf(one));
    let looks = 0;
    // The row looks just before the other one finishes.
    const review = Object.assign(Object.create(ledger.review), {
      idHolders: async (...given: Parameters<typeof ledger.review.idHolders>) =>
        ++looks === 1 ? [] : await ledger.review.idHolders(...given),
    });
    const late = Object.create(ledger, { review: { value: review } });
    await withProxy(
      workshop,
      (request) => oneIdForAll(workshop, request),
      async (sources) => {
        await workshop.work(await workshop.open([first]), { sources });
        const run = await workshop.open([second]);
        await workshop.work(run, { sources, ledger: late });
        expect(endings(await workshop.rows(run), 'v2')).toEqual([['ID_TAKEN', undefined]]);
        expect(looks).toBe(2);
      },
    );
  });
});
