/** @module-tag long */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { JumpingClock } from '../helpers/jumping-clock.js';
import { type EndJson, jsonOf, withJob } from './here.js';

interface PlanJson {
  readonly v1_units: { readonly at_least: number; readonly likely: number; readonly at_most: number };
  readonly due: Readonly<Record<string, number>>;
}

const PIPELINE = ['stages: [record]', 'freshness: {searchKyb: 30d, fullKyb: 10d}'];
const DAY = 86_400_000;

test('a plan matches the cost of the run: new, unfinished, finished, stale, --rebuy, another pipeline', async () => {
  const clock = new JumpingClock();
  await withJob({ clock, pipeline: PIPELINE }, async ({ rows, writeCsv, kybatch, sandbox, cwd }) => {
    const both = async (pipeline: string, ...flags: readonly string[]) => {
      const job = ['in.csv', '--pipeline', pipeline, ...flags.filter((flag) => flag !== '--max-units' && flag !== '4')];
      const { v1_units: units, due } = jsonOf<PlanJson>(await kybatch(['plan', ...job, '--json']));
      const before = sandbox.chargeLog.length;
      const end = await kybatch(['run', 'in.csv', '--pipeline', pipeline, ...flags, '--yes', '--json']);
      const spent = jsonOf<EndJson>(end).this_start.units_charged;
      expect(sandbox.chargeLog.length - before).toBe(spent);
      return { units, due, spent, code: end.code };
    };
    writeCsv('in.csv', rows.slice(0, 3));
    const begun = await both('./p.yaml', '--max-units', '4');
    expect(begun).toMatchObject({ units: { likely: 6 }, spent: 4, code: 4 });
    const goesOn = await both('./p.yaml');
    expect(goesOn).toMatchObject({ units: { likely: 2 }, spent: 2, due: { unfinished: expect.any(Number) } });
    const finished = await both('./p.yaml');
    expect(finished).toMatchObject({ units: { at_least: 0, likely: 0, at_most: 0 }, spent: 0, due: {} });
    const upToDate = await kybatch(['plan', 'in.csv', '--pipeline', './p.yaml']);
    expect(upToDate.codes).toContain('UP_TO_DATE');
    expect(upToDate.textOf('COST')).toMatch(/ nothing$/);

    clock.advance(11 * DAY);
    expect((await kybatch(['plan', 'in.csv', '--pipeline', './p.yaml'])).textOf('DUE')).toMatch(/: 3 stale$/);
    expect(await both('./p.yaml')).toMatchObject({ units: { likely: 3, at_most: 3 }, spent: 3, due: { stale: 3 } });
    // An answer that was bought at this moment is not older than the run.
    clock.advance(DAY);
    expect(await both('./p.yaml', '--rebuy')).toMatchObject({ units: { likely: 6 }, spent: 6, due: { asked: 3 } });
    writeFileSync(join(cwd, 'other.yaml'), 'stages: [profile]\n');
    const other = await both('./other.yaml');
    expect(other.spent).toBeGreaterThanOrEqual(other.units.at_least);
    expect(other.spent).toBeLessThanOrEqual(other.units.at_most);
  });
});
