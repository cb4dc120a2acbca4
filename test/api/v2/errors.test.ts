import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ApiError } from '../../../src/api/errors.js';
import type { Operation } from '../../../src/api/operation.js';
import { v2Error } from '../../../src/api/v2/errors.js';
import { type V2OperationName, v2Operations } from '../../../src/api/v2/operations.js';
import { expectGolden } from '../../helpers/golden.js';

const NOW = Date.UTC(2024, 0, 1);
const STATUSES = [200, 201, 400, 401, 403, 404, 409, 422, 429, 500, 503] as const;

function errorOf(
  status: number,
  body: unknown,
  name: V2OperationName = 'ownership',
  headers: Record<string, string> = {},
): ApiError | undefined {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  return v2Error({ status, headers, body: bytes, durationMs: 1 }, v2Operations[name], NOW);
}

const limit = (error_guard: unknown, access: unknown = ACCESS) => ({ access, error_guard, message_guard: 'Enough.' });
const ACCESS = {
  permission: 'kyb_search',
  permission_name: 'KYB search',
  module: 'kyb',
  module_name: 'KYB',
  app: 'platform',
  app_name: 'Platform',
};

describe.each(STATUSES)('on %d', (status) => {
  test('V2-1 a daily limit parks that permission and module for the day', () => {
    expect(errorOf(status, limit('limits.daily'))).toMatchObject({
      class: 'park',
      code: 'limits.daily',
      message: 'Enough.',
      hint: expect.stringContaining('KYB search'),
      charge: 'unknown',
      httpStatus: status,
      limit: { api: 'v2', permission: 'kyb_search', module: 'kyb', period: 'day' },
    });
  });

  test('V2-1 a plan limit parks until the plan changes', () => {
    expect(errorOf(status, limit('limit'))).toMatchObject({
      class: 'park',
      code: 'limit',
      hint: expect.stringMatching(/\w/),
      limit: { permission: 'kyb_search', module: 'kyb', period: 'plan' },
    });
  });

  test('V2-1 a limit of an unknown kind counts as the plan limit, and the message says so', () => {
    expect(errorOf(status, limit('limits.weekly'))).toMatchObject({
      class: 'park',
      hint: expect.stringContaining('"limits.weekly"'),
      limit: { period: 'plan' },
    });
  });

  test('V2-1 a list of rule messages fails the row', () => {
    expect(errorOf(status, { fields: ['Send name or registration_number.'] })).toMatchObject({
      class: 'fail_row',
      code: 'RULE_FAILURE',
      message: 'Send name or registration_number.',
      charge: 'unknown',
      problems: ['Send name or registration_number.'],
    });
  });

  test('V2-1 V2-5 a map of reasons fails the row and names the fields', () => {
    expect(errorOf(status, { location: ['Unknown.', 'Really.'], name: ['Short.'] }, 'kybSearch')).toMatchObject({
      class: 'fail_row',
      code: 'VALIDATION',
      message: 'location: Unknown. Really.; name: Short.',
      hint: expect.stringContaining('location, name'),
      charge: 'unknown',
      problems: ['location: Unknown. Really.', 'name: Short.'],
    });
  });
});

describe('a body with detail', () => {
  test.each([
    [401, { class: 'stop_run', stop: 'credentials', code: 'UNAUTHENTICATED' }],
    [429, { class: 'slow_down', code: 'TOO_MANY_REQUESTS' }],
    [500, { class: 'retry', code: 'SERVER_FAILURE', attemptsAtMost: undefined }],
    [502, { class: 'retry', code: 'SERVER_FAILURE' }],
    [503, { class: 'retry', code: 'SERVER_FAILURE' }],
    [307, { class: 'stop_run', stop: 'route', code: 'REDIRECT_REFUSED' }],
    [200, { class: 'retry', code: 'UNEXPLAINED', attemptsAtMost: 3 }],
    [400, { class: 'retry', code: 'UNEXPLAINED', attemptsAtMost: 3 }],
    [403, { class: 'block_operation', code: 'FORBIDDEN' }],
    [
      404,
      {
        class: 'retry',
        code: 'UNEXPLAINED',
        attemptsAtMost: 3,
        hint: expect.stringContaining('companiesLookup'),
      },
    ],
  ])('V2-1 V2-17 on %d is classified by the status, and none is free', (status, expected) => {
    const error = errorOf(status, { detail: 'No.' }, 'companiesLookup');
    expect(error).toMatchObject({ message: 'No.', charge: 'unknown', ...expected });
  });

  test.each(['creditReportStatus', 'creditReportFetch'] as const)(
    '404 of %s concerns this report alone',
    (operation) => {
      const error = errorOf(404, { detail: 'No.' }, operation);
      expect(error).toMatchObject({ class: 'hold', code: 'REPORT_UNKNOWN', charge: 'free' });
    },
  );

  test('V2-1 on 429 and 503 keeps Retry-After', () => {
    expect(errorOf(429, { detail: 'No.' }, 'metrics', { 'retry-after': '7' })?.retryAfterMs).toBe(7000);
    expect(errorOf(503, '<html>', 'metrics', { 'retry-after': '2' })?.retryAfterMs).toBe(2000);
  });
});

