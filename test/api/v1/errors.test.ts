import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Operation } from '../../../src/api/operation.js';
import { v1Error } from '../../../src/api/v1/client.js';
import { v1Operations } from '../../../src/api/v1/operations.js';
import { anyCharacter } from '../../helpers/any-text.js';

const NOW = Date.parse('2026-01-05T09:00:00Z');

const classify = (
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
  operation: Operation = v1Operations.searchKyb,
) =>
  v1Error(
    { status, headers, body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)), durationMs: 1 },
    operation,
    NOW,
  );

const PAGE = '<!doctype html><title>Maintenance</title>';

const errorBody = (code: string) => ({ error: { code, message: `about ${code}`, status: 400 }, request_id: 'req-1' });

describe('v1 errors', () => {
  test.each([
    ['V1-12', 400, 'INVALID_REQUEST', 'fail_row', undefined],
    ['V1-10', 401, 'UNAUTHENTICATED', 'stop_run', 'credentials'],
    ['V1-10', 403, 'PRODUCTION_KEY_REQUIRED', 'stop_run', 'credentials'],
    ['V1-10', 403, 'INSUFFICIENT_SCOPE', 'block_operation', undefined],
    ['V1-11', 404, 'API_ROUTE_NOT_FOUND', 'stop_run', 'route'],
    ['V1-11', 404, 'KYB_ROUTE_NOT_FOUND', 'stop_run', 'route'],
    ['V1-11', 404, 'DATA_SERVICE_404', 'retry', undefined],
    ['X-1', 403, 'SOMETHING_ELSE', 'hold', 'credentials'],
    ['X-1', 404, 'SOMETHING_ELSE', 'hold', 'route'],
    ['V1-12', 405, 'METHOD_NOT_ALLOWED', 'hold', undefined],
    ['V1-12', 413, 'BODY_TOO_LARGE', 'fail_row', undefined],
    ['V1-4', 429, 'ALLOWANCE_EXHAUSTED', 'park', undefined],
    ['V1-4', 429, 'TOO_MANY_REQUESTS', 'slow_down', undefined],
    ['V1-12', 502, 'DATA_SERVICE_UNAVAILABLE', 'retry', undefined],
    ['V1-12', 503, 'ACCOUNT_SERVICE_UNAVAILABLE', 'retry', undefined],
    ['V1-12', 503, 'USAGE_LEDGER_UNAVAILABLE', 'retry', undefined],
    ['V1-12', 504, 'DATA_SERVICE_TIMEOUT', 'retry', undefined],
  ] as const)('%s %i %s → %s', (_rule, status, code, errorClass, stop) => {
    const error = classify(status, errorBody(code));
    expect(error).toMatchObject({
      class: errorClass,
      code,
      stop,
      httpStatus: status,
      charge: 'free',
      api: 'v1',
      operation: 'searchKyb',
    });
    expect(error?.message).toBe(`about ${code}`);
    expect(error?.hint).not.toBe('');
  });

  test('V1-11 DATA_SERVICE_404 is about a company ID, so it is no answer to an operation without one', () => {
    for (const operation of Object.values(v1Operations)) {
      const meant = operation.subject === null ? 'retry' : 'not_available';
      expect(classify(404, errorBody('DATA_SERVICE_404'), {}, operation), operation.name).toMatchObject({
        class: meant,
      });
    }
  });

  test('V1-18 the request ID is kept, from the body or from the header', () => {
    expect(classify(400, errorBody('INVALID_REQUEST'))?.requestId).toBe('req-1');
    expect(classify(502, '<html>', { 'x-service-request-id': 'req-2' })?.requestId).toBe('req-2');
  });

  test('V1-1 only a 200 is a success, and a DATA_SERVICE_404 costs nothing', () => {
    expect(classify(200, '[]')).toBeUndefined();
    expect(classify(404, errorBody('DATA_SERVICE_404'))?.charge).toBe('free');
  });

  test.each([
    [302, 'stop_run'],
    [401, 'stop_run'],
    [403, 'stop_run'],
    [404, 'stop_run'],
    [429, 'slow_down'],
    ...[400, 402, 405, 408, 409, 413, 418, 422, 425, 499, 500, 503].map((status) => [status, 'retry'] as const),
  ] as const)(
    'X-1 V1-11 %i with a body in no known form → %s, and says nothing about the row',
    (status, errorClass) => {
      const another = ['', '{}', '[]', 'null', '{"error":"x"}', '{"error":{"code":1}}', '{"message":"upstream"}'];
      const alike = '{"error":{"code":"BadRequest","message":"no route"}}';
      for (const body of [...another, alike, '<html>400</html>', 'Bad Request', '{"error":{"code":"INVALID_']) {
        const expected = { class: errorClass, code: `HTTP_${status}`, charge: 'unknown', foreign: true };
        expect(classify(status, body), body).toMatchObject(expected);
      }
    },
  );

  test('X-1 a documented code is from v1 itself, even without a request ID', () => {
    const body = { error: { code: 'INVALID_REQUEST', message: 'x' } };
    expect(classify(400, body)).toMatchObject({ class: 'fail_row', charge: 'free', foreign: false });
  });

  test.each([400, 405, 413, 422])("V1-12 %i in the form of an error is v1's own answer about the row", (status) => {
    for (const [code, kind] of Object.entries({ INVALID_REQUEST: 'fail_row', ODD: 'hold' }))
      expect(classify(status, errorBody(code))).toMatchObject({ class: kind, charge: 'free', foreign: false });
  });

  test('V1-4 Retry-After comes first, as seconds or as a date', () => {
    expect(classify(429, errorBody('X'), { 'retry-after': '7' })?.retryAfterMs).toBe(7000);
    expect(classify(503, errorBody('X'), { 'retry-after': 'Mon, 05 Jan 2026 09:00:30 GMT' })?.retryAfterMs).toBe(
      30_000,
    );
    expect(classify(429, errorBody('X'), { 'retry-after': 'soon' })?.retryAfterMs).toBeUndefined();
  });

  test.each([
    ['1.5', 1_500],
    ['0.0001', 1],
    ['2.', 2_000],
    ['0', 0],
    [' 7 ', 7_000],
    ['9'.repeat(40), 366 * 86_400_000],
    ['2026-01-05T09:00:30Z', 30_000],
    ['Monday, 05-Jan-26 09:00:30 GMT', 30_000],
    ['', undefined],
    ['-5', undefined],
    ['+5', undefined],
    ['1e3', undefined],
    ['1.5.1', undefined],
    ['5 s', undefined],
    ['Mon, 05 Jan 2026 08:59:59 GMT', undefined],
    ['2001', 2_001_000],
  ])('V1-4 Retry-After %j is %s', (text, expected) => {
    expect(classify(503, errorBody('X'), { 'retry-after': text })?.retryAfterMs).toBe(expected);
  });

  test.each(['constructor', 'toString', '__proto__', 'hasOwnProperty', 'valueOf'])(
    'V1-12 the code %s is not in the document',
    (code) => {
      expect(classify(400, errorBody(code))).toMatchObject({ class: 'hold', code, charge: 'free' });
      expect(classify(503, errorBody(code))).toMatchObject({ class: 'retry', code });
    },
  );

  test.each([
    ['a page', PAGE],
    ['a text', 'back soon'],
    ['XML', '<?xml version="1.0"?><down/>'],
    ['half an answer', '[{"id":1,"name":"Cut'],
    ['half an answer that ends in a brace', '{"data":[{"id":1,"name":"x"}'],
    ['nothing', ''],
    ['null', 'null', 'UNEXPECTED_FORM'],
    ['a word', '"ok"', 'UNEXPECTED_FORM'],
    ['a number', '1', 'UNEXPECTED_FORM'],
    ['an object of another kind', '{"status":"maintenance"}', 'UNEXPECTED_FORM'],
    ['a list of another kind', '[{"notice":"maintenance"}]', 'UNEXPECTED_FORM'],
    ['an error', '{"error":{"code":"DOWN","message":"later"},"request_id":"r"}'],
    ['an error beside an empty list', '{"error":"down","data":[]}'],
    ['two values', '[] []', 'MALFORMED_ANSWER'],
    ['an object with a member twice', '{"id":1,"id":1}', 'MALFORMED_ANSWER'],
  ])('X-1 %s on 200 is no answer, and its charge is unknown', (_, body, code = 'UNEXPECTED_BODY') => {
    for (const operation of [v1Operations.searchKyb, v1Operations.fullKyb, v1Operations.officersKyb]) {
      const exchange = { status: 200, headers: {}, body: Buffer.from(body), durationMs: 1 };
      const expected = { class: 'retry', code, charge: 'unknown', exchange, exit: 6 };
      expect(v1Error(exchange, operation, NOW), operation.name).toMatchObject(expected);
    }
  });

  test.each(['[]', '[{"registration_number":"1"}]', '"x"', '7', 'true'])(
    'X-1 a full record whose profile is %s is no answer, and its charge is unknown',
    (lite) => {
      const body = Buffer.from(`{"lite":${lite},"officers":[]}`);
      const error = v1Error({ status: 200, headers: {}, body, durationMs: 1 }, v1Operations.fullKyb, NOW);
      expect(error).toMatchObject({ class: 'retry', code: 'UNEXPECTED_FORM', charge: 'unknown' });
    },
  );

  test.each([
    ['searchKyb', '[]'],
    ['searchKyb', '{"results":[]}'],
    ['searchKyb', '{"id":1,"name":"x"}'],
    ['fullKyb', '{"lite":null}'],
    ['fullKyb', '{"new_module":[1],"officers":[]}'],
    ['fullKyb', '{}'],
    ['financialKyb', '{}'],
    ['liteKyb', '{"id":"7","error":null}'],
  ] as const)('V1-22 of %s the document allows %s', (name, body) => {
    const exchange = { status: 200, headers: { 'content-type': 'text/html' }, body: Buffer.from(body), durationMs: 1 };
    expect(v1Error(exchange, v1Operations[name], NOW)).toBeUndefined();
  });

  test.each([
    ...[400, 401, 403, 404, 405, 413, 429].map((status) => [status, errorBody('ANY'), 'free'] as const),
    ...[302, 401, 403, 404, 429, 500, 502, 503, 504, 520].map((status) => [status, '<html>', 'unknown'] as const),
    ...[500, 502, 503, 504, 520].map((status) => [status, errorBody('ANY'), 'free'] as const),
    ...['', '{}', '{"error":"x"}', '{"message":"upstream"}'].map((body) => [503, body, 'unknown'] as const),
  ])("V1-1 %i with %j: v1's own refusal is free, a gateway's page may not be: %s", (status, body, charge) => {
    expect(classify(status, body)).toMatchObject({ charge });
  });

  test('units that the header states are charged, with any status', () => {
    const said = { 'x-service-units': '1' };
    for (const status of [200, 201, 204, 206, 400, 404, 429, 502])
      expect(classify(status, '<html>', said), String(status)).toMatchObject({ charge: 'charged' });
    expect(classify(200, '<html>', { 'x-service-units': '0' })).toMatchObject({ charge: 'free' });
    expect(classify(200, '<html>', { 'x-service-units': '1000' })).toMatchObject({ charge: 'charged' });
    // No figure that a call can cost: the remaining units will show it.
    expect(classify(200, '<html>', { 'x-service-units': '1000000' })).toMatchObject({ charge: 'unknown' });
    expect(classify(204, '')).toMatchObject({ class: 'retry', code: 'UNEXPECTED_BODY', charge: 'unknown' });
  });

  test('no bytes make it throw', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 100, max: 599 }),
        fc.oneof(fc.json(), fc.string({ unit: anyCharacter })),
        (status, body) => {
          const error = classify(status, body);
          if (status !== 200) expect(error).toBeDefined();
        },
      ),
    );
  });
});
