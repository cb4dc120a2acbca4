import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ManualClock } from '../../src/util/clock.js';
import { shortRun } from '../../src/util/words.js';
import { long } from '../helpers/long.js';
import { aRecord, type EndJson, jsonOf, rowsCounted, withJob } from './here.js';

const RUN = ['run', 'in.csv', '--pipeline', './p.yaml', '--json'];

describe('how a run ends', () => {
  long('0: every row finished, and a second run of the input spends nothing and needs no consent', async () => {
    await withJob({}, async ({ rows, writeCsv, kybatch, sandbox }) => {
      writeCsv('in.csv', rows.slice(0, 4));
      const first = await kybatch([...RUN, '--yes']);
      expect(first.code).toBe(0);
      expect(jsonOf<EndJson>(first)).toMatchObject({ rows: 4, outcomes: { complete: 4 }, units_charged: 8 });
      expect(rowsCounted(first)).toEqual([4, 4]);
      const charged = sandbox.chargeLog.length;
      const again = await kybatch(RUN);
      expect(again).toMatchObject({ code: 0, codes: expect.arrayContaining(['NOTHING_DUE']) });
      expect(sandbox.chargeLog).toHaveLength(charged);
    });
  });

  test('2: without table, file or consent, or with half a flag, nothing is sent', async () => {
    await withJob({}, async ({ cwd, rows, writeCsv, kybatch, sandbox }) => {
      writeCsv('in.csv', rows.slice(0, 2));
      writeFileSync(join(cwd, 'no.csv'), 'colour,size\nred,4\n');
      expect(await kybatch(['run', 'no.csv', '--yes'])).toMatchObject({ code: 2, stdout: '' });
      expect((await kybatch(['run', 'missing.csv', '--yes'])).code).toBe(2);
      expect(await kybatch([...RUN, '--max-units', '-1'])).toMatchObject({
        codes: ['FLAG_OUT_OF_RANGE'],
        stderr: expect.stringContaining('--max-units '),
      });
      expect(await kybatch([...RUN, '--yes', '--concurrency', '257'])).toMatchObject({
        code: 2,
        codes: ['FLAG_OUT_OF_RANGE'],
        stderr: expect.stringMatching(/--concurrency .* 1 .* 256.* 257/),
      });
      for (const flag of [
        '--max-units',
        '--max-reports',
        '--concurrency',
        '--limit',
        '--pipeline',
        '--out',
        '--data-dir',
      ])
        expect(await kybatch(['run', 'in.csv', '--yes', flag])).toMatchObject({ code: 2, codes: ['FLAGS_INVALID'] });
      const unattended = await kybatch(RUN);
      expect(unattended).toMatchObject({ code: 2, codes: ['NOT_CONFIRMED'] });
      expect(sandbox.requestLog).toEqual([]);
    });
  });

  long('3: rows need review or have failed, and each outcome is counted', async () => {
    await withJob({}, async ({ rows, writeCsv, kybatch, sandbox }) => {
      const [good, named, absent, , broken] = rows as [object, object, object, object, { registration_number: string }];
      writeCsv('in.csv', [
        good,
        { ...named, registration_number: '', vat_number: '' },
        { ...absent, country: 'GB', registration_number: '09999998', vat_number: '', name: 'Nobody Knows Ltd' },
        { ...good, country: 'Atlantis' },
        broken,
      ]);
      sandbox.script({ operation: 'fullKyb' }, ['none', 400]);
      const end = await kybatch([...RUN, '--yes', '--concurrency', '1']);
      expect(end.code).toBe(3);
      expect(jsonOf<EndJson>(end).outcomes).toEqual({
        complete: 1,
        no_match: 1,
        needs_review: 1,
        invalid: 1,
        failed: 1,
        pending: 0,
      });
      expect(end.codes).toEqual(expect.arrayContaining(['RETRY_NEXT', 'REVIEW_NEXT', 'ROWS_INVALID']));
      expect(end.stderr).toMatch(/^ +kybatch resume --failed \S+ --concurrency 1 --yes$/m);
    });
  });

  long('4: the limit is used up exactly, and the printed command repeats it', async () => {
    await withJob({}, async ({ rows, writeCsv, kybatch, sandbox }) => {
      writeCsv('in.csv', rows.slice(0, 5));
      const end = await kybatch([...RUN, '--max-units', '5']);
      expect(end.code).toBe(4);
      expect(sandbox.chargeLog).toHaveLength(5);
      const { next = '', outcomes } = jsonOf<EndJson>(end);
      expect(next).toMatch(/^kybatch resume \S+ --max-units \d+$/);
      expect(outcomes.pending).toBeGreaterThan(0);
      const resumed = await kybatch([...next.split(' ').slice(1), '--json']);
      expect(resumed.code).toBe(0);
      expect(jsonOf<EndJson>(resumed)).toMatchObject({
        outcomes: { complete: 5 },
        units_charged: 10,
        this_start: { units_charged: 5 },
      });
      expect(sandbox.chargeLog).toHaveLength(10);
    });
  });

  long('X-3 a limit applies to one attempt, and its first line shows it', async () => {
    await withJob({}, async ({ rows, writeCsv, kybatch, sandbox }) => {
      writeCsv('in.csv', rows.slice(0, 6));
      const first = await kybatch([...RUN, '--max-units', '5', '--json']);
      expect(first.textOf('RUN_STARTED')).toMatch(/: 6 .* 5 units\.$/);
      expect(jsonOf<EndJson>(first)).toMatchObject({ units_charged: 5, this_start: { units_charged: 5 } });
      const second = await kybatch(['resume', '--max-units', '4', '--json']);
      expect(second.code).toBe(4);
      expect(jsonOf<EndJson>(second)).toMatchObject({ units_charged: 9, this_start: { units_charged: 4 } });
      expect(sandbox.chargeLog).toHaveLength(9);
      // The limit of an earlier attempt does not apply to the next.
      const third = await kybatch(['run', 'in.csv', '--pipeline', './p.yaml', '--yes']);
      expect(third.code).toBe(0);
      expect(third.codes).toContain('RUN_RESUMED');
      expect(sandbox.chargeLog).toHaveLength(12);
    });
  });

  long('X-3 resume without a limit shows the highest remaining cost, and spends what the rows need', async () => {
    await withJob({}, async ({ rows, writeCsv, kybatch, sandbox }) => {
      writeCsv('in.csv', rows.slice(0, 6));
      const first = await kybatch([...RUN, '--max-units', '5']);
      expect(first.code).toBe(4);
      expect(sandbox.chargeLog).toHaveLength(5);
      const { run, outcomes } = jsonOf<EndJson>(first);
      const pending = outcomes.pending ?? 0;
      const resumed = await kybatch(['resume', '--json']);
      expect(resumed.code).toBe(0);
      // A row may take two searches and a record. A row that has begun has its search.
      const atMost = 3 * (pending - 1) + 1;
      expect(resumed.textOf('RUN_RESUMED')).toMatch(
        new RegExp(` ${shortRun(run)} .*: ${pending} \\D+ ${atMost} units [^]*--max-units `),
      );
      expect(jsonOf<EndJson>(resumed)).toMatchObject({
        outcomes: { complete: 6 },
        units_charged: 12,
        this_start: { units_charged: 7, credit_reports: 0, unknown_calls: 0 },
      });
      expect(sandbox.chargeLog).toHaveLength(12);
    });
  });

  long('X-3 the limit of the pipeline applies to each resume without a limit', async () => {
    const pipeline = ['stages: [record]', 'limits: {units: 3}'];
    await withJob({ pipeline }, async ({ rows, writeCsv, kybatch, sandbox }) => {
      writeCsv('in.csv', rows.slice(0, 6));
      expect((await kybatch([...RUN, '--max-units', '5'])).code).toBe(4);
      const spent = [sandbox.chargeLog.length];
      for (const [code, atMost] of [
        [4, ' 3 units'],
        [4, ' 3 units'],
        [0, ' 1 unit '],
      ] as const) {
        const resumed = await kybatch(['resume']);
        expect(resumed.code).toBe(code);
        expect(resumed.textOf('RUN_RESUMED')).toContain(atMost);
        spent.push(sandbox.chargeLog.length);
      }
      expect(spent).toEqual([5, 8, 11, 12]);
    });
  });

  long('X-3 --max-reports limits the credit reports of one attempt, and the next command repeats it', async () => {
    const pipeline = ['stages: [credit-report]', 'limits: {credit_reports: 1}'];
    await withJob({ pipeline }, async ({ rows, writeCsv, kybatch, sandbox }) => {
      const generated = () => sandbox.chargeLog.filter(({ operation }) => operation === 'creditReportGenerate').length;
      writeCsv('in.csv', rows.slice(0, 8));
      const end = await kybatch([...RUN, '--yes', '--max-reports', '2']);
      expect(end.code).toBe(4);
      expect(generated()).toBe(2);
      expect(end.textOf('RUN_STARTED')).toMatch(/ \d+ v2 calls \D+ 2 /);
      const { next = '', this_start } = jsonOf<EndJson>(end);
      expect(this_start).toMatchObject({ credit_reports: 2 });
      expect(next).toMatch(/^kybatch resume \S+ --max-reports 2 --yes$/);
      // Without the flag the pipeline's limit holds.
      expect((await kybatch(['resume', '--yes'])).code).toBe(4);
      expect(generated()).toBe(3);
      await kybatch(next.split(' ').slice(1));
      expect(generated()).toBe(5);
    });
  });

  long('X-10 after a limit was used up, the printed command repeats both limits', async () => {
    await withJob({ pipeline: ['stages: [record, credit-report]'] }, async ({ rows, writeCsv, kybatch }) => {
      writeCsv('in.csv', rows.slice(0, 8));
      const end = await kybatch([...RUN, '--yes', '--max-units', '5', '--max-reports', '3']);
      expect(end.code).toBe(4);
      const { next = '', outcomes } = jsonOf<EndJson>(end);
      expect(next).toMatch(/^kybatch resume \S+ --max-units 5 --max-reports 3 --yes$/);
      const resumed = jsonOf<EndJson>(await kybatch([...next.split(' ').slice(1), '--json']));
      expect(resumed.outcomes.complete).toBeGreaterThan(outcomes.complete ?? 0);
      const paused = await kybatch(['resume', '--yes', '--max-units', '50', '--max-reports', '1', '--json']);
      // The message names only the limit that was reached.
      expect(paused.textOf('ROWS_WAIT_FOR_BUDGET')).toMatch(/\(1 [^\d]*\)$/);
    });
  });

  long('3: a row that cannot be searched for needs a person, too', async () => {
    await withJob({}, async ({ rows, writeCsv, kybatch }) => {
      writeCsv('in.csv', [rows[0] ?? {}, { ...rows[1], country: 'Atlantis' }]);
      const end = await kybatch([...RUN, '--yes']);
      expect(jsonOf<EndJson>(end).outcomes).toMatchObject({ complete: 1, invalid: 1 });
      expect(end.code).toBe(3);
    });
  });

  test('V1-10 5: a key that is revoked during a run stops it without failed rows, and it continues later', async () => {
    await withJob({}, async ({ rows, writeCsv, kybatch, sandbox }) => {
      writeCsv('in.csv', rows.slice(0, 6));
      sandbox.script({ operation: 'fullKyb' }, ['none', 401]);
      const end = await kybatch([...RUN, '--yes']);
      expect(end.code).toBe(5);
      const json = jsonOf<EndJson>(end);
      expect(json).toMatchObject({ outcomes: { failed: 0 }, finished: false, stopped: { code: 'UNAUTHENTICATED' } });
      const resumed = await kybatch(['resume', '--yes', '--json']);
      expect(resumed.code).toBe(0);
      expect(sandbox.chargeLog).toHaveLength(12);
    });
  });

  test('V1-10 5: a missing scope is reported before anything is spent', async () => {
    await withJob({}, async ({ env, rows, writeCsv, kybatch, sandbox }) => {
      writeCsv('in.csv', rows.slice(0, 3));
      const end = await kybatch([...RUN, '--yes'], {
        env: { ...env, KYBATCH_V1_API_KEY: sandbox.keys.v1Scopes(['company:read']) },
      });
      expect(end.code).toBe(5);
      expect(sandbox.chargeLog).toEqual([]);
      expect((await kybatch(['resume', '--yes'])).code).toBe(0);
    });
  });

  long('V2-1 0: a refusal for one company is shown at the end and by status, and once in the errors', async () => {
    await withJob({ pipeline: ['stages: [record, financials]'] }, async (job) => {
      const { sandbox, kybatch } = job;
      job.writeCsv('in.csv', job.rows.slice(0, 4));
      sandbox.script('financial', ['none', { reply: { status: 403, body: '{"detail":"Not yours."}' } }]);
      const end = await kybatch(['run', 'in.csv', '--pipeline', './p.yaml', '--yes', '--concurrency', '1']);
      expect(end.code).toBe(0);
      expect(end.textOf('STAGE_REFUSED')).toMatch(/^\n! 1 .*FORBIDDEN/);
      expect((await kybatch(['status'])).codes).toContain('STAGE_REFUSED');
      expect(jsonOf<object>(await kybatch(['status', '--json']))).toMatchObject({ refused_rows: 1 });
      const folder = dirname(/\S+\.xlsx/.exec(end.textOf('RESULTS_WRITTEN'))?.[0] ?? '');
      const errors = readFileSync(join(folder, 'errors.csv'), 'utf8');
      expect(errors.match(/FORBIDDEN/g)).toHaveLength(1);
    });
  });

  test('V1-10 5: a scope that is removed during a run parks its operation with a message', async () => {
    await withJob({}, async ({ rows, writeCsv, kybatch, sandbox }) => {
      writeCsv('in.csv', rows.slice(0, 3));
      sandbox.script(aRecord, { status: 403, code: 'INSUFFICIENT_SCOPE' });
      const end = await kybatch([...RUN, '--yes']);
      expect(end.code).toBe(5);
      expect(end.codes).toEqual(expect.arrayContaining(['ROWS_WAIT_FOR_SCOPE', 'REFUSED']));
      expect(end.textOf('REFUSED')).toMatch(/ record .*INSUFFICIENT_SCOPE.*: [\s\S]* kybatch doctor$/);
      expect((await kybatch(['resume', '--yes'])).code).toBe(0);
    });
  });

  long('V2-1 5: a refusal of v2 is quoted at the end and by status', async () => {
    await withJob({ pipeline: ['stages: [record, financials]'] }, async ({ rows, writeCsv, kybatch, sandbox }) => {
      writeCsv('in.csv', rows.slice(0, 6));
      const reply = { status: 403, body: '{"detail":"Your plan has no financials."}' };
      sandbox.script('financial', new Array(6).fill({ reply }));
      const told = / financials .*FORBIDDEN.*: "Your plan has no financials\."/;
      const end = await kybatch([...RUN, '--yes']);
      expect(end.code).toBe(5);
      expect(end.textOf('REFUSED')).toMatch(told);
      expect((await kybatch(['status'])).textOf('REFUSED')).toMatch(told);
      // The number of calls before the first answer depends on the machine.
      sandbox.clearScript();
      expect((await kybatch(['resume', '--yes'])).codes).not.toContain('REFUSED');
    });
  });

  long('6: a provider that is down opens the breaker without failed rows', async () => {
    const pipeline = ['stages: [record]', 'breaker: {failures: 5}', 'patience: 0'];
    await withJob({ pipeline, faults: { rate503: 1 } }, async ({ rows, writeCsv, kybatch, sandbox }) => {
      writeCsv('in.csv', rows.slice(0, 20));
      const end = await kybatch([...RUN, '--yes']);
      expect(end.code).toBe(6);
      expect(jsonOf<EndJson>(end)).toMatchObject({ finished: false, stopped: { code: 'PROVIDER_UNAVAILABLE' } });
      sandbox.setFaults({});
      expect((await kybatch(['resume', '--yes'])).code).toBe(0);
    });
  });

  long(
    'V1-2 V1-4 a free plan takes several days: it stops each day, continues after midnight UTC, and pays nothing twice',
    async () => {
      const clock = new ManualClock('2026-03-01T10:00:00Z');
      await withJob({ plan: 'free', clock }, async ({ rows, writeCsv, kybatch, sandbox }) => {
        writeCsv('in.csv', rows.slice(0, 4));
        const plan = jsonOf<{ days: object }>(await kybatch(['plan', 'in.csv', '--pipeline', './p.yaml', '--json']));
        expect(plan.days).toEqual({ at_least: 2, at_most: 4 });
        const codes = [(await kybatch([...RUN, '--yes'])).code];
        expect(jsonOf<{ parked_until: string }>(await kybatch(['status', '--json'])).parked_until).toBe(
          '2026-03-02T00:00:00.000Z',
        );
        // No answer comes that day.
        expect((await kybatch(['resume'])).code).toBe(4);
        for (const day of ['2026-03-02', '2026-03-03']) {
          clock.set(`${day}T00:00:01Z`);
          codes.push((await kybatch(['resume'])).code);
        }
        expect(codes).toEqual([4, 4, 0]);
        expect(sandbox.chargeLog).toHaveLength(8);
        const usage = jsonOf<{ by_day: { key: string; units_charged: number }[] }>(await kybatch(['usage', '--json']));
        expect(usage.by_day.map(({ key, units_charged }) => [key, units_charged])).toEqual([
          ['2026-03-03', 2],
          ['2026-03-02', 3],
          ['2026-03-01', 3],
        ]);
      });
    },
  );

  long('V2-1 a used up v2 permission parks only its module, and records are still bought', async () => {
    const options = { pipeline: ['stages: [record, financials]'], v2Limits: { financial: { daily: 2 } } };
    await withJob(options, async ({ rows, writeCsv, kybatch }) => {
      writeCsv('in.csv', rows.slice(0, 6));
      const end = await kybatch([...RUN, '--yes']);
      expect(end.code).toBe(4);
      const json = jsonOf<EndJson & { stages: Record<string, Record<string, number>> }>(end);
      expect(json.stages.record).toEqual({ done: 6 });
      expect(json.stages.financials?.parked).toBeGreaterThan(0);
      expect(json.units_charged).toBe(12);
    });
  });
});

