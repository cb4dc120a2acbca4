/** @module-tag long */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { expect, test } from 'vitest';
import { type HereOptions, Interrupts, type Job, jsonOf, type Said, withJob } from '../cli/here.js';
import { JumpingClock } from '../helpers/jumping-clock.js';
import { withClient, withPostgres } from './server.js';
import { withWire } from './wire.js';

interface Shared {
  readonly url: string;
  readonly kybatch: (args: readonly string[], more?: Partial<HereOptions>) => Promise<Said>;
  readonly job: Job;
}

/** Thirty rows in PostgreSQL, and a slow provider. */
const together = (use: (shared: Shared) => Promise<void>) =>
  withPostgres((url) =>
    withJob({ faults: { latency: { medianMs: 60, p99Ms: 90 } } }, async (job) => {
      job.writeCsv('in.csv', job.rows);
      const env = { ...job.env, KYBATCH_LEDGER_URL: url };
      await use({ url, kybatch: (args, more) => job.kybatch(args, { env, ...more }), job });
    }),
  );

/** A run, and workers that join as soon as its rows can be taken. */
async function runWithHelp(
  { kybatch }: Shared,
  flags: readonly string[],
  help: () => Promise<Said>,
  atEnd: () => void = () => {},
) {
  let helping: Promise<Said> | undefined;
  const onCode = (code: string) => {
    if (code === 'RUN_STARTED' || code === 'RUN_RESUMED') helping ??= help();
  };
  const end = await kybatch([...RUN, ...flags], { onCode });
  atEnd();
  return { end, helped: await helping };
}

const RUN = ['run', 'in.csv', '--pipeline', 'p.yaml', '--yes', '--json', '--concurrency', '2'];
const HELP = ['worker', '--once', '--json', '--concurrency', '2'];

const rowsOf = (helped: Said | undefined): number =>
  helped === undefined ? 0 : jsonOf<Help>(helped).runs.reduce((sum, { rows }) => sum + rows, 0);

interface Help {
  readonly runs: readonly { readonly run: string; readonly rows: number }[];
}

const unitsOf = ({ sandbox }: Job) => sandbox.chargeLog.filter(({ api }) => api === 'v1').length;

test('a run and its helper finish every row once, within one allowance', () =>
  together(async (shared) => {
    const { kybatch, job } = shared;
    const { end, helped } = await runWithHelp(shared, [], () => kybatch(HELP));
    expect(end).toMatchObject({ code: 0 });
    const view = jsonOf<{ units_charged: number; outcomes: Record<string, number> }>(end);
    expect(view.outcomes).toMatchObject({ complete: 30, pending: 0 });
    expect(view.units_charged).toBe(unitsOf(job));
    expect(rowsOf(helped)).toBeGreaterThan(0);
    expect(jsonOf<{ units_charged: number }>(await kybatch(RUN)).units_charged).toBe(0);
  }));

test('all of them share one limit', () =>
  together(async (shared) => {
    const { end } = await runWithHelp(shared, ['--max-units', '31'], () => shared.kybatch(HELP));
    expect(end).toMatchObject({ code: 4 });
    expect(unitsOf(shared.job)).toBeLessThanOrEqual(31);
    expect(jsonOf<{ units_charged: number }>(end).units_charged).toBe(unitsOf(shared.job));
  }));

test('an interrupted helper leaves rows it has not begun to others', () =>
  together(async (shared) => {
    const interrupts = new Interrupts();
    const onCode = (code: string) => {
      if (code === 'WORKER_JOINED') interrupts.send('SIGTERM');
    };
    const help = () => shared.kybatch(['worker', '--concurrency', '2'], { interrupts, onCode });
    const { end, helped } = await runWithHelp(shared, [], help);
    expect(helped?.code).toBe(143);
    expect(end).toMatchObject({ code: 0 });
  }));

