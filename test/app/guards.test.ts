import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { plan } from '../../src/app/plan.js';
import { resume } from '../../src/app/resume.js';
import { retry } from '../../src/app/retry.js';
import { run } from '../../src/app/start.js';
import type { Surroundings } from '../../src/app/surroundings.js';
import { loadPipeline, NO_GUARDS } from '../../src/config/pipeline.js';
import { systemClock } from '../../src/util/clock.js';
import { aRecord, type Job, withJob } from '../cli/here.js';
import { refusal } from './support.js';

const JOB = { input: 'in.csv', pipeline: './p.yaml', yes: true, out: 'out' };
const pipeline = ['stages: [record]', 'guards: {rows_lost: 20, failing_alike: 30}'];

const around = ({ cwd, env }: Job): Surroundings => ({ cwd, env, clock: systemClock });

/** All that was exported, byte for byte. */
const exported = ({ cwd }: Job) =>
  readdirSync(join(cwd, 'out'))
    .sort()
    .map((name) => [name, readFileSync(join(cwd, 'out', name), 'latin1')]);

test('guards are on in nightly and off in analyst', () => {
  const guardsOf = (name: string) => loadPipeline(name, process.cwd()).guards;
  expect(guardsOf('nightly')).toEqual({ rowsLost: 20, failingAlike: 30 });
  expect(guardsOf('analyst')).toEqual(NO_GUARDS);
});

describe('a broken feed', () => {
  test('that lost rows is refused before anything is spent or exported; within the share it runs', async () => {
    await withJob({ pipeline }, async (job) => {
      job.writeCsv('in.csv', job.rows.slice(0, 10));
      await run(JOB, around(job));
      const before = exported(job);
      const asked = job.sandbox.requestLog.length;
      const moved = job.rows.slice(0, 10).map((row) => ({ ...row, country: '' }));
      for (const rows of [job.rows.slice(0, 7), job.rows.slice(10, 11), moved]) {
        job.writeCsv('in.csv', rows);
        const error = await refusal(run(JOB, around(job)));
        expect(error).toMatchObject({ code: 'ROWS_LOST', exit: 2, hint: expect.stringContaining('Nothing was spent') });
      }
      expect(job.sandbox.requestLog).toHaveLength(asked);
      expect(exported(job)).toEqual(before);
      job.writeCsv('in.csv', job.rows.slice(0, 8));
      expect(await run(JOB, around(job))).toMatchObject({ finished: true, rows: 8, spent: { units: 0 } });
    });
  });

  test('is no matter for a person, who may put another list under the same name', async () => {
    await withJob({}, async (job) => {
      job.writeCsv('in.csv', job.rows.slice(0, 10));
      await run(JOB, around(job));
      job.writeCsv('in.csv', job.rows.slice(0, 2));
      expect(await run(JOB, around(job))).toMatchObject({ finished: true, rows: 2 });
    });
  });

  test('without any data row is always refused, and what was exported before stays', async () => {
    await withJob({}, async (job) => {
      job.writeCsv('in.csv', job.rows.slice(0, 2));
      await run(JOB, around(job));
      const before = exported(job);
      for (const content of ['', 'name,country\n', 'name,country\n,\n\n', '\ufeffname;country\r\n ;\t\r\n']) {
        writeFileSync(join(job.cwd, 'in.csv'), content);
        const error = await refusal(run(JOB, around(job)));
        expect(error).toMatchObject({ exit: 2, code: content === '' ? 'USAGE' : 'EMPTY_INPUT' });
        expect(await refusal(plan(JOB, around(job)))).toMatchObject({ exit: 2 });
      }
      expect(exported(job)).toEqual(before);
    });
  });
});

describe('rows that fail alike', () => {
  test('stop the run beyond the share; it can be resumed, and the failed rows tried again', async () => {
    await withJob({ pipeline }, async (job) => {
      job.writeCsv('in.csv', job.rows);
      job.sandbox.script(aRecord, Array(40).fill(400));
      const end = await run({ ...JOB, concurrency: 1 }, around(job));
      expect(end).toMatchObject({
        finished: false,
        stopped: { code: 'FAILING_ALIKE', exit: 6 },
        next: { kind: 'resume' },
      });
      expect(end.outcomes.pending).toBeGreaterThan(5);
      job.sandbox.clearScript();
      expect(await resume({ yes: true }, around(job))).toMatchObject({ finished: true, stopped: null });
      expect(await retry({ yes: true }, around(job))).toMatchObject({ outcomes: { complete: 30 }, unitsCharged: 60 });
    });
  });

  test('go on where the pipeline has no such guard, or fewer fail', async () => {
    await withJob({ pipeline }, async (job) => {
      job.writeCsv('in.csv', job.rows);
      job.sandbox.script(aRecord, [...Array(15).fill('none'), ...Array(6).fill(400)]);
      const end = await run({ ...JOB, concurrency: 1 }, around(job));
      expect(end).toMatchObject({ finished: true, stopped: null, outcomes: { failed: 6, complete: 24 } });
    });
  });
});
