/** @module-tag long */
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { describe, expect, test } from 'vitest';
import { wrapped } from '../../src/cli/terminal/view.js';
import { connect } from '../../src/ledger/db/sqlite/connection.js';
import type { Finished } from '../helpers/cli.js';
import { expectGolden } from '../helpers/golden.js';
import { isOnPostgres } from '../helpers/ledger-place.js';
import { type EndJson, type Job, jsonOf, type Said, withJob } from './here.js';

const ROWS = 3;

/** A finished run, and copies of its ledger in which something is as a failing disk left it. */
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

async function deep({ kybatch }: Copy): Promise<{ readonly code: number | null; readonly failed: readonly string[] }> {
  const end = await kybatch('doctor', '--deep', '--json');
  const { findings } = jsonOf<{ findings: { check: string; state: string; detail: string }[] }>(end);
  const failed = findings.filter(({ state }) => state === 'fail').map(({ check, detail }) => `${check}: ${detail}`);
  return { code: end.code, failed };
}

/** Folders, keys and the order of calls differ each time. */
const masked = (text: string, run: string) =>
  wrapped(
    text
      .replaceAll(run, 'RUN')
      .replaceAll(/(?<=--data-dir |stop all runs. Then, in )[^\s`]*[^\s`:]/g, 'DIR')
      .replaceAll(/\b[0-9a-f]{12}…/g, 'KEY…')
      .replaceAll(/\bcall \d+/g, 'call N'),
    80,
  );

const exported = async (copy: Copy, job: Job, name: string) => {
  const out = join(job.cwd, name.replaceAll(/\W+/g, '-'), 'exports', 'tables');
  return await copy.kybatch('export', '--out', out, '--json');
};

/** What is damaged, and how. */
const OF_ROWS = [
  ['rows.stages', "UPDATE rows SET stages = replace(stages, '{', 'z') WHERE row = 3"],
  ['rows.stages: another status', "UPDATE rows SET stages = replace(stages, 'done', 'dond') WHERE row = 3"],
  ['rows.input_values', "UPDATE rows SET input_values = 'Z' || substr(input_values, 2) WHERE row = 3"],
  ['rows.input_values: no UTF-8', "UPDATE rows SET input_values = CAST(x'5b22fffe225d' AS TEXT) WHERE row = 3"],
  ['rows.input_values: another form', "UPDATE rows SET input_values = '{}' WHERE row = 3"],
  ['rows.fields', `UPDATE rows SET fields = replace(fields, '"name":', '"name";') WHERE row = 3`],
] as const;

const OF_RUNS = [
  ['runs.settings', `UPDATE runs SET settings = replace(settings, '"pipeline":', '"pipeline"z')`],
  ['runs.columns', "UPDATE runs SET columns = replace(columns, '[', 'Z')"],
] as const;

const ELSEWHERE = [
  ['calls.raw_sha256', "UPDATE calls SET raw_sha256 = x'00' WHERE operation = 'fullKyb' AND row = 1"],
  ['answers.call_id', 'UPDATE answers SET call_id = call_id + 100000'],
  ['bodies.encoding', "UPDATE bodies SET encoding = 'ideotity' WHERE rowid = 1"],
  ['rows.outcome', "UPDATE rows SET outcome = 'complets' WHERE row = 1"],
  ['rows.run_id', "UPDATE rows SET run_id = 'elsewhere' WHERE row = 1"],
  ['row_ids.id', "UPDATE row_ids SET id = CAST(x'ff' AS TEXT) WHERE row = 1"],
  ['calls.units_charged', 'UPDATE calls SET units_charged = 9223372036854775807 WHERE id < 3'],
  ['runs.created_at', 'UPDATE runs SET created_at = 9223372036854775807'],
  ['starts.ending', "UPDATE starts SET ending = 'z{'"],
  ['starts.given', "UPDATE starts SET given = 'z{'"],
  ['starts.outages', "UPDATE starts SET outages = 'z{'"],
] as const;

