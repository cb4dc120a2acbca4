// The text of a workbook's cell: number formats, exact numbers and dates.

import { Memo, trimEndOf } from '../../util/text-limits.js';
import { unescaped } from './xml.js';
import { damagedWorkbook } from './zip-parts.js';

export interface CellContext {
  readonly shownAs: string;
  readonly strings: readonly string[];
  readonly styles: readonly NumberLook[];
  readonly from1904: boolean;
}

/** How a cell was stored. `padded`: a number whose format added zeros or signs. */
export type StoredKind = 'text' | 'number' | 'day' | 'padded';

export interface CellValue {
  readonly text: string;
  readonly kind: StoredKind;
}

/** The text of a cell as its owner sees it, but exact if Excel would round. `stored` is the text in `<v>`. */
export function cellValue(stored: string, type: string | undefined, style: number, context: CellContext): CellValue {
  switch (type) {
    case 's':
      return asText(sharedText(stored, context));
    case 'b':
      return asText(stored.trim() === '0' ? 'FALSE' : 'TRUE');
    case 'str':
    case 'inlineStr':
      return asText(unescaped(stored));
    case 'd':
      return { text: stored.trim().replace(/T00:00:00(\.0+)?Z?$/, ''), kind: 'day' };
    case 'e':
      return asText(stored);
    default:
      return numberValue(stored, context.styles[style] ?? PLAIN, context.from1904);
  }
}

const asText = (text: string): CellValue => ({ text, kind: 'text' });

function sharedText(stored: string, { strings, shownAs }: CellContext): string {
  const text = strings[Number(stored)];
  if (text === undefined) throw damagedWorkbook(shownAs, `a cell refers to text ${stored}, which is missing`);
  return text;
}

function numberValue(stored: string, look: NumberLook, from1904: boolean): CellValue {
  switch (look.kind) {
    case 'plain':
      return { text: numberText(stored), kind: 'number' };
    case 'date':
      return dayValue(stored, dateText(Number(stored), from1904, look.time));
    case 'time': {
      const time = timeText(Number(stored));
      return time === undefined ? dayValue(stored, dateText(Number(stored), from1904, true)) : asText(time);
    }
    case 'digits': {
      const text = numberText(stored);
      if (!/^\d+$/.test(text)) return { text, kind: 'number' };
      const shown = shownDigits(text, look.places);
      return { text: shown, kind: shown === text ? 'number' : 'padded' };
    }
  }
}

const dayValue = (stored: string, day: string | undefined): CellValue =>
  day === undefined ? { text: numberText(stored), kind: 'number' } : { text: day, kind: 'day' };

export type NumberLook =
  | { readonly kind: 'plain' }
  | { readonly kind: 'date'; readonly time: boolean }
  | { readonly kind: 'time' }
  /** Digits with leading zeros, and text around or between them. */
  | { readonly kind: 'digits'; readonly places: readonly Place[] };

/** A digit, with or without a zero if the number has no digit there, or a literal text. */
type Place = { readonly showsZero: boolean } | { readonly text: string };

const PLAIN: NumberLook = { kind: 'plain' };
const DATE: NumberLook = { kind: 'date', time: false };
const DATE_TIME: NumberLook = { kind: 'date', time: true };
const TIME: NumberLook = { kind: 'time' };

/** Built-in formats of every workbook. 27 to 36 and 50 to 58 are the dates of East Asian Excel. */
export function builtInLook(id: number): NumberLook {
  if ((id >= 14 && id <= 17) || (id >= 27 && id <= 31) || id === 36 || (id >= 50 && id <= 58)) return DATE;
  if (id === 22) return DATE_TIME;
  if ((id >= 18 && id <= 21) || (id >= 32 && id <= 35) || id === 45 || id === 47) return TIME;
  return PLAIN;
}

/** Excel accepts no longer format. */
const LONGEST_FORMAT = 255;

