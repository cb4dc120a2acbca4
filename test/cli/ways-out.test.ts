import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { shortRun } from '../../src/util/words.js';
import { inLedger } from '../helpers/ledger-place.js';
import { long } from '../helpers/long.js';
import { aRecord, type EndJson, type Job, jsonOf, withJob } from './here.js';

const RUN = ['run', 'in.csv', '--pipeline', './p.yaml', '--json', '--yes', '--concurrency', '1'];

/** The next command of `status`, as a user would paste it. */
async function statusNext({ kybatch, cwd }: Job): Promise<string> {
  const { next = '', run } = jsonOf<{ next?: string; run: string }>(await kybatch(['status', '--json']));
  const shown = next.replace(` ${run}`, ` ${shortRun(run)}`).replaceAll(`${cwd}/`, '');
  // The text names the workbook of the tables while its sheet has the questions.
  const words = (await kybatch(['status'])).stdout;
  expect(words).toContain(/review export/.test(next) && words.includes('results.xlsx, then:') ? 'review apply' : shown);
  return next;
}

const paste = (job: Job, command: string) => job.kybatch(command.split(' ').slice(1));

long.each([
  ['failed rows', [400], /^kybatch resume --failed \S+ --yes$/],
  ['a used up limit', [], /^kybatch resume \S+ --max-units \d+ --yes$/],
])('X-4 status names the command that resolves %s', async (_, faults, command) => {
  await withJob({}, async (job) => {
    job.writeCsv('in.csv', job.rows.slice(0, 2));
    job.sandbox.script(aRecord, faults);
    await job.kybatch([...RUN, ...(faults.length === 0 ? ['--max-units', '2'] : [])]);
    const next = await statusNext(job);
    expect(next).toMatch(command);
    expect((await paste(job, next)).code).toBe(0);
    expect(await statusNext(job)).toBe('');
  });
});

long(
  'X-4 X-10 the next command writes the tables to the chosen place and format, also from another folder',
  async () => {
    await withJob({}, async (job) => {
      job.writeCsv('in.csv', job.rows.slice(0, 2));
      const tables = ['--out', 'my/tables', '--format', 'csv', '--export'];
      const end = jsonOf<EndJson>(await job.kybatch([...RUN, '--max-units', '2', ...tables]));
      expect(end.next).toMatch(
        /^kybatch resume \S+ --max-units 2 --concurrency 1 --export --out my\/tables --format csv --yes$/,
      );
      const dataDir = join(job.cwd, 'data');
      const elsewhere = await job.kybatch(['status', '--json', '--data-dir', dataDir], { cwd: dataDir });
      const next = jsonOf<EndJson>(elsewhere).next ?? '';
      expect(next).toBe(
        `kybatch resume ${end.run} --data-dir ${dataDir} --max-units 2 --export --out ${job.cwd}/my/tables --format csv --yes`,
      );
      const pasted = await job.kybatch([...next.split(' ').slice(1), '--json'], { cwd: dataDir });
      expect(jsonOf<object>(pasted)).toMatchObject({ finished: true, files: join(job.cwd, 'my', 'tables') });
      job.writeCsv('in.csv', job.rows.slice(2, 3));
      job.sandbox.script(aRecord, [400]);
      const failed = jsonOf<EndJson>(await job.kybatch([...RUN, '--no-export', '--format', 'parquet,csv']));
      expect(failed.next).toBe(
        `kybatch resume --failed ${failed.run} --concurrency 1 --no-export --format parquet,csv --yes`,
      );
      expect(await statusNext(job)).toBe(
        `kybatch resume --failed ${failed.run} --no-export --format csv,parquet --yes`,
      );
    });
  },
);

