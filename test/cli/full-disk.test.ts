import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isOnPostgres } from '../helpers/ledger-place.js';
import { long } from '../helpers/long.js';
import { jsonOf, withJob } from './here.js';

const MB = 1_000_000;

interface Failed {
  readonly error: { readonly code: string; readonly message: string; readonly hint: string };
}

describe('little space in the data directory', () => {
  long('run, resume and retry refuse below 16 MB, before anything is sent', async () => {
    await withJob({}, async ({ cwd, rows, writeCsv, kybatch, sandbox }) => {
      writeCsv('in.csv', rows.slice(0, 3));
      const run = ['run', 'in.csv', '--pipeline', './p.yaml', '--json', '--max-units', '2'];
      const refused = await kybatch(run, { freeBytes: 16 * MB - 1 });
      expect(refused.code).toBe(1);
      expect(jsonOf<Failed>(refused).error).toMatchObject({
        code: 'DISK_FULL',
        message: expect.stringContaining(join(cwd, 'data')),
      });
      expect(sandbox.requestLog).toEqual([]);
      expect(existsSync(join(cwd, 'data'))).toBe(false);
      expect((await kybatch(run, { freeBytes: 16 * MB })).code).toBe(4);
      const sent = sandbox.requestLog.length;
      for (const verb of ['resume', 'retry'])
        expect(jsonOf<Failed>(await kybatch([verb, '--yes', '--json'], { freeBytes: 0 })).error.code).toBe('DISK_FULL');
      expect(sandbox.requestLog).toHaveLength(sent);
    });
  });

  test('a full disk under --out is found before anything is spent, too', async () => {
    await withJob({}, async ({ rows, writeCsv, kybatch, sandbox }) => {
      writeCsv('in.csv', rows.slice(0, 3));
      const run = ['run', 'in.csv', '--pipeline', './p.yaml', '--json', '--yes', '--out', 'elsewhere/tables'];
      const end = await kybatch(run, { freeBytes: (path) => (path.includes('elsewhere') ? 0 : 1024 * MB) });
      expect(end.code).toBe(1);
      expect(jsonOf<Failed>(end).error).toMatchObject({ code: 'DISK_FULL', message: expect.stringContaining('--out') });
      expect(sandbox.requestLog).toEqual([]);
    });
  });

  // A ledger on a server uses the server's disk.
  test.skipIf(isOnPostgres)(
    'a disk that fills up during an attempt ends it, and status shows why',
    { tags: 'long' },
    async () => {
      await withJob({}, async ({ rows, writeCsv, kybatch, sandbox }) => {
        writeCsv('in.csv', rows);
        const run = ['run', 'in.csv', '--pipeline', './p.yaml', '--max-units', '50'];
        const end = await kybatch(run, { freeBytes: () => (sandbox.chargeLog.length > 0 ? 0 : 1024 * MB) });
        expect(end.code).toBe(1);
        expect(end.stderr).toMatch(/ so far: (?:\d+ units?|nothing)/);
        const { stdout, codes } = await kybatch(['status']);
        expect(codes).toEqual(expect.arrayContaining(['PROCESS_ENDED', 'DISK_FULL']));
        expect(stdout).toMatch(/^ +kybatch resume \S+ --max-units 50$/m);
      });
    },
  );

  long.each([
    [16 * MB - 1, 'fail', 1],
    [16 * MB, 'note', 0],
    [999 * MB, 'note', 0],
    [1000 * MB, 'ok', 0],
  ])('doctor with %i bytes left: %s, exit %i', async (freeBytes, state, code) => {
    await withJob({}, async ({ kybatch }) => {
      const end = await kybatch(['doctor', '--json'], { freeBytes });
      const { findings } = jsonOf<{ findings: { check: string; state: string }[] }>(end);
      expect(findings.find(({ check }) => check === 'disk space')).toMatchObject({ state });
      expect(end.code).toBe(code);
    });
  });
});

test('doctor warns if no units are left', async () => {
  await withJob({ plan: 'free' }, async ({ rows, writeCsv, kybatch }) => {
    writeCsv('in.csv', rows.slice(0, 3));
    expect((await kybatch(['run', 'in.csv', '--pipeline', './p.yaml', '--yes'])).code).toBe(4);
    expect(await kybatch(['doctor'])).toMatchObject({ code: 0, codes: expect.arrayContaining(['ALLOWANCE_SPENT']) });
  });
});

test.skipIf(isOnPostgres)('a file other than a ledger is refused as damaged', { tags: 'long' }, async () => {
  await withJob({}, async ({ cwd, rows, writeCsv, kybatch }) => {
    writeCsv('in.csv', rows.slice(0, 1));
    expect((await kybatch(['run', 'in.csv', '--pipeline', './p.yaml', '--yes'])).code).toBe(0);
    writeFileSync(
      join(cwd, 'data', 'kybatch.db'),
      'not a database, by no means, but long enough for a header'.repeat(40),
    );
    for (const args of [['status'], ['run', 'in.csv', '--yes', '--rebuy']]) {
      const end = await kybatch([...args, '--json']);
      expect(end.code).toBe(1);
      expect(jsonOf<Failed>(end).error).toMatchObject({
        code: 'LEDGER_DAMAGED',
        message: expect.stringContaining('kybatch.db'),
        hint: expect.any(String),
      });
    }
  });
});