test('a helper stopped at once reports how many of its calls may have been charged', () =>
  withPostgres((url) =>
    withJob({ faults: { latency: { medianMs: 1500, p99Ms: 1500 } } }, async (job) => {
      const env = { ...job.env, KYBATCH_LEDGER_URL: url };
      job.writeCsv('in.csv', job.rows.slice(0, 6));
      const interrupts = { leader: new Interrupts(), helper: new Interrupts() };
      const isCalling = () =>
        withClient(url, async (client) => {
          const { rows } = await client.query(
            'SELECT 1 FROM kybatch.calls JOIN kybatch.starts ON starts.id = start_id WHERE purse_id IS NOT NULL AND settled_at IS NULL',
          );
          return rows.length > 0;
        });
      const help = async () => {
        const helping = job.kybatch(['worker', '--concurrency', '1'], { env, interrupts: interrupts.helper });
        await expect.poll(isCalling, { timeout: 60_000 }).toBe(true);
        interrupts.helper.send('SIGTERM');
        interrupts.helper.send('SIGTERM');
        const helped = await helping;
        interrupts.leader.send('SIGTERM');
        return helped;
      };
      const kybatch: Shared['kybatch'] = (args, more) =>
        job.kybatch(args, { env, interrupts: interrupts.leader, ...more });
      const { helped } = await runWithHelp({ url, job, kybatch }, [], help);
      expect(helped).toMatchObject({
        code: 143,
        codes: expect.arrayContaining(['CHARGES_UNKNOWN']),
        stderr: expect.stringMatching(/\b1 call /),
      });
    }),
  ));

test('V1-4 rows deferred by an allowance continue when it is back, with any worker, within the run’s limits', () =>
  withPostgres(async (url) => {
    const clock = new JumpingClock('2026-03-01T10:00:00Z');
    await withJob({ plan: 'free', clock }, async (job) => {
      const env = { ...job.env, KYBATCH_LEDGER_URL: url };
      const kybatch = (args: readonly string[]) => job.kybatch(args, { env });
      job.writeCsv('in.csv', job.rows.slice(0, 6));
      const end = await kybatch(['run', 'in.csv', '--pipeline', 'p.yaml', '--yes', '--max-units', '10']);
      expect(end.code).toBe(4);
      const spent: number[] = [];
      for (const day of ['2026-03-02', '2026-03-03', '2026-03-04', '2026-03-05']) {
        clock.set(`${day}T00:00:01Z`);
        const status = jsonOf<{ workers_go_on_then?: boolean }>(await kybatch(['status', '--json']));
        expect(status.workers_go_on_then).toBe(day < '2026-03-05' ? true : undefined);
        const helped = await kybatch(['worker', '--once']);
        expect(helped).toMatchObject({ code: 0 });
        // On the third day the limit is used up, and nothing waits for a time any more.
        expect(helped.codes.includes('RUN_GOES_ON_LATER')).toBe(day < '2026-03-04');
        spent.push(job.sandbox.chargeLog.length);
      }
      // Three a day, and ten in all: the limit does not reset with time.
      expect(spent).toEqual([6, 9, 10, 10]);
      expect(await kybatch(['resume', '--json'])).toMatchObject({ code: 0 });
      expect(job.sandbox.chargeLog).toHaveLength(12);
    });
  }));

test('purge removes nothing while a process works: its calls in flight would be stored afterwards', () =>
  together(async (shared) => {
    const { kybatch, job } = shared;
    const [first] = job.rows;
    const entity = `${first?.country}:${first?.registration_number}`;
    const erase = () => kybatch(['erase', '--entity', entity, '--yes']);
    const { end, helped } = await runWithHelp(shared, [], erase);
    expect(end).toMatchObject({ code: 0 });
    expect(helped).toMatchObject({ code: 75, codes: ['LED_ELSEWHERE'] });
    expect(await erase()).toMatchObject({ code: 0, codes: expect.arrayContaining(['PURGED']) });
  }));

test('retry of a run that others work on reports it, and does not suggest resume', () =>
  together(async (shared) => {
    const { kybatch } = shared;
    const { helped } = await runWithHelp(shared, [], async () => {
      const { run } = jsonOf<{ run: string }>(await kybatch(['status', '--json']));
      return await kybatch(['resume', '--failed', run]);
    });
    expect(helped).toMatchObject({ code: 75, stderr: expect.not.stringContaining('resume') });
    expect(helped?.codes).toContain('LED_ELSEWHERE');
  }));

