import fc from 'fast-check';
import { expect, test } from 'vitest';
import { shortenedPair, widthOf } from '../../../src/cli/terminal/text.js';

test.each([
  ['Weißert Textiltechnik Consulting GmbH', 'Weißert Textiltechnik Consulting AG'],
  ['Nord Maschinenbau und Handels GmbH', 'Süd Maschinenbau und Handels GmbH'],
  ['Alpha Maschinenbau Nord Verwaltungs Gesellschaft', 'Alpha Maschinenbau Sued Verwaltungs Gesellschaft'],
])('%s and %s look different', (one, other) => {
  const [left, right] = shortenedPair([one, other], [27, 27]);
  expect(left).not.toBe(right);
  expect([left, right].every((text) => widthOf(text) <= 27)).toBe(true);
});

test('shortened names stay distinguishable', () => {
  const names = fc.string({ unit: fc.constantFrom('a', 'b', '株', ' '), maxLength: 60 });
  fc.assert(
    fc.property(names, names, names, names, (start, one, other, end) => {
      const pair = [`${start}${one}${end}`, `${start}${other}${end}`] as const;
      const shown = shortenedPair(pair, [27, 27]);
      expect(shown.every((text) => widthOf(text) <= 27)).toBe(true);
      expect(shown[0] === shown[1]).toBe(pair[0] === pair[1]);
    }),
  );
});
