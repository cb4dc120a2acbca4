import { describe, expect, test } from 'vitest';
import { ManualClock } from '../../src/util/clock.js';
import { numbered, sharedSandbox, v2, withSandbox } from './support.js';

const search = { location: 'GB', name: 'limited' };

/** Gets only requests that it refuses, so nothing is charged. */
const refusing = sharedSandbox();

describe('V2-1 error bodies by kind', () => {
  test.each([
    ['no token', { key: null }],
    ['the Bearer scheme', { scheme: 'Bearer' }],
    ['an unknown token', { key: 'nobody' }],
  ])('%s gives 401 with detail', (_title, ask) =>
    refusing(async (sandbox) => {
      const answer = await v2(sandbox, '/metrics', ask);
      expect(answer.status).toBe(401);
      expect(Object.keys(answer.body)).toEqual(['detail']);
    }),
  );

  test('V1-9 the v1 key and a revoked token are refused', () =>
    withSandbox({}, async (sandbox) => {
      expect((await v2(sandbox, '/metrics', { key: sandbox.keys.v1 })).status).toBe(401);
      sandbox.revoke(sandbox.keys.v2);
      expect((await v2(sandbox, '/metrics')).status).toBe(401);
    }));

  test.each<[string, string, unknown, string]>([
    ['a missing location', '/kyb/search', { name: 'x' }, 'location'],
    ['V2-5 a location without form', '/kyb/search', { ...search, location: 'England' }, 'location'],
    ['V2-5 a location that the nomenclature lacks', '/kyb/search', { ...search, location: 'ZZ' }, 'location'],
    ['V2-5 a path that the nomenclature lacks', '/kyb/search', { ...search, location: '999999_9' }, 'location'],
    ['no identifier', '/kyb/search', { location: 'GB' }, 'name'],
    ['an unknown field', '/kyb/search', { ...search, company: 'x' }, 'company'],
    ['V2-10 a person of one letter', '/kyb/officers/search', { name: 'x' }, 'name'],
    ['V2-10 prospecting page 11', '/prospecting', { page: 11 }, 'page'],
    ['V2-10 six a page in the lookup', '/companies/lookup', { per_page: 6 }, 'per_page'],
    ['an unknown filter', '/prospecting', { filters: { colour: 'red' } }, 'filters.colour'],
    ['a status as text', '/prospecting', { filters: { company_status: ['106'] } }, 'filters.company_status.0'],
    [
      'a band that does not exist',
      '/prospecting',
      { filters: { insights_visits: ['10000-1'] } },
      'filters.insights_visits.0',
    ],
    [
      'an unknown trading activity',
      '/prospecting',
      { filters: { trading_activity: ['smuggle'] } },
      'filters.trading_activity.0',
    ],
    ['an unknown contact filter', '/employees/search', { filters: { advance: ['have_fax'] } }, 'filters.advance.0'],
    [
      'V2-10 the US without a state',
      '/enrichment/company/registry',
      { registration_number: '1', country_code: 'US' },
      'state',
    ],
    ['V2-7 name instead of company', '/credit-report/search', { country: 'GB', name: 'x' }, 'name'],
    ['V2-7 a missing country', '/credit-report/search', { company: 'x' }, 'country'],
    ['an unknown source', '/credit-report', { source_id: 'nobody', country: 'GB' }, 'source_id'],
    ['an unknown format', '/credit-report', { source_id: 'nobody', country: 'GB', format: 'pdf' }, 'format'],
  ])('%s names the field with a list of reasons', (_title, path, body, field) =>
    refusing(async (sandbox) => {
      const answer = await v2(sandbox, path, { body });
      expect(answer.status, answer.text).toBe(400);
      expect(answer.body[field], answer.text).toEqual([expect.any(String)]);
      expect(sandbox.chargeLog).toHaveLength(0);
    }),
  );

  test.each([
    ['autocomplete with a country alone', '/autocomplete?country_code=GB', undefined, /name, registration_number/],
    ['ownership without name and number', '/ownership', {}, /name, registration_number/],
  ])('V2-10 %s is a rule failure', (_title, path, body, message) =>
    refusing(async (sandbox) => {
      const answer = await v2(sandbox, path, body === undefined ? {} : { body });
      expect(answer.body).toEqual({ fields: [expect.stringMatching(message)] });
    }),
  );

  test('V2-1 the test sets the status of an error, and the body stays', () =>
    withSandbox({ v2ErrorStatus: { limit: 200 }, v2Limits: { kyb_search: { daily: 0 } } }, async (sandbox) => {
      const answer = await v2(sandbox, '/kyb/search', { body: search });
      expect([answer.status, answer.body.error_guard]).toEqual([200, 'limits.daily']);
    }));

  test('a server failure, an unknown ID and an unknown route have a detail', () =>
    withSandbox({}, async (sandbox) => {
      sandbox.script('kybSearch', [500, { status: 429, retryAfter: 7 }]);
      const failed = await v2(sandbox, '/kyb/search', { body: search });
      expect([failed.status, Object.keys(failed.body)]).toEqual([500, ['detail']]);
      expect((await v2(sandbox, '/kyb/search', { body: search })).headers['retry-after']).toBe('7');
      expect((await v2(sandbox, '/kyb/999999999999/lite')).body).toHaveProperty('detail');
      expect((await v2(sandbox, '/nowhere')).body).toHaveProperty('detail');
      expect((await v2(sandbox, '/kyb/search')).status).toBe(405);
    }));
});

