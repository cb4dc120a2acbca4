import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { SpendingEvent, StartedEvent } from '../../src/app/run/spending.js';
import { ProgressDisplay } from '../../src/cli/terminal/progress.js';
import { shellWord } from '../../src/cli/terminal/text.js';
import { ROW_OUTCOMES } from '../../src/domain/outcomes.js';
import { writeSampleFiles } from '../../src/sandbox/sample.js';
import { ManualClock } from '../../src/util/clock.js';
import { durationInWords } from '../../src/util/words.js';
import { long } from '../helpers/long.js';
import { type EndJson, jsonOf, withJob } from './here.js';
import { terminalOf } from './terminal/terminal-of.js';

const RUN = ['run', 'in.csv', '--pipeline', './p.yaml'];

/** The number of rows for each reason. */
type Reasons = Readonly<
  Record<'repairs' | 'to_person_reasons' | 'need_name_reasons', Readonly<Record<string, number>>>
>;

describe('on a terminal', { tags: 'long' }, () => {
  test('run shows the plan and asks: a no spends nothing, and a yes runs with a bar', async () => {
    await withJob({}, async ({ rows, writeCsv, kybatch, sandbox }) => {
      writeCsv('in.csv', rows.slice(0, 3));
      const questions: string[] = [];
      const no = await kybatch(RUN, {
        answers: (question) => {
          questions.push(question);
          return '';
        },
      });
      expect(no).toMatchObject({ code: 130, codes: expect.arrayContaining(['DECLINED']) });
      expect(no.textOf('PLAN')).toMatch(/ 3 rows /);
      expect(no.textOf('WORK')).toMatch(/^ +3 .*$/m);
      expect(questions).toEqual([expect.stringMatching(/ 9 units\? \[y\/N\] $/)]);
      expect(sandbox.requestLog).toEqual([]);
      const yes = await kybatch(RUN, { answers: () => 'y' });
      expect(yes.code).toBe(0);
      expect(yes.stderr).toContain('█');
      expect(sandbox.chargeLog).toHaveLength(6);
    });
  });
});

describe('plan', { tags: 'long' }, () => {
  test('sends nothing, and shows invalid rows, repairs, stored answers and the cost', async () => {
    await withJob({}, async ({ rows, writeCsv, kybatch, sandbox }) => {
      const british = rows.find(({ country }) => country === 'GB');
      writeCsv('in.csv', [
        rows[0] ?? {},
        {
          ...british,
          id: 'spaced',
          registration_number: `${british?.registration_number.slice(0, 3)} ${british?.registration_number.slice(3)}`,
        },
        { ...rows[1], country: 'Atlantis' },
        { ...rows[2], registration_number: '', vat_number: '' },
        { ...rows[0], id: 'twice' },
      ]);
      const plan = await kybatch(['plan', 'in.csv', '--pipeline', './p.yaml']);
      expect(plan.code).toBe(0);
      expect(plan.textOf('PLAN')).toMatch(/ 5 /);
      expect(plan.textOf('ROW_INVALID')).toMatch(/ 1 .*"Atlantis".* \(line 4\)$/);
      const json = jsonOf<Reasons>(await kybatch(['plan', 'in.csv', '--pipeline', './p.yaml', '--json']));
      expect(json).toMatchObject({
        repaired: 1,
        to_person: 1,
        after_review: { v1_units: 2, credit_reports: 0 },
        repeated: 1,
        to_search: 3,
        v1_units: { at_least: 3, likely: 5 },
        allowance: null,
      });
      expect([json.repairs, json.to_person_reasons].map(Object.values)).toEqual([[1], [1]]);
      expect(sandbox.requestLog).toEqual([]);
      await kybatch([...RUN, '--yes']);
      const after = jsonOf<object>(await kybatch(['plan', 'in.csv', '--pipeline', './p.yaml', '--json']));
      expect(after).toMatchObject({ owned: 4, to_search: 0, to_buy: 0, v1_units: { at_least: 0, at_most: 0 } });
      expect(after).toMatchObject({ allowance: { units_left: 999_995, daily_limit: null } });
    });
  });
});

