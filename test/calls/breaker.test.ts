import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ApiError } from '../../src/api/errors.js';
import { v1Operations } from '../../src/api/v1/operations.js';
import { v2Operations } from '../../src/api/v2/operations.js';
import { Breaker, type Pass } from '../../src/calls/breaker.js';
import { ManualClock } from '../../src/util/clock.js';

const down = new ApiError({
  class: 'retry',
  code: 'HTTP_503',
  message: 'down',
  hint: '',
  api: 'v1',
  operation: 'fullKyb',
  charge: 'free',
  httpStatus: 503,
});
const ordinary = { probe: null };

/** What happened, as a word for each call: `a` was answered, `!a` failed; `+a` was answered, and begun after all before it. */
function breakerAfter(...calls: readonly string[]): Breaker {
  const policy = { failures: 100, patienceMs: 60_000 };
  const breaker = new Breaker(v1Operations.fullKyb, policy, new ManualClock(), () => {});
  calls.forEach((call, number) => {
    if (call.startsWith('!')) breaker.failed(ordinary, call.slice(1), down, number);
    else if (call.startsWith('+')) breaker.succeeded(call.slice(1), number);
    else breaker.succeeded(call, 0);
  });
  return breaker;
}

describe('a request without tries left: is the provider to blame?', () => {
  test.each<[blamed: boolean, what: string, calls: readonly string[]]>([
    [true, 'nobody was ever answered', ['!x', '!x', '!x']],
    [false, 'others are answered all the while', ['a', '!x', 'b', '!x', 'c', '!x']],
    [false, 'others were answered before, and it fails alone', ['a', 'b', '!x', '!x', '!x']],
    [false, 'others were answered between its last two tries, and fail now and then', ['!x', 'a', '!b', '!x']],
    [true, 'others fail too, and nobody is answered', ['a', '!x', '!b', '!x', '!b', '!x']],
    [true, 'only what was under way was answered after its first failure', ['a', '!x', 'b', '!c', '!x', '!c', '!x']],
    [true, 'it was answered itself, long ago, and others fail', ['x', '!x', '!b', '!x']],
    [
      false,
      'another fails like it, and others were begun later and answered',
      ['!x', '!y', '+a', '!y', '!x', '!y', '!x'],
    ],
    [true, 'a third fails, for which nothing of the kind is known', ['!x', '!y', '+a', '!y', '!x', '!b', '!x']],
  ])('%s if %s', (blamed, _, calls) => {
    expect(breakerAfter(...calls).isToBlame('x')).toBe(blamed);
  });

  test('during an outage the provider is always to blame', () => {
    const breaker = breakerAfter('a', '!x', 'b', '!x');
    expect(breaker.isToBlame('x')).toBe(false);
    breaker.open('x', down);
    expect(breaker.isToBlame('x')).toBe(true);
  });
});

test('failures in a row begin an outage, unless they are all of one request among good answers', () => {
  const policy = { failures: 3, patienceMs: 0 };
  const breaker = new Breaker(v1Operations.fullKyb, policy, new ManualClock(), () => {});
  breaker.succeeded('a', 1);
  for (let times = 0; times < 5; times++) expect(breaker.failed(ordinary, 'x', down, 1)).toBeUndefined();
  expect(breaker.failed(ordinary, 'y', down, 1)).toMatchObject({ code: 'PROVIDER_UNAVAILABLE', stop: 'unavailable' });
});

test('after an inconclusive probe the next may try; after a failed probe none may', async () => {
  const clock = new ManualClock();
  const breaker = new Breaker(v1Operations.fullKyb, { failures: 3, patienceMs: 60_000 }, clock, () => {});
  const never = new AbortController().signal;
  breaker.open('x', down);
  const first = breaker.enter(never);
  const second = breaker.enter(never);
  clock.advance(1_000);
  const probe = await first;
  if (probe === undefined || probe instanceof ApiError) throw new Error('expected a pass');
  breaker.left(probe);
  const next = await second;
  if (next === undefined || next instanceof ApiError) throw new Error('expected a pass');
  expect(breaker.setsOut(next)).toBe(true);
  expect(breaker.failed(next, 'x', down, 1)).toBeUndefined();
  expect(breaker.setsOut(ordinary)).toBe(false);
  // An answer of a call that was under way before ends it, and a probe that has not set out is none any more.
  breaker.succeeded('b', 1);
  expect(breaker.setsOut(next)).toBe(false);
  expect(await breaker.enter(never)).toEqual(ordinary);
});

