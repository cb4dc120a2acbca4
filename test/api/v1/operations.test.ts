import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { requestThatFails } from '../../../src/api/account.js';
import type { ApiError } from '../../../src/api/errors.js';
import type { ParamsOf } from '../../../src/api/operation.js';
import { type Id, idText } from '../../../src/api/schema.js';
import { readAllowance } from '../../../src/api/v1/allowance.js';
import { KybV1Client } from '../../../src/api/v1/client.js';
import { type V1OperationName, v1Operations } from '../../../src/api/v1/operations.js';
import { type Sandbox, startSandbox } from '../../../src/sandbox/index.js';
import type { Company } from '../../../src/sandbox/registry/types.js';
import { ExactNumber } from '../../../src/util/exact-json.js';
import { json, withServer } from '../../helpers/http-server.js';
import { findCompany, withSandbox } from '../../helpers/sandbox.js';

let sandbox: Sandbox;
let client: KybV1Client;
let company: Company;

beforeAll(async () => {
  sandbox = await startSandbox({ size: 200_000 });
  client = new KybV1Client({ baseUrl: sandbox.v1BaseUrl, apiKey: sandbox.keys.v1 });
  company = findCompany(
    sandbox,
    ({ registrationNumber, countryCode }) => registrationNumber !== null && countryCode === 'GB',
  );
});
afterAll(async () => {
  await client.close();
  await sandbox.close();
});

const failure = async (promise: Promise<unknown>): Promise<ApiError> =>
  promise.then(
    () => {
      throw new Error('expected a refusal');
    },
    (error: ApiError) => error,
  );

