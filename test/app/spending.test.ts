import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { AppEnvironment } from '../../src/app/environment.js';
import { resume, retry } from '../../src/app/run/continue-run.js';
import { ContinueError } from '../../src/app/run/next-step.js';
import { type JobOptions, plan } from '../../src/app/run/plan.js';
import { type Proposal, run } from '../../src/app/run/run.js';
import { runs } from '../../src/app/run/runs.js';
import { DeclinedError, type SpendingEvent } from '../../src/app/run/spending.js';
import { runJson } from '../../src/cli/commands/runs.js';
import { systemClock } from '../../src/util/clock.js';
import { toJson } from '../../src/util/view-json.js';
import { shortRun } from '../../src/util/words.js';
import { aRecord, type Job, jsonOf, withJob } from '../cli/here.js';
import { halfReadCopy } from '../helpers/begin-run.js';
import { isOnPostgres } from '../helpers/ledger-place.js';
import { long } from '../helpers/long.js';
import { refusal } from './support.js';

const JOB: JobOptions = { input: 'in.csv', pipeline: './p.yaml' };

const environment = ({ cwd, env }: Job): AppEnvironment => ({ cwd, env, clock: systemClock });

/** Plain data is what JSON can carry. */
const isPlain = (view: object) => expect(JSON.parse(JSON.stringify(view))).toEqual(view);

