/** @module-tag long */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import { describe, expect, test } from 'vitest';
import { type Clock, systemClock } from '../../src/util/clock.js';
import { type EndJson, type HereOptions, type Job, type JobOptions, jsonOf, type Said, withJob } from '../cli/here.js';
import { sheetColumns } from '../helpers/review-sheet.js';
import { withClient, withEmptyDatabase, withPostgres } from './server.js';

interface PostgresJob extends Job {
  readonly url: string;
}

/**
 * The job of the SQLite tests, with its ledger in a database. `npm run test:postgres` runs all tests of commands this
 * way.
 */
async function withPostgresJob(
  options: JobOptions,
  use: (job: PostgresJob) => Promise<void>,
  within: typeof withPostgres = withPostgres,
): Promise<void> {
  await within((url) => withJob(options, (job) => use({ ...withUrl(job, url), url })));
}

const withUrl = (job: Job, url: string): Job => {
  const env = { ...job.env, KYBATCH_LEDGER_URL: url };
  const kybatch = (args: readonly string[], more: Partial<HereOptions> = {}): Promise<Said> =>
    job.kybatch(args, { env, ...more });
  return { ...job, env, kybatch };
};

const RUN = ['run', 'in.csv', '--pipeline', './p.yaml', '--yes', '--json', '--out', 'tables'];

/** After the lease of a killed process. */
const LATER: Clock = { now: () => Date.now() + 60_000, sleep: (ms, signal) => systemClock.sleep(ms, signal) };

describe('commands on PostgreSQL', () => {
  test('only migrate creates tables, and the exported tables equal those of a SQLite ledger to the byte', async () => {
    const tables = async ({ cwd, kybatch, writeCsv, rows }: Job) => {
      writeCsv('in.csv', rows.slice(0, 3));
      const { code, stderr } = await kybatch([...RUN, '--concurrency', '1']);
      expect({ code, stderr }).toMatchObject({ code: 0 });
      const names = ['rows', 'results', 'candidates', 'officers', 'shareholders', 'group_links', 'filed_financials'];
      const read = names.map((name) => readFileSync(join(cwd, 'tables', `${name}.csv`), 'utf8'));
      // Two clocks wrote these times.
      return read.map((table) => table.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '(time)'));
    };
    const options = { pipeline: ['stages: [record]'] };
    let inDatabase: readonly string[] = [];
    await withPostgresJob(
      options,
      async (job) => {
        for (const args of [['runs'], RUN]) {
          job.writeCsv('in.csv', job.rows.slice(0, 1));
          expect(await job.kybatch(args)).toMatchObject({
            code: 2,
            codes: expect.arrayContaining(['NO_LEDGER_YET']),
            stderr: expect.stringContaining('kybatch ledger migrate'),
          });
        }
        expect((await job.kybatch(['ledger', 'migrate'])).codes).toContain('LEDGER_MADE');
        expect((await job.kybatch(['ledger', 'migrate'])).codes).toContain('LEDGER_UP_TO_DATE');
        inDatabase = await tables(job);
        // Nothing is due, and nothing is bought again.
        const paid = job.sandbox.chargeLog.length;
        expect((await job.kybatch(RUN)).code).toBe(0);
        expect(job.sandbox.chargeLog).toHaveLength(paid);
        const { by_operation } = jsonOf<{ by_operation: { units_charged: number }[] }>(
          await job.kybatch(['usage', '--json']),
        );
        expect(by_operation.reduce((sum, { units_charged }) => sum + units_charged, 0)).toBe(6);
        for (const args of [['status'], ['portfolios'], ['changes']])
          expect(await job.kybatch(args)).toMatchObject({ code: 0, stderr: '' });
      },
      withEmptyDatabase,
    );
    await withJob(options, async (job) => expect(await tables(job)).toEqual(inDatabase));
  });

  test('a question goes out as a sheet and comes back as a decision, and purge leaves nothing of a company', async () => {
    await withPostgresJob({}, async ({ cwd, kybatch, writeCsv, rows, url }) => {
      const [first, second] = rows.filter(({ country }) => country === 'GB');
      writeCsv('in.csv', [{ ...first, name: 'Something Else Entirely' }, second ?? {}]);
      expect(jsonOf<EndJson>(await kybatch(RUN)).outcomes).toMatchObject({ needs_review: 1, complete: 1 });
      expect((await kybatch(['review', 'export'])).code).toBe(0);
      const sheet = join(cwd, 'review.csv');
      const lines = parse(readFileSync(sheet), { columns: sheetColumns, bom: true }) as Record<string, string>[];
      writeFileSync(sheet, stringify([{ ...lines[0], decision: 'confirm' }], { header: true }));
      expect((await kybatch(['review', 'apply', 'review.csv', '--by', 'Bea'])).code).toBe(0);
      expect(jsonOf<EndJson>(await kybatch(RUN)).outcomes).toMatchObject({ complete: 2 });
      rmSync(join(cwd, 'tables'), { recursive: true });
      expect((await kybatch(['export', '--out', 'tables', '--format', 'csv,parquet,xlsx'])).code).toBe(0);
      const number = second?.registration_number ?? '';
      const gone = await kybatch(['erase', '--entity', `GB:${number}`, '--yes', '--json']);
      expect(jsonOf(gone)).toMatchObject({ still_mentioned: [] });
      const left = await withClient(url, async (client) => {
        const { rows: found } = await client.query(
          `SELECT 1 FROM kybatch.rows WHERE input_values LIKE $1 UNION ALL SELECT 1 FROM kybatch.calls WHERE params LIKE $1`,
          [`%${number}%`],
        );
        return found;
      });
      expect(left).toEqual([]);
    });
  });
});

