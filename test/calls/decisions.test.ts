import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ApiError, type ApiErrorDetails } from '../../src/api/errors.js';
import { Limiter } from '../../src/calls/limiter.js';
import { canonicalJson, requestKey } from '../../src/calls/request.js';
import { isOutageSign, LONGEST_WAIT_MS, retryDelayMs } from '../../src/calls/retry.js';
import { ManualClock } from '../../src/util/clock.js';
import { turns } from '../engine/support.js';

const error = (details: Partial<ApiErrorDetails>) =>
  new ApiError({
    class: 'retry',
    code: 'X',
    message: '',
    hint: '',
    api: 'v1',
    operation: 'fullKyb',
    charge: 'free',
    ...details,
  });
const policy = { attempts: 5, baseMs: 500, capMs: 30_000 };
const never = new AbortController().signal;

describe('retry delays', () => {
  test('full jitter: from nothing to the doubled base, never beyond the cap', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 9 }), fc.double({ min: 0, max: 1, noNaN: true }), (met, point) => {
        const delay = retryDelayMs(error({}), met, { ...policy, attempts: 10 }, () => point);
        const most = Math.min(policy.capMs, policy.baseMs * 2 ** (met - 1));
        expect(delay).toBe(Math.round(point * most));
      }),
    );
  });

  test.each([
    ['a refusal', error({ class: 'fail_row' }), 1],
    ['a spent allowance', error({ class: 'park' }), 1],
    ['the last attempt', error({}), 5],
    ['a kind of error that is tried three times', error({ attemptsAtMost: 3 }), 3],
    ['a call that kybatch stopped', error({ code: 'ABORTED' }), 1],
  ])('no retry after %s', (_, met, times) => {
    expect(retryDelayMs(met, times, policy, () => 1)).toBeUndefined();
  });

  test('V1-4 Retry-After comes first, within limits, and a busy provider gets more tries', () => {
    expect(retryDelayMs(error({ class: 'slow_down', retryAfterMs: 7000 }), 1, policy, () => 1)).toBe(7000);
    expect(retryDelayMs(error({ class: 'slow_down', retryAfterMs: 1e12 }), 1, policy, () => 1)).toBe(LONGEST_WAIT_MS);
    expect(retryDelayMs(error({ class: 'slow_down' }), 5, policy, () => 1)).toBe(8000);
    expect(retryDelayMs(error({ class: 'slow_down' }), 20, policy, () => 1)).toBeUndefined();
  });

  test('every temporary failure counts as trouble, except an abort and a request to wait', () => {
    expect([error({}), error({ httpStatus: 503 }), error({ code: 'UNEXPECTED_BODY' })].every(isOutageSign)).toBe(true);
    expect([error({ code: 'ABORTED' }), error({ class: 'slow_down' })].some(isOutageSign)).toBe(false);
  });
});

const sendIn = (limiter: Limiter, send: (started: number) => Promise<void>, row: number | null = null) =>
  limiter.run((wire) => wire(send), row, never);
const trouble = (limiter: Limiter) => sendIn(limiter, async (started) => limiter.troubled(started));

describe('the limiter (V1-19)', () => {
  test('a free slot goes to the earliest waiting row', async () => {
    const limiter = new Limiter(1, new ManualClock());
    const order: number[] = [];
    const rows = [5, 3, 9, 1, 3];
    await Promise.all(rows.map((row) => sendIn(limiter, async () => void order.push(row), row)));
    expect(order).toEqual([1, 3, 3, 5, 9]);
  });

  test.each([
    [1, 1],
    [16, 18],
    [64, 72],
  ])('%i calls are in flight, and %i are recorded', async (most, begun) => {
    const limiter = new Limiter(most, new ManualClock(), most);
    const seen = { begun: 0, sent: 0 };
    for (let call = 0; call < 100; call++)
      void limiter.run(
        (wire) => {
          seen.begun += 1;
          return wire(() => {
            seen.sent += 1;
            return new Promise<void>(() => {});
          });
        },
        call,
        never,
      );
    await turns();
    expect(seen).toEqual({ begun, sent: most });
  });

  test('the limit starts low, quadruples per round trip while answers are prompt, and doubles after a slow one', () => {
    const limiter = new Limiter(64, new ManualClock(), 4);
    for (let success = 0; success < 4; success++) limiter.succeeded(800);
    expect(limiter.concurrency).toBe(16);
    limiter.succeeded(2_000);
    expect(limiter.concurrency).toBe(17);
    for (let success = 0; success < 17; success++) limiter.succeeded(800);
    expect(limiter.concurrency).toBe(34);
  });

  test('the limit starts low, grows with each success, halves on trouble, then grows slowly', async () => {
    const limiter = new Limiter(16, new ManualClock(), 4);
    expect(limiter.concurrency).toBe(4);
    for (let success = 0; success < 4; success++) limiter.succeeded();
    expect(limiter.concurrency).toBe(16);
    await trouble(limiter);
    expect(limiter.concurrency).toBe(8);
    await trouble(limiter);
    expect(limiter.concurrency).toBe(4);
    for (let success = 0; success < 3; success++) limiter.succeeded();
    expect(limiter.concurrency).toBe(4);
    limiter.succeeded();
    expect(limiter.concurrency).toBe(5);
    for (let success = 0; success < 500; success++) limiter.succeeded();
    expect(limiter.concurrency).toBe(16);
  });

  test('calls that fail together cut it once', async () => {
    const limiter = new Limiter(16, new ManualClock(), 4);
    const fall: (() => void)[] = [];
    const calls = [1, 2, 3, 4].map(() =>
      sendIn(limiter, async (started) => {
        await new Promise<void>((wake) => fall.push(wake));
        limiter.troubled(started);
      }),
    );
    await turns();
    for (const wake of fall) wake();
    await Promise.all(calls);
    expect(limiter.concurrency).toBe(2);
  });

  test('no call begins during a pause, also a prolonged one, and stopping ends the pause', async () => {
    const clock = new ManualClock();
    const limiter = new Limiter(4, clock);
    const stop = new AbortController();
    let started = 0;
    limiter.troubled(1, 1000);
    const calls = [1, 2].map(() =>
      limiter.run(
        async () => {
          started += 1;
        },
        null,
        stop.signal,
      ),
    );
    await turns();
    limiter.troubled(0, 5000);
    clock.advance(1000);
    await turns();
    expect(started).toBe(0);
    stop.abort();
    await Promise.all(calls);
    expect(started).toBe(2);
  });
});

describe('the key of a request', () => {
  test('does not depend on the order of parameters, and distinguishes 1 from "1"', () => {
    expect(requestKey('x', { a: 1, b: undefined, c: [1, { e: 2, d: 3 }] })).toBe(
      requestKey('x', { c: [1, { d: 3, e: 2 }], a: 1 }),
    );
    expect(requestKey('x', { a: 1 })).not.toBe(requestKey('x', { a: '1' }));
    expect(requestKey('x', { a: 1 })).not.toBe(requestKey('y', { a: 1 }));
  });

  test('is made of JSON that parses to an equal value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });
});
