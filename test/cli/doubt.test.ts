import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { describe, expect, test } from 'vitest';
import { wrapped } from '../../src/cli/terminal/view.js';
import { expectGolden } from '../helpers/golden.js';
import { JumpingClock } from '../helpers/jumping-clock.js';
import { long } from '../helpers/long.js';
import { aRecord, type EndJson, type Job, jsonOf, type Said, withJob } from './here.js';

const RUN = ['run', 'in.csv', '--pipeline', './p.yaml', '--json', '--yes', '--concurrency', '1'];
const PARKS = { pipeline: ['stages: [record]', 'lost_answers: hold'] };

interface ListJson {
  readonly calls: readonly (Readonly<Record<string, unknown>> & { readonly call: number })[];
}

/** A night whose last record was lost. No later answer has the remaining units, so a person has to check. */
async function lostNight({ rows, writeCsv, kybatch, sandbox }: Job): Promise<EndJson & Pick<Said, 'textOf'>> {
  writeCsv('in.csv', rows.slice(0, 3));
  // The first of them is the check of the key.
  sandbox.script({ operation: 'fullKyb' }, ['none', 'none', 'none', 'lostAnswer']);
  const end = await kybatch(RUN);
  expect(end.code).toBe(3);
  return { ...jsonOf<EndJson>(end), textOf: end.textOf };
}

const listed = async ({ kybatch }: Job, ...args: string[]) =>
  jsonOf<ListJson>(await kybatch(['charges', 'list', ...args, '--json'])).calls;

/** The words of a suggested command, as a user would paste it. */
const paste = (command: string | undefined) => (command ?? '').split(' ').slice(1);

