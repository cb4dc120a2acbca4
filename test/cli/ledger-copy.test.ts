/** @module-tag long */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { cli } from '../helpers/cli.js';
import { isOnPostgres } from '../helpers/ledger-place.js';
import { withPostgres } from '../postgres/server.js';
import { type EndJson, jsonOf, withJob } from './here.js';

interface CopyJson {
  readonly whole: boolean;
  readonly records: number;
  readonly tables: readonly { readonly name: string; readonly records: number; readonly same: boolean }[];
}

const withoutPassword = (url: string): string => {
  const plain = new URL(url);
  plain.password = '';
  return plain.href;
};

const RUN = ['run', 'in.csv', '--pipeline', './p.yaml', '--yes', '--no-export', '--json'];

// The command begins with a file.
describe.skipIf(isOnPostgres)('kybatch ledger copy', () => {
  test('moves a ledger to PostgreSQL and back: stored answers are reused, and the rest is bought once', () =>
    withJob({}, ({ cwd, env, rows, sandbox, writeCsv, kybatch }) =>
      withPostgres(async (url) => {
        const bought = () => sandbox.chargeLog.filter(({ operation }) => operation === 'fullKyb').length;
        writeCsv('in.csv', rows.slice(0, 6));
        // With the file, kybatch buys a part of the list.
        expect((await kybatch([...RUN, '--max-units', '6'])).code).toBe(4);
        const inFile = bought();
        const there = { env: { ...env, KYBATCH_LEDGER_URL: url } };

        const copied = await kybatch(['ledger', 'copy', '--from', 'data'], there);
        expect(copied).toMatchObject({ code: 0, stderr: '' });
        expect(copied.stdout).toMatch(/^calls +\d+ {2}yes$/m);
        expect(copied.codes).toEqual(['LEDGER_COPIED', 'LEDGER_URL_NEXT', 'LEDGER_LEFT']);
        expect(copied.stdout).not.toContain(new URL(url).password);

        const ended = jsonOf<EndJson>(await kybatch(['resume', '--json', '--no-export'], there));
        expect(ended).toMatchObject({ finished: true, outcomes: { complete: 6 } });
        expect(bought()).toBe(6);
        expect(inFile).toBeGreaterThan(0);
        expect(inFile).toBeLessThan(6);

        const back = await kybatch(['ledger', 'copy', '--to', 'back', '--json'], there);
        const view = jsonOf<CopyJson>(back);
        expect(view.whole && view.tables.every(({ same }) => same)).toBe(true);
        expect(back.codes).toContain('LEDGER_URL_NEXT');
        const again = jsonOf<EndJson>(await kybatch([...RUN, '--data-dir', 'back']));
        expect(again.this_start.units_charged).toBe(0);
        expect(bought()).toBe(6);
        expect((await kybatch(['doctor', '--deep', '--data-dir', 'back'])).code).toBe(0);
        expect(existsSync(join(cwd, 'back', 'kybatch.db.copy'))).toBe(false);
      }),
    ));

  test('takes no password from the command line, and one from the environment or a file', () =>
    withJob({}, ({ cwd, env, rows, writeCsv, kybatch }) =>
      withPostgres(async (url) => {
        writeCsv('in.csv', rows.slice(0, 1));
        expect((await kybatch(RUN)).code).toBe(0);
        const { password } = new URL(url);
        for (const to of [url, `${withoutPassword(url)}?password=${password}`]) {
          const refused = await kybatch(['ledger', 'copy', '--to', to]);
          expect(refused).toMatchObject({
            code: 2,
            codes: ['PASSWORD_IN_FLAG'],
            stderr: expect.stringContaining('PGPASSWORD'),
          });
          expect(refused.stdout + refused.stderr).not.toContain(password);
        }
        const plain = ['ledger', 'copy', '--to', withoutPassword(url)];
        for (const more of [{}, { PGPASSWORD: 'not-the-right-one' }]) {
          const refused = await cli(plain, { cwd, env: { ...env, ...more } });
          expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining(' PGPASSWORD') });
          const told = await cli([...plain, '--json'], { cwd, env: { ...env, ...more } });
          expect(jsonOf<object>(told)).toMatchObject({ error: { code: 'LEDGER_LOGIN_REFUSED' } });
        }
        const given = await cli(plain, { cwd, env: { ...env, PGPASSWORD: password } });
        expect(given).toMatchObject({ code: 0, stderr: '' });
        expect(given.stdout).toContain(`KYBATCH_LEDGER_URL=${withoutPassword(url)}`);
        expect(given.stdout).not.toContain(password);
        writeFileSync(join(cwd, 'url'), `${url}\n`);
        const status = await kybatch(['status', '--json'], { env: { ...env, KYBATCH_LEDGER_URL_FILE: 'url' } });
        expect(jsonOf<object>(status)).toMatchObject({ rows: 1, state: 'finished' });
      }),
    ));

  test('names the missing flag, and refuses two ledgers of one kind', () =>
    withJob({}, ({ rows, env, writeCsv, kybatch }) =>
      withPostgres(async (url) => {
        const there = { env: { ...env, KYBATCH_LEDGER_URL: url } };
        const said = async (args: readonly string[], more = {}) => {
          const { code, codes } = await kybatch(['ledger', ...args], more);
          expect(code).toBe(2);
          return codes;
        };
        expect(await said([])).toEqual(['FLAGS_INVALID']);
        expect(await said(['copy'])).toEqual(['COPY_TARGET_MISSING']);
        expect(await said(['copy', '--to', url.replace('postgres', 'mysql')])).toEqual(['LEDGER_URL_INVALID']);
        expect(await said(['copy', '--to', 'elsewhere'])).toEqual(['COPY_BOTH_FILES']);
        expect(await said(['copy', '--to', withoutPassword(url)], there)).toEqual(['COPY_BOTH_DATABASES']);
        expect(await said(['copy', '--from', 'data'], there)).toEqual(['NO_LEDGER_YET']);
        writeCsv('in.csv', rows.slice(0, 1));
        expect((await kybatch(RUN)).code).toBe(0);
        expect((await kybatch(['ledger', 'copy', '--from', 'data'], there)).code).toBe(0);
        expect(await said(['copy', '--from', 'data'], there)).toEqual(['LEDGER_NOT_EMPTY']);
        expect(await said(['copy', '--to', 'data'], there)).toEqual(['LEDGER_EXISTS']);
      }),
    ));
});