describe('a body in no known form', () => {
  test.each([
    [401, { class: 'stop_run', stop: 'credentials', code: 'UNAUTHENTICATED' }],
    [429, { class: 'slow_down', code: 'TOO_MANY_REQUESTS', charge: 'unknown' }],
    [500, { class: 'retry', code: 'SERVER_FAILURE', charge: 'unknown' }],
    [504, { class: 'retry', code: 'SERVER_FAILURE', charge: 'unknown' }],
    [302, { class: 'stop_run', stop: 'route', code: 'REDIRECT_REFUSED', charge: 'unknown' }],
    [404, { class: 'stop_run', stop: 'route', code: 'ROUTE_NOT_FOUND', charge: 'unknown' }],
    [405, { class: 'stop_run', stop: 'route', code: 'ROUTE_NOT_FOUND', charge: 'unknown' }],
    [777, { class: 'retry', code: 'HTTP_777', attemptsAtMost: undefined }],
  ])('V2-1 on %d is classified by the status', (status, expected) => {
    for (const body of ['', '<html>no</html>', '{"a":', '[]', '{}', 'true', '{"2023":{}}', '{"a":["b",1]}']) {
      expect(errorOf(status, body), body).toMatchObject({ ...expected, foreign: true });
    }
  });

  test.each([400, 402, 403, 408, 409, 410, 413, 418, 422, 425, 451])(
    "X-1 V2-1 on %d is not from v2 itself, and not the row's fault",
    (status) => {
      for (const body of ['', '<html>no</html>', '{"a":', '[]', '{}', 'true', '{"message":"No."}', '{"a":["b",1]}']) {
        const expected = { class: 'retry', code: 'UNEXPECTED_BODY', charge: 'unknown', foreign: true };
        expect(errorOf(status, body, 'financial'), body).toMatchObject({ ...expected, attemptsAtMost: undefined });
      }
    },
  );

  test('V2-15 on 404 names the key of the routes file, or the base URL', () => {
    expect(errorOf(404, '', 'creditReportSearch')?.hint).toMatch(/creditReportSearch.*KYBATCH_V2_ROUTES/);
    expect(errorOf(404, '', 'financial')?.hint).toContain('KYBATCH_V2_BASE_URL');
    expect(errorOf(404, '', 'financial')?.hint).not.toContain('KYBATCH_V2_ROUTES');
  });
});

describe('successes', () => {
  test.each<[string, V2OperationName, unknown]>([
    ['an object keyed by year', 'financial', { 2023: { Turnover: 1 }, 2022: {} }],
    ['an empty object', 'financial', {}],
    ['a bare true', 'creditReportStatus', true],
    ['a bare false', 'creditReportStatus', false],
    ['null', 'watchAdd', null],
    ['an empty list', 'kybSearch', []],
    ['a list of texts', 'watchFields', ['name']],
    ['lists without items', 'ownership', { shareholders: [], group_structure: [] }],
    ['lists of objects', 'ownership', { shareholders: [{ id: 1 }], group_structure: [{}] }],
    ['years and nothing else', 'kybFinancial', { years: ['2023-12-31'] }],
    ['an unknown field named detail', 'kybLite', { id: '1', detail: 'by the registry' }],
    ['an unknown field named fields', 'kybLite', { id: '1', fields: ['a'] }],
    ['a detail that is no text', 'kybLite', { id: '1', detail: { a: 1 } }],
    ['a report in HTML as text', 'creditReportFetch', '"<html></html>"'],
  ])('V2-2 %s is an answer of %s', (_, name, body) => {
    expect(errorOf(200, body, name)).toBeUndefined();
    expect(errorOf(201, body, name)).toBeUndefined();
  });

  test('V2-6 an HTML report is only an answer of the report operations', () => {
    const page = '\n<!doctype html><p>Report</p>';
    expect(errorOf(200, page, 'creditReportFetch')).toBeUndefined();
    expect(errorOf(200, page, 'creditReportCombined')).toBeUndefined();
    expect(errorOf(200, page, 'creditReportStatus')?.code).toBe('UNEXPECTED_BODY');
    expect(errorOf(200, '{"summary":{', 'creditReportFetch')?.code).toBe('UNEXPECTED_BODY');
    expect(errorOf(502, page, 'creditReportFetch')?.code).toBe('SERVER_FAILURE');
  });

  test('V2-2 a list named fields is only the answer of the operations that list fields', () => {
    const body = { fields: ['name', 'vat_number'] };
    for (const name of ['watchFields', 'watchFieldsAdd', 'watchFieldsRemove', 'watchAdd', 'watchRemove'] as const) {
      expect(errorOf(200, body, name), name).toBeUndefined();
      expect(errorOf(400, body, name)?.code, name).toBe('RULE_FAILURE');
    }
    expect(errorOf(200, body, 'autocomplete')?.code).toBe('RULE_FAILURE');
  });

  test('V2-1 a validation body that shares a name with the answer is still an error', () => {
    expect(errorOf(200, { name: ['Too short.'] }, 'kybLite')?.code).toBe('VALIDATION');
    expect(errorOf(200, { detail: 'No.' }, 'kybLite')?.code).toBe('UNEXPLAINED');
  });

  test('V2-13 an empty body is the answer of operations without a documented one', () => {
    for (const name of ['watchAdd', 'watchRemove', 'watchFieldsRemove', 'watchCallbackSet'] as const) {
      expect(errorOf(201, '', name), name).toBeUndefined();
      expect(errorOf(200, ' \n', name), name).toBeUndefined();
    }
  });

  test.each(['', '  ', '<html>', '{"a":1', '[1,2', 'nope', '"cut', '{} {}', '01'])(
    'X-1 V2-2 the body %j of a 200 is unexpected, and may have been charged',
    (body) => {
      expect(errorOf(200, body, 'financial')).toMatchObject({
        class: 'retry',
        code: body === '{} {}' ? 'MALFORMED_ANSWER' : 'UNEXPECTED_BODY',
        charge: 'unknown',
      });
    },
  );
});

