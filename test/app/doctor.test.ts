import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type DoctorView, doctor } from '../../src/app/admin/doctor.js';
import { operationsOf } from '../../src/config/pipeline.js';
import { currentPostgresSchema } from '../../src/ledger/db/postgres/migrate.js';
import { stages } from '../../src/stages/list.js';
import { isOnPostgres } from '../helpers/ledger-place.js';
import { long } from '../helpers/long.js';
import { withOffice } from './support.js';

const MB = 1024 * 1024;

const find = ({ findings }: DoctorView, check: string) => findings.filter((finding) => finding.check === check);

describe('doctor', () => {
  test('V1-8 finds no fault, free', async () => {
    await withOffice({}, async ({ sandbox, environment }) => {
      const view = await doctor({}, environment);
      expect(view.exit).toBe(0);
      expect(find(view, 'v1 key')).toMatchObject([{ state: 'ok' }]);
      expect(find(view, 'v2 key')).toMatchObject([{ state: 'ok' }]);
      expect(find(view, 'v2 routes')).toMatchObject([{ state: 'ok' }]);
      expect(find(view, 'v2 stages')).toEqual([]);
      expect(find(view, 'database')).toMatchObject([
        { state: 'ok', detail: isOnPostgres ? `ledger: schema ${currentPostgresSchema()}` : 'none yet' },
      ]);
      expect(sandbox.chargeLog).toEqual([]);
    });
  });

  long(
    'notes that the default pipeline would be refused with v1 alone, and fails only for a named pipeline',
    async () => {
      await withOffice({}, async ({ environment, folder }) => {
        const { KYBATCH_V1_BASE_URL, KYBATCH_V1_API_KEY } = environment.env;
        const v1Only = { ...environment, env: { KYBATCH_V1_BASE_URL, KYBATCH_V1_API_KEY } };
        const view = await doctor({}, v1Only);
        expect(view.exit).toBe(0);
        const [told] = find(view, 'pipeline');
        expect(told).toMatchObject({
          state: 'note',
          detail: expect.stringMatching(/^analyst .*: .*V2/),
        });
        expect(told?.detail).not.toContain('..');
        const nightly = await doctor({ pipeline: 'nightly' }, v1Only);
        expect(nightly.exit).toBe(2);
        expect(find(nightly, 'pipeline')).toMatchObject([{ state: 'fail' }]);
        writeFileSync(join(folder, 'own.yaml'), 'stages: [record]\n');
        expect(await doctor({ pipeline: './own.yaml' }, v1Only)).toMatchObject({ exit: 0 });
        expect(find(await doctor({}, environment), 'pipeline')).toMatchObject([{ state: 'ok' }]);
      });
    },
  );

  test.each([
    ['metrics: {file: figures/k.prom}', 'metrics', 'fail'],
    ['metrics: {file: there/k.prom}', 'metrics', 'ok'],
    ['notify: {command: [./nobody]}', 'notify', 'fail'],
    ['notify: {command: [./listener]}', 'notify', 'fail'],
    ['notify: {command: [node]}', 'notify', 'ok'],
  ])('%s of a named pipeline: %s is %s before a run needs it', async (line, check, state) => {
    await withOffice({}, async ({ environment, folder }) => {
      mkdirSync(join(folder, 'there'));
      // The file is not executable.
      writeFileSync(join(folder, 'listener'), '', { mode: 0o600 });
      writeFileSync(join(folder, 'own.yaml'), `stages: [record]\n${line}\n`);
      const env = { ...environment.env, PATH: dirname(process.execPath) };
      const view = await doctor({ pipeline: './own.yaml' }, { ...environment, env });
      expect(find(view, check)).toMatchObject([{ state }]);
      expect(view.exit).toBe(state === 'ok' ? 0 : 2);
    });
  });

  test('a provider that answers with an error is not called unreachable, and a free check is not called charged', async () => {
    await withOffice({}, async ({ sandbox, environment }) => {
      sandbox.setFaults({ rate503: 1 });
      const down = await doctor({}, environment);
      expect(down.exit).toBe(6);
      for (const api of ['v1', 'v2'])
        expect(find(down, `${api} provider`)).toMatchObject([{ state: 'fail', short: expect.stringContaining('503') }]);
      sandbox.setFaults({ lostAnswer: 1 });
      const lost = await doctor({}, environment);
      const failed = lost.findings.filter(({ state }) => state === 'fail');
      expect(failed.length).toBeGreaterThan(1);
      for (const { detail } of failed) expect(detail).not.toContain('charged');
      expect(sandbox.chargeLog).toEqual([]);
    });
  });

  test('V2-15 names the operations without a route and the stages that need them', async () => {
    await withOffice({}, async ({ environment, folder }) => {
      const routes = join(folder, 'routes.yaml');
      writeFileSync(routes, 'creditReportSearch: {method: POST, path: /credit-report/search}\n');
      const env = { ...environment.env, KYBATCH_V2_ROUTES: routes };
      const view = await doctor({}, { ...environment, env });
      expect(view.exit).toBe(0);
      const [listed] = find(view, 'v2 routes');
      expect(listed).toMatchObject({ state: 'note' });
      expect(listed?.detail).toContain(`${routes}: 1 of `);
      expect(listed?.detail).toMatch(/; .*watchAdd.*creditReportGenerate/);
      // The list follows from the declarations of the stages.
      const unpublished = stages.map(({ name }) => ({
        name,
        missing: operationsOf({ stages: [name] })
          .filter((operation) => operation.route === null && operation.name !== 'creditReportSearch')
          .map((operation) => operation.name),
      }));
      expect(find(view, 'v2 stages').map(({ detail }) => detail)).toEqual(
        unpublished
          .filter(({ missing }) => missing.length > 0)
          .map(({ name, missing }) => expect.stringMatching(new RegExp(`^${name} .* ${missing.join(', ')}$`))),
      );
      expect(find(view, 'v2 stages')).toContainEqual(
        expect.objectContaining({ state: 'note', detail: expect.stringContaining('credit-report ') }),
      );
    });
  });

  test.each([
    [2048, '2.1 GB', 'ok', 0],
    [512, '537 MB', 'note', 0],
    [15, '16 MB', 'fail', 1],
  ] as const)('%i MiB left on the disk, %s: %s', async (mebibytes, size, state, exit) => {
    await withOffice({}, async ({ environment }) => {
      const view = await doctor({}, { ...environment, freeBytes: () => mebibytes * MB });
      expect(find(view, 'disk space')).toMatchObject([{ state, detail: expect.stringContaining(`${size} free`) }]);
      expect(view.exit).toBe(exit);
    });
  });

  // PostgreSQL manages its own files.
  test.skipIf(isOnPostgres)(
    'a refused key ranks before a damaged database, and a missing configuration is a usage error',
    async () => {
      await withOffice({}, async ({ sandbox, environment, folder }) => {
        mkdirSync(join(folder, 'data'), { mode: 0o700 });
        writeFileSync(
          join(folder, 'data', 'kybatch.db'),
          'this is no database, however long it is looked at'.repeat(100),
        );
        const damaged = await doctor({}, environment);
        expect(find(damaged, 'database')).toMatchObject([{ state: 'fail', code: 'LEDGER_DAMAGED' }]);
        expect(damaged.exit).toBe(1);
        const env = { ...environment.env, KYBATCH_V1_API_KEY: sandbox.keys.v1Test };
        const refused = await doctor({}, { ...environment, env });
        expect(find(refused, 'v1 key')).toMatchObject([{ state: 'fail', code: 'KEY_NOT_LIVE' }]);
        expect(refused.exit).toBe(5);
        expect((await doctor({}, { ...environment, env: {} })).exit).toBe(2);
      });
    },
  );
});