describe('charges', () => {
  long('a row that waits for a person names the command that lists its call, with the row and why', async () => {
    await withJob(PARKS, async (job) => {
      const end = await lostNight(job);
      expect(end).toMatchObject({ parked: { in_doubt: 1 }, next: 'kybatch charges' });
      // No lost call is repeated, so the limit holds.
      expect(end.textOf('RUN_STARTED')).toMatch(/: 3 .* 9 units\.$/);
      expect(end.textOf('DOUBT_NEXT')).toMatch(/ kybatch charges$/);
      const { stdout, textOf } = await job.kybatch(paste(end.next));
      expect(textOf('CHARGE_UNKNOWN')).toMatch(/^ +\d+ +3 .* fullKyb /);
      expect(await listed(job)).toMatchObject([{ operation: 'fullKyb', run: end.run, row: 3, holds_row: true }]);
      expect((await job.kybatch(['charges', 'list', end.run])).stdout).toBe(stdout);
    });
  });

  long('a call of a row that a later run took over still names the company', async () => {
    await withJob(PARKS, async (job) => {
      const { run } = await lostNight(job);
      job.writeCsv('in.csv', job.rows.slice(0, 5));
      const { run: later } = jsonOf<EndJson>(await job.kybatch(RUN));
      expect(later).not.toBe(run);
      const { name } = job.rows[2] ?? {};
      const [call] = await listed(job);
      expect(call).toMatchObject({ run: later, input: { name }, holds_row: true });
      // The earlier run does not ask, because the row and its call are in the later one.
      const before = await job.kybatch(['charges', 'charged', run, '--yes', '--json']);
      expect(jsonOf<object>(before)).toMatchObject({ calls: [], elsewhere: [{ run: later, calls: 1 }] });
      expect(before.textOf('CHARGES_ELSEWHERE')).toMatch(/kybatch charges charged \w{6}$/);
    });
  });

  long('the run that paid for a lost call keeps its cost, and only its calls table has the call', async () => {
    await withJob(PARKS, async (job) => {
      const { run } = await lostNight(job);
      const unitsOf = async (id: string) =>
        jsonOf<{ units_charged: number }>(await job.kybatch(['status', id, '--json'])).units_charged;
      const before = job.sandbox.chargeLog.length;
      job.writeCsv('in.csv', job.rows.slice(0, 5));
      const { run: later } = jsonOf<EndJson>(await job.kybatch(RUN));
      const [call] = await listed(job);
      await job.kybatch(['charges', 'charged', '--yes']);
      expect([await unitsOf(run), await unitsOf(later)]).toEqual([before, job.sandbox.chargeLog.length - before]);
      const tableHas = async (id: string) => {
        const out = `tables-${id}`;
        expect((await job.kybatch(['export', id, '--format', 'csv', '--out', out])).code).toBe(0);
        const calls: readonly Record<string, string>[] = parse(readFileSync(join(job.cwd, out, 'calls.csv')), {
          bom: true,
          columns: true,
        });
        return calls.some(({ call_id }) => call_id === String(call?.call));
      };
      expect([await tableHas(run), await tableHas(later)]).toEqual([true, false]);
    });
  });

  long('resend of a call whose row a later run took over lets the next run buy it, as announced', async () => {
    await withJob(PARKS, async (job) => {
      await lostNight(job);
      job.writeCsv('in.csv', job.rows.slice(0, 5));
      const { run } = jsonOf<EndJson>(await job.kybatch(RUN));
      const resent = await job.kybatch(['charges', 'resend', '--note', 'cheap', '--yes', '--json']);
      expect(resent.codes).toEqual(['CALLS_SENT_AGAIN', 'RESUME_NEXT']);
      expect(jsonOf<{ next: string[] }>(resent).next).toEqual([`kybatch resume ${run} --yes`]);
      expect(jsonOf<EndJson>(await job.kybatch(['status', '--json']))).toMatchObject({ parked: {} });
      const sent = job.sandbox.chargeLog.length;
      const night = await job.kybatch(RUN);
      expect(night.codes).not.toContain('ROWS_ON_HOLD');
      expect(night.textOf('RUN_RESUMED')).toMatch(/: 1 .* 1 unit\b/);
      expect(job.sandbox.chargeLog).toHaveLength(sent + 1);
    });
  });

  long('a row that waits for the call of another row is counted with it, and continues with it', async () => {
    await withJob(PARKS, async (job) => {
      const [first, second, third] = job.rows as [object, object, object];
      // A repeated company: the second row waits for the call of the first.
      job.writeCsv('in.csv', [first, second, third, { ...third, id: 'again', segment: 'another' }]);
      job.sandbox.script({ operation: 'fullKyb' }, ['none', 'none', 'none', 'lostAnswer']);
      const end = jsonOf<EndJson>(await job.kybatch(RUN));
      expect(end).toMatchObject({ parked: { in_doubt: 2 } });
      const shown = await job.kybatch(['charges', '--json']);
      expect(jsonOf<object>(shown)).toMatchObject({ rows_on_hold: 2, calls: [{ row: 3 }] });
      expect((await job.kybatch(['charges'])).textOf('CHARGES_UNKNOWN')).toMatch(/^2 .* 1 call .*\n1 of them /);
      await job.kybatch(['charges', 'free', '--yes']);
      expect(jsonOf<EndJson>(await job.kybatch(['status', '--json']))).toMatchObject({ parked: {} });
      const resumed = await job.kybatch(['resume', '--yes']);
      expect(resumed).toMatchObject({ code: 0 });
      expect(resumed.textOf('RUN_RESUMED')).toMatch(/: 2 rows /);
    });
  });

  long('a pipeline that asks again continues rows on hold, as the attempt announces with their cost', async () => {
    await withJob(PARKS, async (job) => {
      await lostNight(job);
      const held = await job.kybatch(['resume', '--yes']);
      expect(held.textOf('RUN_RESUMED')).toMatch(/: 1 .* none /);
      const plan = async (...more: string[]) =>
        jsonOf<{ v1_units: { at_most: number } }>(await job.kybatch(['plan', 'in.csv', '--json', ...more])).v1_units
          .at_most;
      expect(await plan('--pipeline', './p.yaml')).toBe(0);
      writeFileSync(join(job.cwd, 'q.yaml'), 'stages: [record]\nlost_answers: resend\n');
      expect(await plan('--pipeline', './q.yaml')).toBe(1);
      const sent = job.sandbox.chargeLog.length;
      const night = await job.kybatch(['run', 'in.csv', '--pipeline', './q.yaml', '--max-units', '5']);
      expect(night.textOf('RUN_STARTED') + night.textOf('RUN_RESUMED')).toMatch(/: 1 .* 1 unit\b/);
      expect(night.codes).not.toContain('ROWS_ON_HOLD');
      expect(job.sandbox.chargeLog).toHaveLength(sent + 1);
    });
  });

  long('free warns while the provider may still charge for a call', async () => {
    const clock = new JumpingClock();
    await withJob({ ...PARKS, clock }, async (job) => {
      await lostNight(job);
      const soon = await job.kybatch(['charges', 'free', '--yes', '--json']);
      expect(soon.codes).toContain('CALLS_RECENT');
      const { may_be_charged_until: until } = jsonOf<{ may_be_charged_until: string }>(soon);
      expect(Date.parse(until)).toBeGreaterThan(clock.now());
    });
    await withJob({ ...PARKS, clock }, async (job) => {
      await lostNight(job);
      clock.advance(31_000);
      const late = await job.kybatch(['charges', 'free', '--yes', '--json']);
      expect(late.codes).not.toContain('CALLS_RECENT');
      expect(jsonOf<object>(late)).not.toHaveProperty('may_be_charged_until');
    });
  });

  long('resend lets the row continue: the next attempt sends again, and the charge stays unknown', async () => {
    await withJob(PARKS, async (job) => {
      const end = await lostNight(job);
      // Without a decision of a person it stays parked, however often it is tried.
      for (const again of [['resume', '--yes'], RUN]) {
        const { code, textOf } = await job.kybatch(again);
        expect(code).toBe(3);
        expect(textOf('ROWS_ON_HOLD')).toMatch(/^1 .*`kybatch charges`/);
      }
      const sent = job.sandbox.chargeLog.length;
      expect((await job.kybatch(['charges', 'resend'])).code).toBe(2);
      const resent = await job.kybatch(['charges', 'resend', '--reason', 'cheap', '--by', 'ann', '--yes', '--json']);
      expect(resent.code).toBe(0);
      const { next } = jsonOf<{ next: string[] }>(resent);
      expect(next).toEqual([`kybatch resume ${end.run} --yes`]);
      expect(job.sandbox.chargeLog).toHaveLength(sent);
      expect(await listed(job)).toMatchObject([{ holds_row: false, note: expect.stringMatching(/ ann, .*: cheap$/) }]);
      const on = await job.kybatch(paste(next[0]));
      expect(on.code).toBe(0);
      expect(on.textOf('RUN_RESUMED')).toMatch(/: 1 .* 1 unit\b/);
      expect(job.sandbox.chargeLog).toHaveLength(sent + 1);
    });
  });

  long('resend reports that no attempt sends the call again', async () => {
    await withJob({ pipeline: ['stages: [financials]'] }, async (job) => {
      job.writeCsv('in.csv', job.rows.slice(0, 1));
      job.sandbox.script({ operation: 'financial' }, [500]);
      expect((await job.kybatch(RUN)).code).toBe(0);
      const { textOf } = await job.kybatch(['charges']);
      expect(textOf('CHARGE_UNKNOWN')).toMatch(/ financial .* 500 SERVER_FAILURE$/);
      expect(textOf('CHARGES_UNKNOWN')).toMatch(/^1 /);
      expect((await listed(job))[0]).toMatchObject({ holds_row: false, sent_again_by: 'nothing' });
      const { codes } = await job.kybatch(['charges', 'resend', '--yes']);
      expect(codes).toEqual(['REASON_MISSING', 'CALLS_SETTLED_SINCE']);
    });
  });

  long('resend counts calls to send and answered calls apart', async () => {
    await withJob({ pipeline: ['stages: [financials, record]', 'lost_answers: hold'] }, async (job) => {
      job.writeCsv('in.csv', job.rows.slice(0, 2));
      job.sandbox.script({ operation: 'financial' }, [500]);
      job.sandbox.script({ operation: 'fullKyb' }, ['none', 'none', 'lostAnswer']);
      expect((await job.kybatch(RUN)).code).toBe(3);
      const asked: string[] = [];
      const answers = (question: string) => {
        asked.push(question);
        return 'y';
      };
      const resent = await job.kybatch(['charges', 'resend', '--note', 'cheap'], { answers });
      expect(asked).toHaveLength(1);
      await expectGolden('charges-resend', [['one call to send, one answered', wrapped(asked.join('\n'), 80)]]);
      expect(resent.codes).toEqual(['CHARGES_UNKNOWN', 'CALLS_SENT_AGAIN', 'RESUME_NEXT', 'CALLS_SETTLED_SINCE']);
      for (const code of ['CALLS_SENT_AGAIN', 'CALLS_SETTLED_SINCE']) expect(resent.textOf(code)).toMatch(/^1 /);
    });
  });

  long('after a decision, charges and status name one command, with the attempt’s limit and tables', async () => {
    await withJob(PARKS, async (job) => {
      job.writeCsv('in.csv', job.rows.slice(0, 3));
      job.sandbox.script({ operation: 'fullKyb' }, ['none', 'lostAnswer']);
      const spent = await job.kybatch([...RUN, '--max-units', '2', '--out', 'tables']);
      expect(spent.code).toBe(4);
      expect(jsonOf<EndJson>(spent).parked).toMatchObject({ in_doubt: 1, budget: 2 });
      expect(spent.codes).toContain('UNKNOWN_CHARGES_COUNT');
      expect((await job.kybatch(['status'])).codes).toContain('UNKNOWN_CHARGES_COUNT');
      const { next } = jsonOf<{ next: string[] }>(await job.kybatch(['charges', 'resend', '--yes', '--json']));
      const status = jsonOf<EndJson>(await job.kybatch(['status', '--json'])).next;
      expect(status).toMatch(/ --max-units 2 --out \S+\/tables --yes$/);
      expect(next).toEqual([status]);
    });
  });

  test('a call that the next attempt sends again does not wait for a person', async () => {
    await withJob({ pipeline: ['stages: [record]', 'patience: 0'] }, async (job) => {
      job.writeCsv('in.csv', job.rows.slice(0, 1));
      job.sandbox.script(aRecord, Array(9).fill('lostAnswer'));
      expect((await job.kybatch(RUN)).code).toBe(6);
      const calls = await listed(job);
      expect(calls.map((call) => [call.holds_row, call.sent_again_by])).toEqual([
        [false, 'next_start'],
        [false, 'next_start'],
      ]);
      const shown = await job.kybatch(['charges']);
      expect(shown.codes.filter((code) => code === 'CHARGE_UNKNOWN')).toHaveLength(2);
      expect(shown.textOf('CHARGES_UNKNOWN')).toMatch(/^2 /);
      const { next } = jsonOf<{ next: string[] }>(await job.kybatch(['charges', 'resend', '--yes', '--json']));
      expect(next).toHaveLength(1);
    });
  });

  long.each([
    ['charged', 1],
    ['free', 0],
  ] as const)('%s records the charge, and the row continues', async (verdict, units) => {
    await withJob(PARKS, async (job) => {
      const end = await lostNight(job);
      const [call] = await listed(job, end.run);
      const before = jsonOf<{ units_charged: number }>(await job.kybatch(['status', '--json'])).units_charged;
      const settled = await job.kybatch(['charges', verdict, String(call?.call), '--yes', '--json']);
      expect(jsonOf<object>(settled)).toMatchObject({ verdict, calls: [call?.call] });
      expect(await listed(job)).toEqual([]);
      const after = jsonOf<{ units_charged: number; parked: object }>(await job.kybatch(['status', '--json']));
      expect(after).toMatchObject({ units_charged: before + units, parked: {} });
      expect(await job.kybatch(['resume', '--yes'])).toMatchObject({ code: 0 });
    });
  });

  long('on a terminal it shows the calls and asks, and a no changes nothing', async () => {
    await withJob(PARKS, async (job) => {
      await lostNight(job);
      const asked: string[] = [];
      const answers = (question: string) => {
        asked.push(question);
        return 'n';
      };
      const { code, codes, textOf } = await job.kybatch(['charges', 'charged'], { answers });
      expect(code).toBe(130);
      expect(codes).toEqual(['CHARGES_UNKNOWN', 'NOT_AGREED']);
      expect(textOf('CHARGES_UNKNOWN')).toContain(' fullKyb ');
      expect(asked).toEqual([expect.stringMatching(/ 1 .* charged\b.* \[y\/N\] $/)]);
      expect(await listed(job)).toHaveLength(1);
    });
  });

  test('an unknown call is refused, and the lack of open calls is no error', async () => {
    await withJob(PARKS, async (job) => {
      await lostNight(job);
      expect(await job.kybatch(['charges', 'free', '99', '--yes'])).toMatchObject({
        code: 2,
        codes: ['CHARGE_NOT_UNKNOWN'],
      });
      expect((await job.kybatch(['charges', 'list', '2026-01-01-none'])).code).toBe(2);
      await job.kybatch(['charges', 'free', '--yes']);
      expect(await job.kybatch(['charges', 'free', '--yes'])).toMatchObject({
        code: 0,
        codes: ['EVERY_CHARGE_KNOWN', 'CHARGES_CORRECT'],
      });
    });
  });
});