describe('a credit report: each try may cost one', () => {
  const failed = new ApiError({
    class: 'retry',
    code: 'UNEXPECTED_BODY',
    message: 'a page',
    hint: '',
    api: 'v2',
    operation: 'creditReportGenerate',
    charge: 'unknown',
    httpStatus: 404,
  });
  const made = (failures = 100) =>
    new Breaker(v2Operations.creditReportGenerate, { failures, patienceMs: 60_000 }, new ManualClock(), () => {});

  test('after a first failure reports go one by one, until one succeeds', async () => {
    const breaker = made();
    const never = new AbortController().signal;
    expect([breaker.setsOut(ordinary), breaker.setsOut(ordinary)]).toEqual([true, true]);
    breaker.failed(ordinary, 'a', failed, 2);
    breaker.left(ordinary);
    // Who had its pass before asks once more, and another is still under way.
    expect(breaker.setsOut(ordinary)).toBe(false);
    const next = breaker.enter(never);
    breaker.left(ordinary);
    expect(await next).toEqual(ordinary);
    expect([breaker.setsOut(ordinary), breaker.setsOut(ordinary)]).toEqual([true, false]);
    breaker.succeeded('b', 3);
    expect([breaker.setsOut(ordinary), breaker.setsOut(ordinary)]).toEqual([true, true]);
  });

  test.each<[isDown: boolean, what: string, calls: readonly string[]]>([
    [true, 'three companies in a row', ['!a', '!b', '!c']],
    [true, 'three calls in a row, of two companies', ['!a', '!b', '!a']],
    [true, 'three companies in a row, after others were generated', ['x', 'y', '!a', '!b', '!c']],
    [false, 'one company alone', ['!a', '!a', '!a', '!a']],
    [false, 'three with a good one among them', ['!a', '!b', 'x', '!c']],
  ])('counts as down: %s for %s', (isDown, _, calls) => {
    const breaker = made();
    calls.forEach((call, number) => {
      if (call.startsWith('!')) breaker.failed(ordinary, call.slice(1), failed, number);
      else breaker.succeeded(call, number);
    });
    expect(breaker.outage !== undefined).toBe(isDown);
    expect(breaker.isInVain('a')).toBe(isDown);
    expect(breaker.isInVain('z')).toBe(false);
  });

  test('with an infinite failure limit it never counts as down', () => {
    const breaker = made(Number.POSITIVE_INFINITY);
    for (const requestKey of ['a', 'b', 'c', 'd']) breaker.failed(ordinary, requestKey, failed, 1);
    expect(breaker.outage).toBeUndefined();
  });
});

describe('no call begins after the patience, however long the provider hangs', () => {
  /** Calls that hang so long each; a timer may be late. When they set out, and when the run was stopped. */
  async function hang(patienceMs: number, durations: readonly number[], lateMs: number) {
    const clock = new ManualClock(0);
    const breaker = new Breaker(v1Operations.fullKyb, { failures: 1, patienceMs }, clock, () => {});
    const setOut: number[] = [0];
    let pass: Pass = ordinary;
    for (const duration of durations) {
      const setOutAt = clock.now();
      clock.set(setOutAt + duration);
      const stopped = breaker.failed(pass, 'x', down, setOut.length, setOutAt);
      if (stopped !== undefined) return { setOut, stoppedAt: clock.now() };
      const entering = Promise.resolve(breaker.enter(new AbortController().signal));
      let entered: Pass | ApiError | undefined;
      entering.then((got) => {
        entered = got;
      });
      while (entered === undefined) {
        await new Promise((turn) => setImmediate(turn));
        if (entered === undefined) clock.set(clock.now() + 500 + lateMs);
      }
      if (entered instanceof ApiError) return { setOut, stoppedAt: clock.now() };
      if (!breaker.setsOut(entered)) continue;
      pass = entered;
      setOut.push(clock.now());
    }
    return { setOut, stoppedAt: null };
  }

  test.each([
    ['a deadline beyond the patience: one call, and no more', 20_000, 35_000, [0], 35_000],
    ['a deadline below it', 60_000, 35_000, [0, 36_000], 71_000],
  ])('%s', async (_, patienceMs, duration, setOut, stoppedAt) => {
    expect(await hang(patienceMs, Array<number>(9).fill(duration), 0)).toEqual({ setOut, stoppedAt });
  });

  test('holds for any patience, hang and timer', async () => {
    const ms = fc.integer({ min: 1, max: 90_000 });
    await fc.assert(
      fc.asyncProperty(
        ms,
        fc.array(ms, { minLength: 40, maxLength: 40 }),
        fc.nat(5_000),
        async (patience, times, late) => {
          const { setOut, stoppedAt } = await hang(patience, times, late);
          expect(Math.max(...setOut)).toBeLessThan(patience);
          expect(stoppedAt).not.toBeNull();
        },
      ),
      { numRuns: 30 },
    );
  });
});
