import { describe, expect, test } from 'vitest';
import { html } from '../../src/util/html.js';
import { withFolder } from '../helpers/cli.js';
import { type Page, withPage } from './page.js';

const onPage = (use: (page: Page) => Promise<void>, role?: 'look' | 'decide') =>
  withFolder((folder) => withPage({ dataDir: folder, ...(role && { role }) }, use));

describe('read access', () => {
  test('the token of the link becomes a cookie and leaves the address', () =>
    onPage(async ({ address, ask, get }) => {
      const { pathname, search } = new URL(address);
      expect(search).toMatch(/^\?token=[\w-]{30,}$/);
      expect(await ask(pathname + search)).toMatchObject({ status: 403 });
      expect(await ask('/')).toMatchObject({ status: 401 });
      expect(await ask('/?token=wrong')).toMatchObject({ status: 403 });
      expect(await get('/')).toMatchObject({ status: 200 });
    }));

  test('the cookie is for this page alone', () =>
    onPage(async ({ cookie, ask }) => {
      expect(cookie).toMatch(/^kybatch_[0-9a-f]{12}=[\w-]{32}$/);
      const other = cookie.replace(/=.*/, `=${'A'.repeat(32)}`);
      expect(await ask('/', { headers: { cookie: other } })).toMatchObject({ status: 401 });
    }));

  test.each(['evil.example', '127.0.0.1', 'localhost', '127.0.0.1:1'])('refuses the host %s', (host) =>
    onPage(async ({ get }) => {
      expect(await get('/', { host })).toMatchObject({ status: 421 });
    }),
  );

  test.each([undefined, 'null', 'https://evil.example', 'http://127.0.0.1:1'])('refuses a form from %s', (origin) =>
    onPage(async ({ cookie, ask }) => {
      const headers = { cookie, 'content-type': 'application/x-www-form-urlencoded', ...(origin && { origin }) };
      expect(await ask('/runs', { method: 'POST', headers, body: '' })).toMatchObject({ status: 403 });
    }),
  );

  test.each(['look', 'decide'] as const)('a person who may only %s reads no other file of this machine', (role) =>
    onPage(async ({ get, json }) => {
      const address = `/plan?${new URLSearchParams({ path: '/etc/passwd' }).toString()}`;
      expect(await json(address)).toMatchObject({ error: { code: 'FILE_NOT_OFFERED' } });
      expect((await get('/plan')).text).not.toContain('name="path"');
    }, role),
  );

  test('refuses other kinds of forms, and other methods', () =>
    onPage(async ({ cookie, origin, ask }) => {
      const headers = { cookie, origin, 'content-type': 'text/plain' };
      expect(await ask('/runs', { method: 'POST', headers, body: '' })).toMatchObject({ status: 415 });
      expect(await ask('/', { method: 'PUT', headers: { cookie } })).toMatchObject({ status: 405 });
    }));
});

describe('headers of every answer', () => {
  test.each(['/', '/nothing', '/style.css'])('nothing comes from elsewhere: %s', (path) =>
    onPage(async ({ get }) => {
      const { headers, text } = await get(path);
      expect(headers['content-security-policy']).toMatch(/^default-src 'none';.*frame-ancestors 'none'/);
      expect(headers['x-content-type-options']).toBe('nosniff');
      expect(headers['cache-control']).toBe('no-store');
      expect(text).not.toMatch(/(?:src|href|action)="(?:https?:)?\/\//);
    }),
  );

  test('a problem has a code in JSON and a page for people', () =>
    onPage(async ({ get, json }) => {
      expect(await get('/nothing')).toMatchObject({ status: 404 });
      expect(await json('/runs/none')).toMatchObject({ error: { code: expect.any(String) } });
    }));

  test('an empty folder shows no list, and creates nothing', () =>
    onPage(async ({ json }) => {
      expect(await json('/')).toMatchObject({ portfolios: [] });
      expect(await json('/runs')).toMatchObject({ runs: [] });
    }));
});

test('markup in values is text', () => {
  const hostile = '<img src=x onerror="alert(1)">\'`&\u0000\u202e';
  const text = String(html`<p title="${hostile}">${hostile}${[hostile, null, false, 0]}</p>`);
  expect(text.replace(/^<p title="|">|<\/p>$/g, '')).not.toMatch(/[<>"'`]/);
  expect(text).not.toContain('\u0000');
  expect(text).toContain('0</p>');
});

describe('behind a reverse proxy', () => {
  const proxied = (from: readonly string[], use: (page: Page) => Promise<void>) =>
    withFolder((folder) => {
      const proxy = { publicUrl: 'https://kyb.example', userHeader: 'X-User', from, socket: undefined };
      return withPage({ dataDir: folder, proxy, role: 'decide' }, use);
    });
  const as = (name: string) => ({ host: 'kyb.example', 'x-user': name });

  test('the name comes from one header, of the proxy alone', () =>
    proxied(['127.0.0.1'], async ({ ask }) => {
      expect((await ask('/', { headers: as('berta') })).text).toContain('berta');
      expect(await ask('/', { headers: { host: 'kyb.example' } })).toMatchObject({ status: 401 });
      for (const twice of [
        ['berta', 'eve'],
        ['berta', 'berta'],
        ['', 'eve'],
      ])
        expect(await ask('/', { headers: { host: 'kyb.example', 'x-user': twice } })).toMatchObject({ status: 400 });
      expect(await ask('/', { headers: { host: '127.0.0.1', 'x-user': 'berta' } })).toMatchObject({ status: 421 });
    }));

  test('another address is refused', () =>
    proxied(['10.0.0.1'], async ({ ask }) => {
      expect(await ask('/', { headers: as('berta') })).toMatchObject({ status: 403 });
    }));

  test('forms come from the public address, and the role holds', () =>
    proxied(['127.0.0.1'], async ({ ask }) => {
      const send = (origin: string) => {
        const headers = { ...as('berta'), origin, 'content-type': 'application/x-www-form-urlencoded' };
        return ask('/plan/start', { method: 'POST', headers, body: 'path=x.csv' });
      };
      expect(JSON.stringify(await send('https://evil.example'))).toContain('Forms are accepted');
      expect(await send('https://kyb.example')).toMatchObject({ status: 403 });
    }));

  test.each(['/etc/passwd', '.env', 'data/../../x.csv'])('a file of this machine is not shown: %s', (path) =>
    proxied(['127.0.0.1'], async ({ ask }) => {
      const address = `/plan?${new URLSearchParams({ path }).toString()}`;
      const answer = await ask(address, { headers: { ...as('berta'), accept: 'application/json' } });
      expect(answer.status).toBe(403);
      expect(JSON.parse(answer.text)).toMatchObject({ error: { code: 'FILE_NOT_OFFERED' } });
    }),
  );
});
