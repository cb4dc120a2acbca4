import { cpSync, mkdirSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { connect } from '../../src/ledger/db/sqlite/connection.js';
import { currentSchema } from '../../src/ledger/db/sqlite/open.js';
import { withFolder } from '../helpers/cli.js';
import { isOnPostgres } from '../helpers/ledger-place.js';
import { long } from '../helpers/long.js';
import { look } from '../ledger/sqlite-support.js';
import { here, jsonOf, withJob } from './here.js';

const NEWEST = currentSchema();

test.skipIf(isOnPostgres)(
  'after an upgrade, commands that only read run at once, and migrate updates the ledger free',
  { tags: 'long' },
  async () => {
    await withFolder(async (cwd) => {
      cpSync(resolve('fixtures/ledger-0.1'), join(cwd, 'data'), { recursive: true });
      const kybatch = (...args: string[]) => here(args, { cwd });
      for (const args of [['runs'], ['status'], ['usage'], ['charges'], ['review', 'list']]) {
        const { code, textOf } = await kybatch(...args);
        expect(textOf('LEDGER_READ_FROM_COPY')).toMatch(/\(schema 3\).*`kybatch ledger migrate`/);
        expect(code).toBe(0);
      }
      expect(look(join(cwd, 'data'), 'SELECT max(version) AS at FROM schema_migrations')).toEqual([{ at: 3 }]);
      const migrated = await kybatch('ledger', 'migrate', '--json');
      expect(migrated).toMatchObject({
        code: 0,
        codes: ['LEDGER_MIGRATED'],
      });
      expect(jsonOf<object>(migrated)).toMatchObject({ from: 3, to: NEWEST });
      expect((await kybatch('ledger', 'migrate')).codes).toEqual(['LEDGER_UP_TO_DATE']);
      expect((await kybatch('status')).codes).not.toContain('LEDGER_READ_FROM_COPY');
    });
  },
);

test.skipIf(isOnPostgres)('a ledger of a newer kybatch is refused plainly by every command', async () => {
  await withFolder(async (cwd) => {
    const kybatch = (...args: string[]) => here(args, { cwd });
    expect(await kybatch('ledger', 'migrate')).toMatchObject({ code: 2, codes: ['NO_LEDGER_YET'] });
    cpSync(resolve('fixtures/ledger-0.1'), join(cwd, 'data'), { recursive: true });
    const database = connect(join(cwd, 'data', 'kybatch.db'));
    database.exec("INSERT INTO schema_migrations VALUES (999, 'from the future', 0)");
    database.close();
    for (const args of [['ledger', 'migrate'], ['status'], ['resume', '--sandbox'], ['charges']])
      expect(await kybatch(...args)).toMatchObject({
        code: 2,
        codes: ['LEDGER_TOO_NEW'],
      });
  });
});

test.skipIf(isOnPostgres)('an empty ledger of an earlier version counts as none yet', { tags: 'long' }, async () => {
  await withJob({}, async ({ cwd, rows, writeCsv, kybatch }) => {
    writeCsv('in.csv', rows.slice(0, 1));
    mkdirSync(join(cwd, 'data'));
    const database = connect(join(cwd, 'data', 'kybatch.db'));
    database.pragma('journal_mode = WAL');
    database.close();
    expect((await kybatch(['plan', 'in.csv'])).code).toBe(0);
    expect((await kybatch(['status'])).codes).toEqual(['NO_LEDGER_YET']);
    expect((await kybatch(['run', 'in.csv', '--pipeline', './p.yaml', '--yes'])).code).toBe(0);
  });
});

long('nothing is created before configuration, input, pipeline and consent are there', async () => {
  await withJob({}, async ({ cwd, env, rows, writeCsv, kybatch }) => {
    writeCsv('in.csv', rows.slice(0, 1));
    const run = ['run', 'in.csv', '--pipeline', './p.yaml', '--yes'];
    const { KYBATCH_V2_ROUTES: _, ...noRoutes } = env;
    const refused = [
      await kybatch(run, { env: {} }),
      await kybatch(['run', 'in.csv', '--yes'], { env: noRoutes }),
      await kybatch(['run', 'gone.csv', '--yes']),
      await kybatch(['run', 'in.csv', '--pipeline', 'none', '--yes']),
      await kybatch(['run', 'in.csv', '--pipeline', './p.yaml']),
      await kybatch([...run, '--format', 'xml']),
      await kybatch([...run, '--concurrency', '99999999']),
    ];
    expect(refused.map(({ code }) => code)).toEqual([2, 2, 2, 2, 2, 2, 2]);
    expect(readdirSync(cwd).sort()).toEqual(['in.csv', 'p.yaml']);
  });
});
