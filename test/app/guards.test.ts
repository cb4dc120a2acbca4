import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { AppEnvironment } from '../../src/app/environment.js';
import { resume, retry } from '../../src/app/run/continue-run.js';
import { plan } from '../../src/app/run/plan.js';
import { run } from '../../src/app/run/run.js';
import { planInWords } from '../../src/cli/terminal/plan-words.js';
import { loadPipeline, NO_GUARDS } from '../../src/config/pipeline.js';
import { systemClock } from '../../src/util/clock.js';
import { aRecord, type Job, withJob } from '../cli/here.js';
import { long } from '../helpers/long.js';
import { codesOf, refusal } from './support.js';

const JOB = { input: 'in.csv', pipeline: './p.yaml', yes: true, out: 'out' };
const pipeline = ['stages: [record]', 'guards: {rows_lost: 20, failing_alike: 30}'];

const environment = ({ cwd, env }: Job): AppEnvironment => ({ cwd, env, clock: systemClock });

/** All exported files, byte for byte. */
const exported = ({ cwd }: Job) =>
  readdirSync(join(cwd, 'out'))
    .sort()
    .map((name) => [name, readFileSync(join(cwd, 'out', name), 'latin1')]);

test('guards are on in nightly and off in analyst', () => {
  const guardsOf = (name: string) => loadPipeline(name, process.cwd()).guards;
  expect(guardsOf('nightly')).toEqual({ rowsLost: 20, failingAlike: 30 });
  expect(guardsOf('analyst')).toEqual(NO_GUARDS);
});

long('a vanished data folder is not bought again if the metrics file shows answers of the list', async () => {
  const lines = [...pipeline, 'metrics: {file: monitor.prom}'];
  await withJob({ pipeline: lines }, async (job) => {
    job.writeCsv('in.csv', job.rows.slice(0, 2));
    const notes: string[] = [];
    const noting = { ...environment(job), onNote: ({ code }: { readonly code: string }) => notes.push(code) };
    await run({ ...JOB, out: undefined }, noting);
    expect(notes).toContain('LEDGER_BEGUN');
    const spent = job.sandbox.chargeLog.length;
    rmSync(join(job.cwd, 'data'), { recursive: true });
    const again = { ...JOB, out: undefined };
    for (const _ of ['the first night', 'the next'])
      expect(await refusal(run(again, environment(job)))).toMatchObject({ code: 'NEW_LEDGER', exit: 2 });
    expect(await plan(again, environment(job))).toMatchObject({ refusedBy: { code: 'NEW_LEDGER' } });
    expect(job.sandbox.chargeLog).toHaveLength(spent);
    // Another list of the same pipeline is no loss.
    job.writeCsv('other.csv', job.rows.slice(2, 3));
    expect(await plan({ ...again, input: 'other.csv' }, environment(job))).toMatchObject({ refusedBy: null });
    expect(await run({ ...again, accept: ['new_ledger'] }, environment(job))).toMatchObject({ finished: true });
  });
});