long('plan has a reason for every number that counts only with a name, repaired or not', async () => {
  await withJob({}, async ({ rows, writeCsv, kybatch }) => {
    const named = { ...rows[0], vat_number: '' };
    writeCsv('in.csv', [
      { ...named, country: 'US', registration_number: '0123456' },
      { ...named, country: 'GB', registration_number: '123456' },
      { ...named, country: 'GB', registration_number: '234567' },
    ]);
    const plan = jsonOf<Reasons>(await kybatch(['plan', 'in.csv', '--pipeline', './p.yaml', '--json']));
    expect(plan).toMatchObject({ repaired: 0, need_name: 3 });
    expect(Object.values(plan.need_name_reasons).toSorted()).toEqual([1, 2]);
  });
});

describe('plan, compared with the run', { tags: 'long' }, () => {
  test('a dirty file costs an amount between the two bounds, and then nothing is left to buy', async () => {
    await withJob({}, async ({ cwd, kybatch, sandbox }) => {
      await writeSampleFiles({ registry: sandbox.registry, rows: 60, dirty: true, out: join(cwd, 'in.csv') });
      const planned = async () =>
        jsonOf<{ v1_units: Record<'at_least' | 'at_most', number>; to_search: number }>(
          await kybatch(['plan', 'in.csv', '--pipeline', './p.yaml', '--json']),
        );
      const { v1_units: bounds } = await planned();
      const { units_charged } = jsonOf<EndJson>(await kybatch([...RUN, '--yes', '--json']));
      expect(units_charged).toBeGreaterThanOrEqual(bounds.at_least);
      expect(units_charged).toBeLessThanOrEqual(bounds.at_most);
      expect((await planned()).to_search).toBe(0);
    });
  });
});

describe('progress without a terminal', () => {
  test('a plain line every 30 s: rows, rate, units spent and left, reports awaited, failures, remaining time', async () => {
    const clock = new ManualClock();
    const { io, printed } = terminalOf({ clock, interactive: false });
    const display = new ProgressDisplay(started({ pending: 90, complete: 10 }), io);
    for (let row = 11; row <= 40; row++) display.listen(settled(row, { outcome: 'complete', hold: null }));
    display.listen(settled(41, { outcome: 'failed', hold: null }));
    display.listen(settled(42, { outcome: 'pending', hold: 'waiting' }));
    display.listen(paid('unit', { unitsCharged: 1, remainingUnits: 899 }));
    display.listen(paid('report', { charge: 'charged', unitsCharged: null, remainingUnits: null }));
    clock.advance(29_999);
    await Promise.resolve();
    expect(io.said).toEqual([]);
    clock.advance(1);
    await new Promise(setImmediate);
    expect(io.said).toEqual(['PROGRESS']);
    // Rows done and all, rows a second, units spent and left, reports bought and awaited, failures, seconds left.
    expect(printed().match(/[\d.]+/g)).toEqual(['41', '100', '1.0', '21', '899', '1', '1', '1', '57']);
    await display.stop();
  });
});

test('the line shows how long a lost report is searched for, and the remaining time', async () => {
  const clock = new ManualClock('2026-03-01T10:00:00Z');
  const { io } = terminalOf({ clock, interactive: false });
  const display = new ProgressDisplay(started({ pending: 10, complete: 90 }), io);
  const lookUntil = clock.now() + 900_000;
  for (let row = 91; row <= 98; row++) display.listen(settled(row, { outcome: 'complete', hold: null }));
  display.listen(settled(99, { outcome: 'pending', hold: 'waiting', lookUntil }));
  display.listen(settled(100, { outcome: 'pending', hold: 'parked' }));
  // The remaining time is the last part, after the rows on hold.
  const toGo = () => / UTC, 1 [^,]*, \D*(\d.*? s)\b/.exec(display.line())?.[1];
  clock.advance(60_000);
  expect(display.line()).toMatch(/ 1 [^,]*, [^,]* 2026-03-01 10:15 UTC, 1 /);
  expect(toGo()).toBe('14 min 0 s');
  clock.advance(600_000);
  expect(toGo()).toBe('4 min 0 s');
  clock.advance(600_000);
  expect(toGo()).toBeUndefined();
  await display.stop();
});

