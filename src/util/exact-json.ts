import { trimEndOf } from './text-limits.js';

/** A JSON number as it was written: `1.10` stays `1.10`, and thirty digits stay thirty. */
export class ExactNumber {
  constructor(readonly text: string) {}

  toString(): string {
    return this.text;
  }

  /** JSON.stringify cannot write a number exactly, so it gets text instead of a rounded number. */
  toJSON(): string {
    return this.text;
  }
}

/** A number for a request: a JavaScript number if it is exact, else the digits as written. */
export function requestNumber(text: string): number | ExactNumber {
  const number = Number(text);
  return decimalForm(String(number)) === decimalForm(text) ? number : new ExactNumber(text);
}

/** The same text for `1.10`, `1.1` and `11e-1`: sign, digits without zeros at their ends, exponent. */
function decimalForm(text: string): string {
  const [mantissa = '', exponent = '0'] = text.toLowerCase().split('e');
  const unsigned = mantissa.startsWith('-') ? mantissa.slice(1) : mantissa;
  const [whole = '', fraction = ''] = unsigned.split('.');
  const digits = whole + fraction;
  let [start, end] = [0, digits.length];
  while (digits[start] === '0') start++;
  while (end > start && digits[end - 1] === '0') end--;
  if (start === end) return '0';
  const power = Number(exponent) - fraction.length + digits.length - end;
  return `${mantissa === unsigned ? '' : '-'}${digits.slice(start, end)}e${power}`;
}

export type ExactJson = string | boolean | null | ExactNumber | ExactJson[] | JsonObject;

export type JsonObject = { [key: string]: ExactJson };

export const isObject = (value: ExactJson | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber);

/**
 * Parses UTF-8 bytes or text, with every digit of its numbers. Throws SyntaxError unless it is one JSON value without
 * repeated members: readers differ in which of the two they take (X-5).
 *
 * JSON.parse is the fastest JavaScript parser, but it rounds. So the bytes are scanned once, each number is quoted
 * behind a marker, JSON.parse does the rest, and the marked strings become `ExactNumber`s. Nothing recurses: 20,000
 * levels are as safe as two. `npm run bench` compares it with lossless-json.
 */
export function parseExact(input: Uint8Array | string): ExactJson {
  const bytes = typeof input === 'string' ? Buffer.from(input) : input;
  const { text, members } = quoteNumbers(bytes);
  const { value, members: kept } = unmark(JSON.parse(text));
  if (kept !== members) throw new SyntaxError('A member comes twice in one JSON object');
  return value;
}

// DEL is legal in a JSON string and takes one byte. A real string that begins with it gets a second one.
const MARK = 0x7f;
const MARK_TEXT = '\x7f';
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const MINUS = 0x2d;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;

/** Members and items. A key that comes once takes 1.5 µs, so these take 0.15 s (X-6). A full record has 5,000. */
export const MOST_VALUES = 100_000;

/** The most bytes of a text, as it is written. */
const LONGEST_TEXT = 1_000_000;

/** The most bytes that are in no text: spaces, numbers, signs. */
const MOST_OUTSIDE_TEXTS = 2_000_000;

/** JSON with more or longer values than kybatch reads. It may be valid. */
export class TooLargeJson extends SyntaxError {}

const tooManyValues = () => new TooLargeJson(`More than ${MOST_VALUES} values in JSON`);

/**
 * Throws if the bytes have too many or too long values, before anything reads them. It does not check that they are
 * JSON. `hasLongTexts`: a text may be a whole document.
 */
export function refuseTooLarge(bytes: Buffer, hasLongTexts: boolean): void {
  // Each value takes a byte.
  if (bytes.length <= MOST_VALUES) return;
  const { length } = bytes;
  let values = 0;
  let outside = 0;
  for (let at = 0; at < length; at++) {
    const byte = bytes[at] as number;
    if (++outside > MOST_OUTSIDE_TEXTS)
      throw new TooLargeJson(`More than ${MOST_OUTSIDE_TEXTS} bytes that are in no text of JSON`);
    if (byte === QUOTE) {
      const quote = closingQuote(bytes, at);
      const end = quote === -1 ? length : quote;
      if (end - at > LONGEST_TEXT && !hasLongTexts)
        throw new TooLargeJson(`A text of more than ${LONGEST_TEXT} bytes in JSON`);
      at = end;
    } else if ((byte === COMMA || byte === OPEN_BRACE || byte === OPEN_BRACKET) && ++values > MOST_VALUES)
      throw tooManyValues();
  }
}

