import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { systemClock } from '../../src/util/clock.js';

const DAY = 86_400_000;

// Node's own timers, without waiting for days: a timer beyond their maximum fires at once.
beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

test('sleeps exactly sixty days', async () => {
  let awake = false;
  const sleeping = systemClock.sleep(60 * DAY).then(() => {
    awake = true;
  });
  await vi.advanceTimersByTimeAsync(60 * DAY - 1);
  expect(awake).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(awake).toBe(true);
  await sleeping;
});

test('is woken by its signal on any day and leaves no timer behind', async () => {
  const stop = new AbortController();
  const woken = systemClock.sleep(100 * DAY, stop.signal).catch((reason: unknown) => reason);
  await vi.advanceTimersByTimeAsync(70 * DAY);
  stop.abort('enough');
  expect(await woken).toBe('enough');
  expect(vi.getTimerCount()).toBe(0);
});