describe('limits and metrics', () => {
  test('V2-1, V2-3 a daily limit covers only its permission and ends at UTC midnight', () => {
    const clock = new ManualClock('2026-03-01T23:00:00Z');
    return withSandbox({ clock, v2Limits: { kyb_search: { daily: 2 } } }, async (sandbox) => {
      const { v2Id } = numbered(sandbox);
      await v2(sandbox, '/kyb/search', { body: search });
      await v2(sandbox, '/kyb/search', { body: search });
      const refused = await v2(sandbox, '/kyb/search', { body: search });
      expect(refused.status).toBe(403);
      expect(refused.body).toEqual({
        access: {
          permission: 'kyb_search',
          permission_name: expect.any(String),
          module: 'kyb',
          module_name: expect.any(String),
          app: expect.any(String),
          app_name: expect.any(String),
        },
        error_guard: 'limits.daily',
        message_guard: expect.any(String),
      });
      expect((await v2(sandbox, `/kyb/${v2Id}/lite`)).status).toBe(200);
      clock.advance(3_600_000);
      expect((await v2(sandbox, '/kyb/search', { body: search })).status).toBe(200);
      expect(await used(sandbox, 'kyb_search')).toEqual([1, 3]);
    });
  });

  test('V2-1 a plan limit still holds the next day', () => {
    const clock = new ManualClock('2026-03-01T23:00:00Z');
    return withSandbox({ clock, v2Limits: { financial: { plan: 1 } } }, async (sandbox) => {
      const { v2Id } = numbered(sandbox);
      expect((await v2(sandbox, `/financial/${v2Id}`)).status).toBe(200);
      clock.advance(86_400_000);
      expect((await v2(sandbox, `/financial/${v2Id}`)).body.error_guard).toBe('limit');
    });
  });

  test('V2-3 metrics count successes per permission and agree with the charge log', () =>
    withSandbox({}, async (sandbox) => {
      const { v2Id } = numbered(sandbox);
      await v2(sandbox, '/kyb/search', { body: search });
      await v2(sandbox, '/kyb/search', { body: {} });
      await v2(sandbox, `/kyb/${v2Id}/lite`);
      await v2(sandbox, `/kyb/${v2Id}/officers?page=1&per_page=5`);
      await v2(sandbox, '/kyb/999999999999/lite');
      expect(await used(sandbox, 'kyb_search')).toEqual([1, 1]);
      expect(await used(sandbox, 'kyb_details')).toEqual([2, 2]);
      expect(sandbox.chargeLog.map((charge) => charge.permission)).toEqual([
        'kyb_search',
        'kyb_details',
        'kyb_details',
      ]);
    }));

  test('V2-11, V2-14 reveals are counted by default, not if declined, and within the given range', () => {
    const clock = new ManualClock('2026-03-01T10:00:00Z');
    return withSandbox({ clock }, async (sandbox) => {
      const one = Array.from({ length: 50 }, (_, index) =>
        sandbox.registry.v2.employees(sandbox.registry.company(index)),
      )
        .flat()
        .find((employee) => employee.email !== null && employee.phone !== null && employee.linkedin !== null);
      const body = { linkedin: one?.linkedin };
      const hidden = await v2(sandbox, '/enrichment/person/linkedin', {
        body: { ...body, reveal_email: false, reveal_phone: false },
      });
      expect(hidden.body).toMatchObject({ email: null, phone: null, full_name: one?.fullName });
      clock.advance(1_000);
      const shown = await v2(sandbox, '/enrichment/person/linkedin', { body });
      expect(shown.body).toMatchObject({ email: one?.email, phone: one?.phone });
      const count = async (from: string, to: string) =>
        (await v2(sandbox, `/metrics/contacts?date_from=${encodeURIComponent(from)}&date_to=${encodeURIComponent(to)}`))
          .body;
      expect(await count('2026-03-01 10:00:00', '2026-03-01 10:00:01')).toEqual({ email_count: 1, phone_count: 1 });
      expect(await count('2026-03-01 10:00:02', '2026-03-02 00:00:00')).toEqual({ email_count: 0, phone_count: 0 });
      expect(await count('2026-03-01T10:00:00Z', '2026-03-02 00:00:00')).toHaveProperty('date_from');
      expect(await count('2026-02-30 10:00:00', '2026-03-02 00:00')).toMatchObject({
        date_from: [expect.any(String)],
        date_to: [expect.any(String)],
      });
    });
  });
});

async function used(sandbox: Parameters<typeof v2>[0], codename: string): Promise<(number | undefined)[]> {
  const { body } = await v2(sandbox, '/metrics');
  const entries = body as unknown as { codename: string; metrics: { used: number; total: number }[] }[];
  return entries.find((entry) => entry.codename === codename)?.metrics.map((metric) => metric.used) ?? [];
}