// It is harmed in copies of a file, against its own rules; PostgreSQL lets nobody do that.
describe.skipIf(isOnPostgres)('a record of the ledger that is damaged', () => {
  test('of a row: named by doctor and export, refused by run, and the run can be repeated free', async () => {
    await withRun(async ({ job, run, damage }) => {
      const paid = job.sandbox.chargeLog.length;
      for (const [name, sql] of OF_ROWS) {
        const copy = damage(name, sql);
        const cell = expect.stringMatching(new RegExp(`${name.replace(/:.*/, '')} .* 3 .* ${run}`));
        expect(await deep(copy), name).toEqual({ code: 1, failed: [cell] });
        expect(jsonOf(await copy.kybatch('status', '--json')), name).toMatchObject({ outcomes: { complete: ROWS } });
        expect((await exported(copy, job, name)).code, name).toBe(1);
        const left = { row: '3', class: 'not_exported', code: 'ROW_DAMAGED', message: cell };
        expect(copy.errors(), name).toMatchObject([left]);
        expect(refused(await copy.kybatch(...AGAIN)), name).toMatchObject({
          exit: 1,
          code: 'LEDGER_DAMAGED',
          message: cell,
          hint: expect.stringContaining(`kybatch runs delete ${run} --data-dir `),
        });
      }
      const copy = damage('anew', OF_ROWS[0][1]);
      expect((await copy.kybatch('runs', 'delete', run, '--yes')).code).toBe(0);
      const anew = jsonOf<EndJson>(await copy.kybatch(...AGAIN));
      expect(anew).toMatchObject({ outcomes: { complete: ROWS }, units_charged: 0 });
      expect((await deep(copy)).failed).toEqual([]);
      expect(job.sandbox.chargeLog).toHaveLength(paid);
    });
  });

  test('of a run: other runs work, and commands that need it name the next step', async () => {
    await withRun(async ({ job, run, damage }) => {
      const paid = job.sandbox.chargeLog.length;
      job.writeCsv('other.csv', job.rows.slice(0, 2));
      for (const [name, sql] of OF_RUNS) {
        const copy = damage(name, sql);
        expect(await deep(copy)).toEqual({ code: 1, failed: [expect.stringMatching(new RegExp(`${name} .* ${run}`))] });
        for (const verb of ['runs', 'status']) expect((await copy.kybatch(verb, '--json')).code).toBe(0);
        const hint = expect.stringContaining(`kybatch runs delete ${run} --data-dir `);
        const damaged = { exit: 1, code: 'LEDGER_DAMAGED', message: expect.stringContaining(name), hint };
        // The header is the one of the list.
        if (name !== 'runs.columns') expect(refused(await exported(copy, job, name))).toMatchObject(damaged);
        expect(refused(await copy.kybatch(...AGAIN))).toMatchObject(damaged);
        const other = await copy.kybatch(...RUN, 'other.csv');
        expect(jsonOf<EndJson>(other)).toMatchObject({ outcomes: { complete: 2 }, units_charged: 0 });
        expect((await copy.kybatch('runs', 'delete', run, '--yes')).code).toBe(0);
        expect(jsonOf<EndJson>(await copy.kybatch(...AGAIN))).toMatchObject({ units_charged: 0, finished: true });
      }
      expect(job.sandbox.chargeLog).toHaveLength(paid);
    });
  });

  test('a number or a count of rows: refused by run, found by doctor --deep, and the run can be repeated', async () => {
    await withRun(async ({ job, run, damage }) => {
      const paid = job.sandbox.chargeLog.length;
      const found: [string, string][] = [];
      for (const [name, sql] of [
        ['row 0', 'UPDATE rows SET row = 0 WHERE row = 1'],
        ['row 9', "UPDATE rows SET row = 9, outcome = 'pending' WHERE row = 3"],
        ['none', 'DELETE FROM rows'],
      ] as const) {
        const copy = damage(name, sql);
        const { code, failed } = await deep(copy);
        expect(code, name).toBe(1);
        const { message = '', ...again } = refused(await copy.kybatch(...AGAIN));
        expect(again, name).toMatchObject({
          exit: 1,
          code: 'LEDGER_DAMAGED',
          hint: expect.stringContaining(`kybatch runs delete ${run} --data-dir `),
        });
        found.push([name, masked([...failed, message].join('\n\n'), run)]);
        if (name !== 'row 9') continue;
        expect((await copy.kybatch('runs', 'delete', run, '--yes')).code).toBe(0);
        expect(jsonOf<EndJson>(await copy.kybatch(...AGAIN))).toMatchObject({ units_charged: 0, finished: true });
      }
      await expectGolden('damaged-rows', found);
      expect(job.sandbox.chargeLog).toHaveLength(paid);
    });
  });

  test('of any kind is found by doctor --deep, and a damaged attempt stops no command', async () => {
    await withRun(async ({ job, run, damage }) => {
      const found: [string, string][] = [];
      for (const [name, sql] of ELSEWHERE) {
        const copy = damage(name, sql);
        const { code, failed } = await deep(copy);
        expect(code, name).toBe(1);
        found.push([name, masked(failed.join('\n'), run)]);
        expect((await copy.kybatch('usage')).code, name).toBe(0);
        if (!name.startsWith('starts.')) continue;
        for (const args of [['status'], AGAIN]) expect((await copy.kybatch(...args)).code, name).toBe(0);
      }
      await expectGolden('damaged-elsewhere', found);
      const time = damage('time', 'UPDATE calls SET started_at = 9223372036854775807 WHERE id = 2');
      expect((await exported(time, job, 'time')).code).toBe(1);
      expect(time.errors()).toMatchObject([
        { code: 'ROW_DAMAGED', message: expect.stringContaining('calls.started_at') },
      ]);
      for (const verb of ['usage', 'status', 'runs']) expect((await time.kybatch(verb)).code, verb).toBe(0);
      const extra = damage('extra', "UPDATE candidates SET extra = 'z{' WHERE row = 1 AND position = 1");
      expect((await exported(extra, job, 'extra')).code).toBe(1);
      expect(extra.errors()).toMatchObject([{ row: '1', code: 'ROW_DAMAGED' }]);
      expect((await deep(extra)).code).toBe(1);
    });
  });

  test('the parameters of a call: the export leaves it out, and a new run buys only it again', async () => {
    await withRun(async ({ job, run, damage }) => {
      const name = 'calls.params';
      const sql = "UPDATE calls SET params = replace(params, ':', 'z') WHERE operation = 'fullKyb' AND row IN (1, 2)";
      const copy = damage(name, sql);
      expect((await deep(copy)).failed).toEqual([1, 2].map(() => expect.stringMatching(/calls\.params .*\d+/)));
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

  test('keeps nothing from being purged', async () => {
    await withRun(async ({ job, damage }) => {
      const copy = damage('erase', "UPDATE rows SET fields = 'z' || fields, input_values = 'z' || input_values");
      const { country = '', registration_number: number = '' } = { ...job.rows[0] } as Record<string, string>;
      const purged = await copy.kybatch('erase', '--entity', `${country}:${number}`, '--yes', '--json');
      expect(purged.code).toBe(0);
      expect(jsonOf(purged)).toMatchObject({ removed: { rows: 1 }, still_mentioned: [] });
    });
  });
});