/**
 * The closing quote of the text that begins here; -1 if there is none. A native search takes a third of the time of a
 * byte loop.
 */
export function closingQuote(bytes: Buffer, start: number): number {
  for (let quote = bytes.indexOf(QUOTE, start + 1); quote !== -1; quote = bytes.indexOf(QUOTE, quote + 1)) {
    let backslashes = 0;
    while (bytes[quote - 1 - backslashes] === BACKSLASH) backslashes++;
    if (backslashes % 2 === 0) return quote;
  }
  return -1;
}

const PLUS = 0x2b;
const POINT = 0x2e;
const ZERO = 0x30;

/** The text for JSON.parse, and the number of object members in it. */
function quoteNumbers(bytes: Uint8Array): { readonly text: string; readonly members: number } {
  const length = bytes.length;
  // A one-digit number with its comma grows from two bytes to five, so three times the size is always enough.
  const out = Buffer.allocUnsafe(length * 3 + 16);
  let written = 0;
  let values = 0;
  let members = 0;
  let at = bomLength(bytes);
  while (at < length) {
    const byte = bytes[at] as number;
    if (byte === QUOTE) {
      const end = endOfString(bytes, at);
      out[written++] = QUOTE;
      if (beginsWithMark(bytes, at + 1)) out[written++] = MARK;
      for (let i = at + 1; i < end; i++) out[written++] = bytes[i] as number;
      at = end;
    } else if (byte === MINUS || isDigit(byte)) {
      const end = endOfNumber(bytes, at);
      if (end < 0) throw new SyntaxError(`Malformed number in JSON at byte ${at}`);
      out[written++] = QUOTE;
      out[written++] = MARK;
      for (let i = at; i < end; i++) out[written++] = bytes[i] as number;
      out[written++] = QUOTE;
      at = end;
    } else {
      if ((byte === COMMA || byte === OPEN_BRACE || byte === OPEN_BRACKET) && ++values > MOST_VALUES)
        throw tooManyValues();
      if (byte === COLON) members++;
      out[written++] = byte;
      at++;
    }
  }
  return { text: out.toString('utf8', 0, written), members };
}

/** The position after the closing quote. */
function endOfString(bytes: Uint8Array, start: number): number {
  for (let at = start + 1; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) return at + 1;
    if (byte === BACKSLASH) at++;
  }
  throw new SyntaxError(`Unterminated string in JSON at byte ${start}`);
}

/** The position after the number; -1 if it is none by the grammar of JSON. */
export function endOfNumber(bytes: Uint8Array, start: number): number {
  const { length } = bytes;
  const whole = bytes[start] === MINUS ? start + 1 : start;
  let at = skipDigits(bytes, whole);
  if (at === whole || (bytes[whole] === ZERO && at > whole + 1)) return -1;
  if (at < length && bytes[at] === POINT) {
    const fraction = at + 1;
    at = skipDigits(bytes, fraction);
    if (at === fraction) return -1;
  }
  // `e` or `E`
  if (at >= length || ((bytes[at] as number) | 0x20) !== 0x65) return at;
  const isSigned = at + 1 < length && (bytes[at + 1] === PLUS || bytes[at + 1] === MINUS);
  const exponent = isSigned ? at + 2 : at + 1;
  at = skipDigits(bytes, exponent);
  return at === exponent ? -1 : at;
}

function skipDigits(bytes: Uint8Array, from: number): number {
  let at = from;
  while (at < bytes.length && isDigit(bytes[at] as number)) at++;
  return at;
}