interface DoctorJson {
  readonly findings: readonly { readonly check: string; readonly state: string; readonly detail: string }[];
  readonly postgres: { readonly round_trip_ms: number; readonly rights_missing: readonly object[] } | null;
}

describe('doctor on PostgreSQL', () => {
  const look = async ({ kybatch }: Job, more: Partial<HereOptions> = {}, ...flags: string[]) => {
    const finished = await kybatch(['doctor', '--json', ...flags], more);
    const { findings, postgres } = jsonOf<DoctorJson>(finished);
    const found = (check: string) => findings.filter((finding) => finding.check === check);
    return { code: finished.code, found, postgres };
  };

  test('shows connection, schemas, clocks and unsafe commits', async () => {
    await withPostgresJob({}, async (job) => {
      const { code, found, postgres } = await look(job, {}, '--deep');
      expect(code).toBe(0);
      expect(found('connection')).toMatchObject([
        { state: 'ok', detail: expect.stringMatching(/PostgreSQL \d+.*ms$/) },
      ]);
      for (const check of ['database', 'role', 'clock skew', 'connections', 'tls', 'stored answers'])
        expect([check, ...found(check).map(({ state }) => state)]).toEqual([check, 'ok']);
      // The tests' server need not survive a power failure.
      expect(found('durability')).toMatchObject([{ state: 'note', detail: expect.stringContaining('fsync = off') }]);
      expect(postgres?.round_trip_ms).toBeGreaterThanOrEqual(0);
      const ahead = await look(job, { clock: { ...LATER, now: () => Date.now() - 6000 } });
      expect(ahead.code).toBe(2);
      expect(ahead.found('clock skew')).toMatchObject([
        { state: 'fail', detail: expect.stringMatching(/ (?:5\.9|6\.\d) s /) },
      ]);
    });
  });

  test('names each right that the role lacks, with the statement that grants it', async () => {
    await withPostgresJob({}, async (job) => {
      const role = `worker_${Date.now()}`;
      const asRole = { env: { ...job.env, KYBATCH_LEDGER_URL: urlOf(job.url, role) } };
      await withClient(job.url, (client) => client.query(`CREATE ROLE ${role} LOGIN PASSWORD 'secret-of-theirs'`));
      try {
        const before = await look(job, asRole);
        expect(before.code).toBe(2);
        expect(before.found('database')).toMatchObject([{ state: 'fail' }]);
        const granted = await job.kybatch(['ledger', 'migrate', '--grant', role]);
        expect(granted.codes).toContain('ROLE_GRANTED');
        expect(granted.stdout).toContain(role);
        expect(await look(job, asRole)).toMatchObject({ code: 0, postgres: { rights_missing: [] } });
        job.writeCsv('in.csv', job.rows.slice(0, 1));
        expect((await job.kybatch(RUN, asRole)).code).toBe(0);
        await withClient(job.url, (client) =>
          client.query(`REVOKE INSERT, DELETE ON kybatch.calls FROM ${role};
            REVOKE USAGE ON SEQUENCE kybatch.calls_id_seq FROM ${role}`),
        );
        const lacking = await look(job, asRole);
        expect(lacking.code).toBe(2);
        const details = lacking.found('role').map(({ detail }) => detail);
        expect(details).toHaveLength(3);
        for (const grant of [
          `GRANT INSERT ON TABLE kybatch.calls TO "${role}";`,
          `GRANT DELETE ON TABLE kybatch.calls TO "${role}";`,
          `GRANT USAGE ON SEQUENCE kybatch.calls_id_seq TO "${role}";`,
        ]) {
          expect(details.some((detail) => detail.endsWith(grant))).toBe(true);
          await withClient(job.url, (client) => client.query(grant));
        }
        expect((await look(job, asRole)).code).toBe(0);
      } finally {
        await withClient(job.url, (client) => client.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`));
      }
    });
  });

  test('a role with few connections, and obstacles for migrate, are reported before it is tried', async () => {
    await withPostgresJob({}, async (job) => {
      const role = `few_${Date.now()}`;
      const asRole = { env: { ...job.env, KYBATCH_LEDGER_URL: urlOf(job.url, role) } };
      await withClient(job.url, (client) =>
        client.query(`CREATE ROLE ${role} LOGIN PASSWORD 'secret-of-theirs' CONNECTION LIMIT 3`),
      );
      try {
        await job.kybatch(['ledger', 'migrate', '--grant', role]);
        const { found } = await look(job, asRole);
        expect(found('connections')).toMatchObject([
          { state: 'note', detail: expect.stringMatching(/^1 of 3 .*CONNECTION LIMIT/) },
        ]);
      } finally {
        await withClient(job.url, (client) => client.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`));
      }
      await withClient(job.url, (client) => client.query('DROP TABLE kybatch.schema_migrations'));
      const { code, found } = await look(job);
      expect(code).toBe(2);
      expect(found('connection')).toMatchObject([{ state: 'fail', code: 'LEDGER_SCHEMA_UNKNOWN' }]);
    });
  });

  test('a dropped table is reported, with the source of its content', () =>
    withPostgresJob({}, async ({ url, kybatch }) => {
      await withClient(url, (client) => client.query('DROP TABLE kybatch.calls CASCADE'));
      const { code, codes, stderr } = await kybatch(['usage']);
      expect(code).not.toBe(0);
      expect(codes).toContain('LEDGER_DAMAGED');
      expect(stderr).toContain('"calls" does not exist');
      expect(stderr).not.toContain('    at ');
    }));

  test('no ledger, one of another version, no database, and connection refused', async () => {
    await withPostgresJob(
      {},
      async (job) => {
        const empty = await look(job);
        expect(empty.code).toBe(2);
        expect(empty.found('database')).toMatchObject([
          { state: 'fail', code: 'SCHEMA_MISSING', detail: expect.stringContaining('`kybatch ledger migrate`') },
        ]);
        await job.kybatch(['ledger', 'migrate']);
        await withClient(job.url, (client) =>
          client.query("INSERT INTO kybatch.schema_migrations VALUES (999, 'from the future', 0)"),
        );
        const newer = await look(job);
        expect(newer.code).toBe(2);
        expect(newer.found('database')).toMatchObject([
          { state: 'fail', code: 'SCHEMA_TOO_NEW', detail: expect.stringContaining('999') },
        ]);
        const elsewhere = (url: string) => ({ env: { ...job.env, KYBATCH_LEDGER_URL: url } });
        const none = await look(job, elsewhere(job.url.replace(/[^/]*$/, 'nowhere')));
        expect(none).toMatchObject({ code: 2, postgres: null });
        const away = await job.kybatch(['doctor'], elsewhere('postgres://u:not-to-be-seen@127.0.0.1:1/ledger'));
        expect(away).toMatchObject({ code: 6, stdout: expect.stringMatching(/connection .*u@127/) });
        expect(away.stdout + away.stderr).not.toContain('not-to-be-seen');
      },
      withEmptyDatabase,
    );
  });
});

function urlOf(url: string, role: string): string {
  const other = new URL(url);
  other.username = role;
  other.password = 'secret-of-theirs';
  return other.href;
}