describe('run', () => {
  long('returns plain data: rows, spending of the attempt and of the run, files, next step', async () => {
    await withJob({}, async (job) => {
      job.writeCsv('in.csv', job.rows.slice(0, 5));
      const first = await run({ ...JOB, budget: 4 }, environment(job));
      isPlain(first);
      expect(first).toMatchObject({
        rows: 5,
        input: join(job.cwd, 'in.csv'),
        outcomes: { failed: 0 },
        worked: true,
        spent: { units: 4, reports: 0, unknown: 0 },
        unitsCharged: 4,
        stopped: null,
        finished: false,
        interrupted: false,
        next: { kind: 'resume', run: first.run },
      });
      expect(first.outcomes.pending).toBeGreaterThan(0);
      expect(first.parked.budget).toBeGreaterThan(0);
      const second = await resume({ run: first.run, budget: 6 }, environment(job));
      expect(second).toMatchObject({ finished: true, spent: { units: 6 }, unitsCharged: 10, next: null });
      expect(
        readFileSync(join(second.tables ?? '', 'rows.csv'), 'utf8')
          .trimEnd()
          .split('\n'),
      ).toHaveLength(6);
      expect(readFileSync(second.log ?? '', 'utf8')).toContain('"event":"end"');
      const third = await run({ ...JOB }, environment(job));
      expect(third).toMatchObject({ worked: false, spent: { units: 0 }, unitsCharged: 0, tables: null, log: null });
    });
  });

  long('asks with the plan and the maximum, and a no is an error without spending or files', async () => {
    await withJob({ pipeline: ['stages: [record, credit-report]'] }, async (job) => {
      job.writeCsv('in.csv', job.rows.slice(0, 3));
      const asked: Proposal[] = [];
      const agree = async (proposal: Proposal) => {
        asked.push(proposal);
        return false;
      };
      await expect(run({ ...JOB, budget: 7, agree }, environment(job))).rejects.toThrow(DeclinedError);
      const planned = await plan(JOB, environment(job));
      // Each event keeps the values of its own time.
      const permissions = planned.permissions?.map((told) => ({ ...told, observedAt: expect.any(Number) }));
      const { v2Calls, revealsAtMost: reveals, purchases, held } = planned;
      const atMost = { units: 7, reports: 3, v2Calls: v2Calls.atMost, calls: purchases.atMost.calls, reveals, held };
      const limits = { units: 7, reports: null };
      const disk = { ...planned.disk, free: expect.any(Number) };
      expect(asked).toEqual([
        { plan: { ...planned, at: expect.any(Number), permissions, disk }, atMost, limits, findings: [] },
      ]);
      // Asked for its counters once for the run and once for the plan.
      expect([...job.sandbox.requests]).toEqual([['metrics', 2]]);
      expect(existsSync(join(job.cwd, 'data'))).toBe(false);
      // A ledger in a database is created before, by `kybatch ledger migrate`.
      await expect(resume({}, environment(job))).rejects.toMatchObject({
        code: isOnPostgres ? 'NO_UNFINISHED_RUN' : 'NO_LEDGER_YET',
      });
      await run({ ...JOB, budget: 0, agree: async () => true }, environment(job));
      await expect(run({ ...JOB, agree }, environment(job))).rejects.toThrow(DeclinedError);
      expect(asked).toHaveLength(2);
    });
  });

  long('V2-3 the plan shows the v2 counters of the named permissions, and works without them', async () => {
    const pipeline = ['stages: [credit-report]', 'permissions: {credit_report: [creditReportGenerate]}'];
    await withJob({ pipeline, v2Limits: { credit_report: { plan: 4 } } }, async (job) => {
      job.writeCsv('in.csv', job.rows.slice(0, 1));
      const { permissions } = await plan(JOB, environment(job));
      expect(permissions).toMatchObject([
        { permission: 'credit_report', metric: 'credit_report.daily', used: 0 },
        { permission: 'credit_report', metric: 'credit_report.plan', used: 0, total: 4 },
      ]);
      job.sandbox.script('metrics', ['resetBefore', 500]);
      for (let time = 0; time < 2; time++)
        expect(await plan(JOB, environment(job))).toMatchObject({ rows: 1, permissions: null });
    });
  });

  test('spends nothing without consent', async () => {
    await withJob({}, async (job) => {
      job.writeCsv('in.csv', job.rows.slice(0, 1));
      await expect(run(JOB, environment(job))).rejects.toMatchObject({ code: 'NOT_CONFIRMED', exit: 2 });
      expect(job.sandbox.requestLog).toEqual([]);
      expect((await run({ ...JOB, yes: true }, environment(job))).finished).toBe(true);
    });
  });

  test('reports events: the beginning with its limits, then each call and row when it is on disk', async () => {
    await withJob({}, async (job) => {
      job.writeCsv('in.csv', job.rows.slice(0, 3));
      const events: SpendingEvent[] = [];
      const end = await run({ ...JOB, budget: 100, listen: (event) => events.push(event) }, environment(job));
      expect(events[0]).toMatchObject({ kind: 'started', run: end.run, rows: 3, goesOn: false, atMost: { units: 9 } });
      const kinds = events.map(({ kind }) => kind);
      expect(kinds.filter((kind) => kind === 'call_settled')).toHaveLength(6);
      expect(kinds.filter((kind) => kind === 'row_settled')).toHaveLength(3);
    });
  });

  long('the drain signal lets calls in flight finish, and the rest continues later', async () => {
    await withJob({}, async (job) => {
      job.writeCsv('in.csv', job.rows);
      const drain = new AbortController();
      const listen = ({ kind }: SpendingEvent) => {
        if (kind === 'row_settled') drain.abort();
      };
      const end = await run({ ...JOB, yes: true, concurrency: 2, listen, drain: drain.signal }, environment(job));
      expect(end).toMatchObject({ interrupted: true, finished: false, next: { kind: 'resume' } });
      expect(end.tables).toContain(end.run);
      expect(end.spent.units).toBe(job.sandbox.chargeLog.length);
      const rest = await resume({}, environment(job));
      expect(rest).toMatchObject({ finished: true, outcomes: { complete: 30 }, unitsCharged: 60 });
      expect(rest.spent.units).toBe(60 - end.spent.units);
    });
  });

  long('a run begun with --rebuy stays fresh when it continues: earlier answers are not used', async () => {
    await withJob({}, async (job) => {
      job.writeCsv('in.csv', job.rows.slice(0, 3));
      await run({ ...JOB, yes: true }, environment(job));
      const fresh = await run({ ...JOB, fresh: true, budget: 2 }, environment(job));
      const end = await run({ ...JOB, yes: true }, environment(job));
      expect(end).toMatchObject({ run: fresh.run, finished: true, unitsCharged: 6 });
      expect(job.sandbox.chargeLog).toHaveLength(12);
    });
  });
});

