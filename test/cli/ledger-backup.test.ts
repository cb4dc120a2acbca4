import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isOnPostgres } from '../helpers/ledger-place.js';
import { long } from '../helpers/long.js';
import { chargedAgain } from '../helpers/sandbox.js';
import { aRecord, type EndJson, jsonOf, withJob } from './here.js';

const RUN = ['run', 'in.csv', '--pipeline', './p.yaml', '--yes', '--no-export', '--json', '--concurrency', '1'];

interface BackupJson {
  readonly calls: number;
  readonly answers: number;
  readonly units_charged: number;
  readonly verified: boolean;
}

// A server makes its own backups.
describe.skipIf(isOnPostgres)('kybatch ledger backup', () => {
  long('copies during a run, and the copy continues without buying its answers again', () =>
    withJob({}, async ({ cwd, rows, sandbox, writeCsv, kybatch }) => {
      writeCsv('in.csv', rows.slice(0, 6));
      let asked = 0;
      let copied: Promise<BackupJson> | undefined;
      // The third record comes when the copy is made, and not before.
      sandbox.script(
        (request) => {
          if (!aRecord(request) || ++asked !== 3) return false;
          copied = kybatch(['ledger', 'backup', 'kept', '--json']).then((end) => jsonOf<BackupJson>(end));
          return true;
        },
        { latencyMs: 1500 },
      );
      const end = jsonOf<EndJson>(await kybatch(RUN));
      expect(end).toMatchObject({ finished: true, outcomes: { complete: 6 } });
      const view = await copied;
      expect(view).toMatchObject({ verified: true });
      const held = view?.units_charged ?? 0;
      expect(held).toBeGreaterThan(1);
      expect(held).toBeLessThan(12);
      // Only the owner can read it, and it is a single file.
      expect(readdirSync(join(cwd, 'kept'))).toEqual(['kybatch.db']);
      expect(statSync(join(cwd, 'kept', 'kybatch.db')).mode & 0o777).toBe(0o600);
      expect(statSync(join(cwd, 'kept')).mode & 0o777).toBe(0o700);
      // Reading it does not change it.
      const { mtimeMs } = statSync(join(cwd, 'kept', 'kybatch.db'));
      for (const look of [['runs'], ['status'], ['portfolios'], ['usage'], ['charges'], ['doctor', '--deep']])
        expect([look, (await kybatch([...look, '--data-dir', 'kept'])).code]).toEqual([look, 0]);
      expect(readdirSync(join(cwd, 'kept'))).toEqual(['kybatch.db']);
      expect(statSync(join(cwd, 'kept', 'kybatch.db')).mtimeMs).toBe(mtimeMs);
      // The copy has no later answers. Only these are bought again.
      const before = sandbox.chargeLog.length;
      const first = sandbox.chargeLog.slice(0, held);
      const again = jsonOf<EndJson>(await kybatch(['resume', '--json', '--no-export', '--data-dir', 'kept']));
      expect(again).toMatchObject({ finished: true, outcomes: { complete: 6 } });
      expect(chargedAgain([...first, ...sandbox.chargeLog.slice(before)])).toEqual([]);
      expect((await kybatch(['doctor', '--deep', '--data-dir', 'kept'])).code).toBe(0);
    }),
  );

  test('X-4 removes the files of a killed backup, and none of a running one', () =>
    withJob({}, async ({ cwd, rows, writeCsv, kybatch }) => {
      writeCsv('in.csv', rows.slice(0, 1));
      expect((await kybatch(RUN)).code).toBe(0);
      mkdirSync(join(cwd, 'kept'));
      const { pid: gone } = spawnSync(process.execPath, ['--version']);
      const others = [`kybatch.db.${process.ppid}.part`, 'kybatch.db.part', 'notes.1.part'];
      for (const name of [`kybatch.db.${gone}.part`, `kybatch.db.${gone}.part-journal`, ...others])
        writeFileSync(join(cwd, 'kept', name), 'x');
      expect((await kybatch(['ledger', 'backup', 'kept'])).code).toBe(0);
      expect(readdirSync(join(cwd, 'kept')).toSorted()).toEqual(['kybatch.db', ...others].toSorted());
    }));

  test('overwrites nothing, and leaves nothing behind if it is refused', () =>
    withJob({}, async ({ cwd, rows, writeCsv, kybatch }) => {
      expect((await kybatch(['ledger', 'backup', 'kept'])).code).toBe(2);
      expect(existsSync(join(cwd, 'kept'))).toBe(false);
      writeCsv('in.csv', rows.slice(0, 1));
      expect((await kybatch(RUN)).code).toBe(0);
      for (const place of ['data', 'data/kept', '.', 'in.csv', ''])
        expect([place, (await kybatch(['ledger', 'backup', place])).code]).toEqual([place, 2]);
      expect((await kybatch(['ledger', 'backup', 'kept'])).code).toBe(0);
      const { mtimeMs } = statSync(join(cwd, 'kept', 'kybatch.db'));
      expect((await kybatch(['ledger', 'backup', 'kept'])).code).toBe(2);
      expect(statSync(join(cwd, 'kept', 'kybatch.db')).mtimeMs).toBe(mtimeMs);
      expect((await kybatch(['ledger', 'backup', 'full'], { freeBytes: 10 })).code).toBe(1);
      expect(existsSync(join(cwd, 'full'))).toBe(false);
      // The folder of a copy is a data directory.
      chmodSync(join(cwd, 'kept', 'kybatch.db'), 0o400);
      expect((await kybatch(['runs', '--data-dir', 'kept'])).code).toBe(0);
    }));
});

test.runIf(isOnPostgres)('a ledger in PostgreSQL is left to pg_dump', () =>
  withJob({}, async ({ kybatch }) => {
    expect(await kybatch(['ledger', 'backup', 'kept'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('pg_dump --format=custom'),
    });
  }),
);