describe('the files of a run', { tags: 'long' }, () => {
  test('no file or output has a key, logs have no names, and only the owner can read ledger and logs', async () => {
    await withJob(
      { keys: { v1: 'live_canary_one', v2: 'canary_two' }, pipeline: ['stages: [record, financials, credit-report]'] },
      async ({ cwd, rows, writeCsv, kybatch, sandbox }) => {
        writeCsv('in.csv', rows.slice(0, 4));
        sandbox.script({ operation: 'fullKyb' }, ['none', 'none', 401]);
        const ends = [await kybatch([...RUN, '--yes', '--concurrency', '1']), await kybatch(['resume', '--yes'])];
        expect(ends.map(({ code }) => code)).toEqual([5, 0]);
        for (const { stdout, stderr } of ends) expect(stdout + stderr).not.toContain('canary');
        const files = readdirSync(join(cwd, 'data'), { recursive: true, encoding: 'utf8' })
          .map((name) => join(cwd, 'data', name))
          .filter((path) => statSync(path).isFile());
        expect(files.some((path) => path.endsWith('.log'))).toBe(true);
        for (const path of files) {
          expect(readFileSync(path).includes('canary'), path).toBe(false);
          if (!path.includes('/exports/')) expect(statSync(path).mode & 0o077, path).toBe(0);
        }
        const log = files.filter((path) => path.endsWith('.log')).map((path) => readFileSync(path, 'utf8'))[0] ?? '';
        const events = log
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as { event: string; row?: number });
        expect(new Set(events.map(({ event }) => event))).toEqual(
          new Set(['start', 'row', 'call_failed', 'stopped', 'end']),
        );
        expect(new Set(events.flatMap(({ row }) => row ?? []))).toEqual(new Set([1, 2, 3, 4]));
        for (const { name } of rows.slice(0, 4)) expect(log).not.toContain(name);
      },
    );
  });
});

long('after a limit, rows that would need a search are left out', async () => {
  await withJob({ pipeline: ['stages: [record, financials]'] }, async ({ rows, writeCsv, kybatch }) => {
    writeCsv('in.csv', rows);
    const end = await kybatch([...RUN, '--max-units', '4', '--concurrency', '1', '--json']);
    expect(end.code).toBe(4);
    const { to_do: toDo, parked } = jsonOf<EndJson & { to_do: number }>(end);
    expect(toDo).toBe(28);
    // Rows that were in progress when the limit was reached.
    expect(parked.budget).toBeLessThan(10);
    expect(jsonOf<EndJson>(await kybatch(['resume', '--yes', '--json']))).toMatchObject({ finished: true });
  });
});
