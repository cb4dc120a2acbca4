/** @module-tag long */
import { closeSync, openSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { inLedger, isOnPostgres } from '../helpers/ledger-place.js';
import { type EndJson, type Job, jsonOf, withJob } from './here.js';

const RUN = ['run', 'in.csv', '--pipeline', './p.yaml', '--json', '--yes'];
const ledgerOf = ({ cwd }: Job) => join(cwd, 'data', 'kybatch.db');

async function bought(job: Job, rows: number): Promise<EndJson> {
  job.writeCsv('in.csv', job.rows.slice(0, rows));
  return jsonOf<EndJson>(await job.kybatch(RUN));
}

// PostgreSQL looks after its own files.
describe.skipIf(isOnPostgres)('a damaged ledger', () => {
  test('is refused before anything is spent by every command that writes', async () => {
    await withJob({}, async (job) => {
      await bought(job, 5);
      flipBytes(ledgerOf(job), 200);
      const paid = job.sandbox.chargeLog.length;
      job.writeCsv('in.csv', job.rows.slice(5, 25));
      const asked = [
        RUN,
        ['resume', '--yes'],
        ['call', 'v1', 'liteKyb', '--params', '{"id":"1"}'],
        ['charges', 'free', '--yes'],
      ];
      for (const args of asked) {
        const { code, codes } = await job.kybatch(args);
        expect(codes).toContain('LEDGER_DAMAGED');
        expect(code).toBe(1);
      }
      expect(job.sandbox.chargeLog).toHaveLength(paid);
    });
  });
});

describe('a stored answer that is damaged', () => {
  /** Changes a byte without an error, as a disk does. */
  const rot = (job: Job, operation: string, row: number, sql = "bytes = unhex('00' || substr(hex(bytes), 3))") =>
    inLedger(
      join(job.cwd, 'data'),
      `UPDATE bodies SET ${sql} WHERE sha256 = (SELECT raw_sha256 FROM calls WHERE operation = ? AND row = ?)`,
      operation,
      row,
    );

  test.each([
    ['does not unpack', "encoding = 'brotli', bytes = unhex('ffffff')"],
    ['unpacks to something else', "encoding = 'identity', bytes = unhex('7b7d')"],
  ])('that %s is found by doctor --deep, which names the command that buys it again', async (_, sql) => {
    await withJob({}, async (job) => {
      const { run } = await bought(job, 2);
      expect(await deep(job)).toMatchObject({ code: 0, found: [{ state: 'ok' }] });
      await rot(job, 'fullKyb', 2, sql);
      const { code, found } = await deep(job);
      expect(code).toBe(1);
      expect(found).toEqual([
        {
          check: 'stored answers',
          state: 'fail',
          code: 'STORED_ANSWERS_FAIL',
          detail: expect.stringContaining(`(run ${run}, row 2)`),
        },
      ]);
      const [, params = ''] = /: kybatch call v1 fullKyb --params '(.*)'$/.exec(found[0]?.detail ?? '') ?? [];
      const paid = job.sandbox.chargeLog.length;
      const again = await job.kybatch(['call', 'v1', 'fullKyb', '--params', params]);
      expect(again).toMatchObject({
        code: 0,
        codes: ['STORED_ANSWER_DAMAGED', 'CALL_SENT'],
      });
      expect(job.sandbox.chargeLog).toHaveLength(paid + 1);
      expect(await deep(job)).toMatchObject({ code: 0, found: [{ state: 'ok' }] });
    });
  });

  test('is bought again by the next run that needs it, and nothing else is', async () => {
    await withJob({}, async (job) => {
      await bought(job, 3);
      await rot(job, 'searchKyb', 1);
      await rot(job, 'fullKyb', 3);
      job.writeCsv('other.csv', job.rows.slice(0, 3));
      const plan = jsonOf<object>(await job.kybatch(['plan', 'other.csv', '--pipeline', './p.yaml', '--json']));
      expect(plan).toMatchObject({ owned: 1, to_search: 1, to_buy: 1 });
      const end = await job.kybatch(RUN.map((word) => (word === 'in.csv' ? 'other.csv' : word)));
      expect(jsonOf<EndJson>(end)).toMatchObject({ outcomes: { complete: 3 }, units_charged: 2 });
      expect(end.codes.filter((code) => code === 'STORED_ANSWER_DAMAGED')).toHaveLength(2);
    });
  });

  test('can still be purged', async () => {
    await withJob({}, async (job) => {
      await bought(job, 2);
      await rot(job, 'searchKyb', 1, "encoding = 'brotli', bytes = unhex('ffffff')");
      expect((await job.kybatch(['erase', '--entity', 'GB:00000001', '--yes'])).code).toBe(2);
    });
  });
});

/** The result of `doctor --deep` for stored answers. */
async function deep({ kybatch }: Job) {
  const { code, ...end } = await kybatch(['doctor', '--deep', '--json']);
  const { findings } = jsonOf<{ findings: { check: string; state: string; detail: string }[] }>({ code, ...end });
  return { code, found: findings.filter(({ check }) => check === 'stored answers') };
}

/** Changes one byte in each interval, from the second page on. */
function flipBytes(path: string, count: number): void {
  const { size } = statSync(path);
  const file = openSync(path, 'r+');
  const step = Math.floor((size - 8192) / count);
  for (let index = 0; index < count; index++) writeSync(file, Buffer.from([0xa5]), 0, 1, 8192 + index * step);
  closeSync(file);
}
