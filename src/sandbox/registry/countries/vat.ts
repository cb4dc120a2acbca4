import { luhn, mod11, mod1110, weighted } from './checks.js';
import { checked, type NumberFormat } from './format.js';

/** A VAT number either follows from the registration number or is drawn from a space of its own. */
export type VatRule =
  | {
      readonly kind: 'derived';
      /** From the compact registration number. */
      readonly encode: (compactNumber: string) => string;
      /** The compact registration number inside a compact VAT number. */
      readonly decode: (compactVat: string) => string;
    }
  | { readonly kind: 'own'; readonly format: NumberFormat };

export const derived = (encode: (number: string) => string, decode: (vat: string) => string): VatRule => ({
  kind: 'derived',
  encode,
  decode,
});

export const own = (format: NumberFormat): VatRule => ({ kind: 'own', format });

/** The registration number between a fixed prefix and suffix. */
export const around = (prefix: string, suffix = ''): VatRule =>
  derived(
    (number) => `${prefix}${number}${suffix}`,
    (vat) => vat.slice(prefix.length, vat.length - suffix.length),
  );

const britishCheck = (base: string): string =>
  String((97 - (weighted(base, [8, 7, 6, 5, 4, 3, 2]) % 97)) % 97).padStart(2, '0');

export const britishVat = own(
  checked({
    width: 7,
    low: 1_000_000,
    high: 5_600_000,
    finish: (base) => `GB${base}${britishCheck(base)}`,
    base: (text) => text.slice(2, 9),
    numeric: false,
  }),
);

export const germanVat = own(
  checked({
    width: 8,
    low: 11_000_000,
    high: 27_000_000,
    finish: (base) => `DE${base}${mod1110(base)}`,
    base: (text) => text.slice(2, 10),
    numeric: false,
  }),
);

export const frenchVat = derived(
  (number) => `FR${String((12 + 3 * (Number(number) % 97)) % 97).padStart(2, '0')}${number}`,
  (vat) => vat.slice(4),
);

export const dutchVat = own(
  checked({
    width: 8,
    low: 10_000,
    high: 80_000_000,
    finish: (base) => {
      const check = weighted(base, [9, 8, 7, 6, 5, 4, 3, 2]) % 11;
      return check === 10 ? undefined : `NL${base}${check}B01`;
    },
    base: (text) => text.slice(2, 10),
    numeric: false,
  }),
);

export const irishVat = own(
  checked({
    width: 7,
    low: 3_200_000,
    high: 6_400_000,
    finish: (base) => {
      const sum = weighted(base, [8, 7, 6, 5, 4, 3, 2]) + 8 * 9;
      return `IE${base}${'WABCDEFGHIJKLMNOPQRSTUV'.charAt(sum % 23)}H`;
    },
    base: (text) => text.slice(2, 9),
    numeric: false,
  }),
);

export const polishVat = own(
  checked({
    width: 9,
    low: 525_000_000,
    high: 779_000_000,
    finish: (base) => {
      const check = weighted(base, [6, 5, 7, 2, 3, 4, 5, 6, 7]) % 11;
      return check === 10 ? undefined : `PL${base}${check}`;
    },
    base: (text) => text.slice(2, 11),
    numeric: false,
  }),
);

export const austrianVat = own(
  checked({
    width: 7,
    low: 1_000_000,
    high: 6_000_000,
    finish: (base) => `ATU${base}${(26 - (10 - luhn(base.slice(0, -1)) + Number(base.at(-1)))) % 10}`,
    base: (text) => text.slice(3, 10),
    numeric: false,
  }),
);

export const luxembourgVat = own(
  checked({
    width: 6,
    low: 100_000,
    high: 250_000,
    finish: (base) => `LU${base}${String(Number(base) % 89).padStart(2, '0')}`,
    base: (text) => text.slice(2, 8),
    numeric: false,
  }),
);

/** Seven digits, the three of a province, and the check. */
export const italianNumber = (base: string): string => {
  const front = `${base}${String(1 + (Number(base) % 95)).padStart(3, '0')}`;
  return `${front}${luhn(front)}`;
};

/** Italian VAT of companies that the register knows by their REA number alone. */
export const italianVat = own(
  checked({
    width: 7,
    low: 700_000,
    high: 6_000_000,
    finish: (base) => `IT${italianNumber(base)}`,
    base: (text) => text.slice(2, 9),
    numeric: false,
  }),
);

/** Employer identification number: the tax number of the United States, no state's file number. */
export const americanEin = own({
  capacity: 60_000_000,
  width: 9,
  encode: (n) => {
    const digits = String(200_000_000 + n).padStart(9, '0');
    return `${digits.slice(0, 2)}-${digits.slice(2)}`;
  },
  decode: (text) => (/^\d{9}$/.test(text) ? Number(text) - 200_000_000 : undefined),
});

export const canadianBusinessNumber = own(
  checked({
    width: 8,
    low: 10_000_000,
    high: 80_000_000,
    finish: (base) => `${base}${luhn(base)}RT0001`,
    base: (text) => text.slice(0, 8),
    numeric: false,
  }),
);

export const australianBusinessNumber = derived(
  (number) => `${11 + ((89 - ((weighted(number, [3, 5, 7, 9, 11, 13, 15, 17, 19]) + 1) % 89)) % 89)}${number}`,
  (vat) => vat.slice(-9),
);

export const swissVat = derived(
  (number) => `${number}MWST`,
  (vat) => vat.replace(/(?:MWST|TVA|IVA)$/, ''),
);

/** Weights for the Danish, Finnish, Norwegian and Portuguese numbers, which serve as VAT numbers too. */
export const danishCheck = (base: string) => mod11(base, [2, 7, 6, 5, 4, 3, 2]);
export const finnishCheck = (base: string) => mod11(base, [7, 9, 10, 5, 8, 4, 2]);
export const norwegianCheck = (base: string) => mod11(base, [3, 2, 7, 6, 5, 4, 3, 2]);
