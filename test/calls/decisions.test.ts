import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ApiError, type ApiErrorDetails } from '../../src/api/errors.js';
import { Gate } from '../../src/calls/gate.js';
import { Limiter } from '../../src/calls/limiter.js';
import { canonicalJson, requestKey } from '../../src/calls/request-key.js';
import { isTrouble, LONGEST_WAIT_MS, retryDelayMs } from '../../src/calls/retry.js';
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
const v1 = { api: 'v1', operation: 'fullKyb' } as const;

describe('when to try again', () => {
  test('full jitter: anything from nothing to the doubled base, never beyond the cap', () => {
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
    ['what we stopped ourselves', error({ code: 'ABORTED' }), 1],
  ])('never after %s', (_, met, times) => {
    expect(retryDelayMs(met, times, policy, () => 1)).toBeUndefined();
  });

  test('V1-4 Retry-After comes first, within reason, and a busy provider is given more patience', () => {
    expect(retryDelayMs(error({ class: 'slow_down', retryAfterMs: 7000 }), 1, policy, () => 1)).toBe(7000);
    expect(retryDelayMs(error({ class: 'slow_down', retryAfterMs: 1e12 }), 1, policy, () => 1)).toBe(LONGEST_WAIT_MS);
    expect(retryDelayMs(error({ class: 'slow_down' }), 5, policy, () => 1)).toBe(8000);
    expect(retryDelayMs(error({ class: 'slow_down' }), 20, policy, () => 1)).toBeUndefined();
  });

  test('trouble is what the network and a 5xx make; an unexplained 404 of v2 is none (V2-1)', () => {
    expect([error({}), error({ httpStatus: 503 })].every(isTrouble)).toBe(true);
    expect(
      [error({ httpStatus: 404 }), error({ code: 'ABORTED' }), error({ class: 'slow_down' })].some(isTrouble),
    ).toBe(false);
  });
});

