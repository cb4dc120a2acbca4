import fc from 'fast-check';
import { expect, test } from 'vitest';
import { freshUntil, isOver, reusableSince } from '../../src/domain/freshness.js';

const time = fc.integer({ min: 0, max: 4e12 });

test('an answer that can be reused is not due, and a due one is not reused', () => {
  fc.assert(
    fc.property(time, fc.integer({ min: 1, max: 1e11 }), time, (fetchedAt, freshMs, now) => {
      expect(fetchedAt >= reusableSince(now, freshMs)).toBe(!isOver(freshUntil(fetchedAt, freshMs), now));
    }),
  );
});

test('without freshness nothing is reused, and with endless freshness everything is', () => {
  expect(reusableSince(5, 0)).toBe(Number.POSITIVE_INFINITY);
  expect(reusableSince(5, Number.POSITIVE_INFINITY)).toBe(Number.NEGATIVE_INFINITY);
  expect(isOver(freshUntil(0, Number.POSITIVE_INFINITY), 4e12)).toBe(false);
});
