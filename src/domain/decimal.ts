import { trimEndOf } from '../util/text-limits.js';

/** A number as text: optional sign, digits, fraction, exponent. */
const NUMBER = /^([+-]?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,6}))?$/;

/** Beyond this an expanded number is no longer a figure anyone reads, and could fill the memory. */
const MAX_EXPONENT = 10_000;

/** The same number without exponent, digit for digit: `1.50e1` → `15.0`. Null if the text is no number. */
export function plainDecimal(text: string): string | null {
  const match = NUMBER.exec(text);
  if (match === null) return null;
  const [, sign = '', whole = '', fraction = '', exponentText] = match;
  const minus = sign === '-' ? '-' : '';
  if (exponentText === undefined) return `${minus}${join(whole, fraction)}`;
  const exponent = Number(exponentText);
  if (Math.abs(exponent) > MAX_EXPONENT) return null;
  const digits = `${whole}${fraction}`;
  const point = whole.length + exponent;
  if (point <= 0) return `${minus}${join('0', `${'0'.repeat(-point)}${digits}`)}`;
  return `${minus}${join(digits.slice(0, point).padEnd(point, '0'), digits.slice(point))}`;
}

/** Whether DECIMAL(precision, scale) holds the number without losing a digit other than trailing zeros. */
export function fitsDecimal(text: string, precision: number, scale: number): boolean {
  const plain = plainDecimal(text);
  if (plain === null) return false;
  const [whole = '', fraction = ''] = plain.replace('-', '').split('.');
  return whole.replace(/^0+/, '').length <= precision - scale && trimEndOf(fraction, '0').length <= scale;
}

function join(whole: string, fraction: string): string {
  const integer = whole.replace(/^0+(?=\d)/, '');
  return fraction === '' ? integer : `${integer}.${fraction}`;
}
