/** @module-tag long */
import { expect, test } from 'vitest';
import { JumpingClock } from '../helpers/jumping-clock.js';
import { type EndJson, jsonOf, withJob } from './here.js';

const DAY = 86_400_000;
const FIVE_YEARS = 5 * 365 * DAY;
// The guard `clock` would refuse such nights. These tests cover ledgers of nights without it.
const RUN = ['run', 'in.csv', '--pipeline', './p.yaml', '--yes', '--accept', 'clock'];
const CHECK = ['status', '--check', '--max-age', '26h'];
const PIPELINE = ['stages: [record]', 'freshness: {fullKyb: 30d, searchKyb: 90d}'];

const unitsOf = (finished: Parameters<typeof jsonOf>[0]) => jsonOf<EndJson>(finished).this_start.units_charged;

test('after a run with a clock far ahead nothing is bought again, and the way out is named', async () => {
  const clock = new JumpingClock();
  await withJob({ clock, pipeline: PIPELINE }, async ({ rows, writeCsv, kybatch }) => {
    writeCsv('in.csv', rows.slice(0, 2));
    const ahead = new JumpingClock(clock.now() + FIVE_YEARS);
    expect(unitsOf(await kybatch([...RUN, '--json'], { clock: ahead }))).toBe(4);
    const seen = await kybatch([...CHECK, '--json']);
    expect(seen.code).toBe(3);
    expect(jsonOf<object>(seen)).toMatchObject({ troubles: [{ kind: 'clock' }] });
    expect((await kybatch(['doctor'])).codes).toContain('CLOCK_NOTE');
    clock.advance(DAY);
    expect((await kybatch(RUN)).codes).toContain('NOTHING_DUE');
    expect(unitsOf(await kybatch([...RUN, '--rebuy', '--json']))).toBe(4);
    expect((await kybatch(['doctor'])).codes).not.toContain('CLOCK_NOTE');
    expect((await kybatch(RUN)).codes).toContain('NOTHING_DUE');
    // The last run is the one that began last, independent of its date.
    const last = new Date(clock.now()).toISOString().slice(0, 10);
    expect((await kybatch(['status'])).textOf('RUN_STATE')).toContain(` ${last}-`);
  });
});

test('an attempt that is refused for a clock ahead records no time that causes an alarm', async () => {
  const clock = new JumpingClock();
  await withJob({ clock, pipeline: PIPELINE }, async ({ rows, writeCsv, kybatch }) => {
    writeCsv('in.csv', rows.slice(0, 1));
    await kybatch(RUN);
    writeCsv('in.csv', rows.slice(0, 2));
    const guarded = RUN.slice(0, -2);
    const ahead = new JumpingClock(clock.now() + 2 * DAY);
    expect((await kybatch(guarded, { clock: ahead })).codes).toContain('CLOCK');
    expect((await kybatch(['resume', '--yes'])).code).toBe(0);
    expect((await kybatch(CHECK)).code).toBe(0);
  });
});

test('a run with a clock far behind buys nothing, and makes no answer older', async () => {
  const clock = new JumpingClock();
  await withJob({ clock, pipeline: PIPELINE }, async ({ rows, writeCsv, kybatch }) => {
    writeCsv('in.csv', rows.slice(0, 2));
    await kybatch(RUN);
    const behind = new JumpingClock(clock.now() - FIVE_YEARS);
    const night = await kybatch(RUN, { clock: behind });
    expect(night.codes).toContain('NOTHING_DUE');
    expect((await kybatch(CHECK, { clock: behind })).code).toBe(3);
    clock.advance(DAY);
    const right = await kybatch(RUN);
    expect(right.codes).toContain('NOTHING_DUE');
    expect((await kybatch(CHECK)).code).toBe(0);
    clock.advance(30 * DAY);
    expect(unitsOf(await kybatch([...RUN, '--json']))).toBe(2);
  });
});

test('a clock that was ahead and then behind buys nothing twice', async () => {
  const clock = new JumpingClock();
  await withJob({ clock, pipeline: PIPELINE }, async ({ rows, writeCsv, kybatch }) => {
    writeCsv('in.csv', rows.slice(0, 1));
    await kybatch(RUN);
    writeCsv('in.csv', rows.slice(0, 2));
    await kybatch(RUN, { clock: new JumpingClock(clock.now() + FIVE_YEARS) });
    await kybatch(RUN, { clock: new JumpingClock(clock.now() - FIVE_YEARS) });
    clock.advance(DAY);
    const right = await kybatch(RUN);
    expect(right.codes).toContain('NOTHING_DUE');
  });
});

test('a clock that is set back by some hours is not reported', async () => {
  const clock = new JumpingClock();
  await withJob({ clock, pipeline: PIPELINE }, async ({ rows, writeCsv, kybatch }) => {
    writeCsv('in.csv', rows.slice(0, 1));
    await kybatch(RUN);
    const back = new JumpingClock(clock.now() - DAY / 2);
    const night = await kybatch(RUN, { clock: back });
    expect(night.codes).toContain('NOTHING_DUE');
    expect((await kybatch(CHECK, { clock: back })).code).toBe(0);
  });
});

test('a run begun by a clock ahead continues without paying twice', async () => {
  const clock = new JumpingClock();
  await withJob({ clock, pipeline: PIPELINE }, async ({ rows, writeCsv, kybatch }) => {
    writeCsv('in.csv', rows.slice(0, 2));
    await kybatch(RUN);
    const ahead = new JumpingClock(clock.now() + FIVE_YEARS);
    const stopped = await kybatch([...RUN, '--rebuy', '--max-units', '3', '--concurrency', '1'], { clock: ahead });
    expect(stopped.code).toBe(4);
    clock.advance(DAY);
    const rest = await kybatch(['resume', '--max-units', '1', '--json']);
    expect([rest.code, unitsOf(rest)]).toEqual([0, 1]);
  });
});