describe('every operation of v1 over HTTP', () => {
  const requests: { readonly [Name in V1OperationName]: () => ParamsOf<(typeof v1Operations)[Name]> } = {
    searchKyb: () => ({ location: 'GB', name: company.name, city_or_state: [company.city] }),
    liteKyb: () => ({ id: company.v1Id }),
    officersKyb: () => ({ id: company.v1Id, page: 1, per_page: 50 }),
    officersSearchKyb: () => ({ name: 'Thomas', status: 'C', appointment_date: { gte: '1990-01-01' } }),
    shareholdersKyb: () => ({ id: company.v1Id }),
    shareholdersSearchKyb: () => ({ view_mode: 'full', name: 'Thomas', percentage: { gte: 1, lte: 100 } }),
    groupLiteKyb: () => ({ id: company.v1Id }),
    groupFullKyb: () => ({ id: company.v1Id }),
    financialKyb: () => ({ id: company.v1Id }),
    fullKyb: () => ({ id: company.v1Id }),
  };

  test.each(Object.keys(v1Operations) as V1OperationName[])(
    'V1-1 %s costs one unit and is read, with and without provenance',
    async (name) => {
      for (const include_provenance of [true, false]) {
        const before = sandbox.chargeLog.length;
        const reply = await client.call(name, { ...requests[name](), include_provenance } as never);
        expect(sandbox.chargeLog.length - before).toBe(1);
        expect(sandbox.chargeLog.at(-1)).toMatchObject({
          api: 'v1',
          operation: name,
          units: 1,
          requestId: reply.requestId,
        });
        expect(readAllowance(reply.headers, 0).unitsCharged).toBe(1);
        expect(reply.data).toBeTypeOf('object');
      }
    },
  );

  test('V1-25 the lite profile is grouped with provenance and flat without', async () => {
    const grouped = await client.call('liteKyb', { id: company.v1Id, include_provenance: true });
    const flat = await client.call('liteKyb', { id: company.v1Id });
    expect(grouped.data.basic?.registration_number).toBe(company.registrationNumber);
    expect(grouped.data.basic?.source).toBeTypeOf('object');
    expect(flat.data).toMatchObject({ name: company.name, registration_number: company.registrationNumber });
  });

  test('V1-7 paging asks for 50 a page, and for each page once', async () => {
    await withServer(
      (request, response) =>
        json(
          response,
          200,
          `{"data":[{"id":${new URL(`http://x${request.url}`).searchParams.get('page')}}],"total_pages":3,"total_results":101}`,
        ),
      async ({ origin, requests }) => {
        expect(await officerIds(origin)).toEqual(['1', '2', '3']);
        expect(requests.map(({ url }) => url)).toEqual(
          [1, 2, 3].map((page) => `/kyb/9/officers?page=${page}&per_page=50`),
        );
      },
    );
    for await (const page of client.pages('shareholdersKyb', { id: company.v1Id })) {
      expect(page.data.data?.length).toBe(sandbox.registry.v1.shareholders(company).length);
    }
  });

  test.each([
    ['a repeated page', () => '[{"id":1}]', 2],
    ['nothing on its second page', (page: string | null) => (page === '1' ? '[{"id":1}]' : '[]'), 2],
  ])('V1-7 a list that claims a thousand million pages, and has %s, ends', async (_, data, calls) => {
    await withServer(
      (request, response) => {
        const page = new URL(`http://x${request.url}`).searchParams.get('page');
        json(response, 200, `{"data":${data(page)},"total_pages":1000000000}`);
      },
      async ({ origin, requests }) => {
        expect(await officerIds(origin)).toEqual(['1']);
        expect(requests).toHaveLength(calls);
      },
    );
  });

  test('V1-17 IDs come as integers or strings, also beyond 2^53, and are text', async () => {
    const large = findCompany(
      sandbox,
      ({ v1Id, registrationNumber }) => BigInt(v1Id) > 2n ** 53n && registrationNumber !== null,
    );
    const { data } = await client.call('searchKyb', {
      location: large.countryCode,
      registration_number: large.registrationNumber ?? '',
    });
    if (!Array.isArray(data)) throw new Error('expected a list');
    expect(data.map((candidate) => idText(candidate.id as Id))).toContain(large.v1Id);
    expect((await client.call('fullKyb', { id: large.v1Id })).data.lite?.name).toBeTypeOf('string');
  });

  test('V1-17 a search answered with an object is read as an object', async () => {
    await withSandbox({ searchObjectShare: 1 }, async ({ v1 }) => {
      const { data } = await v1.call('searchKyb', { location: 'GB', name: company.name });
      expect(Array.isArray(data)).toBe(false);
    });
  });

  test('V1-22 V1-29 null, absent and unknown fields arrive as they were sent', async () => {
    const reply = await client.call('fullKyb', { id: company.v1Id });
    const rendered: unknown = JSON.parse(reply.raw.toString());
    expect(JSON.parse(JSON.stringify(round(reply.data)))).toEqual(rendered);
  });

  test('V1-26 in the full record a link names its source as text', async () => {
    const linked = findCompany(sandbox, (candidate) => sandbox.registry.v1.groupFull(candidate).length > 0);
    const { data } = await client.call('fullKyb', { id: linked.v1Id });
    expect(data.group_structures_full?.length).toBeGreaterThan(0);
    for (const link of data.group_structures_full ?? []) expect(link.source).toBeTypeOf('string');
  });

  test('V1-28 V1-24 the shareholder search keeps its unusual timestamp as text, and calls no one an owner', async () => {
    const { data, raw } = await client.call('shareholdersSearchKyb', { view_mode: 'full', name: 'Thomas' });
    expect(data.data?.length).toBeGreaterThan(0);
    for (const holding of data.data ?? [])
      expect(holding?.created).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d,\d{3}\+0000$/);
    expect(raw.toString()).not.toMatch(/beneficial|ubo/i);
  });

  test('V1-27 a group node has a number with its country and marks the subject', async () => {
    const linked = findCompany(
      sandbox,
      (candidate) => candidate.registrationNumber !== null && sandbox.registry.v1.groupLite(candidate).length > 0,
    );
    const { data } = await client.call('groupLiteKyb', { id: linked.v1Id });
    const nodes = data.data?.flatMap((node) => [node, ...((node?.children ?? []) as (typeof node)[])]);
    expect(nodes?.filter((node) => node?.selected === true).map((node) => node?.registration_number)).toEqual([
      `${linked.countryCode}-${linked.registrationNumber}`,
    ]);
  });
});

