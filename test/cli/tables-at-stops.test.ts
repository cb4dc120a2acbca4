/** @module-tag long */
import { existsSync, readdirSync, readFileSync, rmSync, symlinkSync, watch } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { run } from '../../src/app/run/run.js';
import { systemClock } from '../../src/util/clock.js';
import { shortRun } from '../../src/util/words.js';
import { type EndJson, Interrupts, type JobOptions, jsonOf, withJob } from './here.js';

const RUN = ['run', 'in.csv', '--pipeline', './p.yaml', '--json'];

type End = EndJson & { readonly files?: string; readonly export?: string };

describe('every stop writes the tables', () => {
  test.each<[string, JobOptions, readonly string[], number]>([
    ['a limit', {}, ['--max-units', '3'], 4],
    ['the allowance', { plan: 'free' }, ['--yes'], 4],
    [
      'an outage',
      { pipeline: ['stages: [record]', 'breaker: {failures: 5}', 'patience: 0'], faults: { rate503: 1 } },
      ['--yes'],
      6,
    ],
  ])(
    '%s, unless the flag --no-export or the pipeline prevents it, with the command to export',
    async (_, options, flags, code) => {
      await withJob(options, async ({ cwd, rows, writeCsv, kybatch }) => {
        writeCsv('in.csv', rows.slice(0, 20));
        const without = await kybatch([...RUN, ...flags, '--no-export', '--out', 'out dir']);
        expect(without.code).toBe(code);
        const { run, files, export: command } = jsonOf<End>(without);
        expect([files, existsSync(join(cwd, 'out dir')), existsSync(join(cwd, 'data', 'exports'))]).toEqual([
          undefined,
          false,
          false,
        ]);
        expect(command).toBe(`kybatch export ${run} --out 'out dir'`);
        const resumed = await kybatch(['resume', '--json', ...flags, '--out', 'out dir']);
        expect(resumed.code).toBe(code);
        expect(jsonOf<End>(resumed).files).toBe(join(cwd, 'out dir'));
        expect(readdirSync(join(cwd, 'out dir'))).toContain('rows.csv');
        // Nothing was bought before this one, and the tables hold its answers.
        writeCsv('other.csv', rows.slice(20, 40));
        const other = await kybatch(['run', 'other.csv', '--pipeline', './p.yaml', '--json', ...flags]);
        expect(other.code).toBe(code);
        expect(jsonOf<End>(other).files).toBe(join(cwd, 'data', 'exports', jsonOf<End>(other).run));
      });
    },
  );

  test('X-3 the tables have as many charged calls as units', async () => {
    await withJob({}, async ({ cwd, rows, writeCsv, kybatch }) => {
      writeCsv('in.csv', rows.slice(0, 20));
      expect((await kybatch([...RUN, '--max-units', '6', '--out', 'out'])).code).toBe(4);
      const lines = readFileSync(join(cwd, 'out', 'calls.csv'), 'utf8')
        .trim()
        .split('\n');
      expect(lines.filter((line) => line.includes(',charged,'))).toHaveLength(6);
      expect(
        readFileSync(join(cwd, 'out', 'companies.csv'), 'utf8')
          .trim()
          .split('\n'),
      ).toHaveLength(4);
    });
  });

  test('a pipeline may write them only at the end', async () => {
    const pipeline = ['stages: [record]', 'tables: when_finished'];
    await withJob({ pipeline }, async ({ rows, writeCsv, kybatch }) => {
      writeCsv('in.csv', rows.slice(0, 2));
      expect(jsonOf<End>(await kybatch([...RUN, '--max-units', '2'])).files).toBeUndefined();
      expect(jsonOf<End>(await kybatch(['resume', '--yes', '--json'])).files).toBeDefined();
    });
  });

  test('an attempt without new answers leaves current tables unchanged', async () => {
    await withJob({ plan: 'free' }, async ({ cwd, rows, writeCsv, kybatch }) => {
      writeCsv('in.csv', rows.slice(0, 20));
      const { run, files = '' } = jsonOf<End>(await kybatch([...RUN, '--yes']));
      const summary = () => readFileSync(join(files, 'summary.json'), 'utf8');
      const before = summary();
      const again = await kybatch(['resume', '--yes', '--json']);
      expect([again.code, jsonOf<object>(again), summary()]).toMatchObject([4, { files_before: files }, before]);
      expect(jsonOf<End>(again).files).toBeUndefined();
      const asked = await kybatch(['resume', '--yes', '--json', '--out', 'elsewhere']);
      expect(jsonOf<End>(asked)).toMatchObject({ run, files: join(cwd, 'elsewhere') });
    });
  });

  test('tables of an unfinished run are marked as partial, and complete ones are not', async () => {
    await withJob({}, async ({ cwd, rows, writeCsv, kybatch }) => {
      writeCsv('in.csv', rows.slice(0, 3));
      const facts = () =>
        ['summary.json', 'datapackage.json'].map(
          (name) => JSON.parse(readFileSync(join(cwd, 'out', name), 'utf8')) as Record<string, unknown>,
        );
      const stopped = await kybatch([...RUN, '--max-units', '2', '--export', '--out', 'out']);
      expect(stopped.code).toBe(4);
      expect(stopped.textOf('TABLES_PARTIAL')).toMatch(/ 2 .* 3 /);
      expect(jsonOf<object>(stopped)).toMatchObject({ files_partial: true });
      const [summary, described] = facts();
      expect(summary).toMatchObject({ partial: true, rows_not_settled: 2 });
      expect(described).toMatchObject({
        partial: true,
        rows_not_settled: 2,
        title: expect.stringMatching(/ \(partial\)$/),
        description: expect.stringMatching(/^Partial: [^.]* 2 of 3 /),
      });
      expect((await kybatch(['export', '--out', 'out'])).textOf('TABLES_PARTIAL')).toMatch(/ 2 .* 3 /);
      await kybatch(['resume', '--yes', '--out', 'out']);
      for (const file of facts()) expect(file).toMatchObject({ partial: false, rows_not_settled: 0 });
      for (const text of [facts()[1]?.title, facts()[1]?.description]) expect(text).not.toMatch(/partial/i);
      expect((await kybatch(['export', '--out', 'out'])).codes).not.toContain('TABLES_PARTIAL');
    });
  });

  test('an interrupt, too', async () => {
    await withJob({}, async ({ cwd, rows, writeCsv, kybatch, sandbox }) => {
      writeCsv('in.csv', rows.slice(0, 6));
      for (const [flags, written] of [
        [['--no-export'], false],
        [[], true],
      ] as const) {
        const interrupts = new Interrupts();
        const before = sandbox.chargeLog.length;
        const end = kybatch([...RUN, '--yes', '--concurrency', '1', '--out', 'out', ...flags], { interrupts });
        while (sandbox.chargeLog.length === before) await new Promise((next) => setImmediate(next));
        interrupts.send('SIGTERM');
        expect((await end).code).toBe(143);
        expect(existsSync(join(cwd, 'out', 'rows.csv'))).toBe(written);
      }
    });
  });

  test('a second interrupt stops the writing, and leaves the previous tables unchanged', async () => {
    await withJob({}, async ({ cwd, rows, writeCsv, env }) => {
      writeCsv('in.csv', rows.slice(0, 4));
      const [drain, abort] = [new AbortController(), new AbortController()];
      const start = { input: 'in.csv', pipeline: './p.yaml', yes: true, concurrency: 1, out: 'out' };
      const environment = { cwd, env, clock: systemClock };
      await run({ ...start, budget: 2 }, environment);
      const summary = () => readFileSync(join(cwd, 'out', 'summary.json'), 'utf8');
      const before = summary();
      const listen = ({ kind }: { readonly kind: string }) => {
        if (kind === 'row_settled') drain.abort();
      };
      // A new temporary folder shows that writing has begun.
      const watcher = watch(cwd, (_, name) => {
        if (drain.signal.aborted && name?.includes('out') === true) abort.abort(new Error('interrupted'));
      });
      try {
        const end = await run({ ...start, drain: drain.signal, abort: abort.signal, listen }, environment);
        expect(end).toMatchObject({ interrupted: true, tables: null });
      } finally {
        watcher.close();
      }
      expect([summary(), readdirSync(cwd).filter((name) => name.includes('out'))]).toEqual([before, ['out']]);
    });
  });

  test('after an interrupt at the last row, the tables are still written', async () => {
    await withJob({}, async ({ cwd, rows, writeCsv, sandbox, env }) => {
      writeCsv('in.csv', rows.slice(0, 1));
      const drain = new AbortController();
      const listen = ({ kind }: { readonly kind: string }) => {
        if (kind === 'row_settled') drain.abort();
      };
      const options = { input: 'in.csv', pipeline: './p.yaml', yes: true, drain: drain.signal, listen };
      const end = await run(options, { cwd, env, clock: systemClock });
      expect(end).toMatchObject({ finished: true, tables: join(cwd, 'data', 'exports', end.run) });
      expect(existsSync(join(cwd, 'data', 'exports', end.run, 'rows.csv'))).toBe(true);
      expect(sandbox.chargeLog).toHaveLength(2);
    });
  });

  test('a finished run writes them, --no-export prints the command instead, and --export writes them later', async () => {
    await withJob({}, async ({ cwd, rows, writeCsv, kybatch }) => {
      writeCsv('in.csv', rows.slice(0, 2));
      const without = await kybatch([...RUN, '--yes', '--no-export']);
      const { run } = jsonOf<End>(without);
      expect(without.textOf('TABLES_NOT_WRITTEN')).toMatch(new RegExp(`: kybatch export ${shortRun(run)}$`));
      expect(jsonOf<End>(await kybatch([...RUN, '--export'])).files).toBe(join(cwd, 'data', 'exports', run));
      writeCsv('in.csv', rows.slice(2, 4));
      const end = jsonOf<End>(await kybatch([...RUN, '--yes']));
      expect(end.files).toBe(join(cwd, 'data', 'exports', end.run));
      expect(end.export).toBeUndefined();
    });
  });
});

test('tables that cannot be written do not hide the cost', async () => {
  await withJob({ pipeline: ['stages: [record]'] }, async ({ cwd, rows, writeCsv, kybatch, sandbox }) => {
    writeCsv('in.csv', rows.slice(0, 3));
    const exports = join(cwd, 'data', 'exports');
    const run = ['run', 'in.csv', '--pipeline', './p.yaml', '--yes'];
    const ending = kybatch([...run, '--max-units', '2']);
    while (sandbox.chargeLog.length === 0) await new Promise((next) => setImmediate(next));
    rmSync(exports, { recursive: true, force: true });
    symlinkSync(join(cwd, 'gone', 'away'), exports);
    const end = await ending;
    expect(end.code).toBe(2);
    expect(end.codes).toEqual(expect.arrayContaining(['UNITS_SPENT', 'TABLES_NOT_WRITTEN', 'RUN_SUMMARY']));
    expect(end.stderr + end.stdout).toContain('units=2');
    rmSync(exports);
    expect((await kybatch([...run, '--max-units', '50'])).code).toBe(0);
  });
});
