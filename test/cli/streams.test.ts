import { describe, expect, test } from 'vitest';
import type { Finished } from '../helpers/cli.js';
import { long } from '../helpers/long.js';
import { Interrupts, type Job, withJob } from './here.js';

const RUN = ['run', 'in.csv', '--pipeline', './p.yaml', '--yes'];

/** Each with the code of its result. The list of operations has none. */
const ASKED: readonly (readonly [readonly string[], string?])[] = [
  [['plan', 'in.csv', '--pipeline', './p.yaml'], 'PLAN'],
  [['runs'], 'RUNS'],
  [['status'], 'RUN_STATE'],
  [['usage'], 'USAGE_BY_DAY'],
  [['portfolios'], 'PORTFOLIOS'],
  [['changes'], 'NOTHING_CHANGED'],
  [['doctor'], 'V1_KEY_OK'],
  [['charges'], 'EVERY_CHARGE_KNOWN'],
  [['export'], 'TABLES_WRITTEN'],
  [['ledger', 'migrate'], 'LEDGER_UP_TO_DATE'],
  [['watch', 'list'], 'WATCHES'],
  [['call', 'v1']],
  [['prune', '--older-than', '90d', '--yes'], 'NOTHING_TO_PRUNE'],
];

const withRun = (use: (job: Job) => Promise<void>) =>
  withJob({}, async (job) => {
    job.writeCsv('in.csv', job.rows.slice(0, 2));
    expect((await job.kybatch(RUN)).code).toBe(0);
    await use(job);
  });

long('the result of a command is on stdout, also with --quiet, and is one object with --json', () =>
  withRun(async ({ kybatch, cwd }) => {
    const said: Record<string, unknown> = {};
    for (const [index, [args, result]] of ASKED.entries()) {
      const { code, codes, textOf, stdout, stderr } = await kybatch([...args, index % 2 === 0 ? '--quiet' : '-q']);
      if (result !== undefined) expect(codes, args.join(' ')).toContain(result);
      expect(stdout, args.join(' ')).toContain(
        result === undefined ? 'searchKyb' : textOf(result).replaceAll(`${cwd}/`, ''),
      );
      said[args.join(' ')] = [code, stderr];
    }
    expect(said).toEqual(Object.fromEntries(ASKED.map(([args]) => [args.join(' '), [0, '']])));
    // The result is the file.
    expect(await kybatch(['sandbox', 'sample', '--rows', '1', '-q'])).toMatchObject({
      code: 0,
      stdout: '',
      stderr: '',
    });
    for (const [args] of ASKED.filter(([[verb]]) => /plan|doctor|doubt|export|migrate/.test(verb ?? ''))) {
      const { stdout } = await kybatch([...args, '--json']);
      expect(() => JSON.parse(stdout), `${args.join(' ')}: ${stdout}`).not.toThrow();
    }
  }),
);

describe('an attempt with --quiet', () => {
  long('prints nothing if all rows finish, with a bar or without', () =>
    withJob({}, async ({ rows, writeCsv, kybatch }) => {
      writeCsv('in.csv', rows.slice(0, 2));
      expect(await kybatch([...RUN, '--quiet'], { answers: () => 'yes' })).toMatchObject(silent(0));
      expect(await kybatch([...RUN, '-q'])).toMatchObject(silent(0));
    }),
  );

  long('prints why it ended and how to continue if rows are left', () =>
    withJob({}, async ({ rows, writeCsv, kybatch }) => {
      writeCsv('in.csv', rows.slice(0, 3));
      const { code, stdout, stderr } = await kybatch([...RUN, '--quiet', '--max-units', '2']);
      expect(code).toBe(4);
      expect(stdout).toMatch(/ 3 +\w+\n[\s\S]* kybatch resume /);
      expect(stderr).toBe('');
    }),
  );

  test('prints errors, and asks its questions with their context', () =>
    withJob({}, async ({ rows, writeCsv, kybatch }) => {
      expect((await kybatch([...RUN, '--quiet'])).stderr).toMatch(/^error: .*in\.csv/);
      writeCsv('in.csv', rows.slice(0, 1));
      const asked: string[] = [];
      const answers = (question: string) => {
        asked.push(question);
        return 'no';
      };
      const { codes, stderr } = await kybatch([...RUN.slice(0, -1), '--quiet'], {
        answers,
        interrupts: new Interrupts(),
      });
      expect(asked).toHaveLength(1);
      expect(codes[0]).toBe('PLAN');
      expect(stderr).toContain('in.csv');
    }));
});

const silent = (code: number): Partial<Finished> => ({ code, stdout: '', stderr: '' });
