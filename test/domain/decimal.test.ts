import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fitsDecimal, plainDecimal } from '../../src/util/exact-json.js';

describe('plain decimals', () => {
  test.each([
    ['1.10', '1.10'],
    ['-5.20', '-5.20'],
    ['12345678901234567890.10', '12345678901234567890.10'],
    ['1e3', '1000'],
    ['1.50e1', '15.0'],
    ['1.5E+3', '1500'],
    ['12.34e-3', '0.01234'],
    ['1e-3', '0.001'],
    ['0e5', '0'],
    ['-1.25e2', '-125'],
    ['0007', '7'],
    ['', null],
    ['1,5', null],
    ['abc', null],
    ['1e99999', null],
    ['.5', null],
    ['0x10', null],
    [' 1', null],
  ])('V1-23 %s is %s', (text, plain) => {
    expect(plainDecimal(text)).toBe(plain);
  });

  test('V1-23 moving the point by an exponent and back keeps every digit', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 40n }), fc.nat(30), (digits, scale) => {
        const plain = plainDecimal(`${digits}e-${scale}`);
        expect(plain).not.toBeNull();
        const [whole = '', fraction = ''] = (plain ?? '').split('.');
        expect(fraction.length).toBe(scale);
        expect(BigInt(`${whole}${fraction}`)).toBe(digits);
        expect(plainDecimal(plain ?? '')).toBe(plain);
      }),
    );
  });
});

describe('fit into DECIMAL', () => {
  test.each([
    ['123.45', 5, 2, true],
    ['1234.45', 5, 2, false],
    ['123.456', 5, 2, false],
    ['123.450', 5, 2, true],
    ['0.001', 3, 3, true],
    ['1.001', 3, 3, false],
    ['-99999', 5, 0, true],
    ['1e4', 5, 0, true],
    ['1e5', 5, 0, false],
    ['none', 38, 10, false],
  ])('%s in DECIMAL(%i, %i): %s', (text, precision, scale, fits) => {
    expect(fitsDecimal(text, precision, scale)).toBe(fits);
  });

  test('V1-23 a value fits if a scaled integer of that precision can hold it', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }),
        fc.nat(12),
        fc.nat(12),
        (value, places, scale) => {
          const text = `${value}e-${places}`;
          const shifted = value * 10n ** BigInt(scale);
          const exact = shifted % 10n ** BigInt(places) === 0n;
          const scaled = shifted / 10n ** BigInt(places);
          const fits = exact && scaled < 10n ** 18n && scaled > -(10n ** 18n);
          expect(fitsDecimal(text, 18, scale)).toBe(fits);
        },
      ),
    );
  });
});
