export type Language = 'en' | 'de' | 'fr' | 'es' | 'it' | 'nordic' | 'slavic' | 'cjk' | 'hebrew';

/** One register with its own numbers: a country's, a state's, or a court's. */
export interface Register {
  /** Companies per thousand of the whole registry. */
  readonly share: number;
  /** `CA` in `US-CA`, the court in Germany, a region or null elsewhere. */
  readonly state: string | null;
  readonly jurisdiction: string | null;
  readonly number: NumberFormat;
  /** Where it differs from the country's. */
  readonly vat?: VatRule;
  readonly legalForms?: readonly string[];
  readonly cities: readonly string[];
}

export interface Country {
  readonly code: string;
  readonly name: string;
  readonly continent: string;
  readonly language: Language;
  readonly currency: string;
  readonly authority: string;
  readonly dial: string;
  readonly domain: string;
  /** Digits of a postal code. */
  readonly postal: number;
  readonly legalForms: readonly string[];
  readonly vat: VatRule;
  readonly registers: readonly Register[];
  /** How analysts write the country. */
  readonly aliases: readonly string[];
}

/** A number space: position n of a register, written as the register writes it, and back. */
export interface NumberFormat {
  /** How many positions the format can write. */
  readonly capacity: number;
  /** Digits of a purely numeric format: a forgiving search pads to it. */
  readonly width?: number;
  encode(n: number): string;
  /** The only position that can have this compact spelling; the caller compares by encoding again. */
  decode(compact: string): number | undefined;
}

/** Upper case letters and digits alone: what a forgiving search compares. */
export function compact(text: string): string {
  if (/^[0-9A-Z]*$/.test(text)) return text;
  return text
    .normalize('NFKC')
    .toUpperCase()
    .replace(/[^0-9A-Z]/g, '');
}

/**
 * Even positions count up from `low`, odd ones from `high`. Numbers stay dense, so that one digit off often
 * names another company, and both short numbers with leading zeros and long ones are common.
 */
function twoRanges(low: number, high: number) {
  return {
    capacity: (high - low) * 2,
    at: (n: number): number => (n % 2 === 0 ? low + n / 2 : high + (n - 1) / 2),
    indexOf: (value: number): number | undefined => {
      if (value >= high) return (value - high) * 2 + 1;
      return value >= low ? (value - low) * 2 : undefined;
    },
  };
}

/** `prefix` + zero-padded digits + `suffix`. */
export function digits(width: number, low: number, high: number, prefix = '', suffix = ''): NumberFormat {
  const range = twoRanges(low, high);
  const before = compact(prefix).length;
  const after = compact(suffix).length;
  return {
    capacity: Math.min(range.capacity, (10 ** width - high) * 2),
    ...(before + after === 0 ? { width } : {}),
    encode: (n) => `${prefix}${String(range.at(n)).padStart(width, '0')}${suffix}`,
    decode: (text) => range.indexOf(toNumber(text.slice(before, text.length - after))),
  };
}

/**
 * Digits whose check is computed by `finish`. Where a check does not exist (mod 11 gives 10) the last digit of
 * the base moves on by one, so that every position still has exactly one number.
 */
export function checked(options: {
  /** Digits of the base, without the check. */
  readonly width: number;
  readonly low: number;
  readonly high: number;
  /** The whole compact number, or undefined where no check exists. */
  readonly finish: (base: string) => string | undefined;
  /** The base digits inside a compact number. */
  readonly base: (compact: string) => string;
  /** The register's own spelling of the compact number. */
  readonly spell?: (compact: string) => string;
  readonly numeric?: boolean;
}): NumberFormat {
  const range = twoRanges(Math.ceil(options.low / 10), Math.ceil(options.high / 10));
  const spell = options.spell ?? ((text: string) => text);
  const fullWidth = options.finish('0'.repeat(options.width))?.length;
  return {
    capacity: Math.min(range.capacity, (10 ** (options.width - 1) - options.high / 10) * 2),
    ...(options.numeric === false || fullWidth === undefined ? {} : { width: fullWidth }),
    encode: (n) => {
      const tens = range.at(n) * 10;
      for (let step = 0; step < 10; step++) {
        const base = String(tens + ((n * 7 + step) % 10)).padStart(options.width, '0');
        const whole = options.finish(base);
        if (whole !== undefined) return spell(whole);
      }
      throw new RangeError(`no number at position ${n}`);
    },
    decode: (text) => {
      const base = toNumber(options.base(text));
      return Number.isNaN(base) ? undefined : range.indexOf(Math.floor(base / 10));
    },
  };
}

function toNumber(text: string): number {
  return /^\d+$/.test(text) ? Number(text) : Number.NaN;
}

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

/** Check digits of the registers and tax offices. Each takes the digits before the check. */
export function weighted(digits: string, weights: readonly number[]): number {
  let sum = 0;
  for (let i = 0; i < weights.length; i++) sum += (digits.charCodeAt(i) - 48) * (weights[i] ?? 0);
  return sum;
}

/** The digit that completes `digits` under Luhn. */
export function luhn(digits: string): number {
  let sum = 0;
  for (let i = digits.length - 1, double = true; i >= 0; i--, double = !double) {
    const digit = digits.charCodeAt(i) - 48;
    sum += double ? (digit > 4 ? digit * 2 - 9 : digit * 2) : digit;
  }
  return (10 - (sum % 10)) % 10;
}

/** `11 - sum mod 11`; undefined where the register leaves the number out (a check of 10). */
export function mod11(digits: string, weights: readonly number[]): number | undefined {
  const check = (11 - (weighted(digits, weights) % 11)) % 11;
  return check === 10 ? undefined : check;
}

/** ISO 7064 mod 11,10, as the German tax office uses it. */
function mod1110(digits: string): number {
  let product = 10;
  for (const digit of digits) {
    const sum = (Number(digit) + product) % 10 || 10;
    product = (2 * sum) % 11;
  }
  return (11 - product) % 10;
}

/** The control character of a Spanish company number: a letter or a digit, depending on the first letter. */
export function spanishControl(letter: string, digits: string): string {
  const control = luhn(digits);
  return 'NPQRSW'.includes(letter) ? 'JABCDEFGHI'.charAt(control) : String(control);
}

const USCC = '0123456789ABCDEFGHJKLMNPQRTUWXY';

/** Mod 31 over the first 17 characters of a Chinese unified social credit code. */
export function usccCheck(text: string): string {
  let sum = 0;
  let weight = 1;
  for (const character of text) {
    sum += USCC.indexOf(character) * weight;
    weight = (weight * 3) % 31;
  }
  return USCC.charAt((31 - (sum % 31)) % 31);
}

/** The check character of the organisation code inside it (GB 11714). */
export function organisationCheck(text: string): string {
  const weights = [3, 7, 9, 10, 5, 8, 4, 2];
  let sum = 0;
  for (let i = 0; i < 8; i++) {
    const code = text.charCodeAt(i);
    sum += (code > 64 ? code - 55 : code - 48) * (weights[i] ?? 0);
  }
  const check = 11 - (sum % 11);
  return check === 10 ? 'X' : check === 11 ? '0' : String(check);
}

export const usccAlphabet = USCC;