describe('a recorded charge', { tags: 'long' }, () => {
  const unitsOf = async ({ kybatch }: Job) =>
    jsonOf<{ units_charged: number }>(await kybatch(['status', '--json'])).units_charged;

  test('can be replaced: the last one counts, and all are kept with time and reason', async () => {
    await withJob(PARKS, async (job) => {
      const { run } = await lostNight(job);
      const [call] = await listed(job);
      const id = String(call?.call);
      const before = await unitsOf(job);
      const say = (verdict: string, note: string, by: string) =>
        job.kybatch(['charges', verdict, id, '--note', note, '--by', by, '--yes']);
      const booked = await say('charged', 'on the invoice', 'ann');
      expect(booked.code).toBe(0);
      expect(await unitsOf(job)).toBe(before + 1);
      // The command that it names corrects it.
      const correct = paste(/kybatch .*/.exec(booked.textOf('CHARGES_CORRECT'))?.[0]);
      expect(correct).toEqual(['charges', 'free', id, '--yes']);
      expect((await job.kybatch([...correct, '--note', 'credited since', '--by', 'bob'])).code).toBe(0);
      expect(await unitsOf(job)).toBe(before);
      expect((await say('charged', 'no, it was not', 'ann')).code).toBe(0);
      expect(await unitsOf(job)).toBe(before + 1);
      expect(await listed(job)).toEqual([]);
      const every = / ann, .*Z: no, it was not; .* bob, .*: credited since; .* ann, .*: on the invoice$/;
      expect(await listed(job, '--settled')).toMatchObject([
        { call: call?.call, charge: 'charged', note: expect.stringMatching(every) },
      ]);
      // Not by accident: only a named call is settled again.
      expect((await job.kybatch(['charges', 'free', run, '--yes'])).codes).toContain('EVERY_CHARGE_KNOWN');
      expect((await job.kybatch(['charges', 'resend', id, '--yes'])).code).toBe(2);
    });
  });

  test('that contradicts the remaining units is kept with a warning', async () => {
    await withJob(PARKS, async (job) => {
      const { rows, writeCsv, kybatch, sandbox } = job;
      writeCsv('in.csv', rows.slice(0, 2));
      // One of them was charged, and the other never reached the provider. kybatch does not know which.
      sandbox.script({ operation: 'fullKyb' }, ['none', 'lostAnswer', 'resetBefore']);
      expect((await kybatch(RUN)).code).toBe(3);
      writeCsv('other.csv', rows.slice(4, 5));
      await kybatch(['run', 'other.csv', ...RUN.slice(2)]);
      const calls = await listed(job);
      expect(calls).toHaveLength(2);
      const free = await kybatch(['charges', 'free', '--yes', '--json']);
      expect(free.code).toBe(0);
      expect(free.codes).toEqual(expect.arrayContaining(['COUNT_DISAGREES', 'REASON_MISSING']));
      // The calls, the provider's count before and after, the units that it leaves for them.
      expect(free.textOf('COUNT_DISAGREES')).toMatch(/ \d+, \d+:\n.* [\d,]+ .* [\d,]+, .* 1 .*\n.* 1 .* 2 /);
      expect(jsonOf<object>(free)).toMatchObject({ contradictions: [{ missing_units: 1, other_calls_in_doubt: 0 }] });
      // Each keeps its remark in brackets.
      for (const { note } of await listed(job, '--settled')) expect(note).toMatch(/ \(against the remaining units\)$/);
      // According to the units, one was charged and one was free.
      const right = await kybatch(['charges', 'charged', String(calls[0]?.call), '--yes']);
      expect(right.codes).not.toContain('COUNT_DISAGREES');
    });
  });

  test('on a terminal is asked for its reason', async () => {
    await withJob(PARKS, async (job) => {
      await lostNight(job);
      // The reason is asked for without a choice.
      const answers = (question: string) => (question.includes('[y/N]') ? 'y' : 'on the invoice');
      expect((await job.kybatch(['charges', 'charged'], { answers })).code).toBe(0);
      expect(await listed(job, '--settled')).toMatchObject([{ note: expect.stringMatching(/: on the invoice$/) }]);
    });
  });
});

