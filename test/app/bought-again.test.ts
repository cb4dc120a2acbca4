import { cpSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { doctor } from '../../src/app/admin/doctor.js';
import { providerMoved } from '../../src/app/admin/ledger.js';
import { usage } from '../../src/app/admin/usage.js';
import type { AppEnvironment } from '../../src/app/environment.js';
import { checkPortfolios } from '../../src/app/monitoring/check.js';
import { portfolios } from '../../src/app/portfolio/portfolios.js';
import { resume } from '../../src/app/run/continue-run.js';
import { exportTables } from '../../src/app/run/export.js';
import { plan } from '../../src/app/run/plan.js';
import { type Proposal, type RunOptions, run } from '../../src/app/run/run.js';
import { dropRun } from '../../src/app/run/runs.js';
import { status } from '../../src/app/run/status.js';
import { systemClock } from '../../src/util/clock.js';
import type { Message } from '../../src/util/message-parts.js';
import { type Job, withJob } from '../cli/here.js';
import { isOnPostgres } from '../helpers/ledger-place.js';
import { long } from '../helpers/long.js';
import { refusal } from './support.js';

const JOB: RunOptions = { input: 'in.csv', pipeline: './p.yaml', yes: true };
const pipeline = ['stages: [record]', 'search: {attempts: 1}'];

const environment = ({ cwd, env }: Job, more: Readonly<Record<string, string>> = {}): AppEnvironment => ({
  cwd,
  env: { ...env, ...more },
  clock: systemClock,
});

const elsewhere = ({ env }: Job) => ({
  KYBATCH_V1_BASE_URL: (env.KYBATCH_V1_BASE_URL ?? '').replace('127.0.0.1', 'localhost'),
});

/** Runs the first rows and returns how many units the provider counted. */
async function bought(
  job: Job,
  rows: number,
  options: Partial<RunOptions> = {},
  place = environment(job),
): Promise<number> {
  job.writeCsv('in.csv', job.rows.slice(0, rows));
  await run({ ...JOB, ...options }, place);
  return job.sandbox.chargeLog.length;
}

long('a paused run that buys everything again continues, and buys each row once', async () => {
  await withJob({ pipeline }, async (job) => {
    const paid = await bought(job, 3);
    const first = await run({ ...JOB, fresh: true, budget: 1 }, environment(job));
    expect(first).toMatchObject({ finished: false, spent: { units: 1 } });
    writeFileSync(join(job.cwd, 'other.yaml'), ['stages: [record, financials]', 'search: {attempts: 1}'].join('\n'));
    expect((await plan(JOB, environment(job))).run).toMatchObject({ id: first.run, continues: true });
    expect((await plan({ ...JOB, pipeline: './other.yaml' }, environment(job))).run).toMatchObject({
      continues: false,
    });
    const second = await run({ ...JOB, fresh: true }, environment(job));
    expect(second).toMatchObject({ run: first.run, finished: true });
    expect(job.sandbox.chargeLog).toHaveLength(2 * paid);
  });
});

describe('X-9 guard new_provider', () => {
  long('another spelling of the base URL is refused without a terminal, and --accept allows one attempt', async () => {
    await withJob({ pipeline }, async (job) => {
      const paid = await bought(job, 3);
      const renamed = environment(job, elsewhere(job));
      const error = await refusal(run(JOB, renamed));
      expect(error).toMatchObject({ code: 'NEW_PROVIDER', exit: 2 });
      expect(error.hint).toContain('kybatch ledger provider-moved --from http://127.0.0.1');
      expect(await refusal(run({ ...JOB, accept: ['new_provder'] }, renamed))).toMatchObject({
        code: 'GUARD_NOT_FOUND',
        exit: 2,
      });
      // The guard ignores other lists of the same provider, and answers that were never bought.
      expect(job.sandbox.chargeLog).toHaveLength(paid);
      job.writeCsv('other.csv', job.rows.slice(10, 12));
      expect(await run({ ...JOB, input: 'other.csv' }, renamed)).toMatchObject({ finished: true });
      const notes: string[] = [];
      const noting = { ...renamed, onNote: ({ code }: Message) => notes.push(code) };
      expect(await run({ ...JOB, accept: ['new_provider'] }, noting)).toMatchObject({ finished: true });
      expect(notes).toContain('GUARD_ACCEPTED');
      expect(await run(JOB, renamed)).toMatchObject({ spent: { units: 0 } });
    });
  });

  long('a list with some stored answers is refused too, and an accepted list continues in later runs', async () => {
    await withJob({ pipeline }, async (job) => {
      const rows = 6;
      const paid = await bought(job, rows, { budget: 2 });
      const renamed = environment(job, elsewhere(job));
      expect(await refusal(run({ ...JOB, budget: 2 }, renamed))).toMatchObject({ code: 'NEW_PROVIDER', exit: 2 });
      // More stored answers of other lists from here are no reason to buy this list again.
      job.writeCsv('other.csv', job.rows.slice(10, 13));
      await run({ ...JOB, input: 'other.csv' }, renamed);
      expect(job.sandbox.chargeLog).toHaveLength(paid + 6);
      expect(await refusal(run(JOB, renamed))).toMatchObject({ code: 'NEW_PROVIDER', exit: 2 });
      expect(job.sandbox.chargeLog).toHaveLength(paid + 6);
      await run({ ...JOB, budget: 2 }, environment(job));
      expect(await run({ ...JOB, budget: 2, accept: ['new_provider'] }, renamed)).toMatchObject({
        spent: { units: 2 },
      });
      expect(await run({ ...JOB, budget: 2 }, renamed)).toMatchObject({ spent: { units: 2 } });
      // Back without --accept: the base URL used last has answers that this one lacks.
      await run({ ...JOB, budget: 4 }, renamed);
      const back = await refusal(run(JOB, environment(job)));
      expect(back).toMatchObject({ code: 'NEW_PROVIDER', exit: 2 });
      const [, from, to] = /provider-moved --from (\S+) --to (\S+)`/.exec(back.hint ?? '') ?? [];
      expect([from, to]).toEqual([elsewhere(job).KYBATCH_V1_BASE_URL, job.env.KYBATCH_V1_BASE_URL]);
      await providerMoved({ from: from ?? '', to: to ?? '' }, environment(job));
      expect(await run(JOB, environment(job))).toMatchObject({ spent: { units: 4 }, outcomes: { complete: 6 } });
    });
  });

  long('only the calls of the API with the new address count', async () => {
    await withJob({ pipeline: ['stages: [record, credit-report]', 'search: {attempts: 1}'] }, async (job) => {
      await bought(job, 3);
      const { message } = await refusal(run(JOB, environment(job, elsewhere(job))));
      expect(message).toMatch(/: up to \d+ units$/);
    });
  });

  long(
    'the suggested command names the data directory, and a check suggests no command that is refused again',
    async () => {
      await withJob({ pipeline }, async (job) => {
        job.writeCsv('in.csv', job.rows.slice(0, 2));
        const start = ['run', 'in.csv', '--pipeline', './p.yaml', '--yes', '--data-dir', 'my books'];
        expect((await job.kybatch(start)).code).toBe(0);
        job.writeCsv('in.csv', job.rows.slice(0, 3));
        const refused = await job.kybatch(start, { env: { ...job.env, ...elsewhere(job) } });
        expect(refused.code).toBe(2);
        expect(refused.stderr).toMatch(/^ *kybatch ledger provider-moved .+ --data-dir 'my books'$/m);
        const check = await job.kybatch(['status', '--check', '--json', '--data-dir', 'my books']);
        expect(check).toMatchObject({ code: 3, stdout: expect.stringContaining('NEW_PROVIDER') });
        expect(JSON.parse(check.stdout)).toMatchObject({ next: "kybatch doctor --data-dir 'my books'" });
        expect(refused.stderr).toContain(
          "kybatch run in.csv --pipeline ./p.yaml --data-dir 'my books' --yes --accept new_provider",
        );
        const [remedy] = /Nothing was spent\.[^\n]+/.exec(refused.stderr) ?? [];
        expect(remedy).toBeDefined();
        const { message } = JSON.parse(check.stdout).portfolios[0].troubles[0];
        expect(message).toContain(remedy);
        expect(message).toContain('--accept new_provider');
        const words = await job.kybatch(['status', '--check', '--data-dir', 'my books']);
        expect(words.textOf('CHECK_NOT_WELL')).toMatch(
          /: kybatch doctor --data-dir 'my books'\..+: kybatch ledger provider-moved [^`]+ --data-dir 'my books', then: /,
        );
        // The reason that refuses the next night fails doctor, too, until the answers are moved or the base URL is set
        // back.
        const env = { ...job.env, ...elsewhere(job) };
        const place = ['doctor', '--data-dir', 'my books'];
        expect((await job.kybatch([...place, '--json'], { env })).stdout).toContain('guard new_provider');
        expect((await job.kybatch(place, { env })).code).toBe(2);
        expect((await job.kybatch(place)).code).toBe(0);
      });
    },
  );

  test('a person is asked about it and may agree, but --yes given beforehand is not enough', async () => {
    await withJob({ pipeline }, async (job) => {
      await bought(job, 1);
      const renamed = environment(job, elsewhere(job));
      const asked: string[] = [];
      const agree: NonNullable<RunOptions['agree']> = async ({ findings }) => {
        asked.push(...findings.map(({ guard }) => guard));
        return true;
      };
      expect(await refusal(run({ ...JOB, agree }, renamed))).toMatchObject({ code: 'NEW_PROVIDER' });
      expect(await run({ ...JOB, yes: false, agree }, renamed)).toMatchObject({ finished: true });
      expect(asked).toEqual(['new_provider']);
    });
  });
});

