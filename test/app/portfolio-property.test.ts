import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type EndJson, jsonOf, withJob } from '../cli/here.js';
import { JumpingClock } from '../helpers/jumping-clock.js';

const DAY = 86_400_000;
const FRESH_DAYS = 7;
const RUNS = Number(process.env.KYBATCH_PROPERTY_RUNS ?? 2);
const POOL = 9;

/** What happens between two nights, and what the second may spend. */
interface Night {
  readonly days: number;
  /** Which companies are in the list, and in which order. */
  readonly listed: readonly number[];
  readonly budget: number | null;
  readonly fails: 'nothing' | 'lostAnswer' | 503;
}

const nights: fc.Arbitrary<readonly Night[]> = fc.array(
  fc.record({
    days: fc.integer({ min: 0, max: 12 }),
    listed: fc.shuffledSubarray(
      Array.from({ length: POOL }, (_, index) => index),
      { minLength: 1 },
    ),
    budget: fc.option(fc.integer({ min: 0, max: 6 }), { freq: 3 }),
    fails: fc.constantFrom<Night['fails']>('nothing', 'nothing', 'lostAnswer', 503),
  }),
  { minLength: 3, maxLength: 7 },
);

test('whatever the files, the allowances and the losses: nothing that is fresh is bought, and in the end nothing is stale', {
  timeout: 120_000,
}, async () => {
  const property = fc.asyncProperty(nights, async (history) => {
    const clock = new JumpingClock('2026-01-05T01:00:00Z');
    const pipeline = ['stages: [record]', `freshness: {fullKyb: ${FRESH_DAYS}d, searchKyb: 365d}`];
    await withJob({ clock, pipeline }, async ({ rows, writeCsv, kybatch, sandbox, cwd }) => {
      const run = async (...flags: string[]) =>
        jsonOf<EndJson>(
          await kybatch(['run', 'in.csv', '--pipeline', './p.yaml', '--yes', '--json', '--no-export', ...flags]),
        );
      // What was charged and got lost on its way may be bought once more.
      let lost = 0;
      for (const { days, listed, budget, fails } of history) {
        clock.advance(days * DAY);
        writeCsv(
          'in.csv',
          listed.map((index) => rows[index] ?? {}),
        );
        if (fails !== 'nothing') sandbox.script('fullKyb', ['none', fails]);
        const end = await run(...(budget === null ? [] : ['--budget', String(budget)]));
        sandbox.clearScript();
        lost += fails === 'lostAnswer' ? 1 : 0;
        expect(Object.values(end.outcomes).reduce((sum, count) => sum + count, 0)).toBe(listed.length);
        if (budget !== null) expect(end.this_start.units_charged).toBeLessThanOrEqual(budget);
      }
      expect(boughtTooSoon(sandbox.chargeLog)).toBeLessThanOrEqual(lost);
      const last = jsonOf<EndJson>(
        await kybatch(['run', 'in.csv', '--pipeline', './p.yaml', '--yes', '--json', '--export', '--out', 'tables']),
      );
      expect(last).toMatchObject({ finished: true, outcomes: { pending: 0, failed: 0 } });
      const companies = parse(readFileSync(join(cwd, 'tables', 'companies.csv')), { columns: true }) as {
        fetched_at: string;
      }[];
      expect(companies).toHaveLength(history.at(-1)?.listed.length ?? 0);
      for (const { fetched_at } of companies)
        expect(clock.now() - Date.parse(fetched_at)).toBeLessThanOrEqual(FRESH_DAYS * DAY);
      const members = parse(readFileSync(join(cwd, 'tables', 'members.csv')), { columns: true }) as { due: string }[];
      expect(members.filter(({ due }) => due === 'true')).toEqual([]);
    });
  });
  await fc.assert(property, { numRuns: RUNS, seed: 7 });
});

/** Charges for what had been bought less than its freshness before. */
function boughtTooSoon(
  charges: readonly { readonly operation: string; readonly at: number; readonly params: string }[],
): number {
  const last = new Map<string, number>();
  let tooSoon = 0;
  for (const { operation, at, params } of charges) {
    const key = `${operation} ${params}`;
    const fresh = (operation === 'fullKyb' ? FRESH_DAYS : 365) * DAY;
    if (at - (last.get(key) ?? Number.NEGATIVE_INFINITY) < fresh) tooSoon += 1;
    last.set(key, at);
  }
  return tooSoon;
}
