import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { describe, expect, test } from 'vitest';
import { PlatformV2Client } from '../../src/api/v2/client.js';
import { JumpingClock } from '../helpers/jumping-clock.js';
import { inLedger, isOnPostgres, openLedgerIn } from '../helpers/ledger-place.js';
import { long } from '../helpers/long.js';
import { routesOf } from '../helpers/sandbox.js';
import { begin, call, intend } from '../ledger/support.js';
import { aRecord, type EndJson, type Job, jsonOf, withJob } from './here.js';

const HOUR = 3_600_000;
const PIPELINE = ['stages: [credit-report]', 'permissions: {credit_report: [creditReportGenerate]}'];
const RUN = ['run', 'in.csv', '--pipeline', './p.yaml', '--yes'];
const PLAN = ['plan', 'in.csv', '--pipeline', './p.yaml'];

interface PermissionJson {
  readonly permission: string;
  readonly metric: string;
  readonly used: number;
  readonly [field: string]: unknown;
}
interface Told {
  readonly v2_permissions: readonly PermissionJson[];
}

const found = ({ v2_permissions }: Told, wanted: string) => v2_permissions.find(({ metric }) => metric === wanted);
const thePlan = (told: Told) => found(told, 'credit_report.plan');
const theDay = (told: Told) => found(told, 'credit_report.daily');

/** Another user of the account, who generates reports of other companies or looks at people. */
async function somebodyElse<T>({ sandbox }: Job, use: (v2: PlatformV2Client) => Promise<T>): Promise<T> {
  const routes = routesOf(sandbox);
  const v2 = new PlatformV2Client({ baseUrl: sandbox.v2BaseUrl, apiKey: sandbox.keys.v2, routes });
  try {
    return await use(v2);
  } finally {
    await v2.close();
  }
}

const generate = (job: Job, index: number) =>
  somebodyElse(job, async (v2) => {
    const { sourceId, countryCode } = job.sandbox.registry.company(1000 + index);
    await v2.call('creditReportGenerate', { source_id: sourceId, country: countryCode });
  });

describe('V2-3 the counts of v2 under a permission', () => {
  long('a plan shows the remaining calls, the calls that may use them, and whether they are enough', async () => {
    await withJob({ pipeline: PIPELINE, v2Limits: { credit_report: { plan: 4, daily: 100 } } }, async (job) => {
      job.writeCsv('in.csv', job.rows.slice(0, 5));
      await generate(job, 0);
      const shown = (await job.kybatch(PLAN)).textOf('PERMISSIONS');
      expect(shown).not.toContain('credit_report.daily');
      expect(shown).toMatch(/ credit_report\.plan: 3 \D+ 4 .* 5 /);
      const told = jsonOf<Told>(await job.kybatch([...PLAN, '--json']));
      expect(thePlan(told)).toMatchObject({ used: 1, total: 4, left: 3, calls_at_most: 5, enough: false });
      expect(theDay(told)).toMatchObject({ used: 1, total: 100, left: 99, calls_at_most: 5, enough: true });
    });
  });

  long('without an answer of v2 a plan shows the last counts, their age, and how to update them', async () => {
    const clock = new JumpingClock();
    await withJob({ clock, pipeline: PIPELINE, v2Limits: { credit_report: { plan: 4 } } }, async (job) => {
      job.writeCsv('in.csv', job.rows.slice(0, 1));
      await job.kybatch(RUN);
      job.writeCsv('in.csv', job.rows.slice(0, 5));
      clock.advance(3 * HOUR);
      job.sandbox.script('metrics', [500]);
      const shown = (await job.kybatch(PLAN)).textOf('PERMISSIONS');
      expect(shown).toMatch(/^\n.* 2026-.* UTC.*: kybatch doctor\n/);
      expect(shown).toMatch(/ credit_report\.plan: 3 \D+ 4 .* 4 /);
      job.sandbox.script('metrics', [500]);
      const told = jsonOf<Told>(await job.kybatch([...PLAN, '--json']));
      expect(thePlan(told)).toMatchObject({ used: 1, total: 4, left: 3, calls_at_most: 4, enough: false });
    });
  });

  test('a plan without calls under a permission shows 0, and unknown calls show null', async () => {
    const permissions =
      'permissions: {ownership: [ownership], credit_report: [creditReportGenerate, creditReportStatus]}';
    await withJob({ pipeline: ['stages: [credit-report]', permissions] }, async (job) => {
      job.writeCsv('in.csv', job.rows.slice(0, 1));
      const told = jsonOf<Told>(await job.kybatch([...PLAN, '--json']));
      expect(found(told, 'ownership.plan')).toMatchObject({ calls_at_most: 0 });
      expect(thePlan(told)).toMatchObject({ calls_at_most: null });
    });
  });

  long.each([
    ['the plan', { plan: 2 }],
    ['the day', { daily: 2 }],
  ])('an attempt shows its use, and parks its rows if %s is used up', async (_, limit) => {
    await withJob({ pipeline: PIPELINE, v2Limits: { credit_report: limit } }, async (job) => {
      job.writeCsv('in.csv', job.rows.slice(0, 2));
      const first = await job.kybatch(RUN);
      const metric = `credit_report.${Object.keys(limit)[0]}`;
      const used = first.textOf('PERMISSION_USED');
      expect(used).toMatch(new RegExp(` ${metric}: 2 \\D+ 2`));
      expect(used).not.toContain('ownership');
      job.writeCsv('in.csv', job.rows.slice(0, 4));
      const sent = job.sandbox.requests.get('creditReportGenerate');
      const second = await job.kybatch([...RUN, '--json']);
      expect(second.code).toBe(4);
      expect(jsonOf<EndJson>(second).parked).toEqual({ allowance: 2 });
      expect(job.sandbox.requests.get('creditReportGenerate')).toBe(sent);
      const status = await job.kybatch(['status']);
      expect(status.textOf('PERMISSION_USED_UP')).toMatch(new RegExp(` credit_report .* 2 \\D+ 2 \\(${metric}\\)`));
    });
  });

  long('usage shows the calls in the ledger beside the provider’s last count', async () => {
    await withJob({ pipeline: PIPELINE, v2Limits: { credit_report: { plan: 10 } } }, async (job) => {
      job.writeCsv('in.csv', job.rows.slice(0, 2));
      const end = jsonOf<Told>(await job.kybatch([...RUN, '--json']));
      expect(thePlan(end)).toMatchObject({ used_at_start: 0, used: 2, total: 10, left: 8 });
      const usage = async () => thePlan(jsonOf<Told>(await job.kybatch(['usage', '--json'])));
      const kept = { operations: ['creditReportGenerate'], calls_answered: 2, calls_failed: 0, used_at_start: 0 };
      expect(await usage()).toMatchObject({ ...kept, used: 2, left: 8, drift: 0 });
      await generate(job, 1);
      expect(await usage()).toMatchObject({ used: 2, drift: 0 });
      await job.kybatch(['doctor']);
      expect(await usage()).toMatchObject({ ...kept, used: 3, left: 7, drift: 1 });
      const shown = await job.kybatch(['usage']);
      expect(shown.textOf('PERMISSIONS')).toMatch(/credit_report\.plan +3 +10 +7 +3 +2 +\+1$/m);
    });
  });
});