long('X-4 X-10 an attempt without a format uses the formats of the last attempt', async () => {
  await withJob({}, async (job) => {
    job.writeCsv('in.csv', job.rows.slice(0, 8));
    const ended = async (...args: string[]) =>
      jsonOf<EndJson & { files?: string }>(await job.kybatch([...args, '--json', '--yes']));
    const list = ['run', 'in.csv', '--pipeline', './p.yaml', '--concurrency', '1'];
    const hasParquet = ({ files = '' }: { readonly files?: string }) => existsSync(join(files, 'companies.parquet'));
    const first = await ended(...list, '--max-units', '2', '--format', 'csv,parquet');
    expect(hasParquet(await ended('resume', '--max-units', '2'))).toBe(true);
    const ofList = await ended(...list, '--max-units', '2');
    expect([ofList.run, hasParquet(ofList)]).toEqual([first.run, true]);
    expect(hasParquet(await ended('resume', '--max-units', '2', '--format', 'csv'))).toBe(false);
    expect(await statusNext(job)).toBe(`kybatch resume ${first.run} --max-units 2 --format csv --yes`);
    expect(await ended('resume')).toMatchObject({ finished: true });
    expect(existsSync(join(first.files ?? '', 'results.xlsx'))).toBe(false);
  });
});

long(
  'X-1 if one company’s answer is always bad, all others finish and are written, and each end names the next step',
  async () => {
    await withJob({ pipeline: ['stages: [record]', 'patience: 0'] }, async (job) => {
      job.writeCsv('in.csv', job.rows.slice(0, 4));
      let odd: string | undefined;
      const isOdd = (request: Parameters<typeof aRecord>[0]) => {
        if (aRecord(request)) odd ??= request.path;
        return request.path === odd;
      };
      const pages = Array.from({ length: 60 }, () => ({ rewrite: '<html>' }));
      job.sandbox.script(isOdd, pages);
      const first = await job.kybatch(RUN);
      expect(first.code).toBe(6);
      expect(jsonOf<EndJson & { files?: string }>(first)).toMatchObject({
        outcomes: { complete: 3, failed: 0, pending: 1 },
        parked: { unanswered: 1 },
        files: expect.stringContaining('exports'),
      });
      expect(first.codes).toContain('ROWS_WAIT_FOR_UNANSWERED');
      expect((await job.kybatch(['status'])).codes).toContain('ROWS_WAIT_FOR_UNANSWERED');
      const next = await statusNext(job);
      expect(next).toMatch(/^kybatch resume \S+ --yes$/);
      // Its third unreadable answer: `lost_answer_tries`.
      const parked = await paste(job, `${next} --json`);
      expect(parked.code).toBe(3);
      expect(jsonOf<EndJson>(parked)).toMatchObject({ parked: { in_doubt: 1 }, next: 'kybatch charges' });
      const paid = job.sandbox.chargeLog.length;
      expect((await paste(job, next)).code).toBe(3);
      expect(job.sandbox.chargeLog).toHaveLength(paid);
      const doubts = await paste(job, await statusNext(job));
      expect(doubts.textOf('CHARGE_UNKNOWN')).toMatch(/ unreadable, charged$/m);
      const calls = doubts.codes.filter((code) => code === 'CHARGE_UNKNOWN').length;
      expect(doubts.textOf('CHARGES_UNKNOWN')).toMatch(new RegExp(`^1 .* ${calls} `));
      odd = '';
      await job.kybatch(['charges', 'resend', '--yes']);
      expect((await paste(job, await statusNext(job))).code).toBe(0);
    });
  },
);

test('X-4 for invalid rows status suggests the plan, which shows line and reason', async () => {
  await withJob({}, async (job) => {
    job.writeCsv('in.csv', [{ ...job.rows[0], country: 'Atlantis' }]);
    const end = await job.kybatch(RUN);
    expect(end.code).toBe(3);
    const next = await statusNext(job);
    expect(jsonOf<EndJson>(end).next).toBe(next);
    expect(next).toBe(`kybatch plan ${join(job.cwd, 'in.csv')} --pipeline ${join(job.cwd, 'p.yaml')}`);
    expect((await paste(job, next)).textOf('ROW_INVALID')).toMatch(/ 1 .*"Atlantis".* row 1 \(line 2\)$/);
  });
});

long('X-4 a run whose file was half read begins again with its own options, and not with the whole file', async () => {
  await withJob({}, async (job) => {
    job.writeCsv('in.csv', job.rows.slice(0, 5));
    const { run } = jsonOf<EndJson>(await job.kybatch([...RUN, '--limit', '2', '--max-units', '0']));
    for (const statement of "UPDATE runs SET state = 'reading', row_count = 0; DELETE FROM rows WHERE row > 1; DELETE FROM members; DELETE FROM portfolios".split(
      '; ',
    ))
      await inLedger(join(job.cwd, 'data'), statement);
    const refused = await job.kybatch(['resume', run, '--yes']);
    expect(refused.code).toBe(2);
    const next = await statusNext(job);
    expect(refused.textOf('RUN_HALF_READ')).toContain(`: ${next} --yes`);
    const end = await paste(job, `${next} --yes --json`);
    expect(jsonOf<EndJson>(end)).toMatchObject({ rows: 2, outcomes: { complete: 2 } });
  });
});

