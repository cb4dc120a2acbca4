import { describe, expect, test } from 'vitest';
import { ManualClock } from '../../src/util/clock.js';
import { numbered, sharedSandbox, v1, withSandbox } from './support.js';

const search = { location: 'GB', name: 'limited' };
const unitHeaders = ['x-service-request-id', 'service-api-version', 'x-service-units', 'x-service-remaining-units'];
const quotaHeaders = ['x-quota-daily-limit', 'x-quota-daily-remaining', 'x-quota-daily-reset'];

const answering = sharedSandbox();
/** Gets only requests that it refuses, so nothing is charged. */
const refusing = sharedSandbox();

describe('credentials', () => {
  test.each([
    ['no credential', { key: null }],
    ['an unknown key', { key: 'live_unknown' }],
    ['the Token scheme', { scheme: 'Token' }],
    ['a lower-case scheme', { scheme: 'bearer' }],
    ['no space after the scheme', { key: null, headers: { authorization: 'Bearer' } }],
  ])('V1-9 refuses %s with 401 UNAUTHENTICATED', (_title, ask) =>
    refusing(async (sandbox) => {
      const answer = await v1(sandbox, '/kyb/search', { body: search, ...ask });
      expect(answer.status).toBe(401);
      expect(answer.body.error?.code).toBe('UNAUTHENTICATED');
      expect(sandbox.chargeLog).toHaveLength(0);
    }),
  );

  test('V1-9 refuses the key of the other API, and a revoked one until it is restored', () =>
    withSandbox({}, async (sandbox) => {
      expect((await v1(sandbox, '/kyb/search', { body: search, key: sandbox.keys.v2 })).status).toBe(401);
      sandbox.revoke(sandbox.keys.v1);
      expect((await v1(sandbox, '/kyb/search', { body: search })).status).toBe(401);
      sandbox.restore(sandbox.keys.v1);
      expect((await v1(sandbox, '/kyb/search', { body: search })).status).toBe(200);
    }));

  test('V1-10 requires a live key before it checks the route', () =>
    withSandbox({}, async (sandbox) => {
      const answer = await v1(sandbox, '/nowhere', { key: sandbox.keys.v1Test });
      expect([answer.status, answer.body.error?.code]).toEqual([403, 'PRODUCTION_KEY_REQUIRED']);
    }));

  test.each([
    ['POST', '/kyb/search', 'company:read'],
    ['GET', '/kyb/1/lite', 'company:read'],
    ['GET', '/kyb/1/officers', 'company:read'],
    ['POST', '/kyb/officers/search', 'company:read'],
    ['GET', '/kyb/1/shareholders', 'ownership:read'],
    ['POST', '/kyb/shareholders/search/lite', 'ownership:read'],
    ['GET', '/kyb/1/group-structures/lite', 'ownership:read'],
    ['GET', '/kyb/1/group-structures/full', 'ownership:read'],
    ['GET', '/kyb/1/financial', 'financials:read'],
  ] as const)('V1-10 %s %s names the scope %s that the key lacks, before validation', (method, path, scope) =>
    refusing(async (sandbox) => {
      const others = (['company:read', 'ownership:read', 'financials:read'] as const).filter(
        (other) => other !== scope,
      );
      const answer = await v1(sandbox, path, {
        method,
        key: sandbox.keys.v1Scopes(others),
        ...(method === 'POST' ? { body: 'no json' } : {}),
      });
      expect([answer.status, answer.body.error?.code]).toEqual([403, 'INSUFFICIENT_SCOPE']);
      expect(answer.body.error?.message).toContain(scope);
      const enough = await v1(sandbox, path, {
        method,
        key: sandbox.keys.v1Scopes([scope]),
        ...(method === 'POST' ? { body: 'no json' } : {}),
      });
      expect([400, 404]).toContain(enough.status);
    }),
  );

  test.each(['company:read', 'ownership:read', 'financials:read'] as const)('V1-10 full also needs %s', (scope) =>
    answering(async (sandbox) => {
      const { v1Id } = numbered(sandbox);
      const others = (['company:read', 'ownership:read', 'financials:read'] as const).filter(
        (other) => other !== scope,
      );
      expect(
        (await v1(sandbox, `/kyb/${v1Id}/full`, { key: sandbox.keys.v1Scopes(others) })).body.error?.message,
      ).toContain(scope);
      expect((await v1(sandbox, `/kyb/${v1Id}/full`)).status).toBe(200);
    }),
  );
});