describe('--rebuy', { tags: 'long' }, () => {
  const wrongKey = (job: Job): AppEnvironment => ({
    ...environment(job),
    env: { ...job.env, KYBATCH_V1_API_KEY: 'nobody-knows-this-key' },
  });

  test('a refused attempt leaves no run, and the next one reuses stored answers as planned', async () => {
    await withJob({}, async (job) => {
      job.writeCsv('in.csv', job.rows.slice(0, 3));
      const first = await run({ ...JOB, yes: true }, environment(job));
      const charged = job.sandbox.chargeLog.length;
      expect(await refusal(run({ ...JOB, fresh: true, yes: true }, wrongKey(job)))).toMatchObject({ exit: 5 });
      expect((await runs({}, environment(job))).map((standing) => standing.run.id)).toEqual([first.run]);
      expect(await plan(JOB, environment(job))).toMatchObject({
        run: { id: first.run, finished: true, fresh: false },
        units: { atMost: 0 },
      });
      expect(await run({ ...JOB, yes: true }, environment(job))).toMatchObject({ run: first.run, worked: false });
      expect(job.sandbox.chargeLog).toHaveLength(charged);
    });
  });

  test('plan, status, runs and the first line show a --rebuy run until it is dropped', async () => {
    await withJob({}, async (job) => {
      job.writeCsv('in.csv', job.rows.slice(0, 3));
      const first = await run({ ...JOB, yes: true }, environment(job));
      const { run: fresh } = await run({ ...JOB, fresh: true, budget: 2 }, environment(job));
      const planned = await plan(JOB, environment(job));
      // One of three rows has its search and its record. The others may need two searches each.
      expect(planned).toMatchObject({ run: { id: fresh, finished: false, fresh: true }, units: { atMost: 6 } });
      const drop = `kybatch runs delete ${shortRun(fresh)}`;
      const words = await Promise.all(
        [['plan', 'in.csv', '--pipeline', './p.yaml'], ['status']].map(async (args) => {
          const { stdout, stderr } = await job.kybatch(args);
          return stdout + stderr;
        }),
      );
      for (const said of words) expect(said).toContain(drop);
      const going = await job.kybatch(['run', 'in.csv', '--pipeline', './p.yaml', '--max-units', '0', '--json']);
      expect(going.codes).toEqual(expect.arrayContaining(['RUN_RESUMED', 'RUN_IS_FRESH']));
      expect(jsonOf(going)).toMatchObject({ run: fresh, to_do: 2, this_start: { units_charged: 0 } });
      expect(going.stderr).toContain(drop);
      expect(toJson((await runs({}, environment(job))).map(runJson))).toMatchObject([
        { run: fresh, fresh: true },
        { run: first.run, fresh: false },
      ]);
      expect(await job.kybatch(['runs', 'delete', fresh])).toMatchObject({ code: 2 });
      expect(await job.kybatch(['runs', 'delete', fresh, '--yes'])).toMatchObject({ code: 0 });
      expect(await run({ ...JOB, yes: true }, environment(job))).toMatchObject({ finished: true, spent: { units: 0 } });
      expect(job.sandbox.chargeLog).toHaveLength(8);
    });
  });
});

long('plan and run agree: a failed row is left to retry and costs a run nothing', async () => {
  await withJob({}, async (job) => {
    job.writeCsv('in.csv', job.rows.slice(0, 2));
    job.sandbox.script(aRecord, [400]);
    await run({ ...JOB, yes: true, concurrency: 1 }, environment(job));
    expect(await plan(JOB, environment(job))).toMatchObject({
      run: { finished: true },
      owned: 2,
      units: { atMost: 0 },
    });
    expect(await run({ ...JOB, yes: true }, environment(job))).toMatchObject({
      worked: false,
      outcomes: { failed: 1 },
    });
  });
});