describe('X-4 a lost call does not block', { tags: 'long' }, () => {
  test('nightly sends cheap calls again, and ends well', async () => {
    await withJob({}, async ({ rows, writeCsv, kybatch, sandbox }) => {
      writeCsv('in.csv', rows.slice(0, 2));
      sandbox.script({ operation: 'searchKyb' }, ['none', 'lostAnswer']);
      sandbox.script({ operation: 'fullKyb' }, ['none', 'none', 'lostAnswer']);
      const night = await kybatch(['run', 'in.csv', '--pipeline', 'nightly', '--yes', '--json', '--no-export']);
      expect(night.code).toBe(0);
      expect(jsonOf<EndJson>(night)).toMatchObject({ outcomes: { complete: 2 }, finished: true });
    });
  });

  test('retry tries the failed rows, and leaves rows that wait for a person unchanged', async () => {
    await withJob(PARKS, async (job) => {
      const { rows, writeCsv, kybatch, sandbox } = job;
      writeCsv('in.csv', rows.slice(0, 4));
      sandbox.script({ operation: 'fullKyb' }, ['none', 400, 'none', 'none', 'lostAnswer']);
      const end = jsonOf<EndJson>(await kybatch(RUN));
      expect(end).toMatchObject({ outcomes: { complete: 2, failed: 1, pending: 1 }, parked: { in_doubt: 1 } });
      const paid = sandbox.chargeLog.length;
      const retried = jsonOf<EndJson>(await kybatch(['resume', '--failed', '--yes', '--json']));
      expect(retried).toMatchObject({ outcomes: { complete: 3, failed: 0, pending: 1 } });
      expect(sandbox.chargeLog).toHaveLength(paid + 1);
      // The counter shows that the lost call was charged. Its row is not bought again before a person allows it.
      expect(retried).toMatchObject({ run: end.run, parked: { in_doubt: 1 }, next: 'kybatch charges' });
      expect((await kybatch(['resume', '--yes'])).code).toBe(3);
      expect(sandbox.chargeLog).toHaveLength(paid + 1);
      expect(await listed(job)).toMatchObject([{ charge: 'charged', holds_row: true }]);
      const { troubles } = jsonOf<{ troubles: object[] }>(await kybatch(['status', '--check', '--json']));
      expect(troubles).toMatchObject([{ kind: 'in_doubt', count: 0, to_decide: 0, paid_in_vain: 1 }]);
      // Its charge is known, so `charged` releases nothing.
      const [{ call }] = (await listed(job)) as [{ call: number }];
      for (const which of [[], [String(call)]]) {
        await kybatch(['charges', 'charged', ...which, '--yes']);
        expect(await listed(job)).toMatchObject([{ charge: 'charged', holds_row: true }]);
      }
      await kybatch(['charges', 'resend', '--yes']);
      expect((await kybatch(['resume', '--yes'])).code).toBe(0);
      expect(sandbox.chargeLog).toHaveLength(paid + 2);
    });
  });

  test('another file with the company continues after one decision', async () => {
    await withJob(PARKS, async (job) => {
      await lostNight(job);
      job.writeCsv('in.csv', [{ ...job.rows[2], segment: 'another' }]);
      const other = jsonOf<EndJson>(await job.kybatch(RUN));
      expect(other).toMatchObject({ parked: { in_doubt: 1 }, outcomes: { pending: 1 } });
      const { next } = jsonOf<{ next: string[] }>(await job.kybatch(['charges', 'resend', '--yes', '--json']));
      expect(next).toContain(`kybatch resume ${other.run} --yes`);
      for (const command of next) expect((await job.kybatch([...paste(command), '--yes'])).code).toBe(0);
    });
  });
});
