/** @module-tag long */
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { describe, expect, test } from 'vitest';
import { connect } from '../../src/ledger/db/sqlite/connection.js';
import type { Finished } from '../helpers/cli.js';
import { isOnPostgres } from '../helpers/ledger-place.js';
import { type EndJson, type Job, jsonOf, type Said, withJob } from './here.js';

const ROWS = 3;

/** A finished run, and copies of its ledger in which a failing disk has damaged a record. */
interface Bench {
  readonly job: Job;
  readonly run: string;
  readonly damage: (name: string, sql: string) => Copy;
}

interface Copy {
  readonly kybatch: (...args: readonly string[]) => Promise<Said>;
  readonly errors: () => readonly Readonly<Record<string, string>>[];
}

async function withRun(use: (bench: Bench) => Promise<void>): Promise<void> {
  await withJob({}, async (job) => {
    job.writeCsv('in.csv', job.rows.slice(0, ROWS));
    const { run } = jsonOf<EndJson>(await job.kybatch([...RUN, 'in.csv']));
    const damage = (name: string, sql: string): Copy => {
      const dataDir = join(job.cwd, name.replaceAll(/\W+/g, '-'));
      cpSync(join(job.cwd, 'data'), dataDir, { recursive: true });
      const database = connect(join(dataDir, 'kybatch.db'));
      for (const rule of ['ignore_check_constraints = ON', 'foreign_keys = OFF']) database.pragma(rule);
      expect(database.prepare(sql).run().changes).toBeGreaterThan(0);
      database.close();
      return {
        kybatch: (...args) => job.kybatch([...args, '--data-dir', dataDir]),
        errors: () => parse(readFileSync(join(dataDir, 'exports', 'tables', 'errors.csv')), { columns: true }),
      };
    };
    await use({ job, run, damage });
  });
}

const RUN = ['run', '--pipeline', './p.yaml', '--json', '--yes'];
const AGAIN = [...RUN, 'in.csv'];

const refused = ({ code, stdout }: Finished) => ({
  exit: code,
  ...(JSON.parse(stdout) as { error?: { code: string; message: string; hint: string } }).error,
});

const exported = async (copy: Copy, job: Job, name: string) => {
  const out = join(job.cwd, name.replaceAll(/\W+/g, '-'), 'exports', 'tables');
  return await copy.kybatch('export', '--out', out, '--json');
};

// The tests damage copies of a file, against its own rules. PostgreSQL does not allow that.
describe.skipIf(isOnPostgres)('a record of the ledger that is damaged', () => {
  test('of a row: named by export, refused by the run that needs it, and the run can be repeated free', async () => {
    await withRun(async ({ job, run, damage }) => {
      const paid = job.sandbox.chargeLog.length;
      const copy = damage('rows.stages', "UPDATE rows SET stages = replace(stages, '{', 'z') WHERE row = 3");
      const cell = expect.stringMatching(new RegExp(`rows.stages .* 3 .* ${run}`));
      expect(jsonOf(await copy.kybatch('status', '--json'))).toMatchObject({ outcomes: { complete: ROWS } });
      expect((await exported(copy, job, 'rows.stages')).code).toBe(1);
      const left = { row: '3', class: 'not_exported', code: 'ROW_DAMAGED', message: cell };
      expect(copy.errors()).toMatchObject([left]);
      expect(refused(await copy.kybatch(...AGAIN))).toMatchObject({
        exit: 1,
        code: 'LEDGER_DAMAGED',
        message: cell,
        hint: expect.stringContaining(`kybatch runs delete ${run} --data-dir `),
      });
      expect((await copy.kybatch('runs', 'delete', run, '--yes')).code).toBe(0);
      const anew = jsonOf<EndJson>(await copy.kybatch(...AGAIN));
      expect(anew).toMatchObject({ outcomes: { complete: ROWS }, units_charged: 0 });
      expect(job.sandbox.chargeLog).toHaveLength(paid);
    });
  });

  test('of a run: other runs work, and its tables name the next step', async () => {
    await withRun(async ({ job, run, damage }) => {
      const paid = job.sandbox.chargeLog.length;
      job.writeCsv('other.csv', job.rows.slice(0, 2));
      const name = 'runs.settings';
      const copy = damage(name, `UPDATE runs SET settings = replace(settings, '"pipeline":', '"pipeline"z')`);
      for (const verb of ['runs', 'status']) expect((await copy.kybatch(verb, '--json')).code).toBe(0);
      const hint = expect.stringContaining(`kybatch runs delete ${run} --data-dir `);
      const damaged = { exit: 1, code: 'LEDGER_DAMAGED', message: expect.stringContaining(name), hint };
      expect(refused(await exported(copy, job, name))).toMatchObject(damaged);
      const other = await copy.kybatch(...RUN, 'other.csv');
      expect(jsonOf<EndJson>(other)).toMatchObject({ outcomes: { complete: 2 }, units_charged: 0 });
      expect((await copy.kybatch('runs', 'delete', run, '--yes')).code).toBe(0);
      expect(jsonOf<EndJson>(await copy.kybatch(...AGAIN))).toMatchObject({ units_charged: 0, finished: true });
      expect(job.sandbox.chargeLog).toHaveLength(paid);
    });
  });

  test('of an attempt stops no command', async () => {
    await withRun(async ({ damage }) => {
      for (const column of ['ending', 'given', 'outages']) {
        const copy = damage(`starts.${column}`, `UPDATE starts SET ${column} = 'z{'`);
        for (const args of [['usage'], ['status'], AGAIN]) expect((await copy.kybatch(...args)).code, column).toBe(0);
      }
    });
  });

  test('the parameters of a call: the export leaves it out, and a new run buys only it again', async () => {
    await withRun(async ({ job, run, damage }) => {
      const name = 'calls.params';
      const sql = "UPDATE calls SET params = replace(params, ':', 'z') WHERE operation = 'fullKyb' AND row IN (1, 2)";
      const copy = damage(name, sql);
      expect((await exported(copy, job, name)).code).toBe(1);
      expect(copy.errors()).toMatchObject([
        { row: '1', code: 'ANSWER_DAMAGED', operation: 'fullKyb' },
        { row: '2', code: 'ANSWER_DAMAGED', operation: 'fullKyb' },
      ]);
      expect((await copy.kybatch('runs', 'delete', run, '--yes')).code).toBe(0);
      const anew = await copy.kybatch(...AGAIN);
      expect(jsonOf<EndJson>(anew)).toMatchObject({ outcomes: { complete: ROWS }, units_charged: 2 });
      expect(anew.codes.filter((code) => code === 'STORED_CALL_DAMAGED')).toHaveLength(2);
      expect((await exported(copy, job, name)).code).toBe(0);
    });
  });

  test('can still be purged', async () => {
    await withRun(async ({ job, damage }) => {
      const copy = damage('erase', "UPDATE rows SET fields = 'z' || fields, input_values = 'z' || input_values");
      const { country = '', registration_number: number = '' } = { ...job.rows[0] } as Record<string, string>;
      const purged = await copy.kybatch('erase', '--entity', `${country}:${number}`, '--yes', '--json');
      expect(purged.code).toBe(0);
      expect(jsonOf(purged)).toMatchObject({ removed: { rows: 1 }, still_mentioned: [] });
    });
  });
});
