import { MOST_VALUES, parseExact } from './exact-json.js';

/**
 * Throws SyntaxError unless this is one whole JSON value (RFC 8259) without repeated members, like `parseExact`.
 * It is for bodies that are not parsed yet, and takes a third of the time of JSON.parse (`npm run bench exact-json`).
 *
 * The scanner accepts ordinary input in one pass. Everything else goes to the parser: a key with an escape or beyond
 * ASCII, two keys with one hash, deep nesting, malformed input. Both are linear.
 */
export function assertWholeJson(bytes: Uint8Array): void {
  if (!isPlainlyWhole(bytes)) parseExact(bytes);
}

const DEEPEST = 512;
/** The open objects, by number; 0 is a list. */
const open = new Int32Array(DEEPEST);
/** The hashes of all keys, mixed with the number of their object; 0 is free. At most half are used. */
const slots = new Int32Array(65_536);
const PROBES = 32;
/** Random, so that an attacker cannot choose keys that collide. */
const SEED = Math.floor(Math.random() * 2 ** 31);

function isPlainlyWhole(bytes: Uint8Array): boolean {
  const { length } = bytes;
  const mask = Math.min(slots.length, 2 ** Math.ceil(Math.log2(Math.max(64, length) / 4))) - 1;
  slots.fill(0, 0, mask + 1);
  let free = mask >> 1;
  let depth = 0;
  let objects = 0;
  let object = 0;
  let values = 0;
  let at = skipBlank(bytes, bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0);
  // Each turn reads a value, after its key in an object. Reading past the end is slow, so it never happens.
  for (;;) {
    if (object !== 0) {
      if (at >= length || bytes[at] !== QUOTE || free-- === 0) return false;
      let hash = Math.imul(object ^ SEED, 0x9e3779b1);
      for (at++; at < length && KIND[bytes[at] as number] === ORDINARY; at++)
        hash = Math.imul(hash ^ (bytes[at] as number), 0x01000193);
      if (at >= length || bytes[at] !== QUOTE) return false;
      hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b) | 1;
      let slot = (hash >>> 8) & mask;
      for (let probe = 0; slots[slot] !== 0; slot = (slot + 1) & mask)
        if (slots[slot] === hash || ++probe > PROBES) return false;
      slots[slot] = hash;
      at = skipBlank(bytes, at + 1);
      if (at >= length || bytes[at] !== COLON) return false;
      at = skipBlank(bytes, at + 1);
    }
    if (at >= length) return false;
    const first = bytes[at] as number;
    if (first === OPEN_BRACE || first === OPEN_BRACKET) {
      if (depth === DEEPEST || ++values > MOST_VALUES) return false;
      open[depth++] = object;
      object = first === OPEN_BRACE ? ++objects : 0;
      at = skipBlank(bytes, at + 1);
      if (at >= length) return false;
      // `}` is two after `{`, and `]` two after `[`.
      if (bytes[at] !== first + 2) continue;
    } else {
      at =
        first === QUOTE
          ? endOfString(bytes, at + 1)
          : isDigit(first) || first === MINUS
            ? endOfNumber(bytes, at)
            : endOfWord(bytes, at);
      if (at < 0) return false;
    }
    // After a value, all containers that end here are closed. Then a comma or the end of the input follows.
    for (;;) {
      at = skipBlank(bytes, at);
      if (depth === 0 || at >= length) return depth === 0 && at === length;
      if (bytes[at] === COMMA) break;
      if (bytes[at] !== (object === 0 ? CLOSE_BRACKET : CLOSE_BRACE)) return false;
      object = open[--depth] as number;
      at++;
    }
    if (++values > MOST_VALUES) return false;
    at = skipBlank(bytes, at + 1);
  }
}

const QUOTE = 0x22;
const PLUS = 0x2b;
const COMMA = 0x2c;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** The kind of a byte in a string. */
const ORDINARY = 0;
const BEYOND_ASCII = 1;
const SPECIAL = 2;
const KIND = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte === QUOTE || byte === BACKSLASH || byte < 0x20 ? SPECIAL : byte < 0x80 ? ORDINARY : BEYOND_ASCII,
);

/** The position after the closing quote; -1 if it is no string. */
function endOfString(bytes: Uint8Array, from: number): number {
  const { length } = bytes;
  for (let at = from; at < length; at++) {
    const byte = bytes[at] as number;
    if (KIND[byte] !== SPECIAL) continue;
    if (byte === QUOTE) return at + 1;
    if (byte !== BACKSLASH) return -1;
    const escaped = escapedBytes(bytes, at + 1);
    if (escaped === 0) return -1;
    at += escaped;
  }
  return -1;
}

/** The number of bytes that belong to the backslash before them; 0 if they are no escape. */
function escapedBytes(bytes: Uint8Array, at: number): number {
  if (at >= bytes.length) return 0;
  if (bytes[at] !== 0x75) return ESCAPED.includes(bytes[at] as number) ? 1 : 0;
  if (at + 5 > bytes.length) return 0;
  for (let digit = at + 1; digit < at + 5; digit++) if (!isHex(bytes[digit] as number)) return 0;
  return 5;
}

const ESCAPED = [...Buffer.from('"\\/bfnrt')];

const isHex = (byte: number): boolean => isDigit(byte) || ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x66);

function endOfNumber(bytes: Uint8Array, start: number): number {
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

const isDigit = (byte: number): boolean => byte >= ZERO && byte <= 0x39;

const WORDS = ['null', 'true', 'false'].map((word) => Buffer.from(word));

function endOfWord(bytes: Uint8Array, start: number): number {
  for (const word of WORDS) {
    const end = start + word.length;
    if (end > bytes.length || bytes[start] !== word[0]) continue;
    for (let at = start + 1; at < end; at++) if (bytes[at] !== word[at - start]) return -1;
    return end;
  }
  return -1;
}

function skipBlank(bytes: Uint8Array, from: number): number {
  let at = from;
  while (at < bytes.length && (bytes[at] as number) <= 0x20 && isBlank(bytes[at] as number)) at++;
  return at;
}

const isBlank = (byte: number): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