long('X-4 for open questions status suggests the sheet that has them, and overwrites no other sheet', async () => {
  await withJob({}, async (job) => {
    const nameless = ({ name: _, ...row }: Job['rows'][number]) => ({ ...row, name: 'Somebody Else Entirely' });
    job.writeCsv('in.csv', job.rows.slice(0, 1).map(nameless));
    const first = jsonOf<EndJson>(await job.kybatch(RUN));
    expect(first).toMatchObject({ outcomes: { needs_review: 1 }, next: `kybatch review export ${first.run}` });
    expect((await paste(job, first.next ?? '')).code).toBe(0);
    expect(await statusNext(job)).toBe('kybatch review apply review.csv');
    job.writeCsv('in.csv', job.rows.slice(1, 3).map(nameless));
    const second = jsonOf<EndJson>(await job.kybatch([...RUN, '--portfolio', 'another']));
    expect(second.next).toBe(`kybatch review export ${second.run} --out review-${second.run}.csv`);
    // The sheet has the questions of the first run alone.
    expect((await job.kybatch(['review', 'list'])).textOf('REVIEW_NEXT')).toMatch(
      / kybatch review apply review\.csv\n2 .*:\n +kybatch review export --out review-open\.csv$/,
    );
    const unattended = await job.kybatch(['review']);
    expect(unattended.code).toBe(2);
    expect(unattended.textOf('NO_TERMINAL')).toMatch(/ kybatch review list$/);
    expect((await paste(job, second.next ?? '')).code).toBe(0);
    expect(await statusNext(job)).toBe(`kybatch review apply review-${second.run}.csv`);
    expect((await job.kybatch(['review', 'list', second.run])).stderr).toContain(await statusNext(job));
    // A name that is taken by another file is not suggested.
    writeFileSync(join(job.cwd, `review-${second.run}.csv`), 'something else');
    const third = `kybatch review export ${second.run} --out review-${second.run}-2.csv`;
    expect(await statusNext(job)).toBe(third);
    expect((await paste(job, third)).code).toBe(0);
  });
});

long('X-4 a run refused at a mistyped base URL does not block others, and can be dropped', async () => {
  await withJob({}, async (job) => {
    job.writeCsv('in.csv', job.rows.slice(0, 2));
    const { run } = jsonOf<EndJson>(await job.kybatch([...RUN, '--max-units', '2']));
    const typo = { ...job.env, KYBATCH_V1_BASE_URL: `${job.sandbox.v1BaseUrl}/typo` };
    job.writeCsv('in.csv', job.rows.slice(2, 3));
    expect((await job.kybatch(RUN, { env: typo })).code).toBe(2);
    expect(jsonOf<{ runs: object[] }>(await job.kybatch(['runs', '--json'])).runs).toHaveLength(2);
    expect(await statusNext(job)).toContain(`kybatch resume ${run} `);
    expect(jsonOf<object>(await job.kybatch(['export', '--json']))).toMatchObject({ run });
    const other = await job.kybatch(['resume', '--yes'], { env: typo });
    expect(other.code).toBe(2);
    expect(other.textOf('OTHER_PROVIDER')).toMatch(new RegExp(`: kybatch runs delete ${run}$`));
    const none = { ...job.env, KYBATCH_V1_BASE_URL: '', KYBATCH_V1_API_KEY: '' };
    expect(await job.kybatch(['resume', '--yes'], { env: none })).toMatchObject({
      code: 2,
      codes: ['API_NOT_CONFIGURED'],
    });
    expect(jsonOf<EndJson>(await job.kybatch(['resume', '--json']))).toMatchObject({ run, finished: true });
    // If no other run is unfinished, this one is resumed.
    expect(jsonOf<EndJson>(await job.kybatch(['resume', '--json']))).toMatchObject({ rows: 1, finished: true });
  });
});
