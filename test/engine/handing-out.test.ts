import { describe, expect, test } from 'vitest';
import { lineOf, wholeCompanies, withWorkshop } from './support.js';

describe('when the money is gone', () => {
  test.each([
    ['a budget', {}, { budgetUnits: 4 }, { reason: 'budget', units: 4 }],
    ['an allowance that v1 says is spent', { plan: 'free' as const }, {}, { reason: 'allowance', units: 3 }],
    ['an allowance that ends at 0 units left', { allowance: 4 }, {}, { reason: 'allowance', units: 4 }],
  ])(
    '%s stops the handing out of rows: those not begun stay as they were',
    async (_, sandboxOptions, limits, { reason, units }) => {
      const concurrency = 2;
      await withWorkshop(
        { ...sandboxOptions, pipeline: { stages: ['record'] } },
        async ({ sandbox, open, work, rows }) => {
          const run = await open(wholeCompanies(sandbox, 30).map((company) => lineOf(company)));
          const end = await work(run, { concurrency, ...limits });
          expect(end.progress.byOutcome.pending).toBeGreaterThan(20);
          expect(end.progress.unitsCharged).toBe(units);
          expect(Object.keys(end.progress.parkedReasons)).toEqual([reason]);
          // Twice as many rows as calls are under way.
          const begun = (await rows(run)).filter((row) => row.updatedAt !== 0 || row.hold !== null);
          expect(begun.length).toBeLessThanOrEqual(4 + 2 * concurrency);
          expect(end.progress.parked).toBeLessThanOrEqual(2 * concurrency + 2);
        },
      );
    },
  );
});
