import { trimEndOf } from '../../util/text-limits.js';

const NUMBER = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,4}))?$/;
/** Nearly all: whole numbers, and fractions of few digits without a zero too many. */
const AS_IT_STANDS = /^-?(?:\d+|(?:0|[1-9]\d{0,7})\.\d{0,6}[1-9])$/;
/** The digits that a spreadsheet keeps of a number; what stands behind them is noise of its binary form. */
const KEPT_DIGITS = 15;
/** Whole numbers up to here, 2^53, are held exactly. */
const LARGEST_EXACT = 9_007_199_254_740_992n;

/**
 * A number as its owner sees it, worked out on the text that was stored, never through a double: `1.1247631E7` is
 * 11247631 and `4.3499999999999996` is 4.35. Where digits are lost (`1.2345678901234E+17`) the text stays as it was
 * stored, so that nobody takes the zeros for digits.
 */
export function numberText(stored: string): string {
  if (AS_IT_STANDS.test(stored)) return stored;
  const text = stored.trim();
  const match = NUMBER.exec(text);
  if (match === null) return stored;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match;
  if (whole === '' && fraction === '') return stored;
  if (fraction === '' && exponent === '0') return text;
  const point = whole.length + Number(exponent);
  const all = (whole + fraction).replace(/^0+/, '');
  const leading = whole.length + fraction.length - all.length;
  const digits = trimEndOf(all, '0');
  if (digits === '') return '0';
  const minus = sign === '-' ? '-' : '';
  const intDigits = point - leading;
  if (digits.length <= intDigits) {
    const plain = intDigits > 20 ? undefined : digits.padEnd(intDigits, '0');
    return plain !== undefined && BigInt(plain) <= LARGEST_EXACT ? `${minus}${plain}` : text;
  }
  // Nothing a person writes is so small.
  if (intDigits < -6) return text;
  const rounded = roundedTo(digits, KEPT_DIGITS);
  return `${minus}${placed(rounded.digits, intDigits + rounded.carried)}`;
}

/** Rounds half up; `carried` is 1 where all nines became a one with one place more. */
function roundedTo(digits: string, most: number): { digits: string; carried: number } {
  if (digits.length <= most) return { digits, carried: 0 };
  const kept = BigInt(digits.slice(0, most)) + (Number(digits[most]) >= 5 ? 1n : 0n);
  const text = String(kept);
  return { digits: trimEndOf(text, '0'), carried: text.length > most ? 1 : 0 };
}

/** Puts the decimal point behind this many digits. */
function placed(digits: string, intDigits: number): string {
  if (intDigits <= 0) return `0.${'0'.repeat(-intDigits)}${digits}`;
  if (digits.length <= intDigits) return digits.padEnd(intDigits, '0');
  return `${digits.slice(0, intDigits)}.${digits.slice(intDigits)}`;
}
