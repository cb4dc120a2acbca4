import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parse } from 'csv-parse/sync';
import { describe, expect, test } from 'vitest';
import { openDuck } from '../../src/export/formats/duckdb.js';
import { aRecord, type EndJson, type Job, jsonOf, withJob } from '../cli/here.js';
import { JumpingClock } from '../helpers/jumping-clock.js';
import { inLedger } from '../helpers/ledger-place.js';
import { long } from '../helpers/long.js';
import { decideAll } from './nights.js';

const DAY = 86_400_000;
const NIGHTLY = ['stages: [record]', 'freshness: {fullKyb: 7d, searchKyb: 365d, kybSearch: 365d}'];
const RUN = ['--pipeline', './p.yaml', '--yes', '--json', '--export', '--out', 'tables'];

type Line = Readonly<Record<string, string>>;

interface Nights extends Job {
  readonly clock: JumpingClock;
  night(days: number, ...flags: string[]): Promise<EndJson>;
  table(name: string): readonly Line[];
  /** `row column: old → new`, of the table `changes`. */
  told(): readonly string[];
}

async function withNights(rows: number, use: (nights: Nights) => Promise<void>, pipeline = NIGHTLY): Promise<void> {
  const clock = new JumpingClock('2026-01-05T01:00:00Z');
  await withJob({ clock, pipeline }, async (job) => {
    job.writeCsv('in.csv', job.rows.slice(0, rows));
    const table = (name: string) =>
      parse(readFileSync(join(job.cwd, 'tables', `${name}.csv`)), { columns: true }) as Line[];
    const told = () =>
      table('changes').map(
        ({ row, table: of, column, old_value: old, new_value: now }) => `${row} ${of}.${column}: ${old} → ${now}`,
      );
    const night = async (days: number, ...flags: string[]) => {
      clock.advance(days * DAY);
      return jsonOf<EndJson>(await job.kybatch(['run', 'in.csv', ...RUN, ...flags]));
    };
    await use({ ...job, clock, table, told, night });
  });
}

/** One answer with different content. */
const saying = (from: RegExp, to: string) => ({ rewrite: (body: string) => body.replace(from, to) });
const STATUS = /"status":\s*"[^"]*"/;

/** Facts that only the table shows: the call, and the readers' version. */
const sql = <T>({ cwd }: Pick<Job, 'cwd'>, statement: string): Promise<T[]> =>
  inLedger<T>(join(cwd, 'data'), statement);

