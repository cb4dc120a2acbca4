// Formats of registration and VAT numbers, with their check digits.

export const LANGUAGES = ['en', 'de', 'fr', 'es', 'it', 'nordic', 'slavic', 'cjk', 'hebrew'] as const;
export type Language = (typeof LANGUAGES)[number];

/** A number space: writes position n as the register writes it, and reads it back. */
export interface NumberFormat {
  /** How many numbers the format can write. */
  readonly capacity: number;
  /** Digits of a purely numeric format. A forgiving search pads numbers to this width. */
  readonly width?: number;
  encode(n: number): string;
  /** The only position that can have this compact spelling. The caller encodes it again and compares. */
  decode(compact: string): number | undefined;
}

/** Only upper case letters and digits, which a forgiving search compares. */
export function compact(text: string): string {
  if (/^[0-9A-Z]*$/.test(text)) return text;
  return text
    .normalize('NFKC')
    .toUpperCase()
    .replace(/[^0-9A-Z]/g, '');
}

/**
 * Even positions count up from `low`, odd ones from `high`. Numbers stay dense, so that one wrong digit often names
 * another company. Both short numbers with leading zeros and long numbers are common.
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

/** How digits become a number: between prefix and suffix, or by a pattern with `#` for each digit. */
interface Writing {
  readonly prefix: string;
  readonly suffix: string;
  readonly spelling?: string | undefined;
}