describe('doctor', { tags: 'long' }, () => {
  test('V2-3 lists each permission, used up permissions, and codenames that v2 does not know', async () => {
    const pipeline = [
      'stages: [credit-report]',
      'permissions: {credit_reprot: [creditReportGenerate], financial: [financial]}',
    ];
    await withJob({ pipeline, v2Limits: { credit_report: { plan: 1 } } }, async (job) => {
      await generate(job, 2);
      const { code, textOf } = await job.kybatch(['doctor', '--pipeline', './p.yaml', '--verbose']);
      expect(code).toBe(0);
      expect(textOf('V2_PERMISSION_OK')).toMatch(/^ +✓ .* financial: financial\.daily 0 \D+ 1,000,000 \D+ 1,000,000 /m);
      expect(textOf('PERMISSION_USED_UP')).toMatch(
        /^ +! .* credit_report: .*credit_report\.plan 1 \D+ 1 \D+ 0 .* credit_report\.plan$/,
      );
      expect(textOf('PERMISSION_UNKNOWN')).toMatch(/^ +! .* credit_reprot, .* credit_report\?$/);
      const told = jsonOf<Told>(await job.kybatch(['doctor', '--json']));
      expect(thePlan(told)).toMatchObject({ used: 1, total: 1, left: 0 });
    });
  });

  // The clocks of this test and of the server differ, which doctor says.
  test.skipIf(isOnPostgres)(
    'V2-14 counts revealed contacts in a range that it names as sent, and keeps them for usage',
    async () => {
      const clock = new JumpingClock();
      await withJob({ clock, pipeline: PIPELINE }, async (job) => {
        job.writeCsv('in.csv', job.rows.slice(0, 1));
        await job.kybatch(RUN);
        expect((await job.kybatch(['doctor', '--verbose'])).textOf('V2_CONTACTS_OK')).toMatch(
          / \d{4}-\d\d-\d\d 00:00:00 .* \d{4}-\d\d-\d\d 23:59:59.*: .* 0, .* 0$/,
        );
        const { v2_contacts: kept } = jsonOf<{ v2_contacts: readonly object[] }>(
          await job.kybatch(['usage', '--json']),
        );
        expect(kept).toMatchObject([{ email_count: 0, phone_count: 0, date_to: expect.stringMatching(/ 23:59:59$/) }]);
        // Zeros are not printed.
        expect((await job.kybatch(['usage'])).codes).not.toContain('CONTACTS_REVEALED');
        job.sandbox.script('metricsContacts', [500]);
        const failing = await job.kybatch(['doctor', '--verbose']);
        expect(failing).toMatchObject({ code: 0, codes: expect.arrayContaining(['V2_CONTACTS_NOTE']) });
      });
    },
  );
});

