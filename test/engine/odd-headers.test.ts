import { describe, expect, test } from 'vitest';
import type { RunWork } from '../../src/engine/run.js';
import { JumpingClock } from '../helpers/jumping-clock.js';
import { withProxy } from '../helpers/proxy.js';
import { lineOf, wholeCompanies, withWorkshop } from './support.js';

/** None of them has the expected form. */
const ODD: readonly Readonly<Record<string, string>>[] = [
  { 'x-quota-daily-reset': '1234.56789', 'x-quota-daily-limit': '3' },
  { 'x-quota-daily-reset': '1767690000.1234567' },
  { 'x-service-units': '999999999999999' },
  { 'x-service-units': 'NaN' },
  { 'x-service-units': '0' },
  { 'x-service-units': '9223372036854775807' },
  { 'x-service-remaining-units': '999999999999999' },
  { 'x-quota-daily-limit': '999999999999999', 'x-quota-daily-remaining': '1e9' },
  { 'x-service-units': '-1', 'x-service-remaining-units': '-1' },
];

test('V1-3 unexpected headers stop neither a run nor a report', async () => {
  await withWorkshop({ pipeline: { stages: ['record'] } }, async (workshop) => {
    const { sandbox, ledger, open, work } = workshop;
    const run = await open(wholeCompanies(sandbox, ODD.length).map((company) => lineOf(company)));
    let answered = 0;
    await withProxy(
      workshop,
      () => ({ more: ODD[answered++ % ODD.length] ?? {} }),
      async (sources) => {
        const end = await work(run, { sources });
        expect(end.progress).toMatchObject({ byOutcome: { complete: ODD.length }, unitsCharged: 2 * ODD.length });
      },
    );
    const { byDay } = await ledger.reading.usage();
    expect(byDay.reduce((units, day) => units + day.unitsCharged, 0)).toBe(2 * ODD.length);
  });
});

describe('X-3 the charge that the provider reports counts, in the ledger and against the limit', () => {
  const runAt = async (units: string, work: Partial<RunWork>, rows = 12) =>
    await withWorkshop({ pipeline: { stages: ['record'] } }, async (workshop) => {
      const { sandbox, ledger, open, work: workOn, query } = workshop;
      const run = await open(wholeCompanies(sandbox, rows).map((company) => lineOf(company)));
      let remaining = 100_000;
      const { progress } = await withProxy(
        workshop,
        () => {
          remaining -= Number(units);
          return { more: { 'x-service-units': units, 'x-service-remaining-units': String(remaining) } };
        },
        (sources) => workOn(run, { sources, ...work }),
      );
      const [environment] = query<{ id: number }>("SELECT id FROM environments WHERE api = 'v1'");
      const { driftUnits } = (await ledger.calls.allowance(environment?.id ?? 0)) ?? {};
      const [start] = query<{ units: number }>('SELECT units_spent AS units FROM starts');
      return { progress, driftUnits, spent: start?.units, provider: 100_000 - remaining };
    });

  test.each([
    ['100', 10, 100],
    ['100', 250, 200],
    ['3', 10, 9],
  ])('a call of %s units under a limit of %i: %i are spent', async (units, budgetUnits, spent) => {
    const end = await runAt(units, { budgetUnits, concurrency: 16 });
    expect(end).toMatchObject({ spent, provider: spent, driftUnits: 0, progress: { unitsCharged: spent } });
    expect(end.progress.parkedReasons.budget).toBeGreaterThan(0);
  });

  test('the next attempt knows the cost of a call: a limit below it spends nothing', async () => {
    await withWorkshop({ pipeline: { stages: ['record'] } }, async (workshop) => {
      const { sandbox, open, work, query } = workshop;
      const run = await open(wholeCompanies(sandbox, 4).map((company) => lineOf(company)));
      const dear = () => ({ more: { 'x-service-units': '100' } });
      await withProxy(workshop, dear, async (sources) => {
        for (const budgetUnits of [7, 30, 99]) {
          const { progress } = await work(run, { sources, budgetUnits });
          expect(progress).toMatchObject({ unitsCharged: 100, parkedReasons: { budget: expect.any(Number) } });
        }
        expect((await work(run, { sources, budgetUnits: 250 })).progress.unitsCharged).toBe(300);
      });
      const spent = query<{ units: number }>('SELECT units_spent AS units FROM starts ORDER BY id');
      expect(spent.map(({ units }) => units)).toEqual([100, 0, 0, 200]);
    });
  });

  test('one expensive answer does not bar later attempts once a call costs less', async () => {
    await withWorkshop({ pipeline: { stages: ['record'] } }, async (workshop) => {
      const { sandbox, open, work, query } = workshop;
      const run = await open(wholeCompanies(sandbox, 8).map((company) => lineOf(company)));
      let answers = 0;
      const dearOnce = () => ({ more: { 'x-service-units': answers++ === 0 ? '100' : '1' } });
      await withProxy(workshop, dearOnce, async (sources) => {
        expect((await work(run, { sources, budgetUnits: 20 })).progress.unitsCharged).toBe(100);
        expect((await work(run, { sources, budgetUnits: 20 })).progress.unitsCharged).toBe(100);
        // This also holds within the attempt: the first call costs 1 again, and 99 units are left for the others.
        expect((await work(run, { sources, budgetUnits: 104 })).progress.unitsCharged).toBe(115);
        expect((await work(run, { sources, budgetUnits: 1 })).progress.byOutcome.pending).toBe(0);
      });
      const spent = query<{ units: number }>('SELECT units_spent AS units FROM starts ORDER BY id');
      expect(spent.map(({ units }) => units)).toEqual([100, 0, 15, 0]);
    });
  });

  test('the expected cost of an operation is the cost of its newest call', async () => {
    await withWorkshop({ pipeline: { stages: ['record'] } }, async (workshop) => {
      const { sandbox, open, work, query } = workshop;
      const run = await open(wholeCompanies(sandbox, 3).map((company) => lineOf(company)));
      const dearRecord = ({ path }: { readonly path: string }) => ({
        more: { 'x-service-units': path.endsWith('/full') ? '40' : '1' },
      });
      await withProxy(workshop, dearRecord, async (sources) => {
        for (const budgetUnits of [42, 30, 41]) await work(run, { sources, budgetUnits, concurrency: 1 });
      });
      const spent = query<{ units: number }>('SELECT units_spent AS units FROM starts ORDER BY id');
      // The searches cost 1 and continue under a limit that is too low for any record.
      expect(spent.map(({ units }) => units)).toEqual([42, 1, 40]);
    });
  });

  test('without a limit all rows are bought, and the ledger agrees with the provider', async () => {
    const end = await runAt('7', { concurrency: 4 }, 3);
    expect(end).toMatchObject({ spent: 42, provider: 42, driftUnits: 0, progress: { byOutcome: { complete: 3 } } });
  });
});

test('V1-4 a Retry-After with decimals is a delay, not a date', async () => {
  const clock = new JumpingClock();
  await withWorkshop({ clock, pipeline: { stages: ['record'] } }, async ({ sandbox, open, work }) => {
    const run = await open(wholeCompanies(sandbox, 1).map((company) => lineOf(company)));
    sandbox.script('searchKyb', { status: 429, code: 'RATE_LIMITED', retryAfter: '1.5' });
    const begun = clock.now();
    expect((await work(run)).progress.byOutcome).toMatchObject({ complete: 1 });
    expect(clock.now() - begun).toBeGreaterThanOrEqual(1_500);
    expect(sandbox.requests.get('searchKyb')).toBe(2);
  });
});