export function lookOf(format: string): NumberLook {
  if (format.length > LONGEST_FORMAT) return PLAIN;
  // Later sections are for negative numbers, zero and text.
  const [section = ''] = format.split(/;(?=(?:[^"]*"[^"]*")*[^"]*$)/);
  if (/^general$/i.test(section.trim())) return PLAIN;
  return dateLook(section) ?? digitsLook(section) ?? PLAIN;
}

function dateLook(section: string): NumberLook | undefined {
  // A count of hours beyond 24 is not a time of day.
  if (/\[(h+|m+|s+)\]/i.test(section)) return undefined;
  const letters = section
    .replace(/"[^"]*"|\\.|_.|\*.|\[[^\]]*\]/g, '')
    .replace(/AM\/PM|A\/P/gi, 'h')
    .replace(/s\.0+/gi, 's');
  if (!/[dmyhs]/i.test(letters) || /[0#?]/.test(letters)) return undefined;
  const time = /[hs]/i.test(letters);
  if (/[dy]/i.test(letters)) return time ? DATE_TIME : DATE;
  return time ? TIME : DATE;
}

/**
 * `00000000`, `0000000#`, `00-0000000`: at least two places that show a zero, and no fraction. Or text that is part of
 * the number: `"HRB "0`, `"SC"General`, `0" B"`, `"1"0`, `0"*"`. Words after it are a unit, as in `0" pieces"`, and the
 * number stays a number.
 */
function digitsLook(section: string): NumberLook | undefined {
  const bare = section.replace(/\[[^\]]*\]/g, '');
  const tokens: readonly string[] = bare.match(/"[^"]*"|\\.|General|[0#]|[- /():]|./gisu) ?? [];
  // Without a zero, the last place shows all digits, and is empty only for zero.
  const last = tokens.some(isZero) ? -1 : tokens.lastIndexOf('#');
  const places: Place[] = [];
  let zeros = 0;
  for (const [index, token] of tokens.entries()) {
    if (isZero(token) || token === '#') {
      if (isZero(token) || index === last) zeros++;
      // After the first zero every place shows a digit.
      places.push({ showsZero: zeros > 0 });
      continue;
    }
    const text = token.startsWith('"') ? token.slice(1, -1) : token.startsWith('\\') ? token.slice(1) : token;
    if (text === token && !/^[- /():]$/.test(token)) return undefined;
    places.push({ text });
  }
  const addsText = isMoreThanUnit(places);
  // `[>5000]"1"0;0` shows its text only for some numbers.
  if (zeros === 0 || (addsText && /\[[<>=]/.test(section))) return undefined;
  return zeros > 1 || addsText ? { kind: 'digits', places } : undefined;
}

const isZero = (token: string): boolean => token === '0' || /^general$/i.test(token);

function isMoreThanUnit(places: readonly Place[]): boolean {
  const end = places.findLastIndex((place) => 'showsZero' in place) + 1;
  const textOf = (some: readonly Place[]) => some.map((place) => ('text' in place ? place.text : '')).join('');
  const [before, behind] = [textOf(places.slice(0, end)), textOf(places.slice(end))];
  return /[\p{L}\p{N}]/u.test(before) || SIGN.test(before) || SIGN.test(behind) || PART_BEHIND.test(behind);
}

/** Possible marks. Currency, per cent, degrees and brackets are not marks. */
const SIGN = /[^\p{L}\p{M}\p{N}\p{Sc}\s%‰°′″'’".,:;()/\\-]/u;

/** A district's letter, or digits that are not part of a unit: `m²`, `CO2`. */
const PART_BEHIND = /^[ /-]?\p{Lu}$|(?<![\p{L}\p{N}])\p{N}/u;

/** A whole number of at least zero, written as its format shows it. */
function shownDigits(digits: string, places: readonly Place[]): string {
  const first = places.findIndex((place) => 'showsZero' in place);
  let left = digits;
  let shown = '';
  for (const [index, place] of [...places.entries()].reverse()) {
    if ('text' in place) {
      shown = place.text + shown;
      continue;
    }
    const digit = index === first ? left : left.slice(-1);
    shown = (digit === '' && place.showsZero ? '0' : digit) + shown;
    left = index === first ? '' : left.slice(0, -1);
  }
  return shown;
}

const NUMBER = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,4}))?$/;

/** Nearly all numbers: whole numbers, and short fractions without a trailing zero. */
const AS_IT_STANDS = /^-?(?:\d+|(?:0|[1-9]\d{0,7})\.\d{0,6}[1-9])$/;

/** The digits that a spreadsheet keeps of a number. Further digits are noise of the binary form. */
const KEPT_DIGITS = 15;

/** Whole numbers up to 2^53 are exact. */
const LARGEST_EXACT = 9_007_199_254_740_992n;

/**
 * A number as its owner sees it, computed from the stored text and never as a double: `1.1247631E7` is 11247631 and
 * `4.3499999999999996` is 4.35. If digits are lost (`1.2345678901234E+17`), the stored text is kept, so that zeros do
 * not look like digits.
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
  // Such a small number is not typed by a person.
  if (intDigits < -6) return text;
  const rounded = roundedTo(digits, KEPT_DIGITS);
  return `${minus}${placed(rounded.digits, intDigits + rounded.carried)}`;
}

/** Rounds half up. `carried` is 1 if all nines became a one with one more place. */
function roundedTo(digits: string, most: number): { digits: string; carried: number } {
  if (digits.length <= most) return { digits, carried: 0 };
  const kept = BigInt(digits.slice(0, most)) + (Number(digits[most]) >= 5 ? 1n : 0n);
  const text = String(kept);
  return { digits: trimEndOf(text, '0'), carried: text.length > most ? 1 : 0 };
}

function placed(digits: string, intDigits: number): string {
  if (intDigits <= 0) return `0.${'0'.repeat(-intDigits)}${digits}`;
  if (digits.length <= intDigits) return digits.padEnd(intDigits, '0');
  return `${digits.slice(0, intDigits)}.${digits.slice(intDigits)}`;
}

const DAY_MS = 86_400_000;

/** 9999-12-31 in days since 1900. */
const LAST_DAY = 2_958_465;

/** Excel's 1900 has a 29th of February, day 60. Later days are one too many. */
const LEAP_DAY = 60;

/**
 * Days since 1900 or 1904, as `2025-12-31` or `2025-12-31T08:30:00`, with a fraction of a second if there is one.
 * Undefined if it is not a date.
 */
export function dateText(serial: number, from1904: boolean, withTime: boolean): string | undefined {
  if (!(serial >= 1) && !(from1904 && serial >= 0)) return undefined;
  if (serial > LAST_DAY) return undefined;
  let { days, ms } = split(serial);
  if (!withTime) {
    days = Math.floor(serial);
    ms = 0;
  }
  if (!from1904 && days === LEAP_DAY) return undefined;
  const sinceEpoch = from1904 ? days - 24_107 : days < LEAP_DAY ? days - 25_568 : days - 25_569;
  const date = isoDay(sinceEpoch);
  return withTime ? `${date}T${clockText(ms)}` : date;
}

/** A list repeats the same days, and computing one takes longer than reading its cell. */
const isoDays = new Memo<string>(20_000);

const isoDay = (sinceEpoch: number): string =>
  isoDays.getOrCompute(String(sinceEpoch), () => new Date(sinceEpoch * DAY_MS).toISOString().slice(0, 10));

/** The time of day, as `08:30:00`. Undefined for a whole day or more. */
function timeText(serial: number): string | undefined {
  if (!(serial >= 0 && serial < 1)) return undefined;
  const { days, ms } = split(serial);
  return days === 0 ? clockText(ms) : undefined;
}

/** Not finer than Excel shows: a double is less exact than a thousandth of a second. */
function split(serial: number): { days: number; ms: number } {
  const whole = Math.floor(serial);
  const ms = Math.round((serial - whole) * DAY_MS);
  return ms === DAY_MS ? { days: whole + 1, ms: 0 } : { days: whole, ms };
}

function clockText(ms: number): string {
  const seconds = Math.floor(ms / 1_000);
  const parts = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60];
  const clock = parts.map((part) => String(part).padStart(2, '0')).join(':');
  return ms % 1_000 === 0 ? clock : `${clock}.${String(ms % 1_000).padStart(3, '0')}`;
}
