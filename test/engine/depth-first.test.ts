import { describe, expect, test } from 'vitest';
import { ManualClock } from '../../src/util/clock.js';
import { long } from '../helpers/long.js';
import { lineOf, wholeCompanies, withWorkshop } from './support.js';

const DAY_MS = 86_400_000;
const record = { stages: ['record'] };

describe('with few units left, a begun row is finished before the next begins', () => {
  long.each([
    [1, 1],
    [3, 8],
    [6, 16],
    [7, 64],
    [21, 64],
  ])('a limit of %i units, %i calls at once: half as many complete rows', async (budget, concurrency) => {
    await withWorkshop({ pipeline: record }, async ({ sandbox, open, work }) => {
      const run = await open(wholeCompanies(sandbox, 14).map((company) => lineOf(company)));
      const { progress } = await work(run, { budgetUnits: budget, concurrency });
      expect(progress.byOutcome).toMatchObject({ complete: Math.floor(budget / 2), failed: 0 });
      // The odd unit begins the next row. Its search is stored, so the next attempt begins with that row.
      expect(sandbox.chargeLog).toHaveLength(budget);
      expect(Object.keys(progress.parkedReasons)).toEqual(['budget']);
    });
  });

  long.each([
    ['an allowance of 7 units, not known before the first answer', { allowance: 7 }, 3],
    ['three units a day', { plan: 'free' as const }, 1],
  ])('%s', async (_, sandboxOptions, complete) => {
    await withWorkshop({ ...sandboxOptions, pipeline: record }, async ({ sandbox, open, work }) => {
      const run = await open(wholeCompanies(sandbox, 14).map((company) => lineOf(company)));
      const { progress } = await work(run, { concurrency: 16 });
      expect(progress.byOutcome).toMatchObject({ complete, failed: 0 });
    });
  });

  test('a refused first row does not let the others begin together', async () => {
    await withWorkshop({ allowance: 6, pipeline: record }, async ({ sandbox, open, work }) => {
      const run = await open(wholeCompanies(sandbox, 14).map((company) => lineOf(company)));
      sandbox.script('searchKyb', 400);
      const { progress } = await work(run, { concurrency: 16 });
      expect(progress.byOutcome).toMatchObject({ complete: 3, failed: 1 });
    });
  });

  long('a missing record costs nothing, and its unit goes to the next row', async () => {
    await withWorkshop({ pipeline: record }, async ({ sandbox, open, work }) => {
      const run = await open(wholeCompanies(sandbox, 14).map((company) => lineOf(company)));
      sandbox.script('fullKyb', { status: 404, code: 'DATA_SERVICE_404' });
      const { progress } = await work(run, { budgetUnits: 5, concurrency: 8 });
      expect(progress.byOutcome).toMatchObject({ complete: 3, failed: 0 });
      expect(sandbox.chargeLog).toHaveLength(5);
    });
  });

  test('two days of three units give three records: begun rows come first', async () => {
    const clock = new ManualClock(Date.UTC(2026, 0, 5, 9));
    await withWorkshop({ clock, plan: 'free', pipeline: record }, async ({ sandbox, open, work }) => {
      const run = await open(wholeCompanies(sandbox, 25).map((company) => lineOf(company)));
      await work(run, { concurrency: 16 });
      clock.set(clock.now() + DAY_MS);
      const { progress } = await work(run, { concurrency: 16 });
      expect(progress.byOutcome).toMatchObject({ complete: 3, failed: 0 });
      expect(sandbox.chargeLog).toHaveLength(6);
    });
  });

  test('a begun row further down goes before rows that have not begun', async () => {
    await withWorkshop({ pipeline: record }, async ({ sandbox, ledger, open, work, rows }) => {
      const run = await open(wholeCompanies(sandbox, 25).map((company) => lineOf(company)));
      sandbox.script(
        'searchKyb',
        Array.from({ length: 22 }, () => 400),
      );
      await work(run, { budgetUnits: 1, concurrency: 1 });
      expect((await rows(run)).filter(({ unitsCharged }) => unitsCharged > 0).map(({ row }) => row)).toEqual([23]);
      await ledger.runs.releaseFailed(run.id);
      const { progress } = await work(run, { budgetUnits: 1, concurrency: 8 });
      expect(progress.byOutcome.complete).toBe(1);
      expect((await rows(run))[22]).toMatchObject({ row: 23, outcome: 'complete' });
    });
  });
});

describe('with plenty of units', { tags: 'long' }, () => {
  test('rows run in parallel from the first answer on', async () => {
    await withWorkshop({ pipeline: record }, async ({ sandbox, open, work }) => {
      const run = await open(wholeCompanies(sandbox, 25).map((company) => lineOf(company)));
      const order: string[] = [];
      const { progress } = await work(run, {
        concurrency: 8,
        listen: (event) => {
          if (event.kind === 'call_settled') order.push(event.intent.operation);
        },
      });
      expect(progress.byOutcome.complete).toBe(25);
      // Searches of several rows come before the first record of most.
      expect(order.slice(0, 8).filter((operation) => operation === 'searchKyb').length).toBeGreaterThan(4);
    });
  });

  test('rows with stored answers need no turn: none waits for another', async () => {
    await withWorkshop({ pipeline: record }, async ({ sandbox, open, work, ledger }) => {
      const lines = wholeCompanies(sandbox, 25).map((company) => lineOf(company));
      await work(await open(lines));
      const again = await open([...lines, '']);
      let settled = 0;
      const { progress } = await work(again, {
        budgetUnits: 0,
        listen: (event) => {
          if (event.kind === 'row_settled') settled += 1;
        },
      });
      expect(progress.byOutcome.complete).toBe(25);
      expect(settled).toBe(25);
      expect((await ledger.runs.progress(again.id)).unitsCharged).toBe(0);
    });
  });
});