function writeDigits({ prefix, suffix, spelling }: Writing): (digits: string) => string {
  if (spelling === undefined) return (text) => `${prefix}${text}${suffix}`;
  return (text) => {
    let at = 0;
    return spelling.replace(/#/g, () => text.charAt(at++));
  };
}

/** Only a purely numeric number has a width to pad to. */
const isNumeric = ({ prefix, suffix }: Writing): boolean => prefix === '' && suffix === '';

/** Two ranges of numbers: the first number of each, and their width. */
interface Ranges {
  readonly width: number;
  readonly low: number;
  readonly high: number;
}

/** Zero-padded digits. */
export function digits(options: Ranges & Writing): NumberFormat {
  const { width, low, high } = options;
  const range = twoRanges(low, high);
  const write = writeDigits(options);
  const before = compact(options.prefix).length;
  const after = compact(options.suffix).length;
  return {
    capacity: Math.min(range.capacity, (10 ** width - high) * 2),
    ...(isNumeric(options) ? { width } : {}),
    encode: (n) => write(String(range.at(n)).padStart(width, '0')),
    decode: (text) => range.indexOf(toNumber(text.slice(before, text.length - after))),
  };
}

/**
 * Digits with check digits, which `width` does not count. If no check exists (mod 11 gives 10), the last digit before
 * it increases by one, so that every position has exactly one number.
 */
export function checked(
  options: Ranges & Writing & { readonly check: CheckName; readonly checkFirst: boolean },
): NumberFormat {
  const { width, low, high, prefix, suffix, checkFirst } = options;
  const range = twoRanges(Math.ceil(low / 10), Math.ceil(high / 10));
  const write = writeDigits(options);
  const checkOf: (base: string) => string | number | undefined = checks[options.check];
  const finish = (base: string): string | undefined => {
    const check = checkOf(base);
    return check === undefined ? undefined : checkFirst ? `${check}${base}` : `${base}${check}`;
  };
  const full = finish('0'.repeat(width))?.length ?? width;
  const start = prefix.length + (checkFirst ? full - width : 0);
  return {
    capacity: Math.min(range.capacity, (10 ** (width - 1) - high / 10) * 2),
    ...(isNumeric(options) ? { width: full } : {}),
    encode: (n) => {
      const tens = range.at(n) * 10;
      for (let step = 0; step < 10; step++) {
        const whole = finish(String(tens + ((n * 7 + step) % 10)).padStart(width, '0'));
        if (whole !== undefined) return write(whole);
      }
      throw new RangeError(`no number at position ${n}`);
    },
    decode: (text) => {
      if (text.length !== prefix.length + full + suffix.length) return undefined;
      const base = toNumber(text.slice(start, start + width));
      return Number.isNaN(base) ? undefined : range.indexOf(Math.floor(base / 10));
    },
  };
}

/** Counts up from `first`, without leading zeros. */
export function counted(
  options: Writing & { readonly first: number; readonly capacity: number; readonly width?: number | undefined },
): NumberFormat {
  const { first, capacity, width, prefix } = options;
  const write = writeDigits(options);
  return {
    capacity,
    ...(width === undefined ? {} : { width }),
    encode: (n) => write(String(first + n)),
    decode: (text) => {
      const number = text.startsWith(prefix) ? toNumber(text.slice(prefix.length)) : Number.NaN;
      return Number.isNaN(number) ? undefined : number - first;
    },
  };
}

function toNumber(text: string): number {
  return /^\d+$/.test(text) ? Number(text) : Number.NaN;
}

/**
 * Section A (partnerships) takes one position in eight, section B (companies) the others. Every court counts
 * separately.
 */
export function commercialRegister(suffix: string): NumberFormat {
  const tail = suffix === '' ? '' : ` ${suffix}`;
  const shape = new RegExp(`^HR([AB])(\\d{1,6})${compact(suffix)}$`);
  return {
    capacity: 790_000,
    encode: (n) => {
      const block = Math.floor(n / 8);
      return n % 8 === 0 ? `HRA ${block + 101}${tail}` : `HRB ${block * 7 + (n % 8) + 200}${tail}`;
    },
    decode: (text) => {
      const [, section, number] = shape.exec(text) ?? [];
      if (number === undefined) return undefined;
      if (section === 'A') return (Number(number) - 101) * 8;
      const position = Number(number) - 201;
      return Math.floor(position / 7) * 8 + (position % 7) + 1;
    },
  };
}

/**
 * Unified social credit code. Even positions have an organisation code of digits, odd ones start with MA. Common
 * validators refuse a check character of 0, so such codes use the neighbouring district.
 */
export function socialCredit(region: string, neighbour: string): NumberFormat {
  return {
    capacity: 60_000_000,
    encode: (n) => {
      const half = Math.floor(n / 2);
      const code = n % 2 === 0 ? String(70_000_000 + half) : `MA${base31(half)}`;
      const whole = withChecks(`91${region}${code}`);
      return whole.endsWith('0') ? withChecks(`91${neighbour}${code}`) : whole;
    },
    decode: (text) => {
      if (text.length !== 18 || (!text.startsWith(region, 2) && !text.startsWith(neighbour, 2))) return undefined;
      const code = text.slice(8, 16);
      if (/^\d{8}$/.test(code)) return (Number(code) - 70_000_000) * 2;
      return code.startsWith('MA') ? fromBase31(code.slice(2)) * 2 + 1 : undefined;
    },
  };
}

function withChecks(text: string): string {
  const front = `${text}${organisationCheck(text.slice(8))}`;
  return `${front}${usccCheck(front)}`;
}

function base31(value: number): string {
  let rest = value;
  let text = '';
  for (let i = 0; i < 6; i++) {
    text = USCC.charAt(rest % 31) + text;
    rest = Math.floor(rest / 31);
  }
  return text;
}

function fromBase31(text: string): number {
  let value = 0;
  for (const character of text) {
    const digit = USCC.indexOf(character);
    if (digit < 0) return Number.NaN;
    value = value * 31 + digit;
  }
  return value;
}

/** Formats that only one register has. */
export const specialFormats = {
  /** The Firmenbuch: digits without leading zeros, and a check letter. */
  austrian: {
    capacity: 900_000,
    encode: (n) => {
      const base = String(n + 33_000).padStart(6, '0');
      return `FN ${n + 33_000}${'abdfghikmpstvwxyz'.charAt(weighted(base, [6, 4, 14, 15, 10, 1]) % 17)}`;
    },
    decode: (text) => {
      const [, number] = /^FN(\d{1,6})[A-Z]$/.exec(text) ?? [];
      return number === undefined ? undefined : Number(number) - 33_000;
    },
  },
  /** A letter for the legal form, digits, and a control character that depends on the letter. */
  spanish: {
    capacity: 9_000_000,
    encode: (n) => {
      const digits = String(1_000_000 + n);
      const letter = 'BABGB'.charAt(n % 5);
      return `${letter}${digits}${spanishControl(letter, digits)}`;
    },
    decode: (text) => (/^[A-Z]\d{8}$/.test(text) ? Number(text.slice(1, 8)) - 1_000_000 : undefined),
  },
  /** Companies have a year, five digits and a letter. Older businesses have eight digits and a letter. */
  singaporean: {
    capacity: 1_500_000,
    encode: (n) => {
      if (n % 5 === 0) {
        const base = String(5_000_000 + n / 5).padStart(8, '0');
        return `${base}${'XMKECAWLJDB'.charAt(weighted(base, [10, 4, 9, 3, 8, 2, 7, 1]) % 11)}`;
      }
      const base = String(200_200_000 + n - Math.floor(n / 5) - 1);
      return `${base}${'ZKCMDNERGWH'.charAt(weighted(base, [10, 8, 6, 4, 9, 7, 5, 3, 1]) % 11)}`;
    },
    decode: (text) => {
      if (/^\d{8}[A-Z]$/.test(text)) return (Number(text.slice(0, 8)) - 5_000_000) * 5;
      if (!/^\d{9}[A-Z]$/.test(text)) return undefined;
      const position = Number(text.slice(0, 9)) - 200_200_000;
      return Math.floor(position / 4) * 5 + (position % 4) + 1;
    },
  },
} satisfies Record<string, NumberFormat>;

/** A VAT number follows from the registration number, or is drawn from a separate number space. */
export type VatRule =
  | {
      readonly kind: 'derived';
      /** From the compact registration number. */
      readonly encode: (compactNumber: string) => string;
      /** The compact registration number inside a compact VAT number. */
      readonly decode: (compactVat: string) => string;
    }
  | { readonly kind: 'own'; readonly format: NumberFormat };

const derived = (encode: (number: string) => string, decode: (vat: string) => string): VatRule => ({
  kind: 'derived',
  encode,
  decode,
});

/** The registration number between a fixed prefix and suffix. */
export const around = (prefix: string, suffix: string): VatRule =>
  derived(
    (number) => `${prefix}${number}${suffix}`,
    (vat) => vat.slice(prefix.length, vat.length - suffix.length),
  );

/** VAT numbers that follow from the registration number by a special rule. */
export const derivedVats = {
  french: derived(
    (number) => `FR${padded((12 + 3 * (Number(number) % 97)) % 97)}${number}`,
    (vat) => vat.slice(4),
  ),
  australian: derived(
    (number) => `${11 + ((89 - ((weighted(number, [3, 5, 7, 9, 11, 13, 15, 17, 19]) + 1) % 89)) % 89)}${number}`,
    (vat) => vat.slice(-9),
  ),
  swiss: derived(
    (number) => `${number}MWST`,
    (vat) => vat.replace(/(?:MWST|TVA|IVA)$/, ''),
  ),
} satisfies Record<string, VatRule>;

/** Check digits of registers and tax offices. Each takes the digits before the check. Undefined if no check exists. */
export const checks = {
  luhn,
  australian: (base: string) => (10 - (weighted(base, [8, 7, 6, 5, 4, 3, 2, 1]) % 10)) % 10,
  austrian: (base: string) => (26 - (10 - luhn(base.slice(0, -1)) + Number(base.at(-1)))) % 10,
  belgian: (base: string) => padded(97 - (Number(base) % 97)),
  /** The head office (branch 0001), with its two check digits. */
  brazilian: (base: string) => {
    const weights = [5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2];
    const root = `${base}0001`;
    const first = elevenMinus(weighted(root, weights));
    return `0001${first}${elevenMinus(weighted(`${root}${first}`, [6, ...weights]))}`;
  },
  british: (base: string) => padded((97 - (weighted(base, [8, 7, 6, 5, 4, 3, 2]) % 97)) % 97),
  czech: (base: string) => (11 - (weighted(base, [8, 7, 6, 5, 4, 3, 2]) % 11)) % 10,
  danish: (base: string) => mod11(base, [2, 7, 6, 5, 4, 3, 2]),
  dutch: (base: string) => remainder11(base, [9, 8, 7, 6, 5, 4, 3, 2]),
  finnish: (base: string) => mod11(base, [7, 9, 10, 5, 8, 4, 2]),
  /** ISO 7064 mod 11,10. */
  german: (base: string) => {
    let product = 10;
    for (const digit of base) {
      const sum = (Number(digit) + product) % 10 || 10;
      product = (2 * sum) % 11;
    }
    return (11 - product) % 10;
  },
  irish: (base: string) => 'WABCDEFGHIJKLMNOPQRSTUV'.charAt((weighted(base, [8, 7, 6, 5, 4, 3, 2]) + 8 * 9) % 23),
  /** The three digits of a province, and the check. */
  italian: (base: string) => {
    const province = String(1 + (Number(base) % 95)).padStart(3, '0');
    return `${province}${luhn(`${base}${province}`)}`;
  },
  japanese: (base: string) => 9 - (weighted(base, [2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1]) % 9),
  luxembourgish: (base: string) => padded(Number(base) % 89),
  norwegian: (base: string) => mod11(base, [3, 2, 7, 6, 5, 4, 3, 2]),
  polish: (base: string) => remainder11(base, [6, 5, 7, 2, 3, 4, 5, 6, 7]),
  portuguese: (base: string) => elevenMinus(weighted(base, [9, 8, 7, 6, 5, 4, 3, 2])),
  swiss: (base: string) => mod11(base, [5, 4, 3, 2, 7, 6, 5, 4]),
} satisfies Record<string, (base: string) => string | number | undefined>;

export type CheckName = keyof typeof checks;

const padded = (check: number): string => String(check).padStart(2, '0');

function weighted(digits: string, weights: readonly number[]): number {
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

/** `11 - sum mod 11`. Undefined if the register skips the number (a check of 10). */
function mod11(digits: string, weights: readonly number[]): number | undefined {
  const check = (11 - (weighted(digits, weights) % 11)) % 11;
  return check === 10 ? undefined : check;
}

function remainder11(digits: string, weights: readonly number[]): number | undefined {
  const check = weighted(digits, weights) % 11;
  return check === 10 ? undefined : check;
}

function elevenMinus(sum: number): number {
  const rest = sum % 11;
  return rest < 2 ? 0 : 11 - rest;
}

/** The control character of a Spanish company number: a letter or a digit, depending on the first letter. */
function spanishControl(letter: string, digits: string): string {
  const control = luhn(digits);
  return 'NPQRSW'.includes(letter) ? 'JABCDEFGHI'.charAt(control) : String(control);
}

const USCC = '0123456789ABCDEFGHJKLMNPQRTUWXY';

/** Mod 31 over the first 17 characters of a Chinese unified social credit code. */
function usccCheck(text: string): string {
  let sum = 0;
  let weight = 1;
  for (const character of text) {
    sum += USCC.indexOf(character) * weight;
    weight = (weight * 3) % 31;
  }
  return USCC.charAt((31 - (sum % 31)) % 31);
}

/** The check character of the organisation code inside it (GB 11714). */
function organisationCheck(text: string): string {
  const weights = [3, 7, 9, 10, 5, 8, 4, 2];
  let sum = 0;
  for (let i = 0; i < 8; i++) {
    const code = text.charCodeAt(i);
    sum += (code > 64 ? code - 55 : code - 48) * (weights[i] ?? 0);
  }
  const check = 11 - (sum % 11);
  return check === 10 ? 'X' : check === 11 ? '0' : String(check);
}
