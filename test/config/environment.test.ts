import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { loadDataDir, loadEnvironment, loadPlace, loadPrices, settingsFiles } from '../../src/config/environment.js';
import type { UsageError } from '../../src/domain/errors.js';
import { shownLedgerUrl } from '../../src/domain/urls.js';
import { redact } from '../../src/util/secret.js';
import { expectGolden } from '../helpers/golden.js';
import { refusal } from './with-pipeline.js';

let cwd = '';
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'kybatch-env-'));
});
afterEach(() => rmSync(cwd, { recursive: true }));

const load = (env: Record<string, string>) => ({ ...loadEnvironment({ env, cwd }), prices: loadPrices({ env, cwd }) });
const mcp = { KYBATCH_MCP_URL: 'https://Provider.example:443/mcp/', KYBATCH_V2_API_KEY: 'canary-v2' };
const v1 = { KYBATCH_V1_BASE_URL: 'https://provider.example/v1', KYBATCH_V1_API_KEY: 'canary-key' };

function problem(env: Record<string, string>): UsageError {
  const error = refusal(() => load(env));
  expect(`${error.message} ${error.hint} ${error.stack}`).not.toContain('canary');
  return error;
}

const URL_GIVEN = 'postgres://kybatch:canary%2Fpa$$@db.example:5432/ledger?sslmode=require';

describe('environment', () => {
  test('reads keys from variables, files and .env, and a variable overrides .env', () => {
    writeFileSync(join(cwd, 'key.txt'), 'file-key\n');
    writeFileSync(
      join(cwd, '.env'),
      'KYBATCH_V1_API_KEY=dotenv-key\nKYBATCH_DATA_DIR=elsewhere\nKYBATCH_V2_BASE_URL=http://127.0.0.1:1/v2\n',
    );
    const environment = load({ ...v1, KYBATCH_V2_API_KEY_FILE: 'key.txt' });
    expect(environment.v1?.apiKey.reveal()).toBe('canary-key');
    expect(environment.v2?.apiKey.reveal()).toBe('file-key');
    expect(environment.dataDir).toBe(join(cwd, 'elsewhere'));
  });

  test('a key does not print itself', () => {
    const environment = load(v1);
    for (const text of [
      inspect(environment, { depth: 9, showHidden: true }),
      JSON.stringify(environment),
      `${environment.v1?.apiKey}`,
    ]) {
      expect(text).not.toContain('canary');
    }
  });

  test.each([
    'https://provider.example/v1',
    'https://provider.example/v1/',
    'https://provider.example/v1///',
    'https://PROVIDER.Example/v1',
    'HTTPS://provider.example:443/v1/',
    'https://provider.example/x/../v1/.',
    'https://provider.example/%2e/v1',
    '  https://provider.example/v1?',
  ])('X-2 %s is one base URL', (url) => {
    expect(load({ ...v1, KYBATCH_V1_BASE_URL: url }).v1?.baseUrl).toBe('https://provider.example/v1');
  });

  test.each([
    ['https://provider.example:8443/', 'https://provider.example:8443'],
    ['https://provider.example/V1', 'https://provider.example/V1'],
    ['http://LOCALHOST:80/v2/', 'http://localhost/v2'],
    ['http://[0:0:0:0:0:0:0:1]:8080', 'http://[::1]:8080'],
  ])('X-2 differences between two providers stay: %s', (url, kept) => {
    expect(load({ ...v1, KYBATCH_V1_BASE_URL: url }).v1?.baseUrl).toBe(kept);
  });

  test.each(['http://localhost:1/v1', 'http://127.0.0.1:9/v1', 'http://[::1]:9/v1'])(
    'accepts http on loopback: %s',
    (url) => {
      expect(load({ ...v1, KYBATCH_V1_BASE_URL: url }).v1?.baseUrl).toBe(url);
    },
  );

  test('the MCP server uses the v2 key, with or without v2, and its URL keeps its final slash', () => {
    const { v2, mcp: access } = load(mcp);
    expect(v2).toBeNull();
    expect(access).toMatchObject({ baseUrl: 'https://provider.example/mcp', url: 'https://provider.example/mcp/' });
    expect(access?.apiKey.reveal()).toBe('canary-v2');
    expect(load({ ...mcp, KYBATCH_V2_BASE_URL: 'https://provider.example/v2' }).v2).not.toBeNull();
  });

  test.each([
    [{ HTTPS_PROXY: 'http://proxy.example:3128' }, 'http://proxy.example:3128/'],
    [{ https_proxy: 'proxy.example:3128' }, 'http://proxy.example:3128/'],
    [{ HTTPS_PROXY: 'https://u:p@proxy.example' }, 'https://u:p@proxy.example/'],
  ])('a proxy is read as other programs read it: %j', (env, url) => {
    const { proxy } = load({ ...v1, ...env, NO_PROXY: 'a.example' });
    expect(proxy?.url.reveal()).toBe(url);
    expect(proxy?.except).toBe('a.example');
  });

  test('nothing set is no error, because the sandbox needs no configuration', () => {
    expect(load({ KYBATCH_V1_API_KEY: ' ' })).toMatchObject({ v1: null, v2: null, routes: {} });
  });
});

