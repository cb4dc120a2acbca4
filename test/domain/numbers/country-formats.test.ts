import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { numberFormatsOf, spelled, vatRuleOf } from '../../../src/domain/numbers/country-formats.js';

const FILE = new URL('../../../src/domain/data/numbers.yaml', import.meta.url);
const countries: readonly (readonly [string, { readonly formats?: unknown; readonly states?: object }])[] =
  Object.entries<Readonly<Record<string, object>>>(parse(readFileSync(FILE, 'utf8'))).filter(
    ([country]) => country !== 'VAT',
  );

test.each(countries)('%s has readable number formats, or a readable form of VAT numbers', (country, given) => {
  const numbers = [undefined, ...Object.keys(given.states ?? {})].map((state) => numberFormatsOf(country, state));
  const hasFormats = numbers.every((one) => one !== undefined && one.formats.length > 0);
  expect(hasFormats).toBe(given.formats !== undefined);
  expect(hasFormats || vatRuleOf(country) !== undefined).toBe(true);
});

test('a country without a section has no formats', () => {
  expect(numberFormatsOf('XX', undefined)).toBeUndefined();
  expect(numberFormatsOf('__proto__', undefined)).toBeUndefined();
  expect(vatRuleOf('')).toBeUndefined();
});

test.each([
  ['5560123456', '######-####', '556012-3456'],
  ['B123456', '# *', 'B 123456'],
  ['123', '*', '123'],
  ['123', '######-#', undefined],
])('%s spelled as %s is %s', (number, mask, spelling) => {
  expect(spelled(number, [mask])[0]).toBe(spelling);
});
