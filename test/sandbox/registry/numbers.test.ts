import fc from 'fast-check';
import { stdnum } from 'stdnum';
import { describe, expect, test } from 'vitest';
import { Permutation } from '../../../src/sandbox/random.js';
import { countries } from '../../../src/sandbox/registry/countries/index.js';
import { compact } from '../../../src/sandbox/registry/countries/number-formats.js';
import { long } from '../../helpers/long.js';

const registers = countries().flatMap((country) =>
  country.registers.map((register) => ({
    label: `${country.code} ${register.state ?? register.jurisdiction ?? ''}`.trim(),
    country,
    register,
    vat: register.vat ?? country.vat,
  })),
);

const position = (capacity: number) => fc.integer({ min: 0, max: Math.min(capacity, 190_000) - 1 });

test('at least twenty countries', () => {
  expect(new Set(countries().map(({ code }) => code)).size).toBeGreaterThanOrEqual(20);
});

describe('a registration number leads back to its position', () => {
  test.each(registers)('$label', ({ register }) => {
    fc.assert(
      fc.property(position(register.number.capacity), (n) => {
        expect(register.number.decode(compact(register.number.encode(n)))).toBe(n);
      }),
    );
  });
});

describe('a VAT number leads back to its position, or to the registration number', () => {
  test.each(registers)('$label', ({ register, vat }) => {
    fc.assert(
      fc.property(position(register.number.capacity), (n) => {
        if (vat.kind === 'own') {
          const inside = n % vat.format.capacity;
          expect(vat.format.decode(compact(vat.format.encode(inside)))).toBe(inside);
        } else {
          const number = compact(register.number.encode(n));
          expect(vat.decode(compact(vat.encode(number)))).toBe(number);
        }
      }),
    );
  });
});

const shapes: readonly [string, RegExp][] = [
  ['GB', /^(?:\d{8}|(?:SC|NI|OC)\d{6})$/],
  ['DE', /^HR[AB] \d{1,6}(?: (?:B|KI))?$/],
  ['FR', /^\d{9}$/],
  ['NL', /^\d{8}$/],
  ['BE', /^[01]\d{9}$/],
  ['SE', /^\d{6}-\d{4}$/],
  ['NO', /^\d{9}$/],
  ['DK', /^\d{8}$/],
  ['FI', /^\d{7}-\d$/],
  ['IE', /^\d{1,6}$/],
  ['ES', /^[A-Z]\d{7}[0-9A-Z]$/],
  ['IT', /^(?:\d{11}|[A-Z]{2}-\d{7})$/],
  ['PL', /^\d{10}$/],
  ['CH', /^CHE-\d{3}\.\d{3}\.\d{3}$/],
  ['CA', /^\d{7}(?:\d{2})?$/],
  ['CN', /^[0-9A-Z]{18}$/],
  ['SG', /^\d{8,9}[A-Z]$/],
];

long.each(shapes)("numbers of %s have the register's form", (code, shape) => {
  for (const { register } of registers.filter(({ country }) => country.code === code)) {
    for (let n = 0; n < 3_000; n += 7) expect(register.number.encode(n)).toMatch(shape);
  }
});

/** Independent checksums, from stdnum. */
const numberChecks: readonly [string, string][] = [
  ['FR', 'siren'],
  ['BE', 'vat'],
  ['SE', 'orgnr'],
  ['NO', 'orgnr'],
  ['DK', 'cvr'],
  ['FI', 'ytunnus'],
  ['ES', 'cif'],
  ['CH', 'uid'],
  ['AT', 'businessid'],
  ['PT', 'nif'],
  ['CZ', 'dic'],
  ['CN', 'uscc'],
  ['SG', 'uen'],
  ['AU', 'acn'],
  ['JP', 'cn'],
  ['IL', 'hp'],
  ['BR', 'cnpj'],
];

const vatChecks: readonly [string, string][] = [
  ['GB', 'vat'],
  ['DE', 'vat'],
  ['FR', 'tva'],
  ['NL', 'btw'],
  ['BE', 'vat'],
  ['SE', 'vat'],
  ['NO', 'mva'],
  ['DK', 'cvr'],
  ['FI', 'alv'],
  ['IE', 'vat'],
  ['ES', 'nif'],
  ['IT', 'iva'],
  ['PL', 'nip'],
  ['CH', 'vat'],
  ['AT', 'uid'],
  ['PT', 'nif'],
  ['CZ', 'dic'],
  ['LU', 'tva'],
  ['AU', 'abn'],
  ['US', 'ein'],
  ['CA', 'gst'],
];

describe('checksums hold', () => {
  test.each(numberChecks)('registration number of %s (%s)', (code, key) => {
    const register = registers.find(({ country }) => country.code === code)?.register;
    for (let n = 0; n < 4_000; n += 37) {
      const number = register?.number.encode(n) ?? '';
      expect([number, stdnum[code]?.[key]?.validate(number.replace(/^FN /, '')).isValid]).toEqual([number, true]);
    }
  });

  test.each(vatChecks)('VAT number of %s (%s)', (code, key) => {
    const entry = registers.find(({ country }) => country.code === code);
    for (let n = 0; n < 4_000; n += 37) {
      if (entry === undefined) throw new Error(code);
      const { vat, register } = entry;
      const number = vat.kind === 'own' ? vat.format.encode(n) : vat.encode(compact(register.number.encode(n)));
      expect([number, stdnum[code]?.[key]?.validate(number).isValid]).toEqual([number, true]);
    }
  });
});

long('a permutation is a bijection of its range', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 900 }), fc.integer(), (size, key) => {
      const permutation = new Permutation(size, key);
      const images = new Set<number>();
      for (let i = 0; i < size; i++) {
        const image = permutation.forward(i);
        expect(permutation.backward(image)).toBe(i);
        images.add(image);
      }
      expect(images.size).toBe(size);
      expect(Math.max(...images)).toBe(size - 1);
    }),
    { numRuns: 25 },
  );
});