test('a leader that was taken over names the new one, and does not suggest resume', () =>
  together(async (shared) => {
    const { url, kybatch } = shared;
    // Other processes do this with a silent leader.
    const giveUp = () =>
      withClient(url, (client) =>
        client.query(
          'UPDATE kybatch.starts SET ended_at = begun_at, lease_until = begun_at WHERE purse_id IS NULL AND ended_at IS NULL',
        ),
      );
    let givenUp: Promise<unknown> | undefined;
    const onCode = (code: string) => {
      if (code === 'WORKER_JOINED') givenUp ??= giveUp();
    };
    const interrupts = new Interrupts();
    const help = () => kybatch(['worker', '--concurrency', '2'], { onCode, interrupts });
    // The rows of the dead worker are free when its lease ends. This test does not wait for that.
    const { end, helped } = await runWithHelp(shared, [], help, () => interrupts.send('SIGTERM'));
    await givenUp;
    expect(end).toMatchObject({ code: 75, stderr: expect.stringContaining(`:${process.pid} `) });
    expect(end.codes).toContain('TAKEN_OVER');
    expect(end.stderr).not.toContain('resume');
    expect(helped).toMatchObject({ code: 143 });
  }));

test('a database that is away: an idle process ends at the first interrupt, a working one at the second', () =>
  together(({ url, job }) =>
    withWire(url, async (wire) => {
      const env = { ...job.env, KYBATCH_LEDGER_URL: wire.url };
      /** Cuts the process off when it prints `at`, and interrupts it when it has noticed. */
      const cutOff = async (args: readonly string[], at: string, times: number) => {
        const interrupts = new Interrupts();
        let cut: Promise<void> | undefined;
        const onCode = (code: string) => {
          if (code === at) cut ??= wire.refuse();
          if (code === 'LEDGER_AWAY') for (let n = 0; n < times; n++) interrupts.send('SIGTERM');
        };
        const end = await job.kybatch(args, { env, interrupts, onCode });
        await cut;
        await wire.open();
        return end;
      };
      expect(await cutOff(['worker'], 'WORKER_WAITING', 1)).toMatchObject({ code: 143 });
      expect(await cutOff(RUN, 'RUN_STARTED', 2)).toMatchObject({
        code: 143,
        codes: expect.arrayContaining(['LEDGER_AWAY']),
      });
    }),
  ));

test('a run of a list whose leader may be dead waits until it is certain, and continues', () =>
  withPostgres(async (url) => {
    await withJob({ plan: 'free' }, async (job) => {
      const env = { ...job.env, KYBATCH_LEDGER_URL: url };
      job.writeCsv('in.csv', job.rows.slice(0, 4));
      const run = () => job.kybatch(['run', 'in.csv', '--pipeline', 'p.yaml', '--yes'], { env });
      expect(await run()).toMatchObject({ code: 4 });
      await withClient(url, (client) =>
        client.query("UPDATE kybatch.starts SET ended_at = NULL, lease_until = $1, worker = 'far:7'", [
          Date.now() + 1500,
        ]),
      );
      expect(await run()).toMatchObject({
        code: 4,
        codes: expect.arrayContaining(['WAITING_FOR_LEADER']),
        stderr: expect.stringContaining('far:7 '),
      });
    });
  }));

test('resume rewrites tables that were written before others finished the run', () =>
  withPostgres(async (url) => {
    const clock = new JumpingClock('2026-03-01T10:00:00Z');
    await withJob({ plan: 'free', clock }, async (job) => {
      const env = { ...job.env, KYBATCH_LEDGER_URL: url };
      const kybatch = (args: readonly string[]) => job.kybatch(args, { env });
      const outcomes = () =>
        (parse(readFileSync(join(job.cwd, 'tables', 'rows.csv')), { columns: true }) as { outcome: string }[]).map(
          ({ outcome }) => outcome,
        );
      job.writeCsv('in.csv', job.rows.slice(0, 2));
      const run = ['run', 'in.csv', '--pipeline', 'p.yaml', '--yes', '--export', '--out', 'tables'];
      expect(await kybatch(run)).toMatchObject({ code: 4 });
      expect(outcomes()).toContain('pending');
      clock.set('2026-03-02T00:00:01Z');
      expect(await kybatch(['worker', '--once'])).toMatchObject({ code: 0 });
      expect(outcomes()).toContain('pending');
      const { run: id } = jsonOf<{ run: string }>(await kybatch(['status', '--json']));
      expect(await kybatch(['resume', id, '--out', 'tables'])).toMatchObject({ code: 0 });
      expect(outcomes()).toEqual(['complete', 'complete']);
    });
  }));

test('without work it ends, or reports what it needs', () =>
  together(async ({ kybatch, job }) => {
    expect(await kybatch(['worker', '--once'])).toMatchObject({
      code: 0,
      codes: ['NOTHING_TO_WORK_ON'],
    });
    expect(await job.kybatch(['worker', '--once'])).toMatchObject({ code: 2 });
  }));