describe('the message of an error', () => {
  test('V2-1 names the next step', async () => {
    const cases: [string, ApiError | undefined][] = [
      ['a daily limit', errorOf(403, limit('limits.daily'))],
      ['a plan limit', errorOf(403, limit('limit'))],
      ['a limit of an unknown kind', errorOf(403, limit('limits.weekly'))],
      ['reasons by field', errorOf(400, { location: ['Unknown.'] }, 'kybSearch')],
      ...[401, 429, 500, 307, 200, 400, 403, 404].map((status): [string, ApiError | undefined] => [
        `detail on ${status}`,
        errorOf(status, { detail: 'No.' }, 'companiesLookup'),
      ]),
    ];
    await expectGolden(
      'errors',
      cases.map(([given, error]) => [given, `${error?.message}\n${error?.hint}`]),
    );
  });

  test('V2-1 is one line of limited length for any body', () => {
    const long = `\u001b[2J\n${'x'.repeat(10_000)}`;
    const bodies = [
      { detail: long },
      { fields: [long] },
      { [long]: [long] },
      limit(long, { permission: long, module: long }),
    ];
    for (const body of bodies) {
      const error = errorOf(400, body);
      expect(error).toBeInstanceOf(ApiError);
      for (const text of [error?.message, error?.hint, error?.code, ...(error?.problems ?? [])]) {
        expect(text?.length).toBeLessThanOrEqual(500);
        expect(text).not.toMatch(/\p{Cc}/u);
      }
    }
  });

  test('V2-1 a limit without a readable owner is still a limit', () => {
    expect(errorOf(200, limit(null, 'x'))).toMatchObject({
      class: 'park',
      code: 'LIMIT_REACHED',
      limit: { permission: 'unknown', module: 'unknown', period: 'plan' },
    });
  });

  test('V2-1 every error has a hint', () => {
    for (const status of [...STATUSES, 302, 405, 777]) {
      for (const body of ['', '{"detail":""}', '{"fields":[]}', '{"a":["b"]}', JSON.stringify(limit(''))]) {
        const error = errorOf(status, body);
        expect(error?.hint, `${status} ${body}`).toMatch(/\w{3}/);
        expect(error?.message, `${status} ${body}`).toMatch(/\w/);
      }
    }
  });
});

describe('any input', () => {
  const operations = fc.constantFrom<Operation[]>(...Object.values(v2Operations));
  const status = fc.integer({ min: 100, max: 999 });
  const ours = ['access', 'error_guard', 'message_guard', 'detail', 'fields', 'name', '__proto__'];
  const keys = fc.oneof(fc.constantFrom(...ours), fc.string());
  const nearly = fc.dictionary(keys, fc.oneof(fc.jsonValue(), fc.array(fc.string()), fc.string()));

  const check = (body: Buffer, code: number, operation: Operation) => {
    const error = v2Error({ status: code, headers: {}, body, durationMs: 0 }, operation, NOW);
    if (code < 200 || code >= 300) expect(error).toBeInstanceOf(ApiError);
    else expect(error === undefined || error instanceof ApiError).toBe(true);
  };

  test('V2-1 as bytes never makes it throw', () => {
    fc.assert(
      fc.property(fc.uint8Array(), status, operations, (bytes, code, operation) =>
        check(Buffer.from(bytes), code, operation),
      ),
    );
  });

  test('V2-1 as JSON never makes it throw', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.json(),
          nearly.map((value) => JSON.stringify(value)),
        ),
        status,
        operations,
        (text, code, operation) => check(Buffer.from(text), code, operation),
      ),
      { numRuns: 500 },
    );
  });

  test('V2-2 with 20,000 levels of nesting is an ordinary answer', () => {
    const deep = '{"children":['.repeat(20_000) + ']}'.repeat(20_000);
    expect(errorOf(200, `{"group_structure":[${deep}]}`)).toBeUndefined();
    expect(errorOf(200, `{"group_structure":[${deep}],"detail":"x"}`)).toBeUndefined();
    expect(errorOf(400, `{"a":["x",${deep}]}`)?.code).toBe('UNEXPECTED_BODY');
  });
});