// A killed process leaves the ledger as it is at that moment.
test.skipIf(isOnPostgres)(
  'a process that dies while it writes the tables leaves a finished run without them',
  async () => {
    await withJob({ pipeline }, async (job) => {
      const killed = { dataDir: 'killed' };
      const [first, second] = job.rows;
      job.writeCsv('in.csv', [first ?? {}, { ...second, registration_number: '', vat_number: '' }]);
      const listen: RunOptions['listen'] = ({ kind }) => {
        if (kind === 'writing_tables')
          cpSync(join(job.cwd, 'data'), join(job.cwd, 'killed'), { recursive: true, verbatimSymlinks: true });
      };
      await run({ ...JOB, listen }, environment(job));
      const check = (place = {}) => checkPortfolios({ ...place, maxAgeMs: 86_400_000 }, environment(job));
      const review = { kind: 'needs_review' };
      expect(await check()).toMatchObject({ lists: [{ troubles: [review], next: { kind: 'review' } }] });
      // The command is for the first trouble.
      expect(await check(killed)).toMatchObject({
        lists: [{ troubles: [{ kind: 'tables' }, review], next: { kind: 'run' } }],
      });
      expect(await status(killed, environment(job))).toMatchObject({
        run: { state: 'finished' },
        lacksTables: true,
        next: { kind: 'run' },
      });
      expect(await portfolios(killed, environment(job))).toMatchObject([{ lastRun: { lacksTables: true } }]);
      const paid = job.sandbox.chargeLog.length;
      expect(await run({ ...JOB, ...killed }, environment(job))).toMatchObject({ tables: expect.anything() });
      expect(job.sandbox.chargeLog).toHaveLength(paid);
      expect(await check(killed)).toMatchObject({ lists: [{ troubles: [review] }] });
    });
  },
);

