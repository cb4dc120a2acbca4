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