describe('a broken delivery', { tags: 'long' }, () => {
  test('with lost rows is refused before anything is spent or exported, and runs within the allowed share', async () => {
    await withJob({ pipeline }, async (job) => {
      job.writeCsv('in.csv', job.rows.slice(0, 10));
      await run(JOB, environment(job));
      const before = exported(job);
      const spent = job.sandbox.chargeLog.length;
      const nowhere = { country: '', registration_number: '', vat_number: '' };
      const moved = job.rows.slice(0, 10).map((row) => ({ ...row, ...nowhere }));
      for (const rows of [job.rows.slice(0, 7), job.rows.slice(10, 11), moved]) {
        job.writeCsv('in.csv', rows);
        const error = await refusal(run(JOB, environment(job)));
        expect(error).toMatchObject({ code: 'ROWS_LOST', exit: 2 });
        expect(error.hint).toContain('--accept rows_lost');
        // The plan shows it in advance.
        const { refusedBy } = await plan(JOB, environment(job));
        expect(refusedBy).toEqual({ code: 'ROWS_LOST', message: error.message, hint: error.hint });
      }
      expect(job.sandbox.chargeLog).toHaveLength(spent);
      expect(exported(job)).toEqual(before);
      job.writeCsv('in.csv', job.rows.slice(0, 8));
      expect(await plan(JOB, environment(job))).toMatchObject({ refusedBy: null });
      expect(await run(JOB, environment(job))).toMatchObject({ finished: true, rows: 8, spent: { units: 0 } });
      job.writeCsv('in.csv', job.rows.slice(0, 3));
      const accepted = { ...JOB, accept: ['rows_lost'] };
      expect(await run(accepted, environment(job))).toMatchObject({ finished: true, rows: 3, spent: { units: 0 } });
    });
  });

  test('that breaks off in its last line is refused if it lost even one company', async () => {
    await withJob({ pipeline }, async (job) => {
      job.writeCsv('in.csv', job.rows.slice(0, 10));
      await run(JOB, environment(job));
      const file = join(job.cwd, 'in.csv');
      const whole = readFileSync(file, 'utf8');
      const lines = whole.trimEnd().split('\n');
      const deliver = (end: string) => writeFileSync(file, [...lines.slice(0, 10), end].join('\n'));
      const last = lines[10] ?? '';
      deliver(last.slice(0, last.indexOf(',') + 4));
      const error = await refusal(run(JOB, environment(job)));
      expect(error).toMatchObject({ code: 'ROWS_LOST', exit: 2, message: expect.stringContaining('line 11') });
      expect(await plan(JOB, environment(job))).toMatchObject({ refusedBy: { code: 'ROWS_LOST' } });
      // Without the last line end alone, or with it, nothing is certain.
      for (const end of [last, `${last.slice(0, last.indexOf(',') + 4)}\n`]) {
        deliver(end);
        expect(await plan(JOB, environment(job))).toMatchObject({ refusedBy: null });
      }
      deliver(last.slice(0, last.indexOf(',') + 4));
      expect(await run({ ...JOB, accept: ['rows_lost'] }, environment(job))).toMatchObject({
        outcomes: { invalid: 1 },
      });
      // Now it is known as it is.
      expect(await plan(JOB, environment(job))).toMatchObject({ refusedBy: null });
    });
  });

  test('with only new IDs is refused for any number of rows, but a missing ID column removes no company', async () => {
    await withJob({ pipeline }, async (job) => {
      const list = job.rows.slice(0, 10);
      const renamed = (count: number) => list.map((row, at) => (at < count ? { ...row, id: `new-${row.id}` } : row));
      job.writeCsv('in.csv', list);
      await run(JOB, environment(job));
      const spent = job.sandbox.chargeLog.length;
      // New companies do not compensate for it.
      job.writeCsv('in.csv', [...renamed(10), ...job.rows.slice(10, 15)]);
      const error = await refusal(run(JOB, environment(job)));
      expect(error).toMatchObject({ code: 'ROWS_LOST', exit: 2, message: expect.stringMatching(/\b15\b.*\b10\b/) });
      expect(job.sandbox.chargeLog).toHaveLength(spent);
      // New and departed companies are no broken delivery.
      job.writeCsv('in.csv', renamed(4));
      expect(await run(JOB, environment(job))).toMatchObject({ finished: true, rows: 10, spent: { units: 0 } });
      job.writeCsv(
        'in.csv',
        list.map(({ id: _, ...row }) => row),
      );
      expect(await run(JOB, environment(job))).toMatchObject({ finished: true, rows: 10, spent: { units: 0 } });
    });
  });

  test('in which other companies took the IDs is refused, but corrections of names or numbers are none', async () => {
    await withJob({ pipeline }, async (job) => {
      const list = job.rows.slice(0, 10);
      job.writeCsv('in.csv', list);
      await run(JOB, environment(job));
      const others = job.rows.slice(10, 20).map((row, at) => ({ ...row, id: list[at]?.id }));
      const refused = { refusedBy: { code: 'ROWS_LOST', message: expect.stringMatching(/\bname and number\b/) } };
      for (const rows of [others, [...others.slice(0, 3), ...list.slice(3)]]) {
        job.writeCsv('in.csv', rows);
        expect(await plan(JOB, environment(job))).toMatchObject(refused);
      }
      const better = list.map((row) => ({ ...row, name: `${row.name} (corrected)` }));
      const partly = better.map((row, at) => (at < 5 ? { ...row, registration_number: '' } : row));
      const numberOf = (at: number) => others[at]?.registration_number;
      const corrected = list.map((row, at) => (at < 5 ? { ...row, registration_number: numberOf(at) } : row));
      for (const rows of [better, partly, corrected]) {
        job.writeCsv('in.csv', rows);
        expect(await plan(JOB, environment(job))).toMatchObject({ refusedBy: null });
      }
    });
  });

  test('suggests --accept and never a shipped pipeline', async () => {
    await withJob({}, async (job) => {
      const nightly = { ...JOB, pipeline: 'nightly' };
      job.writeCsv('in.csv', job.rows.slice(0, 4));
      await run(nightly, environment(job));
      job.writeCsv('in.csv', job.rows.slice(0, 1));
      const { hint } = await refusal(run(nightly, environment(job)));
      expect(hint).not.toContain('nightly.yaml');
      const planned = await plan(nightly, environment(job));
      expect(planned).toMatchObject({ refusedBy: { code: 'ROWS_LOST' } });
      expect(codesOf(planInWords(planned))).toEqual(expect.arrayContaining(['RUN_WOULD_BE_REFUSED']));
      // With the flag from the hint.
      const accepted = { ...nightly, accept: ['rows_lost'] };
      expect(await run(accepted, environment(job))).toMatchObject({ finished: true, rows: 1 });
    });
  });

  test('is accepted by a person, who may use another list under the same name', async () => {
    await withJob({}, async (job) => {
      job.writeCsv('in.csv', job.rows.slice(0, 10));
      await run(JOB, environment(job));
      job.writeCsv('in.csv', job.rows.slice(0, 2));
      expect(await run(JOB, environment(job))).toMatchObject({ finished: true, rows: 2 });
    });
  });

  test('without a data row is always refused, and earlier exports stay', async () => {
    await withJob({}, async (job) => {
      job.writeCsv('in.csv', job.rows.slice(0, 2));
      await run(JOB, environment(job));
      const before = exported(job);
      for (const content of ['', 'name,country\n', 'name,country\n,\n\n', '\ufeffname;country\r\n ;\t\r\n']) {
        writeFileSync(join(job.cwd, 'in.csv'), content);
        const error = await refusal(run(JOB, environment(job)));
        expect(error).toMatchObject({ exit: 2, code: content === '' ? 'FILE_EMPTY' : 'EMPTY_INPUT' });
        expect(await refusal(plan(JOB, environment(job)))).toMatchObject({ exit: 2 });
      }
      expect(exported(job)).toEqual(before);
    });
  });
});