export const isDigit = (byte: number): boolean => byte >= ZERO && byte <= 0x39;

/** A raw or escaped DEL. */
function beginsWithMark(bytes: Uint8Array, at: number): boolean {
  if (bytes[at] === MARK) return true;
  if (bytes[at] !== BACKSLASH || bytes[at + 1] !== 0x75) return false;
  return (
    Buffer.from(bytes.subarray(at + 2, at + 6))
      .toString('latin1')
      .toLowerCase() === '007f'
  );
}

/** The bytes of a byte order mark at the beginning: 3, or 0 if there is none. */
export const bomLength = (bytes: Uint8Array) => (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0);

/** Turns marked strings into numbers, in place and with its own stack. Counts the members that JSON.parse kept. */
function unmark(root: unknown): { readonly value: ExactJson; readonly members: number } {
  const holder: { root: unknown } = { root };
  let members = -1;
  const pending: object[] = [holder];
  for (let container = pending.pop(); container !== undefined; container = pending.pop()) {
    if (Array.isArray(container)) {
      for (let i = 0; i < container.length; i++) {
        const value: unknown = container[i];
        if (typeof value === 'object' && value !== null) pending.push(value);
        else if (typeof value === 'string' && value.charCodeAt(0) === MARK) container[i] = unmarkText(value);
      }
      continue;
    }
    const object = container as Record<string, unknown>;
    let markedKeys = false;
    const keys = Object.keys(object);
    members += keys.length;
    for (const key of keys) {
      if (key.charCodeAt(0) === MARK) markedKeys = true;
      const value = object[key];
      if (typeof value === 'object' && value !== null) pending.push(value);
      else if (typeof value === 'string' && value.charCodeAt(0) === MARK) object[key] = unmarkText(value);
    }
    if (markedKeys) unmarkKeys(object);
  }
  return { value: holder.root as ExactJson, members };
}

const unmarkText = (text: string) => (text.startsWith(MARK_TEXT, 1) ? text.slice(1) : new ExactNumber(text.slice(1)));

function unmarkKeys(object: Record<string, unknown>): void {
  const members = Object.entries(object);
  for (const [key] of members) delete object[key];
  for (const [key, value] of members) {
    if (key.charCodeAt(0) === MARK && key.charCodeAt(1) !== MARK) throw new SyntaxError('A number as a key in JSON');
    const name = key.charCodeAt(0) === MARK ? key.slice(1) : key;
    Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
  }
}

/** Writes what parseExact reads, digit for digit and without recursion. */
export function stringifyExact(value: unknown, indent = 0): string {
  const parts: string[] = [];
  const stack: Frame[] = [];
  let current: unknown = value;
  for (;;) {
    const opened = writeValue(current, parts);
    if (opened !== undefined) stack.push(opened);
    let next = stack.at(-1);
    while (next !== undefined && next.at === next.size) {
      stack.pop();
      if (next.size > 0) parts.push(lineBreak(stack.length, indent));
      parts.push(next.close);
      next = stack.at(-1);
    }
    if (next === undefined) return parts.join('');
    if (next.at > 0) parts.push(',');
    parts.push(lineBreak(stack.length, indent));
    current = step(next, parts, indent);
  }
}

interface Frame {
  readonly close: ']' | '}';
  readonly size: number;
  readonly items: readonly unknown[] | readonly (readonly [string, unknown])[];
  at: number;
}

function writeValue(value: unknown, parts: string[]): Frame | undefined {
  if (value instanceof ExactNumber) {
    parts.push(value.text);
  } else if (Array.isArray(value)) {
    parts.push('[');
    return { close: ']', size: value.length, items: value, at: 0 };
  } else if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).filter(([, member]) => member !== undefined);
    parts.push('{');
    return { close: '}', size: members.length, items: members, at: 0 };
  } else {
    parts.push(JSON.stringify(value) ?? 'null');
  }
  return undefined;
}