describe('X-2 ledger provider-moved', () => {
  test.each([
    ['has sold nothing yet', 0],
    ['has sold a part already', 2],
  ])('nothing is bought again from a base URL that %s', async (_, before) => {
    await withJob({ pipeline }, async (job) => {
      const paid = await bought(job, 3);
      const { KYBATCH_V1_BASE_URL: from = '' } = job.env;
      const { KYBATCH_V1_BASE_URL: to } = elsewhere(job);
      const renamed = environment(job, elsewhere(job));
      job.writeCsv('part.csv', job.rows.slice(0, before));
      if (before > 0) await run({ ...JOB, input: 'part.csv', accept: ['new_provider'] }, renamed);
      const paidBefore = job.sandbox.chargeLog.length;
      expect(await providerMoved({ from: `${from}/`, to }, environment(job))).toMatchObject({
        from,
        to,
        moved: [{ api: 'v1', merged: before > 0 }],
        portfolios: 1,
      });
      expect(await run(JOB, renamed)).toMatchObject({ worked: false, spent: { units: 0 } });
      job.writeCsv('again.csv', job.rows.slice(0, 3));
      expect(await run({ ...JOB, input: 'again.csv' }, renamed)).toMatchObject({ outcomes: { complete: 3 } });
      expect(job.sandbox.chargeLog).toHaveLength(paidBefore);
      expect(paid).toBeLessThanOrEqual(paidBefore);
      const { environments } = await usage({}, renamed);
      expect(environments.filter(({ api }) => api === 'v1').map(({ name }) => name)).toEqual([to]);
      expect(await refusal(providerMoved({ from, to }, environment(job)))).toMatchObject({ exit: 2 });
    });
  });

  long(
    'a base URL with answers of the other API is refused, because they could not be told apart afterwards',
    async () => {
      await withJob({ pipeline: ['stages: [record, firmographics]'] }, async (job) => {
        const paid = await bought(job, 1);
        const { KYBATCH_V1_BASE_URL: v1 = '', KYBATCH_V2_BASE_URL: v2 = '' } = job.env;
        const before = await usage({}, environment(job));
        expect(before.environments.map(({ api }) => api).toSorted()).toEqual(['v1', 'v2']);
        for (const move of [
          { from: v1, to: v2 },
          { from: v2, to: v1 },
        ])
          expect(await refusal(providerMoved(move, environment(job)))).toMatchObject({
            code: 'PROVIDER_OTHER_API',
            exit: 2,
          });
        expect((await usage({}, environment(job))).environments).toEqual(before.environments);
        job.writeCsv('again.csv', job.rows.slice(0, 1));
        await run({ ...JOB, input: 'again.csv' }, environment(job));
        expect(job.sandbox.chargeLog).toHaveLength(paid);
      });
    },
  );

  test.each([
    ['a path that the provider does not have', (v1: string) => v1.replace(/\/v1$/, '/v11'), 2],
    ['a port without a listener', () => 'http://127.0.0.1:9', 6],
  ])('nothing is moved to %s, unless the check is skipped', async (_, wrong, exit) => {
    await withJob({ pipeline }, async (job) => {
      const paid = await bought(job, 1);
      const { KYBATCH_V1_BASE_URL: from = '' } = job.env;
      const to = wrong(from);
      const before = await usage({}, environment(job));
      expect(await refusal(providerMoved({ from, to }, environment(job)))).toMatchObject({
        code: 'PROVIDER_NOT_THERE',
        exit,
      });
      expect((await usage({}, environment(job))).environments).toEqual(before.environments);
      expect(await providerMoved({ from, to, unchecked: true }, environment(job))).toMatchObject({ portfolios: 1 });
      expect(await providerMoved({ from: to, to: from }, environment(job))).toMatchObject({ portfolios: 1 });
      expect(job.sandbox.chargeLog).toHaveLength(paid);
    });
  });

  test('an unfinished run continues at the new base URL', async () => {
    await withJob({ pipeline }, async (job) => {
      await bought(job, 3, { budget: 2 });
      const { KYBATCH_V1_BASE_URL: from = '' } = job.env;
      const { KYBATCH_V1_BASE_URL: to } = elsewhere(job);
      await providerMoved({ from, to }, environment(job));
      expect(await resume({ yes: true }, environment(job, elsewhere(job)))).toMatchObject({ finished: true });
      expect(job.sandbox.chargeLog).toHaveLength(6);
    });
  });
});