describe('rows that fail with the same error', { tags: 'long' }, () => {
  test('stop the run above the allowed share, and the run can be resumed and its failed rows retried', async () => {
    await withJob({ pipeline }, async (job) => {
      job.writeCsv('in.csv', job.rows);
      job.sandbox.script(aRecord, Array(40).fill(400));
      const end = await run({ ...JOB, concurrency: 1 }, environment(job));
      expect(end).toMatchObject({
        finished: false,
        stopped: { code: 'FAILING_ALIKE', exit: 6 },
        next: { kind: 'resume' },
      });
      expect(end.outcomes.pending).toBeGreaterThan(5);
      job.sandbox.clearScript();
      expect(await resume({ yes: true }, environment(job))).toMatchObject({ finished: true, stopped: null });
      expect(await retry({ yes: true }, environment(job))).toMatchObject({
        outcomes: { complete: 30 },
        unitsCharged: 60,
      });
    });
  });

  test('do not stop the run without this guard or below the share', async () => {
    await withJob({ pipeline }, async (job) => {
      job.writeCsv('in.csv', job.rows);
      job.sandbox.script(aRecord, [...Array(15).fill('none'), ...Array(6).fill(400)]);
      const end = await run({ ...JOB, concurrency: 1 }, environment(job));
      expect(end).toMatchObject({ finished: true, stopped: null, outcomes: { failed: 6, complete: 24 } });
    });
  });
});

long(
  'two companies that always fail at the end of a file do not prevent the tables, and their rows give the reason',
  async () => {
    const odd = ['stages: [record]', 'concurrency: 1', 'patience: 0'];
    await withJob({ pipeline: odd }, async (job) => {
      job.writeCsv('in.csv', job.rows.slice(0, 5));
      // The check of the key comes first.
      job.sandbox.script('fullKyb', ['none', 'none', 'none', 'none', ...Array(20).fill(503)]);
      const end = await run(JOB, environment(job));
      expect(end.outcomes).toMatchObject({ complete: 3 });
      expect(end).toMatchObject({ stopped: { code: 'PROVIDER_UNAVAILABLE', exit: 6 }, tables: join(job.cwd, 'out') });
      const rows = readFileSync(join(job.cwd, 'out', 'rows.csv'), 'utf8').split('\n');
      expect(rows.filter((line) => /,\w+_SERVICE_UNAVAILABLE,/.test(line))).toHaveLength(2);
      // Tables are written at every stop if they are missing.
      rmSync(join(job.cwd, 'out'), { recursive: true });
      expect(await resume({ out: 'out' }, environment(job))).toMatchObject({
        stopped: { exit: 6 },
        tables: join(job.cwd, 'out'),
      });
    });
  },
);
