import { once } from 'node:events';
import { appendFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startSandbox } from '../../src/sandbox/index.js';
import { withOffice } from '../app/support.js';
import { cli, startCli, withFolder } from '../helpers/cli.js';
import { inLedger, isOnPostgres, ledgerEnvironment } from '../helpers/ledger-place.js';
import { long } from '../helpers/long.js';
import { findCompany } from '../helpers/sandbox.js';
import { withDesk } from '../review/with-ledger.js';
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

/** Asks until it is true. The other process decides when. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 50));
}

long('a list is planned, started after a second question, followed to its end, and found on every page', () =>
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
      const form = { path: list, pipeline: 'onboarding', max_units: '9', max_reports: '0' };
      // A double click.
      const [started, again] = await Promise.all([post('/plan/start', form), post('/plan/start', form)]);
      expect(started).toMatchObject({ status: 303, headers: { location: again.headers.location } });
      expect(readdirSync(join(folder, 'data/logs')).filter((name) => name.startsWith('page-'))).toHaveLength(1);
      // A slow machine shows the run later.
      type Runs = { readonly runs: readonly { readonly run: { readonly id: string; readonly state: string } }[] };
      await until(async () => (await json<Runs>('/runs')).runs.length === 1);
      const run = `/runs/${(await json<Runs>('/runs')).runs[0]?.run.id}`;
      expect([run, '/runs']).toContain(started.headers.location);
      await until(async () => (await json<Runs>('/runs')).runs[0]?.run.state === 'finished');
      await until(async () => !(await get(run)).text.includes('data-live'));
      expect(await json(run)).toMatchObject({ outcomes: { invalid: 1, pending: 0 } });
      expect(await json('/')).toMatchObject({
        portfolios: [{ name: list, members: 2, attempts: [{ units: expect.any(Number) }] }],
      });
      expect(await json('/runs')).toMatchObject({ runs: [{ run: { state: 'finished' } }] });
      expect(await json('/usage')).toMatchObject({ by_run: expect.any(Array) });
      expect((await get('/runs?format=csv')).text).toMatch(/^run,state,/);

      const workbook = await get(`${run}/files/results.xlsx`);
      expect(workbook.headers['content-disposition']).toContain('attachment');
      const report = await get(`${run}/files/report.html`);
      expect(report.headers['content-security-policy']).toMatch(/^sandbox;/);
      for (const name of ['..%2Fsummary.json', '..%2F..%2Fkybatch.db', 'kybatch.db', 'unknown.csv'])
        expect(await get(`${run}/files/${name}`)).toMatchObject({ status: 404 });
    });
  }),
);

long('a download has all rows, and invalid rows keep their name and ID', () =>
  withFolder(async (folder) => {
    const list = join(folder, 'list.csv');
    await writeList(list);
    const invalid = Array.from({ length: 120 }, (_, at) => `Nameless Land ${at},,,row-${at}`);
    appendFileSync(list, `${invalid.join('\n')}\n`);
    writeFileSync(list, readFileSync(list, 'utf8').replace(',Note', ',ID'));
    const dataDir = join(folder, 'data');
    await cli(['run', list, '--sandbox', '--yes', '--pipeline', 'onboarding', '--data-dir', dataDir], {
      cwd: folder,
      env: await ledgerEnvironment(dataDir),
    });
    await withPage({ dataDir: join(folder, 'data'), sandbox: true }, async ({ get, json }) => {
      const { text } = await get('/companies?outcome=invalid&from=50&format=csv');
      expect(text.trim().split('\n')).toHaveLength(1 + 121);
      expect(text).toContain('row-119,Nameless Land 119');
      expect(await json('/companies?q=row-77')).toMatchObject({ total: 1, rows: [{ input_id: 'row-77' }] });
    });
  }),
);

long('the page of a release plans a long list in a thread', () =>
  withFolder(async (folder) => {
    const lines = Array.from({ length: 3_000 }, (_, at) => `Company ${at} Limited,GB,0${1_000_000 + at}`);
    writeFileSync(join(folder, 'long.csv'), ['Company Name,Country,Reg. No.', ...lines].join('\n'));
    const { child, finished } = startCli(['ui', '--sandbox', '--no-open'], { cwd: folder });
    const link = String((await once(child.stdout ?? child, 'data'))[0]).trim();
    const entered = await fetch(link, { redirect: 'manual' });
    const headers = {
      cookie: (entered.headers.get('set-cookie') ?? '').split(';')[0] ?? '',
      accept: 'application/json',
    };
    const plan = await fetch(new URL('/plan?path=long.csv', link), { headers });
    expect(await plan.json()).toMatchObject({ rows: 3_000, valid: 3_000 });
    child.kill('SIGINT');
    await finished;
  }),
);

long('a run uses the columns and the pipeline that the form shows', () =>
  withFolder(async (folder) => {
    const list = join(folder, 'list.csv');
    await writeList(list);
    await withPage({ dataDir: join(folder, 'data'), sandbox: true }, async ({ get }) => {
      const { text } = await get(`/plan?path=${encodeURIComponent(list)}&pipeline=analyst`);
      const usual = /name="usual_units" value="(\d+)"/.exec(text)?.[1] ?? '';
      expect(text).toMatch(/<button class="primary" form="job" name="confirm" value="1">/);
      const shown = { path: list, pipeline: 'onboarding', confirm: '1', usual_units: usual, max_units: usual };
      const other = new URLSearchParams(shown);
      for (const field of ['name', '', 'country', '']) other.append('as', field);
      const asked = (await get(`/plan?${other}`)).text;
      expect(asked).toContain('name="pipeline" value="onboarding"');
      expect(asked).not.toContain('<select');
      // Without the number, the row costs a different amount. An unchanged limit is adjusted.
      expect(asked).not.toContain(`name="max_units" value="${usual}"`);
    });
  }),
);

test('a file without usable columns offers the choice over each column', () =>
  withFolder(async (folder) => {
    const list = join(folder, 'odd.csv');
    writeFileSync(list, 'x1,x2,x3\nfoo,1,bar\nfoo,2,bar\n');
    await withPage({ dataDir: join(folder, 'data'), sandbox: true }, async ({ get, ask, cookie }) => {
      const { status, text } = await get(`/plan?path=${encodeURIComponent(list)}`);
      expect(status).toBe(200);
      expect(text.match(/<select name="as"/g)).toHaveLength(3);
      const headers = { cookie, accept: 'application/json' };
      expect(await ask(`/plan?path=${encodeURIComponent(list)}`, { headers })).toMatchObject({ status: 400 });
    });
  }));

test('one click gives the rows without a country the usual one', () =>
  withFolder(async (folder) => {
    const list = join(folder, 'list.csv');
    writeFileSync(list, 'name,country\nAcme Ltd,GB\nBolt Ltd,GB\nCog Ltd,\nDrum Ltd,\n');
    await withPage({ dataDir: join(folder, 'data'), sandbox: true }, async ({ get, json }) => {
      const address = `/plan?path=${encodeURIComponent(list)}`;
      expect(await json(address)).toMatchObject({ valid: 2, invalid: 2 });
      const [, name, value] = /<button name="(\w+)" value="(\w+)" form="job">/.exec((await get(address)).text) ?? [];
      expect([name, value]).toEqual(['country', 'GB']);
      const filled = `${address}&${name}=${value}`;
      expect(await json(filled)).toMatchObject({ valid: 4, invalid: 0 });
      expect((await get(filled)).text).not.toContain('<button name="country"');
    });
  }));

test('columns with one choice are joined, and every line that is left out is named', () =>
  withFolder(async (folder) => {
    const list = join(folder, 'list.csv');
    const rows = Array.from({ length: 9 }, (_, at) => `Acme,Works ${at},GB,0044579${at}`);
    writeFileSync(list, `name,part,country,number\n${rows.join('\n')}\nTotal,,,9\n`);
    await withPage({ dataDir: join(folder, 'data'), sandbox: true }, async ({ get, json }) => {
      const choice = ['name', 'name', 'country', ''].map((field) => `&as=${field}`).join('');
      const address = `/plan?path=${encodeURIComponent(list)}${choice}`;
      expect(await json(address)).toMatchObject({
        columns: expect.arrayContaining([expect.objectContaining({ field: 'name', header: 'name + part' })]),
        left_out_lines: 1,
      });
      const { text } = await get(address);
      expect(text.match(/<option value="name" selected>/g)).toHaveLength(2);
      // The message comes after the first rows.
      expect(text).toMatch(/line 11 \(totals/);
    });
  }));

long('a long list is planned in a thread, and other pages do not wait for it', () =>
  withFolder(async (folder) => {
    const list = join(folder, 'long.csv');
    const rows = Array.from({ length: 4_000 }, (_, at) => `Acme Works ${at},GB,${10_000_000 + at}`);
    writeFileSync(list, `name,country,number\n${rows.join('\n')}\n`);
    await withPage({ dataDir: join(folder, 'data'), sandbox: true }, async ({ json }) => {
      const order: string[] = [];
      const ask = async (path: string) => {
        const answer = await json(path);
        order.push(path);
        return answer;
      };
      const address = `/plan?path=${encodeURIComponent(list)}`;
      const [plan] = await Promise.all([ask(address), ask('/runs')]);
      expect(plan).toMatchObject({ rows: 4_000, valid: 4_000 });
      expect(order).toEqual(['/runs', address]);
      const unread = { error: { code: 'NO_USABLE_COLUMN' } };
      expect(await json(`${address}&pipeline=none`)).toMatchObject(unread);
    });
  }),
);

test('a start while another process has the ledger starts nothing', { skip: isOnPostgres, tags: 'long' }, () =>
  withDesk(async ({ folder }) => {
    const list = join(folder, 'list.csv');
    writeFileSync(list, 'name,country\nAcme,GB\n');
    await withPage({ dataDir: folder, sandbox: true }, async ({ get, post }) => {
      expect((await get(`/plan?path=${encodeURIComponent(list)}&confirm=1`)).text).not.toContain('/plan/start');
      expect(await post('/plan/start', { path: list })).toMatchObject({ headers: { location: '/runs' } });
      expect((await get('/runs')).text).toContain('class="notice warn"');
    });
  }),
);

long('a started process that ends without a run is shown with its exit code', () =>
  withFolder((folder) =>
    withPage({ dataDir: folder, sandbox: true }, async ({ get, post }) => {
      await post('/plan/start', { path: join(folder, 'missing.csv') });
      expect((await get('/runs')).text).toMatch(/class="notice bad">[^<]*exit 2/);
    }),
  ),
);

test('a limit that is no number, and a list that is not there, are refused', () =>
  withFolder((folder) =>
    withPage({ dataDir: folder, sandbox: true }, async ({ post, json }) => {
      expect(await post('/plan/start', { path: 'x.csv', max_units: '-1' })).toMatchObject({ status: 400 });
      expect(await json('/plan?path=missing.csv')).toMatchObject({ error: { code: expect.any(String) } });
    }),
  ));

test('a person with read access starts nothing and uploads nothing', () =>
  withFolder((folder) =>
    withPage({ dataDir: folder, sandbox: true, role: 'look' }, async ({ post, get }) => {
      for (const path of ['/plan/start', '/plan/upload', '/runs/x/pause', '/runs/x/resume'])
        expect(await post(path, {})).toMatchObject({ status: 403 });
      expect((await get('/plan')).text).not.toContain('method="post"');
    }),
  ));

test('an uploaded list is kept below the data directory, with any name', () =>
  withFolder((folder) =>
    withPage({ dataDir: folder, sandbox: true }, async ({ ask, cookie, origin }) => {
      const body = [
        '--x\r\nContent-Disposition: form-data; name="pipeline"\r\n\r\nonboarding\r\n',
        '--x\r\nContent-Disposition: form-data; name="file"; filename="../../..\\\\l<i>st.csv"\r\nContent-Type: text/csv\r\n\r\nname,country\r\nAcme,GB\r\n\r\n--x--\r\n',
      ].join('');
      const headers = { cookie, origin, 'content-type': 'multipart/form-data; boundary=x' };
      const upload = async (text: string) => {
        const sent = await ask('/plan/upload', { method: 'POST', headers, body: text });
        expect(sent.status).toBe(303);
        return new URL(String(sent.headers.location), origin);
      };
      const first = join(folder, 'uploads', 'l_i_st.csv');
      const to = await upload(body);
      expect(to.searchParams.get('path')).toBe(first);
      // Equal bytes are one file. Other bytes update the list, and the earlier file stays.
      expect((await upload(body)).search).toBe(to.search);
      const other = (await upload(body.replace('Acme', 'Other'))).searchParams;
      expect([other.get('path'), other.get('name')]).toEqual([join(folder, 'uploads', 'l_i_st (2).csv'), first]);
      expect(readFileSync(first, 'utf8')).toContain('Acme');
      await upload(body.replace('l<i>st', 'x'.repeat(5_000)));
      const plan = await ask(`${to.pathname}${to.search}`, { headers: { cookie, accept: 'application/json' } });
      expect(JSON.parse(plan.text)).toMatchObject({ rows: 1, valid: 1 });
    }),
  ));

test('spending by day adds up, and only unknown charges are settled', { skip: isOnPostgres, tags: 'long' }, () =>
  withFolder(async (folder) => {
    const list = join(folder, 'list.csv');
    await writeList(list);
    await cli(['run', list, '--sandbox', '--yes', '--no-export', '--pipeline', 'nightly'], { cwd: folder });
    await withPage({ dataDir: join(folder, 'data'), sandbox: true }, async ({ json, post }) => {
      interface Series {
        readonly units: readonly number[];
      }
      const sum = (series: readonly Series[]) => series.reduce((all, { units }) => all + (units[0] ?? 0), 0);
      const { daily, by_day } = await json<{
        readonly daily: Readonly<Record<'operation' | 'pipeline', { readonly series: readonly Series[] }>>;
        readonly by_day: readonly { readonly units_charged: number }[];
      }>('/usage');
      const spent = by_day.reduce((all, line) => all + line.units_charged, 0);
      expect(spent).toBeGreaterThan(0);
      expect([sum(daily.operation.series), sum(daily.pipeline.series)]).toEqual([spent, spent]);
      expect(await post('/usage/charge', { call: '1', verdict: 'free' })).toMatchObject({ status: 400 });
    });
  }),
);

long('an unknown charge is settled from the page', () =>
  withOffice({}, async ({ sandbox, folder, run, companies }) => {
    sandbox.script({ operation: 'financial' }, [500]);
    await run(companies(1), ['record', 'financials']);
    await withPage({ dataDir: join(folder, 'data') }, async ({ json, get, post }) => {
      type Usage = { readonly unknown_calls: readonly { readonly id: number; readonly charge: string }[] };
      const [call] = (await json<Usage>('/usage')).unknown_calls;
      expect((await get('/usage')).text).toContain('action="/usage/charge"');
      expect(await post('/usage/charge', { call: String(call?.id), verdict: 'free' })).toMatchObject({ status: 303 });
      expect((await json<Usage>('/usage')).unknown_calls).toEqual([]);
      expect((await get('/usage')).text).not.toContain('action="/usage/charge"');
    });
    expect(
      await inLedger(join(folder, 'data'), "SELECT charge, units_charged FROM calls WHERE charge = 'unknown'"),
    ).toEqual([]);
  }),
);

test('X-6 the page refuses everything but regular files, and its own standard input', () =>
  withFolder(async (folder) => {
    const endless = async function* (): AsyncGenerator<Uint8Array> {
      yield Buffer.from('name,country\n');
      await new Promise(() => {});
    };
    await withPage({ dataDir: join(folder, 'data'), sandbox: true, stdin: endless }, async ({ get }) => {
      for (const path of ['-', '/dev/stdin', '/dev/zero', '/dev'])
        expect((await get(`/plan?${new URLSearchParams({ path })}`)).status, path).toBe(400);
    });
  }));
