import { expect, test } from 'vitest';
import { matchNumber } from '../../src/domain/numbers/compare.js';

test.each([
  ['GB', '07654321', '7654321'],
  ['GB', '7654321', 'GB 7654321'],
  ['GB', '07654321', '７６５４３２１'],
  ['GB', '07654321', '7.654321E6'],
  ['GB', '07654321', '7654321.0'],
  ['GB', '00045590', 'OOO4559O'],
  ['GB', 'SC123456', 'sc 123456'],
  ['FR', '552100554', '552 100 554 00013'],
  ['FR', '55210055400013', '552100554'],
  ['FR', '552 100 554 / 55210055400013', '552100554'],
  ['DE', 'HRB 42243 München', 'Amtsgericht München HRB 42243'],
  ['DE', 'HRB 42243', 'hrb42243'],
  ['ZW', 'A/1-B', 'a1b'],
])('%s %s is also %s', (countryCode, number, text) => {
  expect(matchNumber({ countryCode, number }).matches(text)).toBe(true);
});

test.each([
  ['GB', '07654321', '07654322'],
  ['GB', '07654321', '107654321'],
  ['GB', '07654321', ''],
  ['GB', '', ''],
  ['GB', '--', '07654321'],
  ['GB', 'SC123456', '123456'],
  ['DE', 'HRB 42243 München', 'HRB 42243 Hamburg'],
  ['DE', 'HRB 42243 München', 'HRB 42243'],
  ['ZW', 'A/1-B', 'A/1-C'],
])('%s %s is not %s', (countryCode, number, text) => {
  expect(matchNumber({ countryCode, number }).matches(text)).toBe(false);
});

test('if states number their companies separately, a given state must be there', () => {
  const named = matchNumber({ countryCode: 'US', number: 'C1234567', state: 'CA' });
  expect(['CA', 'California', 'TX', undefined].map((state) => named.matches('C1234567', state))).toEqual([
    true,
    true,
    false,
    false,
  ]);
  expect(matchNumber({ countryCode: 'US', number: 'C1234567' }).matches('C1234567', 'TX')).toBe(true);
});
