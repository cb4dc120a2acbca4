/** @module-tag long */
import { stringify } from 'csv-stringify/sync';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { v2Operations } from '../../src/api/v2/operations.js';
import type { LoadedPipeline } from '../../src/config/pipeline.js';
import { planRun, type RunPlan } from '../../src/engine/plan.js';
import { readInput } from '../../src/input/read-input.js';
import type { Sandbox } from '../../src/sandbox/index.js';
import { type SampleInput, writeSample } from '../../src/sandbox/sample.js';
import { FALLBACKS } from '../../src/stages/identity/searches.js';
import { stages } from '../../src/stages/list.js';
import { openList } from '../helpers/open-run.js';
import { type Overrides, present, settingsOf, type Workshop, withWorkshop } from './support.js';

const every = stages.map(({ name }) => name);
const RUNS = Number(process.env.KYBATCH_PROPERTY_RUNS ?? 1);

const searches: fc.Arbitrary<LoadedPipeline['search']> = fc.record({
  attempts: fc.integer({ min: 1, max: 3 }),
  order: fc.shuffledSubarray(['registration_number', 'vat_number', 'name'], { minLength: 1 }),
  furtherSpellings: fc.boolean(),
  fallback: fc.shuffledSubarray([...FALLBACKS]),
});

describe.each([...every, every.join(', ')])('the plan of %s', (listed) => {
  const names = listed.split(', ');

  test('holds against the cost of the run: without answers, with half of them, and with all', async () => {
    const property = fc.asyncProperty(
      fc.integer({ min: 1, max: 500 }),
      searches,
      fc.boolean(),
      fc.integer({ min: 0, max: 50 }),
      async (seed, search, confirmRepaired, stopAfter) => {
        const sandbox = { seed, size: 20_000, search: seed % 2 === 0 ? 'exact' : 'forgiving' } as const;
        const pipeline: Overrides = { stages: names, search };
        await withWorkshop({ ...sandbox, pipeline }, async (workshop) => {
          const lines = mixedLines(workshop.sandbox, seed);
          const { match } = workshop.pipeline();
          const using = workshop.pipeline({ match: { ...match, confirmRepaired } });
          const workThrough = async (some: readonly string[]) => {
            const planned = await planOf(workshop, some, using);
            const before = spent(workshop.sandbox);
            const { finished } = await workshop.work(await workshop.open(some, using), { pipeline: using });
            expect(finished).toBe(true);
            const paid = less(spent(workshop.sandbox), before);
            expectWithin(planned, paid);
            return { paid };
          };
          const cold = await planOf(workshop, lines, using);
          const before = spent(workshop.sandbox);
          const run = await workshop.open(lines, using);
          await workshop.work(run, { pipeline: using, ...stopHalfway(stopAfter) });

          const halfway = await planOf(workshop, lines, using);
          const between = spent(workshop.sandbox);
          expect((await workshop.work(run, { pipeline: using })).finished).toBe(true);
          const after = spent(workshop.sandbox);
          expectWithin(halfway, less(after, between));
          expectWithin(cold, less(after, before));

          // A row that ended with a question while its record was delayed has not bought it. A second run does.
          const second = await workThrough([...lines].reverse());
          expect(second.paid).toMatchObject({ reports: 0 });
          // Only data that the provider did not have is requested again.
          const third = await workThrough([...lines.slice(1), ...lines.slice(0, 1)]);
          expect(third.paid).toMatchObject({ units: 0, reports: 0 });
        });
      },
    );
    await fc.assert(property, { numRuns: RUNS });
  });
});

/** An attempt that ends half-way: by its limits, or by an interrupt. */
function stopHalfway(stopAfter: number) {
  const drain = new AbortController();
  let settled = 0;
  const listen = ({ kind }: { readonly kind: string }) => {
    settled += kind === 'row_settled' ? 1 : 0;
    if (settled >= stopAfter) drain.abort();
  };
  return { budgetUnits: 30, budgetReports: 4, drain: drain.signal, listen };
}

/** Clean rows and damaged ones: some unknown, some repeated, some with only a name or a VAT number. */
function mixedLines({ registry }: Sandbox, seed: number): string[] {
  const sample = [...writeSample({ registry, rows: 16, dirty: true, seed })].map(({ input }) => input);
  const some = sample.slice(0, 8);
  const rows: SampleInput[] = [
    ...sample,
    ...some.slice(0, 4),
    ...some.map((input) => ({ ...input, registration_number: '', vat_number: '' })),
    ...some.slice(0, 4).map((input) => ({ ...input, registration_number: '' })),
    // An equal search in other letters, and an equal number beside another name.
    ...some.slice(0, 6).map((input) => ({ ...input, name: input.name.toUpperCase() })),
    ...some.slice(0, 6).map((input) => ({ ...input, name: `${input.name} Nobody` })),
    ...some.slice(0, 4).map((input) => ({ ...input, registration_number: ` ${input.registration_number}.` })),
    { ...present(some[0]), name: 'Nobody Knows This Name', registration_number: '99999998', vat_number: '' },
  ];
  const cells = rows.map(({ id, name, country, registration_number, vat_number }) =>
    stringify([[id, name, country, registration_number, vat_number]]).trimEnd(),
  );
  return cells;
}

async function planOf(workshop: Workshop, lines: readonly string[], pipeline: LoadedPipeline): Promise<RunPlan> {
  const { ledger, clock, sandbox, write } = workshop;
  const list = await openList(await readInput(write(lines)), settingsOf(pipeline), ledger, clock);
  return await planRun({
    rows: list.rows(),
    pipeline,
    notBefore: 0,
    now: clock.now(),
    ledger,
    environments: {
      v1: (await ledger.calls.findEnvironment('v1', sandbox.v1BaseUrl)) ?? null,
      v2: (await ledger.calls.findEnvironment('v2', sandbox.v2BaseUrl)) ?? null,
    },
  });
}

interface Cost {
  readonly units: number;
  readonly v2Calls: number;
  readonly reports: number;
}

/** Counted by the provider. */
const spent = ({ chargeLog, requests, reports }: Sandbox): Cost => ({
  units: chargeLog.filter(({ api }) => api === 'v1').length,
  v2Calls: Object.values(v2Operations)
    .filter(({ meter }) => meter === 'not_told')
    .reduce((sum, { name }) => sum + (requests.get(name) ?? 0), 0),
  reports: reports.length,
});

const less = (after: Cost, before: Cost): Cost => ({
  units: after.units - before.units,
  v2Calls: after.v2Calls - before.v2Calls,
  reports: after.reports - before.reports,
});

function expectWithin({ units, v2Calls, creditReportsAtMost }: RunPlan, cost: Cost): void {
  const bounds = { units, v2Calls, reports: { atLeast: 0, atMost: creditReportsAtMost } };
  const held = (Object.keys(bounds) as (keyof Cost)[]).map((what) => ({ what, cost: cost[what], ...bounds[what] }));
  expect(held.filter(({ cost: paid, atLeast, atMost }) => paid < atLeast || paid > atMost)).toEqual([]);
  expect(units.likely).toBeGreaterThanOrEqual(units.atLeast);
  expect(units.likely).toBeLessThanOrEqual(units.atMost);
}
