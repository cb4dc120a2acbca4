/** @module-tag long */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Faults } from '../../src/sandbox/index.js';
import { JumpingClock } from '../helpers/jumping-clock.js';
import { lineOf, wholeCompanies, withWorkshop } from './support.js';

const rate = (most: number) => fc.double({ min: 0, max: most, noNaN: true });
const faults: fc.Arbitrary<Faults> = fc.record({
  rate429: rate(0.1),
  rate502: rate(0.1),
  rate503: rate(0.1),
  resetBefore: rate(0.1),
  resetMidBody: rate(0.05),
  lostAnswer: rate(0.1),
  truncatedJson: rate(0.05),
  htmlError: rate(0.05),
  failAfterWork: rate(0.1),
});

test('V1-5 after any failure the outcomes add up to the rows, and the units to the charge log except unknown charges', async () => {
  let slowedDown = 0;
  const property = fc.asyncProperty(
    fc.integer({ min: 1, max: 1000 }),
    faults,
    fc.integer({ min: 1, max: 8 }),
    fc.option(fc.integer({ min: 0, max: 16 })),
    async (seed, drawn, concurrency, budgetUnits) => {
      await withWorkshop(
        // A 429 asks for a second of patience.
        { seed, faults: drawn, size: 20_000, clock: new JumpingClock() },
        async ({ sandbox, open, work, calls, rows }) => {
          const lines = wholeCompanies(sandbox, 6).map((company) => lineOf(company));
          const run = await open([...lines, ',,NL,,', ...lines.slice(0, 2)]);
          const charges = () => sandbox.chargeLog.filter((charge) => charge.api === 'v1').length;
          const start = async () => {
            const before = charges();
            const end = await work(run, { concurrency, budgetUnits });
            if (budgetUnits !== null) expect(charges() - before).toBeLessThanOrEqual(budgetUnits);
            return end;
          };
          let end = await start();
          for (let round = 0; round < 2 && !end.finished; round++) end = await start();
          const { byOutcome } = end.progress;
          expect(Object.values(byOutcome).reduce((sum, count) => sum + count, 0)).toBe(9);
          expect(byOutcome.invalid).toBe(1);
          expect(end.finished).toBe(byOutcome.pending === 0);

          const log = sandbox.chargeLog.filter((charge) => charge.api === 'v1');
          const booked = calls();
          expect(booked.filter((call) => call.charge === null)).toEqual([]);
          const refused = booked.filter((call) => call.error_code === 'RATE_LIMITED');
          expect(refused.filter((call) => call.charge !== 'free')).toEqual([]);
          slowedDown += refused.length;
          const settled = booked.filter((call) => call.charge === 'charged' && call.units_charged === 1);
          const flagged = booked.filter((call) => call.charge === 'unknown' && /Kyb$/.test(call.operation)).length;
          expect(settled.length).toBeLessThanOrEqual(log.length);
          expect(settled.length + flagged).toBeGreaterThanOrEqual(log.length);
          expect(end.progress.unitsCharged).toBe(settled.length);
          const units = (await rows(run)).reduce((sum, row) => sum + row.unitsCharged, 0);
          expect(units).toBe(settled.length);

          const sources = sandbox.reports.map((report) => report.sourceId);
          expect(new Set(sources).size).toBe(sources.length);
          const generated = booked.filter(({ operation }) => operation === 'creditReportGenerate');
          const maybePaid = generated.filter(({ charge }) => charge === 'charged' || charge === 'unknown');
          expect(maybePaid.length).toBeGreaterThanOrEqual(sources.length);
        },
      );
    },
  );
  // Chance may draw no 429 at all. This example meets many.
  const examples: [number, Faults, number, number | null][] = [[7, { rate429: 0.3 }, 8, null]];
  await fc.assert(property, { numRuns: Number(process.env.KYBATCH_PROPERTY_RUNS ?? 7), examples });
  expect(slowedDown).toBeGreaterThan(0);
});