describe('the counts that doctor reads', { tags: 'long' }, () => {
  const kept = async ({ cwd }: Job, table: string): Promise<number> =>
    (await inLedger(join(cwd, 'data'), `SELECT 1 AS one FROM ${table}`)).length;

  // A database has a ledger from the beginning, and no process has it alone.
  test.skipIf(isOnPostgres)('are stored in an existing ledger, and a dead attempt is left alone', async () => {
    await withJob({ pipeline: ['stages: [record]'] }, async (job) => {
      await job.kybatch(['doctor']);
      expect(existsSync(join(job.cwd, 'data'))).toBe(false);
      job.writeCsv('in.csv', job.rows.slice(0, 1));
      await job.kybatch(RUN);
      expect(await kept(job, 'permission_use')).toBe(0);
      const ledger = await openLedgerIn({ dataDir: join(job.cwd, 'data'), now: Date.now(), access: 'existing' });
      await intend(ledger, call(await begin(ledger)));
      await ledger.close();
      await job.kybatch(['doctor', '--sandbox']);
      expect(await kept(job, 'permission_use')).toBe(0);
      expect((await job.kybatch(['doctor'])).code).toBe(0);
      expect(await kept(job, 'permission_use')).toBe(30);
      expect(await kept(job, 'starts WHERE ended_at IS NULL')).toBe(1);
    });
  });

  test.skipIf(isOnPostgres)('are not stored while an attempt runs, and a note says so', async () => {
    await withJob({ pipeline: ['stages: [record]'] }, async (job) => {
      job.writeCsv('in.csv', job.rows.slice(0, 1));
      await job.kybatch(RUN);
      const ledger = await openLedgerIn({ dataDir: join(job.cwd, 'data'), now: Date.now(), access: 'existing' });
      const { code, textOf } = await job.kybatch(['doctor']);
      await ledger.close();
      expect(code).toBe(0);
      expect(textOf('V2_COUNTS_NOTE')).toContain(join(job.cwd, 'data'));
      expect(await kept(job, 'permission_use')).toBe(0);
    });
  });
});

long('the table allowances has every count of the run’s providers, and an unknown count is empty', async () => {
  const pipeline = ['stages: [record, credit-report]', ...PIPELINE.slice(1)];
  await withJob({ pipeline, plan: 'free', v2Limits: { credit_report: { plan: 10 } } }, async (job) => {
    job.writeCsv('in.csv', job.rows.slice(0, 1));
    await job.kybatch([...RUN, '--out', 'out']);
    const rows = parse(readFileSync(join(job.cwd, 'out', 'allowances.csv')), { columns: true }) as Record<
      string,
      string
    >[];
    const find = (metric: string) => rows.filter((row) => row.metric === metric);
    expect(find('units_daily')).toMatchObject([
      { api: 'v1', permission: '', used: '', total: '3', left: '1', reset_at: expect.stringMatching(/T00:00:00/) },
    ]);
    expect(find('credit_report.plan')).toMatchObject([
      {
        api: 'v2',
        permission: 'credit_report',
        permission_name: 'Credit report',
        name: 'Credit report in the plan',
        used: '1',
        total: '10',
        left: '9',
        used_at_start: '0',
        operations: '["creditReportGenerate"]',
        calls_answered: '1',
        calls_failed: '0',
        drift: '0',
        reset_at: '',
        contacts_from: '',
        extra: '',
      },
    ]);
    expect(find('ownership.plan')).toMatchObject([{ used: '0', operations: '', calls_answered: '', drift: '' }]);
    expect(find('email_count')).toEqual([]);
    const summary = JSON.parse(readFileSync(join(job.cwd, 'out', 'summary.json'), 'utf8')) as Record<string, object[]>;
    expect(summary.allowances).toHaveLength(rows.length);
    await job.kybatch(['doctor']);
    await job.kybatch(['export', '--out', 'again']);
    const again = readFileSync(join(job.cwd, 'again', 'allowances.csv'), 'utf8');
    expect(again).toMatch(/^v2,,email_count,,0,,,,,[^,]+,\d{4}-\d\d-\d\d 00:00:00,\d{4}-\d\d-\d\d 23:59:59,/m);
  });
});

test('V1-2 the end of a run and `usage` agree on the units left, with any order of answers', async () => {
  await withJob({}, async ({ rows, sandbox, writeCsv, kybatch }) => {
    writeCsv('in.csv', rows.slice(0, 3));
    // The first answer has the highest figure and comes last.
    let records = 0;
    sandbox.script((request) => aRecord(request) && ++records === 1, 'slowDrip');
    const end = await kybatch(['run', 'in.csv', '--pipeline', './p.yaml', '--yes', '--no-export']);
    expect(end.code).toBe(0);
    const usage = jsonOf<{ environments: { api: string; units_left: number }[] }>(await kybatch(['usage', '--json']));
    const left = usage.environments.find(({ api }) => api === 'v1')?.units_left ?? 0;
    expect(left).toBe(1_000_000 - 6);
    expect(end.textOf('UNITS_LEFT')).toContain(` ${left.toLocaleString('en-US')} `);
  });
});