describe('units', () => {
  test('V1-1 charges 1 for every 200, an empty list too, and 0 for a failure', () =>
    withSandbox({ allowance: 10 }, async (sandbox) => {
      const empty = await v1(sandbox, '/kyb/search', { body: { location: 'GB', registration_number: 'ZZ999999' } });
      expect([empty.status, empty.text]).toEqual([200, '[]']);
      const found = await v1(sandbox, `/kyb/${numbered(sandbox).v1Id}/lite`);
      expect(found.headers).toMatchObject({
        'service-api-version': 'v1',
        'x-service-units': '1',
        'x-service-remaining-units': '8',
      });
      expect((await v1(sandbox, '/kyb/999999999999/lite')).body.error?.code).toBe('DATA_SERVICE_404');
      expect((await v1(sandbox, '/kyb/search', { body: {} })).status).toBe(400);
      expect(sandbox.chargeLog.map(({ operation, units, delivered }) => [operation, units, delivered])).toEqual([
        ['searchKyb', 1, true],
        ['liteKyb', 1, true],
      ]);
      expect(sandbox.chargeLog[1]?.requestId).toBe(found.headers['x-service-request-id']);
      expect(sandbox.chargeLog[1]?.key).not.toContain(sandbox.keys.v1);
    }));

  test('V1-3 unit headers come on 200 only, quota headers not at all on the paid plan', () =>
    withSandbox({}, async (sandbox) => {
      const good = await v1(sandbox, '/kyb/search', { body: search });
      const bad = await v1(sandbox, '/kyb/search', { body: {} });
      for (const name of unitHeaders) {
        expect(good.headers[name]).toBeDefined();
        expect(bad.headers[name]).toBeUndefined();
      }
      for (const name of quotaHeaders) expect(good.headers[name] ?? bad.headers[name]).toBeUndefined();
    }));

  test('V1-4 a used-up paid allowance answers 429 ALLOWANCE_EXHAUSTED until the plan is topped up', () =>
    withSandbox({ allowance: 1 }, async (sandbox) => {
      expect((await v1(sandbox, '/kyb/search', { body: search })).headers['x-service-remaining-units']).toBe('0');
      const spent = await v1(sandbox, '/kyb/search', { body: search });
      expect([spent.status, spent.body.error?.code]).toEqual([429, 'ALLOWANCE_EXHAUSTED']);
      expect((await v1(sandbox, '/kyb/search', { body: {} })).status).toBe(400);
      sandbox.setPlan('paid', 2);
      expect((await v1(sandbox, '/kyb/search', { body: search })).status).toBe(200);
    }));

  test('V1-2 the free plan has three units a UTC day, shared with the dashboard', () => {
    const clock = new ManualClock('2026-03-01T23:59:30Z');
    return withSandbox({ plan: 'free', clock }, async (sandbox) => {
      expect((await v1(sandbox, '/kyb/search', { body: search })).headers['x-quota-daily-remaining']).toBe('2');
      expect(sandbox.dashboardUnlock()).toBe(true);
      const third = await v1(sandbox, '/kyb/search', { body: search });
      expect(third.headers['x-service-remaining-units']).toBe('0');
      const fourth = await v1(sandbox, '/kyb/search', { body: search });
      expect([fourth.status, fourth.body.error?.code]).toEqual([429, 'ALLOWANCE_EXHAUSTED']);
      expect(sandbox.dashboardUnlock()).toBe(false);
      clock.advance(29_999);
      expect((await v1(sandbox, '/kyb/search', { body: search })).status).toBe(429);
      clock.advance(1);
      const tomorrow = await v1(sandbox, '/kyb/search', { body: search });
      expect([tomorrow.status, tomorrow.headers['x-quota-daily-remaining']]).toEqual([200, '2']);
    });
  });

  test('V1-3 every authenticated free response has the quota, a 401 does not', () =>
    withSandbox({ plan: 'free' }, async (sandbox) => {
      const answers = [
        await v1(sandbox, '/kyb/search', { body: search }),
        await v1(sandbox, '/kyb/search', { body: {} }),
        await v1(sandbox, '/nowhere'),
        await v1(sandbox, '/kyb/search', { body: search, key: sandbox.keys.v1Test }),
        await v1(sandbox, '/kyb/999999999999/lite'),
      ];
      expect(answers.map((answer) => quotaHeaders.every((name) => answer.headers[name] !== undefined))).toEqual([
        true,
        true,
        true,
        true,
        true,
      ]);
      const stranger = await v1(sandbox, '/kyb/search', { body: search, key: 'live_x' });
      expect(quotaHeaders.some((name) => stranger.headers[name] !== undefined)).toBe(false);
    }));

  test.each([
    ['epoch_s', '1772409600'],
    ['epoch_ms', '1772409600000'],
    ['delta', '86399'],
    ['iso', '2026-03-02T00:00:00.000Z'],
    ['http', 'Mon, 02 Mar 2026 00:00:00 GMT'],
  ] as const)('V1-3 writes the reset as %s', (quotaFormat, expected) =>
    withSandbox({ plan: 'free', quotaFormat, clock: new ManualClock('2026-03-01T00:00:01Z') }, async (sandbox) => {
      expect((await v1(sandbox, '/nowhere')).headers['x-quota-daily-reset']).toBe(expected);
    }),
  );
});
