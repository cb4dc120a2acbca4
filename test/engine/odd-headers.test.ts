import { expect, test } from 'vitest';
import { JumpingClock } from '../helpers/jumping-clock.js';
import { withProxy } from '../helpers/proxy.js';
import { lineOf, wholeCompanies, withWorkshop } from './support.js';

/** None of them in the form that anybody would expect. */
const ODD: readonly Readonly<Record<string, string>>[] = [
  { 'x-quota-daily-reset': '1234.56789', 'x-quota-daily-limit': '3' },
  { 'x-quota-daily-reset': '1767690000.1234567' },
  { 'x-service-units': '999999999999999' },
  { 'x-service-units': '1000' },
  { 'x-service-units': '0' },
  { 'x-service-units': '9223372036854775807' },
  { 'x-service-remaining-units': '999999999999999' },
  { 'x-quota-daily-limit': '999999999999999', 'x-quota-daily-remaining': '1e9' },
  { 'x-service-units': '-1', 'x-service-remaining-units': '-1' },
];

test('V1-3 headers that nobody expects end no run, and no look at the books', async () => {
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

test('V1-1 a success costs one unit, whatever figure comes with it: the budget buys what it should, and the drift is shown', async () => {
  await withWorkshop({ pipeline: { stages: ['record'] } }, async (workshop) => {
    const { sandbox, ledger, open, work, query } = workshop;
    const run = await open(wholeCompanies(sandbox, 3).map((company) => lineOf(company)));
    let remaining = 100_000;
    const end = await withProxy(
      workshop,
      () => {
        remaining -= 1_000;
        return { more: { 'x-service-units': '1000', 'x-service-remaining-units': String(remaining) } };
      },
      (sources) => work(run, { sources, concurrency: 1, budgetUnits: 6 }),
    );
    expect(end.progress).toMatchObject({ byOutcome: { complete: 3 }, unitsCharged: 6 });
    const [environment] = query<{ id: number }>("SELECT id FROM environments WHERE api = 'v1'");
    const { driftUnits } = (await ledger.calls.allowance(environment?.id ?? 0)) ?? {};
    expect(driftUnits).toBe(5 * 999);
  });
});

test('V1-4 a Retry-After in fractions is waited for, and not taken for a date', async () => {
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
