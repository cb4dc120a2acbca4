import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startSandbox } from '../../src/sandbox/index.js';
import { withFolder } from '../helpers/cli.js';
import { findCompany } from '../helpers/sandbox.js';
import { withPage } from './page.js';

/** A list of a company that the sandbox of `--sandbox` has. */
async function writeList(path: string): Promise<void> {
  const sandbox = await startSandbox({ seed: 1 });
  const { name, registrationNumber, countryCode } = findCompany(
    sandbox,
    (company) => company.registrationNumber !== null && company.countryCode === 'GB',
  );
  await sandbox.close();
  writeFileSync(
    path,
    `Company Name,Reg. No.,Country,Note\n"${name}",${registrationNumber},${countryCode},x\nNobody,,,y\n`,
  );
}

test('a list is planned, started after a second question, followed to its end, and found on every page', () =>
  withFolder(async (folder) => {
    const list = join(folder, 'list.csv');
    await writeList(list);
    await withPage({ dataDir: join(folder, 'data'), sandbox: true }, async ({ get, json, post }) => {
      const address = `/plan?path=${encodeURIComponent(list)}&pipeline=onboarding`;
      const plan = await json<{ v1_units: { at_most: number } }>(address);
      expect(plan).toMatchObject({ rows: 2, valid: 1, invalid: 1 });
      expect(plan.v1_units.at_most).toBeGreaterThan(0);
      const { text } = await get(address);
      expect(text).not.toContain('action="/plan/start"');
      expect((await get(`${address}&confirm=1&max_units=9`)).text).toContain('action="/plan/start"');
      const started = await post('/plan/start', {
        path: list,
        pipeline: 'onboarding',
        max_units: '9',
        max_reports: '0',
      });
      expect(started.status).toBe(303);
      const run = String(started.headers.location);
      expect(run).toMatch(/^\/runs\/\d{4}-\d\d-\d\d-[0-9a-f]{6}$/);
      expect((await get(run, { accept: 'text/event-stream' })).text).toMatch(/event: end/);
      expect(await json(run)).toMatchObject({ outcomes: { invalid: 1, pending: 0 } });
      expect(await json('/')).toMatchObject({
        portfolios: [{ name: list, members: 2, attempts: [{ units: expect.any(Number) }] }],
      });
      expect(await json('/runs')).toMatchObject({ runs: [{ run: { state: 'finished' } }] });
      expect(await json('/usage')).toMatchObject({ by_run: expect.any(Array) });
      expect((await get('/runs?format=csv')).text).toMatch(/^run,state,/);
    });
  }));

test('a limit that is no number, and a list that is not there, are refused', () =>
  withFolder((folder) =>
    withPage({ dataDir: folder, sandbox: true }, async ({ post, json }) => {
      expect(await post('/plan/start', { path: 'x.csv', max_units: '-1' })).toMatchObject({ status: 400 });
      expect(await json('/plan?path=missing.csv')).toMatchObject({ error: { code: expect.any(String) } });
    }),
  ));

test('a person who may only look starts nothing and uploads nothing', () =>
  withFolder((folder) =>
    withPage({ dataDir: folder, sandbox: true, role: 'look' }, async ({ post, get }) => {
      for (const path of ['/plan/start', '/plan/upload', '/runs/x/pause', '/runs/x/resume'])
        expect(await post(path, {})).toMatchObject({ status: 403 });
      expect((await get('/plan')).text).not.toContain('method="post"');
    }),
  ));

test('an uploaded list is kept below the data directory, whatever its name is', () =>
  withFolder((folder) =>
    withPage({ dataDir: folder, sandbox: true }, async ({ ask, cookie, origin }) => {
      const body = [
        '--x\r\nContent-Disposition: form-data; name="pipeline"\r\n\r\nonboarding\r\n',
        '--x\r\nContent-Disposition: form-data; name="file"; filename="../../..\\\\l<i>st.csv"\r\nContent-Type: text/csv\r\n\r\nname,country\r\nAcme,GB\r\n\r\n--x--\r\n',
      ].join('');
      const headers = { cookie, origin, 'content-type': 'multipart/form-data; boundary=x' };
      const sent = await ask('/plan/upload', { method: 'POST', headers, body });
      expect(sent.status).toBe(303);
      const to = new URL(String(sent.headers.location), origin);
      expect(to.searchParams.get('path')).toBe(join(folder, 'uploads', 'l_i_st.csv'));
      const plan = await ask(`${to.pathname}${to.search}`, { headers: { cookie, accept: 'application/json' } });
      expect(JSON.parse(plan.text)).toMatchObject({ rows: 1, valid: 1 });
    }),
  ));