test('prices are in the variable or in a file, and keep their digits', () => {
  const written = '{currency: EUR, unit: 0.350, credit_report: "12.50", operations: {kybSearch: 0.10}}';
  const read = { currency: 'EUR', unit: '0.350', creditReport: '12.50', operations: { kybSearch: '0.10' } };
  writeFileSync(join(cwd, 'prices.yaml'), written);
  expect(load({ KYBATCH_PRICES: ` ${written}` }).prices).toEqual(read);
  expect(load({ KYBATCH_PRICES: 'prices.yaml' }).prices).toEqual(read);
  expect(load({ KYBATCH_PRICES: ' ' }).prices).toBeNull();
  expect(settingsFiles({ env: { KYBATCH_PRICES: 'prices.yaml' }, cwd })).toContain(join(cwd, 'prices.yaml'));
  expect(settingsFiles({ env: { KYBATCH_PRICES: written }, cwd })).toEqual([join(cwd, '.env')]);
});

const REFUSED: readonly [what: string, env: Record<string, string>, code: string][] = [
  ['http elsewhere', { ...v1, KYBATCH_V1_BASE_URL: 'http://provider.example/v1' }, 'BASE_URL_NOT_HTTPS'],
  ['a loopback look-alike', { ...v1, KYBATCH_V1_BASE_URL: 'http://127.0.0.1.example/v1' }, 'BASE_URL_NOT_HTTPS'],
  ['no URL', { ...v1, KYBATCH_V1_BASE_URL: 'provider' }, 'BASE_URL_INVALID'],
  ['a password in the URL', { ...v1, KYBATCH_V1_BASE_URL: 'https://u:canary@x.example/v1' }, 'BASE_URL_INVALID'],
  ['a URL without a key', { KYBATCH_V1_BASE_URL: v1.KYBATCH_V1_BASE_URL }, 'KEY_MISSING'],
  ['a key without a URL', { KYBATCH_V2_API_KEY: 'canary' }, 'BASE_URL_MISSING'],
  ['a key and a file', { ...v1, KYBATCH_V1_API_KEY_FILE: 'x' }, 'VARIABLE_TWICE'],
  [
    'a missing key file',
    { KYBATCH_V1_BASE_URL: v1.KYBATCH_V1_BASE_URL, KYBATCH_V1_API_KEY_FILE: 'nowhere' },
    'FILE_UNREADABLE',
  ],
  ['a key with a line break', { ...v1, KYBATCH_V1_API_KEY: 'canary\r\nX-Evil: 1' }, 'KEY_INVALID'],
  [
    'a key file without end',
    { KYBATCH_V1_BASE_URL: v1.KYBATCH_V1_BASE_URL, KYBATCH_V1_API_KEY_FILE: '/dev/zero' },
    'FILE_UNREADABLE',
  ],
  ['a connector server without a key', { KYBATCH_MCP_URL: 'https://provider.example/mcp' }, 'KEY_MISSING'],
  ['a connector server over http', { ...mcp, KYBATCH_MCP_URL: 'http://provider.example/mcp' }, 'BASE_URL_NOT_HTTPS'],
  ['a proxy that is none', { ...v1, HTTPS_PROXY: 'socks://u:canary@proxy' }, 'PROXY_INVALID'],
  ['a routes file without end', { KYBATCH_V2_ROUTES: '/dev/zero' }, 'FILE_UNREADABLE'],
  ['a negative price', { KYBATCH_PRICES: '{currency: EUR, unit: -1}' }, 'PRICES_INVALID'],
  ['prices without a currency', { KYBATCH_PRICES: '{unit: 1}' }, 'PRICES_INVALID'],
  ['a price of something else', { KYBATCH_PRICES: '{currency: EUR, units: 1}' }, 'PRICES_INVALID'],
  ['the price of an unknown operation', { KYBATCH_PRICES: '{currency: EUR, operations: {x: 1}}' }, 'PRICES_INVALID'],
  ['prices that are no YAML', { KYBATCH_PRICES: '{currency: EUR' }, 'YAML_INVALID'],
  ['a missing prices file', { KYBATCH_PRICES: 'prices.yaml' }, 'FILE_UNREADABLE'],
  ['a missing routes file', { KYBATCH_V2_ROUTES: 'routes.yaml' }, 'FILE_UNREADABLE'],
  ['another database', { KYBATCH_LEDGER_URL: 'mysql://u:canary@db.example/ledger' }, 'LEDGER_URL_INVALID'],
  ['a file name', { KYBATCH_LEDGER_URL: 'canary.db' }, 'LEDGER_URL_INVALID'],
  ['a host alone', { KYBATCH_LEDGER_URL: 'postgres:canary' }, 'LEDGER_URL_INVALID'],
  ['a port that is none', { KYBATCH_LEDGER_URL: 'postgres://u:p@db.example:canary/ledger' }, 'LEDGER_URL_INVALID'],
  // Read literally, the host is `u`, and the rest of the password the name of the database.
  [
    'a bare slash in a password',
    { KYBATCH_LEDGER_URL: 'postgres://u:12/canary@db.example/ledger' },
    'LEDGER_URL_INVALID',
  ],
  ['a bare question mark', { KYBATCH_LEDGER_URL: 'postgres://u:12?canary@db.example/ledger' }, 'LEDGER_URL_INVALID'],
  ['a bare hash', { KYBATCH_LEDGER_URL: 'postgres://u:12#canary@db.example/ledger' }, 'LEDGER_URL_INVALID'],
  ['a blank', { KYBATCH_LEDGER_URL: 'postgres://u:p canary@db.example/ledger' }, 'LEDGER_URL_INVALID'],
  ['an address and a file', { KYBATCH_LEDGER_URL: URL_GIVEN, KYBATCH_LEDGER_URL_FILE: 'x' }, 'VARIABLE_TWICE'],
  ['a missing file', { KYBATCH_LEDGER_URL_FILE: 'nowhere' }, 'FILE_UNREADABLE'],
  ['a file without end', { KYBATCH_LEDGER_URL_FILE: '/dev/zero' }, 'FILE_UNREADABLE'],
];

