import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { ManualClock, systemClock } from '../../src/util/clock.js';
import { Secret } from '../../src/util/secret.js';
import { didYouMean, suggest } from '../../src/util/suggest.js';

describe('ManualClock', () => {
  test('wakes sleepers in the order of their deadlines, and only those that are due', async () => {
    const clock = new ManualClock('2026-01-05T09:00:00Z');
    const woken: string[] = [];
    const late = clock.sleep(2000).then(() => woken.push('late'));
    const early = clock.sleep(1000).then(() => woken.push('early'));
    const never = clock.sleep(5000).then(() => woken.push('never'));
    clock.advance(2000);
    await Promise.all([late, early]);
    expect(woken).toEqual(['early', 'late']);
    expect(clock.now()).toBe(Date.parse('2026-01-05T09:00:02Z'));
    clock.advance(3000);
    await never;
  });

  test.each([
    ['the manual clock', new ManualClock()],
    ['the system clock', systemClock],
  ])('a sleep on %s ends with its signal', async (_, clock) => {
    const controller = new AbortController();
    const sleeping = clock.sleep(60_000, controller.signal);
    controller.abort(new Error('enough'));
    await expect(sleeping).rejects.toThrow('enough');
    await expect(clock.sleep(60_000, controller.signal)).rejects.toThrow('enough');
  });
});

test('a secret prints itself nowhere', () => {
  const secret = new Secret('canary');
  const shown = [
    `${secret}`,
    JSON.stringify({ secret }),
    inspect({ secret }, { depth: 9, showHidden: true }),
    String(secret),
  ];
  expect(shown.join()).not.toContain('canary');
  expect(secret.reveal()).toBe('canary');
});

test('a mistyped word gets the nearest one, a strange one gets none', () => {
  expect(suggest('serchKyb', ['fullKyb', 'searchKyb'])).toBe('searchKyb');
  expect(suggest('FINANCIALS', ['financials', 'record'])).toBe('financials');
  expect(suggest('xyzzy', ['record', 'financials'])).toBeUndefined();
  expect(didYouMean('recrod', ['record'])).toBe(' Did you mean record?');
  expect(didYouMean('qqq', ['record'])).toBe('');
});
