import { expect, test } from 'vitest';
import { listInWords } from '../../src/cli/terminal/review-words.js';
import { openQuestions } from '../../src/review/questions.js';
import { SHIPPED } from '../config/with-pipeline.js';
import { isOnPostgres } from '../helpers/ledger-place.js';
import { long } from '../helpers/long.js';
import { withDesk } from '../review/with-ledger.js';
import { withJob } from './here.js';

test('the help of run names every shipped pipeline', () =>
  withJob({}, async ({ kybatch }) => {
    const { stdout } = await kybatch(['run', '--help']);
    for (const name of SHIPPED) expect(stdout).toMatch(new RegExp(`\\b${name}\\b`));
  }));

test.skipIf(isOnPostgres)('an empty ledger address is reported', () =>
  withJob({}, async ({ kybatch, rows, writeCsv, env }) => {
    writeCsv('in.csv', rows.slice(0, 1));
    const run = ['run', 'in.csv', '--pipeline', './p.yaml', '--yes', '--no-export'];
    const { code, codes, stderr } = await kybatch(run, { env: { ...env, KYBATCH_LEDGER_URL: ' ' } });
    expect(code).toBe(0);
    expect(codes).toContain('LEDGER_URL_EMPTY');
    expect(stderr).toContain(' data');
    expect((await kybatch(run)).codes).not.toContain('LEDGER_URL_EMPTY');
  }),
);

long('plan and run report unused keys of the pipeline', () =>
  withJob({ pipeline: ['stages: [record]', 'contacts: {reveal: [email]}'] }, async (job) => {
    job.writeCsv('in.csv', job.rows.slice(0, 1));
    for (const verb of ['plan', 'run'])
      expect(
        (await job.kybatch([verb, 'in.csv', '--pipeline', './p.yaml', ...(verb === 'run' ? ['--yes'] : [])])).codes,
      ).toContain('PIPELINE_OPTION_UNUSED');
  }),
);

test('the list of open questions hides at least two, never one', () =>
  withDesk(async ({ ask, review }) => {
    const isCut = async () =>
      listInWords(await openQuestions(review), { full: false, limit: undefined, open: 7 }).some(
        ({ code }) => code === 'QUESTIONS_LEFT',
      );
    for (let row = 1; row <= 6; row += 1) await ask({ row, key: `k${row}` });
    expect(await isCut()).toBe(false);
    await ask({ row: 7, key: 'k7' });
    expect(await isCut()).toBe(true);
  }));

long('the list of open questions names the command for a spreadsheet', () =>
  withJob({}, async (job) => {
    job.writeCsv('in.csv', [{ name: job.rows[0]?.name, country: job.rows[0]?.country }]);
    await job.kybatch(['run', 'in.csv', '--pipeline', './p.yaml', '--yes']);
    const { codes, stderr } = await job.kybatch(['review', 'list']);
    expect(codes.at(-1)).toBe('REVIEW_NEXT');
    expect(stderr).toContain(' kybatch review export\n');
  }),
);
