import fc from 'fast-check';
import { expect, test } from 'vitest';
import { typedNumber } from '../../src/review/terminal.js';

test.each([
  ['1', 9, 1],
  ['9', 9, 9],
  ['1', 10, 'not_yet'],
  ['2', 10, 2],
  ['10', 10, 10],
  ['10', 120, 'not_yet'],
  ['13', 120, 13],
  ['0', 5, 'nobody'],
  ['6', 5, 'nobody'],
] as const)('%s among %i candidates: %s', (digits, count, means) => {
  expect(typedNumber(digits, count)).toBe(means);
});

test('every candidate can be reached, and no digits on the way choose another', () =>
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2000 }), fc.nat(), (count, pick) => {
      const number = (pick % count) + 1;
      const digits = String(number);
      for (let typed = 1; typed < digits.length; typed += 1)
        expect(typedNumber(digits.slice(0, typed), count)).toBe('not_yet');
      expect([number, 'not_yet']).toContain(typedNumber(digits, count));
    }),
  ));
