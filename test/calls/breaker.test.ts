import { describe, expect, test } from 'vitest';
import { ApiError } from '../../src/api/errors.js';
import { v1Operations } from '../../src/api/v1/operations.js';
import { Breaker } from '../../src/calls/breaker.js';
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

/** What happened, as a word for each call: `a` was answered, `!a` failed. */
function breakerAfter(...calls: readonly string[]): Breaker {
  const policy = { failures: 100, patienceMs: 60_000 };
  const breaker = new Breaker(v1Operations.fullKyb, policy, new ManualClock(), () => {});
  for (const call of calls) {
    if (call.startsWith('!')) breaker.failed(ordinary, call.slice(1), down);
    else breaker.succeeded(call);
  }
  return breaker;
}

describe('a request that has used up its tries: whose doing is it?', () => {
  test.each<[blamed: boolean, what: string, calls: readonly string[]]>([
    [true, 'nobody was ever answered', ['!x', '!x', '!x']],
    [false, 'others are answered all the while', ['a', '!x', 'b', '!x', 'c', '!x']],
    [false, 'others were answered before, and it fails alone', ['a', 'b', '!x', '!x', '!x']],
    [false, 'others were answered between its last two tries, and fail now and then', ['!x', 'a', '!b', '!x']],
    [true, 'others fail too, and nobody is answered', ['a', '!x', '!b', '!x', '!b', '!x']],
    [true, 'only what was under way was answered after its first failure', ['a', '!x', 'b', '!c', '!x', '!c', '!x']],
    [true, 'it was answered itself, long ago, and others fail', ['x', '!x', '!b', '!x']],
  ])('%s for the provider: %s', (blamed, _, calls) => {
    expect(breakerAfter(...calls).isToBlame('x')).toBe(blamed);
  });

  test('in an outage it is always the provider’s', () => {
    const breaker = breakerAfter('a', '!x', 'b', '!x');
    expect(breaker.isToBlame('x')).toBe(false);
    breaker.open(down);
    expect(breaker.isToBlame('x')).toBe(true);
  });
});

test('failures in a row open an outage, unless they are all of one request among good answers', () => {
  const policy = { failures: 3, patienceMs: 0 };
  const breaker = new Breaker(v1Operations.fullKyb, policy, new ManualClock(), () => {});
  breaker.succeeded('a');
  for (let times = 0; times < 5; times++) expect(breaker.failed(ordinary, 'x', down)).toBeUndefined();
  expect(breaker.failed(ordinary, 'y', down)).toMatchObject({ code: 'PROVIDER_UNAVAILABLE', stop: 'unavailable' });
});

test('a probe that tells nothing lets the next one try, and one that fails lets nobody', async () => {
  const clock = new ManualClock();
  const breaker = new Breaker(v1Operations.fullKyb, { failures: 3, patienceMs: 60_000 }, clock, () => {});
  const never = new AbortController().signal;
  breaker.open(down);
  const first = breaker.enter(never);
  const second = breaker.enter(never);
  clock.advance(1_000);
  const probe = await first;
  if (probe === undefined) throw new Error('expected a pass');
  breaker.left(probe);
  const next = await second;
  if (next === undefined) throw new Error('expected a pass');
  expect(breaker.admits(next)).toBe(true);
  expect(breaker.failed(next, 'x', down)).toBeUndefined();
  expect(breaker.admits(ordinary)).toBe(false);
  // An answer of a call that was under way before ends it, and a probe that has not set out is none any more.
  breaker.succeeded('b');
  expect(breaker.admits(next)).toBe(false);
  expect(await breaker.enter(never)).toEqual(ordinary);
});