describe('the table changes', () => {
  long('shows the differences of a refreshed record once, with both raw answers, and keeps them', () =>
    withNights(2, async ({ night, sandbox, table, told, rows, cwd }) => {
      await night(0);
      expect(table('changes')).toEqual([]);
      sandbox.script(aRecord, [saying(STATUS, '"status":"dissolved"')]);
      const { run } = await night(8, '--concurrency', '1');
      const [change, ...more] = table('changes');
      expect(more).toEqual([]);
      const company = table('companies').find(({ status }) => status === 'dissolved');
      expect(change).toMatchObject({
        changed_at: company?.fetched_at,
        portfolio: join(cwd, 'in.csv'),
        input_id: rows[Number(change?.row) - 1]?.id,
        v1_company_id: company?.v1_company_id,
        table: 'companies',
        key: JSON.stringify({ v1_company_id: company?.v1_company_id }),
        column: 'status',
        kind: 'changed',
        new_value: 'dissolved',
        new_raw_sha256: company?.raw_sha256,
        run,
        important: 'true',
      });
      expect(change?.old_raw_sha256).toMatch(/^[0-9a-f]{64}$/);
      const before = told();
      await night(1);
      expect(told()).toEqual(before);
      // The status changes back: two changes.
      await night(8);
      expect(told()).toHaveLength(2);
    }),
  );

  long('the sheet Results shows changes since the previous run, and answers not compared yet', () =>
    withNights(2, async ({ night, sandbox, table, cwd, kybatch }) => {
      const since = () => table('results').map(({ changed_since_last_time: words }) => words);
      await night(0);
      expect(since()).toEqual(['', '']);
      sandbox.script(aRecord, [saying(STATUS, '"status":"dissolved"')]);
      await night(8, '--concurrency', '1');
      expect(since().filter((words) => words !== '')).toEqual([expect.stringMatching(/^status: \S+ → dissolved$/)]);
      const changed = since().findIndex((words) => words !== '');
      // The state after a process that was killed before it compared them.
      await sql({ cwd }, 'UPDATE calls SET compared = 0 WHERE replaces IS NOT NULL');
      await kybatch(['export', '--out', 'tables']);
      expect(since()[changed]).toMatch(/^status: \S+ → dissolved; new answers are not compared yet$/);
      expect(since()[1 - changed]).toBe('new answers are not compared yet');
      // The next run compares them, and shows its own changes, too.
      await night(8);
      expect(since()[changed]).toMatch(/^status: dissolved → \S+$/);
      expect(since()[1 - changed]).toBe('');
    }),
  );

  long('an absent list removes no entry, and the next list is compared with the one before', () =>
    withNights(1, async ({ night, sandbox, table }) => {
      await night(0);
      const officers = table('officers').length;
      sandbox.script(aRecord, [saying(/"officers":\s*\[/, '"officers":null,"others":[')]);
      await night(8);
      const missing = table('changes').filter(({ table: of }) => of === 'officers');
      expect(missing).toEqual([]);
      await night(8);
      expect(table('officers')).toHaveLength(officers);
      expect(table('changes').filter(({ table: of }) => of === 'officers')).toEqual([]);
      expect(table('changes').map(({ column }) => column)).toContain('officers_returned');
    }),
  );

  long('every row of the company has the change, and a row that joins later has no earlier one', () =>
    withNights(1, async ({ night, sandbox, table, rows, writeCsv }) => {
      const twin = { ...rows[0], id: 'twin' };
      writeCsv('in.csv', [rows[0], twin] as object[]);
      await night(0);
      sandbox.script(aRecord, [saying(STATUS, '"status":"dissolved"')]);
      await night(8);
      writeCsv('in.csv', [{ ...rows[0], id: 'late' }, rows[0], twin] as object[]);
      await night(1);
      const columns = () => table('changes').map(({ row, input_id, column }) => `${row} ${input_id} ${column}`);
      expect(columns()).toEqual([`2 ${rows[0]?.id} status`, '3 twin status']);
      await night(8);
      expect(columns().slice(2)).toEqual([`1 late status`, `2 ${rows[0]?.id} status`, '3 twin status']);
    }),
  );

  long('a row that changes to another company gets the changes of that company from then on', () =>
    withNights(2, async ({ night, sandbox, told, rows, writeCsv }) => {
      await night(0);
      sandbox.script(aRecord, [saying(STATUS, '"status":"dissolved"'), saying(STATUS, '"status":"dissolved"')]);
      await night(8);
      expect(told()).toHaveLength(2);
      writeCsv('in.csv', [rows[0], { ...rows[0], id: rows[1]?.id }] as object[]);
      await night(1);
      expect(told()).toEqual([expect.stringMatching(/^1 companies\.status/)]);
    }),
  );

  long('a record in review changes nothing until it is accepted', () =>
    withNights(1, async ({ night, sandbox, told, kybatch, cwd }) => {
      await night(0);
      sandbox.script(aRecord, [saying(/"registration_number":\s*"[^"]*"/, '"registration_number":"00000000"')]);
      expect((await night(8)).outcomes).toMatchObject({ needs_review: 1 });
      await night(1);
      expect(told()).toEqual([]);
      await decideAll({ kybatch, cwd }, 'confirm');
      await night(0);
      expect(told()).toEqual([expect.stringMatching(/^1 companies\.registration_number: .+ → 00000000$/)]);
    }),
  );

  long('a new credit report of a company is compared with its previous one', () =>
    withNights(
      1,
      async ({ night, sandbox, table }) => {
        await night(0);
        const [first] = table('credit_reports');
        sandbox.script({ operation: 'creditReportFetch' }, [
          saying(/("creditLimit":\s*\{\s*"value":\s*)"?[^",}]*"?/, '$1"123456"'),
        ]);
        await night(400);
        const [second] = table('credit_reports');
        expect(second?.credit_report_id).not.toBe(first?.credit_report_id);
        const of = (column: string) => table('changes').filter((change) => change.column === column);
        expect(of('credit_limit_value')).toMatchObject([
          {
            table: 'credit_reports',
            key: JSON.stringify({ credit_source_id: first?.credit_source_id }),
            old_value: first?.credit_limit_value,
            new_value: '123456',
            old_raw_sha256: first?.raw_sha256,
            new_raw_sha256: second?.raw_sha256,
            important: 'true',
          },
        ]);
        expect(of('credit_report_id')).toMatchObject([{ new_value: second?.credit_report_id, important: 'false' }]);
      },
      ['stages: [credit-report]', 'freshness: {creditReportGenerate: 30d}'],
    ),
  );

  long('the pipeline defines important changes, and new readers compare all again but repeat no change', () =>
    withNights(
      1,
      async (nights) => {
        const { night, sandbox, table } = nights;
        await night(0);
        sandbox.script(aRecord, [saying(STATUS, '"status":"dissolved"')]);
        await night(8);
        expect(table('changes').map(({ important }) => important)).toEqual(['false']);
        const kept = () => sql(nights, 'SELECT * FROM changes');
        const before = await kept();
        await sql(nights, 'UPDATE calls SET compared = -1');
        await night(1);
        expect(await kept()).toEqual(before);
        await sql(nights, "UPDATE changes SET items = '[]'");
        await sql(nights, 'UPDATE calls SET compared = -1');
        await night(1);
        expect(table('changes').map(({ column }) => column)).toEqual(['status']);
      },
      [...NIGHTLY, 'changes: {important: [companies.name]}'],
    ),
  );
});

test('an officer or shareholder with a new name under the same ID is an important change', () =>
  withNights(1, async ({ night, sandbox, table }) => {
    const named = (officer: string, holder: string) => ({
      rewrite: (body: string) =>
        body
          .replace(
            /"officers":\s*(?:\[|null)/,
            `"officers":[{"id":424242,"first_name":"Ann","last_name":"${officer}"}],"o":[`,
          )
          .replace(/"shareholders":\s*(?:\[|null)/, `"shareholders":[{"id":77,"name":"${holder}"}],"s":[`),
    });
    sandbox.script(aRecord, [named('Lee', 'José Nilsson'), named('Berg', 'Somebody Else NV')]);
    await night(0);
    await night(8);
    const told = table('changes').map((line) => `${line.table}.${line.column} ${line.new_value} ${line.important}`);
    expect(told).toEqual(
      expect.arrayContaining(['officers.last_name Berg true', 'shareholders.name Somebody Else NV true']),
    );
  }));

describe('stored changes', { tags: 'long' }, () => {
  const twoChanges = async ({ night, sandbox }: Nights) => {
    await night(0);
    sandbox.script(aRecord, [saying(STATUS, '"status":"dissolved"')]);
    await night(8);
    sandbox.script(aRecord, [saying(STATUS, '"status":"in liquidation"')]);
    await night(100);
  };
  const values = ({ table }: Nights) => table('changes').map(({ new_value }) => new_value);

  test('prune removes old changes with their answers, and new readers leave the rest as it was', () =>
    withNights(1, async (nights) => {
      await twoChanges(nights);
      expect(values(nights)).toEqual(['dissolved', 'in liquidation']);
      const pruned = await nights.kybatch(['prune', '--older-than', '30d', '--yes', '--json']);
      expect(jsonOf(pruned)).toMatchObject({ removed: { changes: 1, answers: 2 } });
      await sql(nights, 'UPDATE calls SET compared = -1');
      await nights.night(1);
      expect(values(nights)).toEqual(['in liquidation']);
    }));

  test('prune keeps the answer before one that is in review', () =>
    withNights(1, async (nights) => {
      const { night, sandbox, table, kybatch } = nights;
      await night(0);
      const [before] = table('companies');
      sandbox.script(aRecord, [saying(/"registration_number":\s*"[^"]*"/, '"registration_number":"00000000"')]);
      await night(8);
      nights.clock.advance(100 * DAY);
      await kybatch(['prune', '--older-than', '30d', '--yes']);
      await night(0);
      expect(table('companies')).toEqual([before]);
    }));

  test('purge removes the changes of an entity', () =>
    withNights(1, async (nights) => {
      await twoChanges(nights);
      const [company] = nights.table('companies');
      await nights.kybatch(['erase', '--entity', `v1:${company?.v1_company_id}`, '--yes']);
      expect(await sql(nights, 'SELECT * FROM changes')).toEqual([]);
    }));
});

long('the DuckDB statements of the docs load new rows, and none twice', () =>
  withNights(2, async ({ night, sandbox, cwd, table }) => {
    const docs = readFileSync(resolve('docs/how-to/load-a-warehouse.md'), 'utf8');
    const load = (/```sql\n([\s\S]*?)```/.exec(docs)?.[1] ?? '').replaceAll(/'(\w+\.parquet)'/g, `'${cwd}/tables/$1'`);
    const duck = await openDuck({ scratch: cwd, threads: 1 });
    const loaded = async () => {
      await duck.run(load);
      return (await duck.rows('SELECT new_value FROM changes ORDER BY changed_at')).map(([value]) => value);
    };
    try {
      await night(0, '--format', 'csv,parquet');
      expect(await loaded()).toEqual([]);
      for (const status of ['dissolved', 'in liquidation']) {
        sandbox.script(aRecord, [saying(STATUS, `"status":"${status}"`)]);
        await night(8, '--format', 'csv,parquet', '--concurrency', '1');
        const all = table('changes').map(({ new_value }) => new_value);
        expect((await loaded()).toSorted()).toEqual(all.toSorted());
        expect(await loaded()).toHaveLength(all.length);
      }
    } finally {
      duck.close();
    }
  }),
);