describe.skipIf(isOnPostgres)('X-9 guard new_ledger', () => {
  const ledgerFiles = ['kybatch.db', 'kybatch.db-wal', 'kybatch.db-shm'];
  const lose = (job: Job) => {
    for (const name of ledgerFiles) rmSync(join(job.cwd, 'data', name), { force: true });
  };

  long.each([
    ['logs', 'exports', undefined],
    ['exports', 'logs', undefined],
    ['tables elsewhere', '.', 'out'],
  ])('a missing ledger is refused if %s show an earlier run', async (_, gone, out) => {
    await withJob({ pipeline }, async (job) => {
      const paid = await bought(job, 1, { out });
      lose(job);
      rmSync(join(job.cwd, 'data', gone), { recursive: true, force: true });
      expect(await refusal(run({ ...JOB, out }, environment(job)))).toMatchObject({ code: 'NEW_LEDGER', exit: 2 });
      expect(job.sandbox.chargeLog).toHaveLength(paid);
      if (out === undefined) {
        const { findings } = await doctor({}, environment(job));
        expect(findings.map(({ check }) => check)).toContain('guard new_ledger');
        expect(await checkPortfolios({ maxAgeMs: 86_400_000 }, environment(job))).toMatchObject({
          troubles: [{ code: 'NEW_LEDGER' }],
        });
      }
      expect(await run({ ...JOB, out, accept: ['new_ledger'] }, environment(job))).toMatchObject({ finished: true });
      // From then on the ledger decides.
      expect(await run({ ...JOB, out }, environment(job))).toMatchObject({ spent: { units: 0 } });
    });
  });

  long('before a run is refused for an older copy, doctor, plan and status --check report it', async () => {
    await withJob({ pipeline }, async (job) => {
      await bought(job, 1);
      cpSync(join(job.cwd, 'data', 'kybatch.db'), join(job.cwd, 'backup.db'));
      await bought(job, 2);
      const check = (more = {}) => checkPortfolios({ maxAgeMs: 86_400_000 }, environment(job, more));
      expect(await check()).toMatchObject({ well: true });
      lose(job);
      cpSync(join(job.cwd, 'backup.db'), join(job.cwd, 'data', 'kybatch.db'));
      const { findings, exit } = await doctor({}, environment(job));
      expect(exit).toBe(2);
      expect(findings).toContainEqual(expect.objectContaining({ check: 'guard new_ledger', state: 'fail' }));
      // The monitor may have no configuration.
      expect(await check({ KYBATCH_V1_BASE_URL: '', KYBATCH_V1_API_KEY: '' })).toMatchObject({
        well: false,
        lists: [{ troubles: [] }],
        troubles: [{ kind: 'error', code: 'NEW_LEDGER' }],
      });
      expect((await usage({}, environment(job))).olderCopy).toContain('older copy');
      const planned = await plan(JOB, environment(job));
      const error = await refusal(run(JOB, environment(job)));
      expect(error).toMatchObject({ code: 'NEW_LEDGER', exit: 2 });
      expect(planned.refusedBy).toEqual({ code: error.code, message: error.message, hint: error.hint });
      // The refused attempt reports it from now on, once.
      expect(await check()).toMatchObject({
        lists: [{ troubles: [{ kind: 'refused', code: 'NEW_LEDGER' }] }],
        troubles: [],
      });
    });
  });

  long.each([
    ['commits', 'logs'],
    ['logs', 'kybatch.commits'],
  ])('an older copy that lacks %s is accepted once, even if nothing is due', async (_, gone) => {
    await withJob({ pipeline }, async (job) => {
      await bought(job, 1);
      cpSync(join(job.cwd, 'data', 'kybatch.db'), join(job.cwd, 'backup.db'));
      const restore = async () => {
        await bought(job, 2);
        lose(job);
        rmSync(join(job.cwd, 'data', gone), { recursive: true, force: true });
        cpSync(join(job.cwd, 'backup.db'), join(job.cwd, 'data', 'kybatch.db'));
        job.writeCsv('in.csv', job.rows.slice(0, 1));
        expect(await refusal(run(JOB, environment(job)))).toMatchObject({ code: 'NEW_LEDGER' });
      };
      await restore();
      expect(await run({ ...JOB, accept: ['new_ledger'] }, environment(job))).toMatchObject({ worked: false });
      expect(await run(JOB, environment(job))).toMatchObject({ worked: false });
      expect((await doctor({}, environment(job))).exit).toBe(0);
      expect(await checkPortfolios({ maxAgeMs: 86_400_000 }, environment(job))).toMatchObject({ well: true });
      // A person is asked, even if nothing is due.
      await restore();
      let asked = 0;
      const agree = async ({ findings }: Proposal) => {
        asked += findings.length;
        return true;
      };
      await run({ ...JOB, yes: false, agree }, environment(job));
      expect(asked).toBe(1);
      expect(await run(JOB, environment(job))).toMatchObject({ worked: false });
    });
  });

  long('run and resume refuse a backup that is older than the files beside it', async () => {
    await withJob({ pipeline }, async (job) => {
      await bought(job, 1, { budget: 1 });
      cpSync(join(job.cwd, 'data', 'kybatch.db'), join(job.cwd, 'backup.db'));
      const paid = await bought(job, 4);
      lose(job);
      cpSync(join(job.cwd, 'backup.db'), join(job.cwd, 'data', 'kybatch.db'));
      expect(await refusal(run(JOB, environment(job)))).toMatchObject({ code: 'NEW_LEDGER', exit: 2 });
      expect(await refusal(resume({ yes: true }, environment(job)))).toMatchObject({ code: 'NEW_LEDGER', exit: 2 });
      expect(job.sandbox.chargeLog).toHaveLength(paid);
      expect(await resume({ yes: true, accept: ['new_ledger'] }, environment(job))).toMatchObject({ worked: true });
    });
  });

  long.each([
    ['log', 'exports'],
    ['export', 'logs'],
  ])(
    'an older backup of the run is refused for its %s, but attempts without purchases do not count',
    async (_, gone) => {
      await withJob({ pipeline }, async (job) => {
        await bought(job, 4, { budget: 3 });
        const { run: id } = await run({ ...JOB, budget: 0 }, environment(job));
        expect(await refusal(run(JOB, environment(job, { KYBATCH_V1_API_KEY: '' })))).toMatchObject({ exit: 2 });
        await exportTables({ run: id }, environment(job));
        cpSync(join(job.cwd, 'data', 'kybatch.db'), join(job.cwd, 'backup.db'));
        expect(await run(JOB, environment(job))).toMatchObject({ run: id, finished: true });
        const paid = job.sandbox.chargeLog.length;
        expect(await run(JOB, environment(job))).toMatchObject({ spent: { units: 0 } });
        await exportTables({ run: id }, environment(job));
        lose(job);
        cpSync(join(job.cwd, 'backup.db'), join(job.cwd, 'data', 'kybatch.db'));
        rmSync(join(job.cwd, 'data', gone), { recursive: true, force: true });
        expect(await refusal(run(JOB, environment(job)))).toMatchObject({ code: 'NEW_LEDGER', exit: 2 });
        expect(await refusal(resume({ yes: true }, environment(job)))).toMatchObject({ code: 'NEW_LEDGER', exit: 2 });
        expect(job.sandbox.chargeLog).toHaveLength(paid);
        expect(await resume({ yes: true, accept: ['new_ledger'] }, environment(job))).toMatchObject({ finished: true });
        job.writeCsv('in.csv', job.rows.slice(0, 5));
        expect(await run(JOB, environment(job))).toMatchObject({ finished: true });
      });
    },
  );

  long('dropped runs, sandbox runs and a first run are not refused', async () => {
    await withJob({ pipeline }, async (job) => {
      await bought(job, 1, { sandbox: true });
      lose(job);
      await bought(job, 1);
      const { run: dropped } = await run({ ...JOB, input: 'in.csv', fresh: true }, environment(job));
      await dropRun({ run: dropped }, environment(job));
      expect(await bought(job, 2)).toBeGreaterThan(0);
    });
  });
});

