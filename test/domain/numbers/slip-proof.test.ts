import { describe, expect, test } from 'vitest';
import { checkDigitCatchesTypos } from '../../../src/domain/numbers/country-formats.js';
import { parseRegistrationNumber } from '../../../src/domain/numbers/parse.js';
import { createRegistry } from '../../../src/sandbox/registry/index.js';

const proof = (number: string, country: string) =>
  checkDigitCatchesTypos(parseRegistrationNumber(number, country), country);

test.each([
  ['BE', '0403.170.701', true],
  ['NO', '923 609 016', true],
  ['FI', '0112038-9', true],
  ['FR', '552 100 554', true],
  ['GB', '01234567', false],
  ['NL', '33014286', false],
  ['DE', 'Amtsgericht München HRB 42243', false],
  ['AU', '004 085 616', false],
])('%s %s: %s', (country, number, expected) => {
  expect(proof(number, country)).toBe(expected);
});

test('a Luhn number with 09 or 90 can be a swap of another', () => {
  expect(parseRegistrationNumber('300 900 008', 'FR').valid).toBe('yes');
  expect(parseRegistrationNumber('309 000 008', 'FR').valid).toBe('yes');
  expect(proof('300 900 008', 'FR')).toBe(false);
});

describe('for any number of the register', { tags: 'long' }, () => {
  const registry = createRegistry({ seed: 3, size: 200_000 });
  const companies = Array.from({ length: 400 }, (_, index) => registry.company(index * 431));

  test('no typing error in a slip-proof number is another valid number', () => {
    let proofs = 0;
    for (const { registrationNumber, countryCode } of companies) {
      if (registrationNumber === null || !proof(registrationNumber, countryCode)) continue;
      proofs += 1;
      const place = [...registrationNumber].findIndex((character, i) => i > 1 && /\d/.test(character));
      for (const digit of '0123456789') {
        if (digit === registrationNumber[place]) continue;
        const slip = `${registrationNumber.slice(0, place)}${digit}${registrationNumber.slice(place + 1)}`;
        expect(parseRegistrationNumber(slip, countryCode).valid).not.toBe('yes');
      }
    }
    expect(proofs).toBeGreaterThan(50);
  });
});