describe('the limiter (V1-19)', () => {
  test('starts low, grows with each success, halves on trouble, then grows slowly', async () => {
    const limiter = new Limiter(16, new ManualClock());
    expect(limiter.concurrency).toBe(4);
    for (let success = 0; success < 4; success++) limiter.succeeded();
    expect(limiter.concurrency).toBe(8);
    await limiter.run(async (started) => limiter.troubled(started), never);
    expect(limiter.concurrency).toBe(4);
    for (let success = 0; success < 3; success++) limiter.succeeded();
    expect(limiter.concurrency).toBe(4);
    limiter.succeeded();
    expect(limiter.concurrency).toBe(5);
    for (let success = 0; success < 500; success++) limiter.succeeded();
    expect(limiter.concurrency).toBe(16);
  });

  test('calls that fell together cut it once', async () => {
    const limiter = new Limiter(16, new ManualClock());
    const fall: (() => void)[] = [];
    const calls = [1, 2, 3, 4].map(() =>
      limiter.run(async (started) => {
        await new Promise<void>((wake) => fall.push(wake));
        limiter.troubled(started);
      }, never),
    );
    await turns();
    for (const wake of fall) wake();
    await Promise.all(calls);
    expect(limiter.concurrency).toBe(2);
  });

  test('nobody starts during a pause, also one that was prolonged; stopping ends it', async () => {
    const clock = new ManualClock();
    const limiter = new Limiter(4, clock);
    const stop = new AbortController();
    let started = 0;
    limiter.troubled(1, 1000);
    const calls = [1, 2].map(() =>
      limiter.run(async () => {
        started += 1;
      }, stop.signal),
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

describe('the gate', () => {
  test('the budget is never exceeded, in whatever order calls come, succeed, fail or get lost', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 8 }),
        fc.integer({ min: 0, max: 4 }),
        fc.array(fc.record({ units: fc.constantFrom(0, 1, 1, null), turns: fc.nat(4) }), { maxLength: 25 }),
        async (budgetUnits, spentUnits, calls) => {
          const gate = new Gate({ budgetUnits, spentUnits, permissions: {}, clock: new ManualClock() });
          let spent = spentUnits;
          let inFlight = 0;
          let parked = 0;
          await Promise.all(
            calls.map(async (call) => {
              const place = await gate.admit(v1);
              if (place.kind === 'parked') {
                parked += 1;
                return;
              }
              inFlight += 1;
              expect(spent + inFlight).toBeLessThanOrEqual(Math.max(budgetUnits, spentUnits));
              await turns(call.turns);
              inFlight -= 1;
              spent += call.units ?? 1;
              place.release(call.units);
              gate.countSolo();
            }),
          );
          // Nobody is turned away while there is something left.
          if (parked > 0) expect(spent).toBeGreaterThanOrEqual(budgetUnits);
        },
      ),
      { numRuns: 60 },
    );
  });

  test('V1-2 calls on their way to the last units keep others waiting, and nobody for ever', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 5 }),
        fc.array(fc.boolean(), { minLength: 1, maxLength: 20 }),
        async (units, successes) => {
          const gate = new Gate({ budgetUnits: null, spentUnits: 0, permissions: {}, clock: new ManualClock() });
          let remaining = units;
          gate.observeRemaining(remaining, true, null);
          await Promise.all(
            successes.map(async (success) => {
              const place = await gate.admit(v1);
              if (place.kind === 'parked') return;
              expect(gate.unitsInFlight).toBeLessThanOrEqual(Math.max(1, remaining));
              await turns(1);
              if (success) {
                remaining -= 1;
                gate.observeRemaining(remaining, false, null);
              }
              place.release(success ? 1 : 0);
            }),
          );
          expect(remaining).toBe(Math.max(0, units - successes.filter(Boolean).length));
        },
      ),
      { numRuns: 60 },
    );
  });

  test('the first call goes alone until one brings a figure, or three have brought none', async () => {
    const gate = new Gate({ budgetUnits: null, spentUnits: 0, permissions: {}, clock: new ManualClock() });
    const first = await gate.admit(v1);
    let admitted = 0;
    const others = [1, 2, 3].map(async () => {
      const place = await gate.admit(v1);
      admitted += 1;
      return place;
    });
    await turns();
    expect(admitted).toBe(0);
    gate.countSolo();
    if (first.kind === 'place') first.release(0);
    await turns();
    expect(admitted).toBe(1);
    gate.countSolo();
    gate.countSolo();
    await Promise.all(others);
    expect(admitted).toBe(3);
  });

  test('a call is alone only if nobody else was let through until its answer', async () => {
    const gate = new Gate({ budgetUnits: null, spentUnits: 0, permissions: {}, clock: new ManualClock() });
    gate.observeRemaining(10, true, null);
    const first = await gate.admit(v1);
    if (first.kind !== 'place') throw new Error('expected a place');
    expect(first.alone()).toBe(true);
    const second = await gate.admit(v1);
    expect(first.alone()).toBe(false);
    first.release(1);
    if (second.kind === 'place') expect(second.alone()).toBe(false);
  });

  test('V1-4 a closure ends at its time; one without a time stays', () => {
    const clock = new ManualClock();
    const gate = new Gate({ budgetUnits: null, spentUnits: 0, permissions: {}, clock });
    gate.close('v1', 'allowance', clock.now() + 1000, 'spent');
    gate.close('v2:financial', 'allowance', null, 'spent');
    clock.advance(999);
    expect(gate.refusal(v1)).toMatchObject({ kind: 'parked', reason: 'allowance' });
    clock.advance(1);
    expect(gate.refusal(v1)).toBeUndefined();
    expect(gate.refusal({ api: 'v2', operation: 'financial' })).toMatchObject({ kind: 'parked' });
  });

  test('draining wakes everyone who waits', async () => {
    const gate = new Gate({ budgetUnits: 1, spentUnits: 0, permissions: {}, clock: new ManualClock() });
    await gate.admit(v1);
    const waiting = gate.admit(v1);
    gate.drain();
    expect(await waiting).toMatchObject({ kind: 'parked', reason: 'draining' });
  });
});

describe('the key of a request', () => {
  test('does not depend on the order of its parameters, and tells 1 from "1"', () => {
    expect(requestKey('x', { a: 1, b: undefined, c: [1, { e: 2, d: 3 }] })).toBe(
      requestKey('x', { c: [1, { d: 3, e: 2 }], a: 1 }),
    );
    expect(requestKey('x', { a: 1 })).not.toBe(requestKey('x', { a: '1' }));
    expect(requestKey('x', { a: 1 })).not.toBe(requestKey('y', { a: 1 }));
  });

  test('is made of JSON that reads back as the same value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });
});