test('the line shows that tables are being written', async () => {
  const { io } = terminalOf({ clock: new ManualClock('2026-03-01T10:00:00Z'), interactive: false });
  const display = new ProgressDisplay(started({ pending: 0, complete: 100 }), io);
  const before = display.line();
  display.listen({ kind: 'writing_tables' });
  expect(display.line()).toMatch(new RegExp(`^[^,]+, ${before}$`));
  await display.stop();
  expect(display.line()).toBe(before);
});

test('a delayed row is shown until its call is repeated, and several rows share one line', async () => {
  const clock = new ManualClock('2026-03-01T10:00:00Z');
  const { io } = terminalOf({ clock, interactive: false });
  const display = new ProgressDisplay(started({ pending: 10, complete: 90 }), io);
  const putOff = (row: number, waitMs: number): SpendingEvent => {
    const at = clock.now();
    const what = { api: 'v1', operation: 'searchKyb', code: 'HTTP_429', attempt: 2 } as const;
    return { kind: 'retry', ...what, row, at, waitMs, givesUpAt: at + 3_600_000 };
  };
  display.listen(putOff(90, 4_999));
  expect(io.said).toEqual([]);
  display.listen(putOff(91, 90_000));
  display.listen(putOff(92, 60_000));
  expect(io.said).toEqual(['ROW_DELAYED']);
  clock.advance(20_000);
  expect(display.line()).toMatch(/^\w+ 92 \D+ 1 .* v1 searchKyb \(HTTP_429\), .* 40 s, 90 of 100/);
  display.listen(settled(92, { outcome: 'complete', hold: null }));
  expect(display.line()).toMatch(/^\w+ 91 \D+ v1 searchKyb \(HTTP_429\), .* 1 min 10 s, 91 of 100/);
  display.listen({
    kind: 'outage',
    api: 'v1',
    operation: 'searchKyb',
    code: 'X',
    since: 0,
    nextTryAt: 0,
    givesUpAt: 0,
  });
  expect(display.line()).not.toMatch(/HTTP_429/);
  await display.stop();
});

const started = (counts: Partial<StartedEvent['outcomes']>): StartedEvent => ({
  kind: 'started',
  run: 'r',
  rows: 100,
  outcomes: {
    ...(Object.fromEntries(ROW_OUTCOMES.map((outcome) => [outcome, 0])) as StartedEvent['outcomes']),
    ...counts,
  },
  toGo: 90,
  inDoubt: 0,
  unitsCharged: 20,
  goesOn: true,
  fresh: false,
  atMost: { units: 270, reports: 0, v2Calls: 0, calls: {}, reveals: { email: 0, phone: 0 }, held: 0 },
  asksV1: true,
  moreIfLost: false,
  reportsUnbound: false,
  hasSameLimits: false,
  limits: { units: null, reports: null },
});

type Event<Kind extends SpendingEvent['kind']> = Extract<SpendingEvent, { readonly kind: Kind }>;

const settled = (row: number, checkpoint: Partial<Event<'row_settled'>['checkpoint']>) =>
  ({ kind: 'row_settled', row, checkpoint }) as Event<'row_settled'>;

const paid = (meter: string, settlement: Partial<Event<'call_settled'>['settlement']>) =>
  ({ kind: 'call_settled', intent: { meter }, settlement }) as Event<'call_settled'>;

test.each([
  [900, '1 s'],
  [61_000, '1 min 1 s'],
  [3_700_000, '1 h 1 min'],
  [90_000_000, '1 d 1 h'],
])('%i ms reads %s', (ms, words) => expect(durationInWords(ms)).toBe(words));

test('a word of a command can be pasted into a shell', () => {
  expect(shellWord('/a/b-1.csv')).toBe('/a/b-1.csv');
  expect(shellWord("it's here")).toBe(`'it'\\''s here'`);
});
