import { stdnum } from 'stdnum';
import { expect, test } from 'vitest';
import { checkStdnum } from '../../../src/domain/numbers/country-formats.js';

test('each country, loaded alone, has every check of the whole package', () => {
  const whole = stdnum as Readonly<Record<string, Readonly<Record<string, { validate: unknown }>>>>;
  for (const [country, checks] of Object.entries(whole))
    for (const key of Object.keys(checks))
      expect([country, key, typeof checkStdnum(country, key, '1')]).toContain('boolean');
});

test.each(['', 'XX', 'gb', '../gb', 'util', '__proto__'])(
  '%j is not a country, so its numbers have no rules',
  (country) => {
    expect(checkStdnum(country, 'vat', '1')).toBe(undefined);
  },
);