function step(frame: Frame, parts: string[], indent: number): unknown {
  const item = frame.items[frame.at++];
  if (frame.close === ']') return item;
  const [key, value] = item as readonly [string, unknown];
  parts.push(JSON.stringify(key), indent > 0 ? ': ' : ':');
  return value;
}

const lineBreak = (depth: number, indent: number) => (indent > 0 ? `\n${' '.repeat(depth * indent)}` : '');

/** Null, missing and empty mean "not returned" (V1-22). A value of only such parts is empty, at any depth. */
export function isEmptyValue(value: ExactJson | undefined): boolean {
  // No recursion, because the depth comes from outside.
  const left: (ExactJson | undefined)[] = [value];
  while (left.length > 0) {
    const next = left.pop();
    if (next === undefined || next === null || next === '') continue;
    if (typeof next !== 'object' || next instanceof ExactNumber) return false;
    for (const member of Object.values(next)) left.push(member);
  }
  return true;
}

/** The same for a body, ignoring one member. A body that is large, or shows a value, is not parsed. */
export function isEmptyBody(body: Buffer, except?: string): boolean {
  if (body.length > NOTHING_AT_MOST) return false;
  try {
    if (except === undefined && showsValue(body)) return false;
    const value = parseExact(body);
    if (except === undefined || typeof value !== 'object' || value === null) return isEmptyValue(value);
    return Object.entries(value).every(([name, member]) => name === except || isEmptyValue(member));
  } catch (error) {
    // An invalid body is not empty.
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

const NOTHING_AT_MOST = 16_384;

/** Whether a number, a truth value or a text that is no name stands anywhere. Nearly always it is at the start. */
function showsValue(bytes: Buffer): boolean {
  for (let at = 0; at < bytes.length; ) {
    const byte = bytes[at] as number;
    if (byte === MINUS || isDigit(byte) || byte === 0x74 || byte === 0x66) return true;
    const end = byte === QUOTE ? endOfString(bytes, at) : at + 1;
    let next = end;
    while (next < bytes.length && (bytes[next] as number) <= 0x20) next++;
    if (end > at + 2 && bytes[next] !== COLON) return true;
    at = next;
  }
  return false;
}

/** A number as text: optional sign, digits, fraction, exponent. */
const NUMBER = /^([+-]?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,6}))?$/;

/** A larger expanded number is unreadable and could fill the memory. */
const MAX_EXPONENT = 10_000;

/** The same number without exponent, digit for digit: `1.50e1` → `15.0`. Null if the text is no number. */
export function plainDecimal(text: string): string | null {
  const match = NUMBER.exec(text);
  if (match === null) return null;
  const [, sign = '', whole = '', fraction = '', exponentText] = match;
  const minus = sign === '-' ? '-' : '';
  if (exponentText === undefined) return `${minus}${joinDecimal(whole, fraction)}`;
  const exponent = Number(exponentText);
  if (Math.abs(exponent) > MAX_EXPONENT) return null;
  const digits = `${whole}${fraction}`;
  const point = whole.length + exponent;
  if (point <= 0) return `${minus}${joinDecimal('0', `${'0'.repeat(-point)}${digits}`)}`;
  return `${minus}${joinDecimal(digits.slice(0, point).padEnd(point, '0'), digits.slice(point))}`;
}

/** Whether DECIMAL(precision, scale) holds the number exactly, except for trailing zeros. */
export function fitsDecimal(text: string, precision: number, scale: number): boolean {
  const plain = plainDecimal(text);
  if (plain === null) return false;
  const [whole = '', fraction = ''] = plain.replace('-', '').split('.');
  return whole.replace(/^0+/, '').length <= precision - scale && trimEndOf(fraction, '0').length <= scale;
}

function joinDecimal(whole: string, fraction: string): string {
  const integer = whole.replace(/^0+(?=\d)/, '');
  return fraction === '' ? integer : `${integer}.${fraction}`;
}

/** The text of a value of any kind. `String` throws for an object of the provider with a member `toString`. */
export const anyText = (value: unknown): string =>
  typeof value === 'object' && value !== null && !(value instanceof ExactNumber)
    ? stringifyExact(value)
    : String(value);
