/** @module-tag long */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { run } from '../../src/app/start.js';
import { systemClock } from '../../src/util/clock.js';
import { type EndJson, Interrupts, type JobOptions, jsonOf, withJob } from './here.js';

const RUN = ['run', 'in.csv', '--pipeline', './p.yaml', '--json'];

type End = EndJson & { readonly files?: string; readonly export?: string };

describe('a stop that is not the end writes tables only when asked', () => {
  test.each<[string, JobOptions, readonly string[], number]>([
    ['the budget', {}, ['--budget', '3'], 4],
    ['the allowance', { plan: 'free' }, ['--yes'], 4],
    [
      'an outage',
      { pipeline: ['stages: [record]', 'breaker: {failures: 5}', 'patience: 0'], faults: { rate503: 1 } },
      ['--yes'],
      6,
    ],
  ])('%s', async (_, options, flags, code) => {
    await withJob(options, async ({ cwd, rows, writeCsv, kybatch }) => {
      writeCsv('in.csv', rows.slice(0, 20));
      const stopped = await kybatch([...RUN, ...flags, '--out', 'out dir']);
      expect(stopped.code).toBe(code);
      const { run, files, export: command } = jsonOf<End>(stopped);
      expect([files, existsSync(join(cwd, 'out dir')), existsSync(join(cwd, 'data', 'exports'))]).toEqual([
        undefined,
        false,
        false,
      ]);
      expect(command).toBe(`kybatch export ${run} --out 'out dir'`);
      expect(stopped.stderr).toContain(
        `Tables: not written, the run is not finished. Write them as it stands with: ${command}\n`,
      );
      const asked = await kybatch(['resume', '--json', ...flags, '--export', '--out', 'asked']);
      expect(asked.code).toBe(code);
      expect(jsonOf<End>(asked).files).toBe(join(cwd, 'asked'));
      expect(readdirSync(join(cwd, 'asked'))).toContain('rows.csv');
    });
  });

  test('tables of an unfinished run say that they are partial, wherever somebody may look; whole ones say so, too', async () => {
    await withJob({}, async ({ cwd, rows, writeCsv, kybatch }) => {
      writeCsv('in.csv', rows.slice(0, 3));
      const facts = () =>
        ['summary.json', 'datapackage.json'].map(
          (name) => JSON.parse(readFileSync(join(cwd, 'out', name), 'utf8')) as Record<string, unknown>,
        );
      const words = 'The tables are partial: the run is not finished, 2 of its 3 rows are not settled yet.\n';
      const stopped = await kybatch([...RUN, '--budget', '2', '--export', '--out', 'out']);
      expect(stopped.code).toBe(4);
      expect(stopped.stderr).toContain(words);
      expect(jsonOf<object>(stopped)).toMatchObject({ files_partial: true });
      const [summary, described] = facts();
      expect(summary).toMatchObject({ partial: true, rows_not_settled: 2 });
      expect(described).toMatchObject({
        partial: true,
        rows_not_settled: 2,
        title: expect.stringMatching(/\(partial\)$/),
        description: expect.stringMatching(/^Partial: the run is not finished, 2 of its 3 rows are not settled yet\./),
      });
      expect((await kybatch(['export', '--out', 'out'])).stderr).toContain(words);
      await kybatch(['resume', '--yes', '--out', 'out']);
      for (const file of facts()) expect(file).toMatchObject({ partial: false, rows_not_settled: 0 });
      expect((await kybatch(['export', '--out', 'out'])).stderr).not.toContain('partial');
    });
  });

  test('an interrupt, too; with --export the tables come before the terminal does', async () => {
    await withJob({}, async ({ cwd, rows, writeCsv, kybatch, sandbox }) => {
      writeCsv('in.csv', rows.slice(0, 6));
      for (const [flags, written] of [
        [[], false],
        [['--export'], true],
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

  test('an interrupt that comes when the last row is settled has stopped nothing: the tables are written', async () => {
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

  test('a finished run writes them; --no-export does not, and says how to; --export makes up for it', async () => {
    await withJob({}, async ({ cwd, rows, writeCsv, kybatch }) => {
      writeCsv('in.csv', rows.slice(0, 2));
      const without = await kybatch([...RUN, '--yes', '--no-export']);
      const { run } = jsonOf<End>(without);
      expect(without.stderr).toContain(`Tables: not written. Write them as it stands with: kybatch export ${run}\n`);
      expect(jsonOf<End>(await kybatch([...RUN, '--export'])).files).toBe(join(cwd, 'data', 'exports', run));
      writeCsv('in.csv', rows.slice(2, 4));
      const end = jsonOf<End>(await kybatch([...RUN, '--yes']));
      expect(end.files).toBe(join(cwd, 'data', 'exports', end.run));
      expect(end.export).toBeUndefined();
    });
  });
});