describe('X-9 guard clock', () => {
  const DAY_MS = 86_400_000;
  const ahead = (job: Job, days: number): AppEnvironment => ({
    ...environment(job),
    clock: { ...systemClock, now: () => Date.now() + days * DAY_MS },
  });

  test.each([400, -400])(
    'a clock that is off by %i days is refused, also at a terminal and by resume',
    async (days) => {
      await withJob({ pipeline }, async (job) => {
        const paid = await bought(job, 2, { budget: 3 });
        job.writeCsv('in.csv', job.rows.slice(0, 4));
        const agree = () => Promise.resolve(true);
        expect(await refusal(run({ ...JOB, yes: false, agree }, ahead(job, days)))).toMatchObject({
          code: 'CLOCK',
          exit: 2,
          message: expect.stringContaining(new Date().toISOString().slice(0, 10)),
        });
        expect(await refusal(resume({ yes: true }, ahead(job, days)))).toMatchObject({ code: 'CLOCK', exit: 2 });
        expect(job.sandbox.chargeLog).toHaveLength(paid);
        expect(await run(JOB, environment(job))).toMatchObject({ finished: true, outcomes: { complete: 4 } });
        expect(job.sandbox.chargeLog).toHaveLength(8);
      });
    },
  );

  test('half a day of difference is accepted, and --accept allows one attempt', async () => {
    await withJob({ pipeline }, async (job) => {
      job.writeCsv('in.csv', job.rows.slice(0, 1));
      expect(await run(JOB, ahead(job, 0.5))).toMatchObject({ finished: true });
      job.writeCsv('in.csv', job.rows.slice(0, 2));
      expect(await run({ ...JOB, accept: ['clock'] }, ahead(job, 2))).toMatchObject({ finished: true });
    });
  });
});
