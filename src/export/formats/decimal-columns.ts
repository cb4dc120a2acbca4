import { fitsDecimal, plainDecimal } from '../../domain/decimal.js';

/** What Parquet holds a number in, beside its text. */
export const DECIMAL = { precision: 38, scale: 10 } as const;
/** DuckDB reads a 64-bit decimal from text 200 times as fast as one of 128 bits, and most figures fit. */
export const SMALL_DECIMAL = { precision: 18, scale: 4 } as const;

const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** Whether DECIMAL(18,4) holds the text exactly. One pass over a few characters: this runs for every figure. */
export function fitsSmall(text: string): boolean {
  let at = text.charCodeAt(0) === MINUS ? 1 : 0;
  const start = at;
  while (isDigit(text.charCodeAt(at))) at++;
  const whole = at - start;
  if (whole === 0 || whole > SMALL_DECIMAL.precision - SMALL_DECIMAL.scale) return false;
  if (whole > 1 && text.charCodeAt(start) === ZERO) return false;
  if (at === text.length) return true;
  if (text.charCodeAt(at) !== POINT) return false;
  const fraction = ++at;
  while (isDigit(text.charCodeAt(at))) at++;
  return at === text.length && at > fraction && at - fraction <= SMALL_DECIMAL.scale;
}

/** The text without exponent if DECIMAL(38,10) holds it exactly; null otherwise. */
export function largeDecimal(text: string): string | null {
  if (!JSON_NUMBER.test(text) || !fitsDecimal(text, DECIMAL.precision, DECIMAL.scale)) return null;
  return plainDecimal(text);
}

const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const isDigit = (code: number) => code >= ZERO && code <= 0x39;
