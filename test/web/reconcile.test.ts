import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Ajv, type ValidateFunction } from 'ajv';
import { describe, expect, test } from 'vitest';
import { UnitLimit } from '../../src/app/provider/direct-calls.js';
import type { Company } from '../../src/sandbox/registry/types.js';
import { type Office, withOffice } from '../app/support.js';
import { withFolder } from '../helpers/cli.js';
import { type Page, withPage } from './page.js';

/** The files of the standard are beside the checkout. */
const STANDARD = resolve(import.meta.dirname, '../../../shared/standards/reconciliation');
const isThere = existsSync(STANDARD);
if (!isThere) console.warn(`${STANDARD} is missing: nothing is checked against the schemas of the standard`);

const ajv = new Ajv({ strict: false, formats: { uri: true, regex: true, email: true } });
const schemas = new Map(
  (isThere ? readdirSync(join(STANDARD, 'schemas')) : []).map((file) => {
    const { $schema: _, $id, ...schema } = JSON.parse(readFileSync(join(STANDARD, 'schemas', file), 'utf8'));
    ajv.addSchema({ ...schema, $id: String($id).replace(/#$/, '') });
    return [file.replace('.json', ''), String($id).replace(/#$/, '')] as const;
  }),
);

function mustFit(schema: string, value: unknown): void {
  if (!isThere) return;
  const validate = ajv.getSchema(schemas.get(schema) ?? '') as ValidateFunction;
  validate(value);
  expect(validate.errors ?? null, `${schema}: ${JSON.stringify(value).slice(0, 500)}`).toBe(null);
}

/** The examples of the standard of one kind, as cases. */
function examples(kind: string, state: 'valid' | 'invalid'): readonly (readonly [name: string, text: string])[] {
  const folder = join(STANDARD, 'examples', kind, state);
  return existsSync(folder)
    ? readdirSync(folder).map((file) => [file, readFileSync(join(folder, file), 'utf8')] as const)
    : [['no examples beside the checkout', '']];
}

interface Service {
  readonly page: Page;
  get<T>(path?: string, given?: Readonly<Record<string, string>>): Promise<T>;
  post<T>(given: Readonly<Record<string, string>>): Promise<T>;
  reconcile(queries: Readonly<Record<string, object>>): Promise<Results>;
}

type Results = Readonly<Record<string, { readonly result: readonly Candidate[] }>>;

interface Candidate {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly score: number;
  readonly match: boolean;
}

const serviceOf = (page: Page): Service => {
  const post = async <T>(given: Readonly<Record<string, string>>) => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const sent = await page.ask(page.service, { method: 'POST', headers, body: `${new URLSearchParams(given)}` });
    return JSON.parse(sent.text) as T;
  };
  return {
    page,
    post,
    get: async (path = '', given = {}) =>
      JSON.parse((await page.ask(`${page.service}${path}?${new URLSearchParams(given)}`)).text),
    reconcile: async (queries) => {
      mustFit('reconciliation-query-batch', queries);
      const results = await post<Results>({ queries: JSON.stringify(queries) });
      mustFit('reconciliation-result-batch', results);
      return results;
    },
  };
};

/** A service over three bought companies. */
const withService = (
  use: (service: Service, companies: readonly Company[], office: Office) => Promise<void>,
  options: { readonly unitLimit?: UnitLimit; readonly stages?: readonly string[] } = {},
) =>
  withOffice({}, async (office) => {
    const companies = office.companies(4);
    await office.run(companies.slice(0, 3), options.stages ?? ['record']);
    const env = Object.fromEntries(Object.entries(office.environment.env).map(([key, value]) => [key, value ?? '']));
    const reconcile = { unitLimit: options.unitLimit };
    await withPage({ dataDir: join(office.folder, 'data'), reconcile, env }, (page) =>
      use(serviceOf(page), companies, office),
    );
  });

const onEmptyFolder = (use: (service: Service) => Promise<void>) =>
  withFolder((folder) => withPage({ dataDir: folder, reconcile: {} }, (page) => use(serviceOf(page))));

const queryFor = ({ name, countryCode, registrationNumber }: Company) => ({
  query: name,
  properties: [
    { pid: 'country', v: countryCode },
    { pid: 'registration_number', v: registrationNumber },
  ],
});

describe('queries', () => {
  test('a number that agrees is a match, a name alone is none, and nothing is spent', () =>
    withService(async ({ reconcile, page }, [first, second], { sandbox }) => {
      if (first === undefined || second === undefined) throw new Error('no companies');
      const before = sandbox.v1Remaining;
      const { full, name, other, nowhere } = await reconcile({
        full: queryFor(first),
        name: { query: second.name, properties: [{ pid: 'country', v: second.countryCode }] },
        other: { ...queryFor(first), query: 'Something Else Entirely' },
        nowhere: { query: first.name },
      });
      expect(full?.result[0]).toMatchObject({ id: `v1-${first.v1Id}`, name: first.name, match: true, score: 100 });
      expect(full?.result[0]?.description).toMatch(/grade A[AB]...\b/);
      for (const { result = [] } of [name ?? { result: [] }, other ?? { result: [] }, nowhere ?? { result: [] }]) {
        expect(result.length).toBeGreaterThan(0);
        expect(result.filter(({ match }) => match)).toEqual([]);
      }
      expect(name?.result[0]?.id).toBe(`v1-${second.v1Id}`);
      expect(sandbox.v1Remaining).toBe(before);
      expect((await page.ask(`${page.service}?queries={}`)).text).toBe('{}\n');
    }));

  test('GET and POST give equal results', () =>
    withService(async ({ get, reconcile }, [first]) => {
      const queries = { q0: first === undefined ? {} : queryFor(first) };
      expect(await get('', { queries: JSON.stringify(queries) })).toEqual(await reconcile(queries));
    }));

  test('a limit holds, and another type has no candidates', () =>
    withService(async ({ reconcile }, [first]) => {
      if (first === undefined) throw new Error('no company');
      const { limited, typed } = await reconcile({
        limited: { ...queryFor(first), limit: 1 },
        typed: { ...queryFor(first), type: 'person' },
      });
      expect(limited?.result).toHaveLength(1);
      expect(typed?.result).toEqual([]);
    }));

  test('with units it buys missing answers, never more than allowed, and never twice', () => {
    const unitLimit = new UnitLimit(2);
    return withService(
      async ({ reconcile }, companies, { sandbox }) => {
        const fourth = companies[3];
        if (fourth === undefined) throw new Error('no company');
        const before = sandbox.v1Remaining;
        const { q } = await reconcile({ q: queryFor(fourth) });
        expect(q?.result[0]).toMatchObject({ id: `v1-${fourth.v1Id}`, match: true });
        expect(unitLimit.spent).toBe(1);
        await reconcile({ q: queryFor(fourth), known: companies[0] === undefined ? {} : queryFor(companies[0]) });
        expect(unitLimit.spent).toBe(1);
        const many = Object.fromEntries(
          [1, 2, 3, 4, 5].map((n) => [`q${n}`, { query: `Nowhere ${n}`, properties: [{ pid: 'country', v: 'GB' }] }]),
        );
        await Promise.all([reconcile(many), reconcile(many)]);
        expect(unitLimit).toMatchObject({ spent: 2, left: 0 });
        expect(before - sandbox.v1Remaining).toBe(2);
      },
      { unitLimit },
    );
  });

  test.each(examples('reconciliation-query-batch', 'valid'))('answers the example %s', (_, text) =>
    onEmptyFolder(async ({ reconcile }) => {
      const queries = JSON.parse(text || '{}');
      const results = await reconcile(queries);
      expect(Object.keys(results)).toEqual(Object.keys(queries));
    }),
  );

  test.each(examples('reconciliation-query-batch', 'invalid'))('refuses the example %s', (_, text) =>
    onEmptyFolder(async ({ post }) => {
      expect(await post({ queries: text })).toMatchObject({ status: 'error', code: 'QUERY_INVALID' });
    }),
  );
});

test('the manifest and its claims fit the standard', () =>
  withService(async ({ get, page }, [first]) => {
    const manifest = await get<Record<string, never>>();
    mustFit('manifest', manifest);
    expect(manifest).toMatchObject({ versions: ['0.2'], defaultTypes: [{ id: 'company' }] });
    const { suggest, extend, preview, view } = manifest as unknown as Manifest;
    const at = (url: string) => url.replace(page.origin, '');
    for (const [kind, schema, prefix] of [
      ['entity', 'suggest-entities-response', first?.name.split(' ')[0] ?? ''],
      ['property', 'suggest-properties-response', 'regis'],
      ['type', 'suggest-types-response', 'comp'],
    ] as const) {
      const { service_url, service_path } = suggest[kind];
      const { text } = await page.ask(`${at(service_url)}${service_path}?${new URLSearchParams({ prefix })}`);
      mustFit(schema, JSON.parse(text));
      expect(JSON.parse(text).result.length, kind).toBeGreaterThan(0);
    }
    const { service_url, service_path } = extend.propose_properties;
    const proposed = JSON.parse((await page.ask(`${at(service_url)}${service_path}?type=company`)).text);
    mustFit('data-extension-property-proposal', proposed);
    expect(proposed.properties).toContainEqual({ id: 'results.matched_name', name: 'matched name' });

    const card = await page.ask(at(preview.url).replace('{{id}}', `v1-${first?.v1Id}`));
    expect(card.headers['content-security-policy']).toMatch(/^default-src 'none'.*frame-ancestors http:\/\/127/);
    expect(card.headers['x-frame-options']).toBe(undefined);
    expect(card.text).toContain(`<h1>${first?.name}</h1>`);
    expect(card.text).not.toMatch(/<script|[\w.]+@[\w.]+\.[a-z]{2,}/);
    const unknown = await page.ask(at(preview.url).replace('{{id}}', 'v1-%3Cscript%3E'));
    expect(unknown).toMatchObject({ status: 200 });
    expect(unknown.text).not.toContain('<script');
    expect((await page.ask(at(view.url).replace('{{id}}', `v1-${first?.v1Id}`))).headers.location).toBe(
      `/companies/v1/${first?.v1Id}`,
    );
  }));

interface Manifest {
  readonly suggest: Readonly<Record<string, Address>> & Readonly<Record<'entity' | 'property' | 'type', Address>>;
  readonly extend: { readonly propose_properties: Address };
  readonly preview: { readonly url: string };
  readonly view: { readonly url: string };
}

interface Address {
  readonly service_url: string;
  readonly service_path: string;
}

describe('data extension', () => {
  test('adds columns of results, without contacts and own columns', () =>
    withService(async ({ post, get }, [first, second]) => {
      const ids = [`v1-${first?.v1Id}`, `v1-${second?.v1Id}`, 'v1-0', 'nothing'];
      const { properties } = await get<{ properties: readonly { id: string }[] }>('/properties');
      expect(properties.map(({ id }) => id)).not.toContain('results.extra');
      const asked = [...properties, { id: 'unknown' }].map(({ id }) => ({ id }));
      const extended = await post<Extended>({ extend: JSON.stringify({ ids, properties: asked }) });
      mustFit('data-extension-response', extended);
      expect(extended.meta.map(({ id }) => id)).toEqual(asked.map(({ id }) => id));
      const [one = ''] = ids;
      expect(extended.rows[one]).toMatchObject({
        'results.matched_name': [{ str: first?.name }],
        'results.matched_registration_number': [{ str: expect.any(String) }],
        'results.outcome': [{ str: 'complete' }],
        unknown: [],
      });
      // A value that was not bought is left out, and is not shown as none.
      expect(extended.rows[one]?.['results.credit_limit']).toEqual([]);
      expect(extended.rows['v1-0']?.['results.matched_name']).toEqual([]);
      expect(JSON.stringify(extended)).not.toMatch(/[\w.]+@[\w.]+\.[a-z]{2,}/);
    }));

  test.each(examples('data-extension-query', 'valid'))('answers the example %s', (_, text) =>
    onEmptyFolder(async ({ post, get }) => {
      const extend = text || '{"ids":[],"properties":[]}';
      mustFit('data-extension-query', JSON.parse(extend));
      const extended = await post({ extend });
      mustFit('data-extension-response', extended);
      expect(await get('', { extend })).toEqual(extended);
    }),
  );
});

interface Extended {
  readonly meta: readonly { readonly id: string }[];
  readonly rows: Readonly<Record<string, Readonly<Record<string, readonly object[]>>>>;
}

/** Shows that schemas are read correctly. */
test.skipIf(!isThere).each([
  ['manifest', 'manifest'],
  ['data-extension-response', 'data-extension-response'],
  ['data-extension-query', 'data-extension-query'],
  ['data-extension-property-proposal', 'data-extension-property-proposal'],
  ['reconciliation-query-batch', 'reconciliation-query-batch'],
  ['reconciliation-result-batch', 'reconciliation-result-batch'],
  ['suggest-entities-response', 'suggest-entities-response'],
  ['suggest-properties-response', 'suggest-properties-response'],
  ['suggest-types-response', 'suggest-types-response'],
])('the schema of %s accepts its valid examples and refuses the others', (kind, schema) => {
  const validate = ajv.getSchema(schemas.get(schema) ?? '') as ValidateFunction;
  for (const [file, text] of examples(kind, 'valid')) expect(validate(JSON.parse(text)), file).toBe(true);
  const others = examples(kind, 'invalid').filter(([, text]) => text !== '');
  for (const [file, text] of others) expect(validate(JSON.parse(text)), file).toBe(false);
});

describe('access', () => {
  test('the address is the secret, and opens nothing else', () =>
    onEmptyFolder(async ({ page }) => {
      expect(page.service).toMatch(/^\/reconcile\/[\w-]{32}$/);
      expect(await page.ask(page.service)).toMatchObject({ status: 200 });
      for (const path of ['/reconcile', '/reconcile/', `/reconcile/${'A'.repeat(32)}`, '/reconcile/ä'])
        expect(await page.get(encodeURI(path))).toMatchObject({ status: 403 });
      expect(await page.ask(`${page.service}/..`)).toMatchObject({ status: 403 });
      expect(await page.ask(`${page.service}/nothing`)).toMatchObject({ status: 404 });
      expect(await page.ask(page.service, { headers: { host: 'evil.example' } })).toMatchObject({ status: 421 });
      expect(await page.ask('/companies')).toMatchObject({ status: 401 });
    }));

  test('any origin may read the service, and no other address', () =>
    onEmptyFolder(async ({ page }) => {
      const headers = { origin: 'http://127.0.0.1:3333' };
      const allowed = 'access-control-allow-origin';
      expect((await page.ask(page.service, { headers })).headers[allowed]).toBe('*');
      const preflight = await page.ask(page.service, { method: 'OPTIONS', headers });
      expect(preflight).toMatchObject({ status: 204, headers: { 'access-control-allow-methods': 'GET, POST' } });
      expect(preflight.headers['access-control-allow-credentials']).toBe(undefined);
      for (const path of ['/', '/companies', '/style.css'])
        expect((await page.get(path, headers)).headers[allowed]).toBe(undefined);
      expect((await page.ask(`${page.service}/preview?id=v1-1`, { headers })).headers[allowed]).toBe(undefined);
    }));

  test('other methods, forms and sizes are refused', () =>
    onEmptyFolder(async ({ page }) => {
      const send = (method: string, type: string, body = '') =>
        page.ask(page.service, { method, headers: { 'content-type': type }, body });
      expect(await send('PUT', 'application/json')).toMatchObject({ status: 405 });
      expect(await send('POST', 'application/json', '{}')).toMatchObject({ status: 415 });
      const form = 'application/x-www-form-urlencoded';
      expect(await send('POST', form, 'queries=%7B')).toMatchObject({ status: 400 });
      const many = Object.fromEntries(Array.from({ length: 101 }, (_, n) => [`q${n}`, { query: 'x' }]));
      expect(await send('POST', form, `queries=${JSON.stringify(many)}`)).toMatchObject({ status: 400 });
      const long = JSON.stringify({ q0: { query: 'x'.repeat(100_000) } });
      expect(await send('POST', form, `queries=${long}`)).toMatchObject({ status: 400 });
    }));

  test('without the flag there is no service', () =>
    withFolder((folder) =>
      withPage({ dataDir: folder }, async ({ get, service }) => {
        expect(service).toBe('');
        expect(await get('/reconcile')).toMatchObject({ status: 404 });
      }),
    ));
});