describe('X-3 the remaining cost is a tight maximum without stored and finished rows', {
  tags: 'long',
}, () => {
  test('for resume and for a second run without a limit', async () => {
    await withJob({ pipeline: ['stages: [record, credit-report]'] }, async (job) => {
      job.writeCsv('in.csv', job.rows.slice(0, 5));
      const first = await run({ ...JOB, budget: 5, maxReports: 1, concurrency: 1 }, environment(job));
      expect(first.spent).toMatchObject({ units: 5, reports: 1 });
      // Two rows have their record, the third its search. The other two may need two searches each.
      const atMost = { units: 1 + 2 * 3, reports: 4 };
      const asked: unknown[] = [];
      const agree = async ({ atMost }: { readonly atMost: unknown }) => {
        asked.push(atMost);
        return false;
      };
      await expect(resume({ agree }, environment(job))).rejects.toThrow(DeclinedError);
      await expect(run({ ...JOB, agree }, environment(job))).rejects.toThrow(DeclinedError);
      expect(asked).toMatchObject([atMost, atMost]);
      expect(first.next).toEqual({ kind: 'resume', run: first.run });
      const events: SpendingEvent[] = [];
      const second = await run({ ...JOB, yes: true, listen: (event) => events.push(event) }, environment(job));
      expect(events[0]).toMatchObject({ kind: 'started', goesOn: true, atMost });
      expect(second).toMatchObject({ finished: true, spent: { units: 5, reports: 4 } });
    });
  });

  test('for retry: a failed row already has its search', async () => {
    await withJob({}, async (job) => {
      job.writeCsv('in.csv', job.rows.slice(0, 3));
      job.sandbox.script(aRecord, ['none', 400]);
      await run({ ...JOB, yes: true, concurrency: 1 }, environment(job));
      const asked: unknown[] = [];
      const agree = async (proposal: object) => {
        asked.push(proposal);
        return true;
      };
      await retry({ agree }, environment(job));
      expect(asked).toMatchObject([{ rows: 1, atMost: { units: 1, reports: 0 } }]);
    });
  });
});

describe('an error that can pass carries the step that continues', () => {
  test('a run whose input was only partly read is begun again', async () => {
    await withJob({}, async (job) => {
      job.writeCsv('in.csv', job.rows.slice(0, 2));
      const end = await run({ ...JOB, budget: 1 }, environment(job));
      await halfReadCopy(join(job.cwd, 'data'), 'half', end.run);
      const error = await resume({ run: 'half' }, environment(job)).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(ContinueError);
      expect(error).toMatchObject({
        exit: 2,
        next: { kind: 'run', input: join(job.cwd, 'in.csv'), pipeline: join(job.cwd, 'p.yaml') },
      });
    });
  });

  test('failed rows are retried while others are to do, and the others are the next step', async () => {
    await withJob({}, async (job) => {
      job.writeCsv('in.csv', job.rows.slice(0, 4));
      job.sandbox.script(aRecord, [400]);
      const drain = new AbortController();
      const listen = ({ kind }: SpendingEvent) => {
        if (kind === 'row_settled') drain.abort();
      };
      const end = await run({ ...JOB, yes: true, concurrency: 1, drain: drain.signal, listen }, environment(job));
      expect(end.outcomes).toMatchObject({ failed: 1, pending: expect.any(Number) });
      expect(end.outcomes.pending).toBeGreaterThan(0);
      const retried = await retry({ run: end.run, yes: true }, environment(job));
      expect(retried.outcomes).toMatchObject({ failed: 0, pending: end.outcomes.pending });
      expect(retried.next).toMatchObject({ kind: 'resume', run: end.run });
    });
  });
});

test('plan writes nothing, not even a ledger', async () => {
  await withJob({}, async (job) => {
    job.writeCsv('in.csv', job.rows.slice(0, 2));
    const view = await plan(JOB, environment(job));
    isPlain(view);
    expect(view).toMatchObject({ input: join(job.cwd, 'in.csv'), rows: 2, toSearch: 2, units: { atMost: 6 } });
    expect(existsSync(join(job.cwd, 'data'))).toBe(false);
  });
});