describe('refusals of v1 over HTTP', () => {
  test('V1-10 a revoked key stops the run, an insufficient scope blocks the operation', async () => {
    await withSandbox({}, async ({ sandbox: own, v1 }) => {
      own.revoke(own.keys.v1);
      expect(await failure(v1.call('searchKyb', { location: 'GB', name: 'x' }))).toMatchObject({
        class: 'stop_run',
        code: 'UNAUTHENTICATED',
      });
      const partial = new KybV1Client({
        baseUrl: own.v1BaseUrl,
        apiKey: own.keys.v1Scopes(['company:read', 'ownership:read']),
      });
      expect(await failure(partial.call('fullKyb', { id: company.v1Id }))).toMatchObject({
        class: 'block_operation',
        code: 'INSUFFICIENT_SCOPE',
      });
      expect((await partial.call('liteKyb', { id: company.v1Id })).status).toBe(200);
      await partial.close();
    });
  });

  test('V1-9 each API has its own scheme and its own key', async () => {
    await withSandbox({}, async ({ sandbox: own, v1, v2 }) => {
      await v2.call('metrics', {});
      expect(own.requestLog.at(-1)).toMatchObject({ headers: { authorization: 'Token' } });
      await v1.call('liteKyb', { id: company.v1Id });
      expect(own.requestLog.at(-1)).toMatchObject({ headers: { authorization: 'Bearer' } });
      const crossed = new KybV1Client({ baseUrl: own.v1BaseUrl, apiKey: own.keys.v2 });
      expect(await failure(crossed.call('liteKyb', { id: company.v1Id }))).toMatchObject({
        class: 'stop_run',
        code: 'UNAUTHENTICATED',
      });
      await crossed.close();
    });
  });

  test("V1-11 a missing record for an ID is the row's own answer", async () => {
    expect(await failure(client.call('fullKyb', { id: '1' }))).toMatchObject({
      class: 'not_available',
      code: 'DATA_SERVICE_404',
      charge: 'free',
    });
  });

  test('V1-4 the fourth success of a free day is refused, and the quota headers show when it ends', async () => {
    await withSandbox({ plan: 'free' }, async ({ v1 }) => {
      for (let i = 0; i < 3; i++) await v1.call('liteKyb', { id: company.v1Id });
      const error = await failure(v1.call('liteKyb', { id: company.v1Id }));
      expect(error).toMatchObject({ class: 'park', code: 'ALLOWANCE_EXHAUSTED', limit: { api: 'v1' } });
      const { quota } = readAllowance(error.exchange?.headers ?? {}, Date.now());
      expect(quota).toMatchObject({ dailyLimit: 3, dailyRemaining: 0 });
    });
  });

  test('V1-19 another API version warns once', async () => {
    const warnings: string[][] = [];
    await withServer(
      (_, response) => json(response, 200, '[]', { 'Service-API-Version': 'v3' }),
      async ({ origin }) => {
        const v1 = new KybV1Client({
          baseUrl: origin,
          apiKey: 'k',
          onWarning: (text, code) => warnings.push([code, text]),
        });
        await v1.call('searchKyb', { location: 'GB', name: 'x' });
        await v1.call('searchKyb', { location: 'GB', name: 'x' });
        await v1.close();
      },
    );
    expect(warnings).toEqual([['VERSION_UNEXPECTED', expect.stringContaining(' v3')]]);
  });

  test.each([
    ['1000', 1000],
    ['0', 1],
    ['many', 1],
    ['-5', 1],
    ['10000000', 1],
  ])('V1-1 a success that states %s units warns once', async (units, counted) => {
    const warnings: string[][] = [];
    await withServer(
      (_, response) => json(response, 200, '[]', { 'Service-API-Version': 'v1', 'X-Service-Units': units }),
      async ({ origin }) => {
        const v1 = new KybV1Client({
          baseUrl: origin,
          apiKey: 'k',
          onWarning: (text, code) => warnings.push([code, text]),
        });
        for (let time = 0; time < 2; time++) await v1.call('searchKyb', { location: 'GB', name: 'x' });
        await v1.close();
      },
    );
    expect(warnings).toEqual([['UNITS_UNEXPECTED', expect.stringMatching(`[ "]${units}[ "].* ${counted}\\b`)]]);
  });

  test('V1-18 documentation and suggestions are never followed', async () => {
    await withServer(
      (_, response) =>
        json(response, 404, {
          error: { code: 'KYB_ROUTE_NOT_FOUND', message: 'no' },
          request_id: 'r',
          documentation_url: 'http://127.0.0.1:9/docs',
          suggested_endpoints: [{ method: 'GET', url: 'http://127.0.0.1:9/x', purpose: 'p' }],
        }),
      async ({ origin, requests }) => {
        const v1 = new KybV1Client({ baseUrl: origin, apiKey: 'k' });
        expect(await failure(v1.call('liteKyb', { id: '1' }))).toMatchObject({
          class: 'stop_run',
          stop: 'route',
          requestId: 'r',
        });
        expect(requests).toHaveLength(1);
        await v1.close();
      },
    );
  });

  test("X-1 an answer in an unexpected form may have been charged, and is not the row's fault", async () => {
    for (const [body, code] of [
      ['{"data":', 'UNEXPECTED_BODY'],
      ['"text"', 'UNEXPECTED_FORM'],
      ['[{"name":"no id"}]', 'UNEXPECTED_FORM'],
      ['<html>', 'UNEXPECTED_BODY'],
    ] as const) {
      await withServer(
        (_, response) => json(response, 200, body, { 'Service-API-Version': 'v1' }),
        async ({ origin }) => {
          const v1 = new KybV1Client({ baseUrl: origin, apiKey: 'k' });
          expect(await failure(v1.call('searchKyb', { location: 'GB', name: 'x' }))).toMatchObject({
            class: 'retry',
            code,
            charge: 'unknown',
          });
          await v1.close();
        },
      );
    }
  });

  test('an echoed key does not reach the message', async () => {
    await withServer(
      (request, response) =>
        json(response, 401, {
          error: { code: 'UNAUTHENTICATED', message: `bad ${request.headers.authorization}` },
          request_id: 'r',
        }),
      async ({ origin }) => {
        const v1 = new KybV1Client({ baseUrl: origin, apiKey: 'canary-key-77' });
        const error = await failure(v1.call('liteKyb', { id: '1' }));
        expect(error.message).toBe('bad Bearer [key]');
        expect(error.stack).not.toContain('canary');
        await v1.close();
      },
    );
  });
});

function round(value: unknown): unknown {
  if (value instanceof ExactNumber) return Number(value.text);
  if (Array.isArray(value)) return value.map(round);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, round(member)]));
}

/** The officers' IDs on every existing page. */
async function officerIds(baseUrl: string): Promise<readonly string[]> {
  const v1 = new KybV1Client({ baseUrl, apiKey: 'k' });
  const ids: string[] = [];
  for await (const page of v1.pages('officersKyb', { id: '9' }))
    ids.push(...(page.data.data ?? []).map((officer) => String(officer?.id)));
  await v1.close();
  return ids;
}

test.each(Object.values(v1Operations))('X-8 the free check of $name only uses documented values', (operation) => {
  const { method, path, body } = requestThatFails(operation);
  const pattern = operation.route.path.replace('{id}', '\\d+').replace('{view_mode}', '(?:lite|full)');
  expect(method).toBe(operation.route.method);
  expect(path).toMatch(new RegExp(`^${pattern}$`));
  expect(body).toBe(method === 'POST' ? '{}' : null);
});