test.each(REFUSED)('refuses %s', (_, env, code) => {
  expect(problem(env).code).toBe(code);
});

test('each refusal names the variable', async () => {
  const texts = REFUSED.map(([what, env]): [string, string] => {
    const { message, hint = '' } = problem(env);
    return [what, `${message}\n${hint}`.replaceAll(cwd, '~').trim()];
  });
  await expectGolden('environment', texts);
});

describe('the place of the ledger', () => {
  const place = (env: Record<string, string>) => loadPlace({ env, cwd });

  test('is the data directory without a database, and a blank name counts as none', () => {
    expect(place({})).toEqual({ dataDir: join(cwd, 'data'), ledgerUrl: null });
    expect(place({ KYBATCH_LEDGER_URL: ' ', KYBATCH_LEDGER_URL_FILE: '' }).ledgerUrl).toBeNull();
  });

  test.each(['postgres', 'postgresql'])('is the value of the variable, of its file or of .env: %s://', (scheme) => {
    const url = `${scheme}://user@db.example/ledger`;
    expect(place({ KYBATCH_LEDGER_URL: ` ${url} ` }).ledgerUrl?.reveal()).toBe(url);
    writeFileSync(join(cwd, 'url.txt'), `${url}\n`);
    expect(place({ KYBATCH_LEDGER_URL_FILE: 'url.txt' }).ledgerUrl?.reveal()).toBe(url);
    writeFileSync(join(cwd, '.env'), `KYBATCH_LEDGER_URL=${url}\n`);
    expect(place({}).ledgerUrl?.reveal()).toBe(url);
    expect(load(v1).ledgerUrl?.reveal()).toBe(url);
  });

  test('an empty file is refused: a second ledger would buy everything again', () => {
    writeFileSync(join(cwd, 'url.txt'), '\n');
    expect(problem({ KYBATCH_LEDGER_URL_FILE: 'url.txt' }).code).toBe('LEDGER_URL_INVALID');
  });

  test('a password never prints itself and is hidden when echoed, and the database is named', () => {
    const environment = load({ ...v1, KYBATCH_LEDGER_URL: URL_GIVEN });
    expect(environment.ledgerUrl?.reveal()).toBe(URL_GIVEN);
    for (const text of [
      inspect(environment, { depth: 9, showHidden: true }),
      JSON.stringify(environment),
      `${environment.ledgerUrl}`,
    ]) {
      expect(text).not.toContain('canary');
      expect(text).toContain('postgres://kybatch@db.example:5432/ledger');
      expect(redact(text)).toBe(text);
    }
    for (const echoed of ['canary/pa$$', 'canary%2Fpa$$', 'canary%2Fpa%24%24', 'CANARY/PA$$'])
      expect(redact(`password "${echoed}" is wrong`)).toBe('password "[key]" is wrong');
    expect(redact(URL_GIVEN)).toBe('postgres://kybatch:[key]@db.example:5432/ledger?sslmode=require');
  });

  test('a password after the question mark is a password', () => {
    const { ledgerUrl } = place({ KYBATCH_LEDGER_URL: 'postgres:///ledger?host=/run/pg&password=hidden-here' });
    expect(`${ledgerUrl}`).toBe('postgres:///ledger');
    expect(redact('with hidden-here')).toBe('with [key]');
  });

  test.each([
    [
      'postgres://kybatch:secret@db.example:5432/ledger?application_name=x',
      'postgres://kybatch@db.example:5432/ledger',
    ],
    ['postgresql://db.example/ledger', 'postgresql://db.example/ledger'],
    ['postgres://u%40realm:p@[::1]:5433/ledger', 'postgres://u%40realm@[::1]:5433/ledger'],
    ['postgres://u:12/secret@db.example/ledger', 'postgres://…'],
    ['secret', 'postgres://…'],
  ])('%s is shown as %s', (url, shown) => {
    expect(shownLedgerUrl(url)).toBe(shown);
  });

  test('a command without a ledger only reads the data directory', () => {
    expect(loadDataDir({ env: { KYBATCH_LEDGER_URL: 'nonsense' }, cwd })).toBe(join(cwd, 'data'));
  });

  test('the file of the address is a settings file', () => {
    expect(settingsFiles({ env: { KYBATCH_LEDGER_URL_FILE: 'url.txt' }, cwd })).toEqual([
      join(cwd, '.env'),
      join(cwd, 'url.txt'),
    ]);
  });
});
