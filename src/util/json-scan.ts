// JSON bytes without parsing them: the outline of a value, and whether it is one whole value.

import { bomLength, closingQuote, endOfNumber, isDigit, MOST_VALUES, parseExact } from './exact-json.js';

/**
 * The outline of a JSON value without parsing its content. Parsing costs more than fetching, and most of a body is not
 * needed on arrival. It has the kind of the value, and the names and ranges of its members.
 */
export type JsonOutline =
  | { readonly kind: 'object'; readonly members: ReadonlyMap<string, MemberRange> }
  | { readonly kind: 'array'; readonly empty: boolean; readonly range: MemberRange }
  | { readonly kind: 'scalar' };

export interface MemberRange {
  readonly start: number;
  readonly end: number;
}

/** Throws SyntaxError if brackets do not close (a truncated body) or something follows the value. */
export function scanJson(bytes: Buffer): JsonOutline {
  const start = firstByte(bytes);
  const members = new Map<string, MemberRange>();
  const end = bytes[start] === OPEN_BRACE ? scanMembers(bytes, start, members) : endOfValue(bytes, start);
  const after = skipBlank(bytes, end);
  if (after < bytes.length) throw new SyntaxError(`Something follows the JSON value at byte ${after}`);
  if (bytes[start] === OPEN_BRACE) return { kind: 'object', members };
  if (bytes[start] !== OPEN_BRACKET) return { kind: 'scalar' };
  return { kind: 'array', empty: bytes[skipBlank(bytes, start + 1)] === CLOSE_BRACKET, range: { start, end } };
}

/**
 * One member of an object, without scanning what follows it. Only the last byte is checked: it must close the object,
 * which it almost never does in a truncated body.
 */
export function findMember(bytes: Buffer, name: string): MemberRange | undefined {
  if (!hasMatchingEnds(bytes) || bytes[firstByte(bytes)] !== OPEN_BRACE)
    throw new SyntaxError('Not a whole JSON object');
  let found: MemberRange | undefined;
  scanMembers(bytes, firstByte(bytes), new Map(), (other, start) => {
    if (other === name) found = { start, end: endOfValue(bytes, start) };
    return found !== undefined;
  });
  return found;
}

/**
 * Whether a member passes the test. The scan ends at the first one, and the last byte is checked as in `findMember`.
 */
export function someMember(bytes: Buffer, fits: (name: string, first: string) => boolean): boolean {
  if (!hasMatchingEnds(bytes) || bytes[firstByte(bytes)] !== OPEN_BRACE) return false;
  let found = false;
  scanMembers(bytes, firstByte(bytes), new Map(), (name, start) => {
    found = fits(name, String.fromCharCode(bytes[start] ?? 0));
    return found;
  });
  return found;
}

/** The first and the last byte are `{…}` or `[…]`. A cheap check for a truncated body. */
export function hasMatchingEnds(bytes: Buffer): boolean {
  let last = bytes.length - 1;
  while (last > 0 && isBlank(bytes[last])) last--;
  const first = bytes[firstByte(bytes)];
  return (
    (first === OPEN_BRACE && bytes[last] === CLOSE_BRACE) || (first === OPEN_BRACKET && bytes[last] === CLOSE_BRACKET)
  );
}

/** Whether an object or a list is closed, whatever follows it: it was not truncated. */
export function hasEnd(bytes: Buffer): boolean {
  const start = firstByte(bytes);
  if (bytes[start] !== OPEN_BRACE && bytes[start] !== OPEN_BRACKET) return false;
  try {
    return endOfValue(bytes, start) <= bytes.length;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

/** The ranges of a list's items. Undefined if no list begins here. */
export function itemsOf(bytes: Buffer, { start }: MemberRange): readonly MemberRange[] | undefined {
  if (bytes[start] !== OPEN_BRACKET) return undefined;
  const items: MemberRange[] = [];
  let at = skipBlank(bytes, start + 1);
  if (bytes[at] === CLOSE_BRACKET) return items;
  for (;;) {
    const end = endOfValue(bytes, at);
    items.push({ start: at, end });
    at = skipBlank(bytes, end);
    if (bytes[at] === CLOSE_BRACKET) return items;
    if (bytes[at] !== COMMA) throw malformed(at);
    at = skipBlank(bytes, at + 1);
  }
}

/** `{}`, with any spaces. */
export function isEmptyObject(bytes: Buffer): boolean {
  const open = firstByte(bytes);
  return bytes[open] === OPEN_BRACE && bytes[skipBlank(bytes, open + 1)] === CLOSE_BRACE;
}

const firstByte = (bytes: Uint8Array) => skipBlank(bytes, bomLength(bytes));

const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;

/** Collects the members. Returns the position after the object, or of the value at which it stops. */
function scanMembers(
  bytes: Buffer,
  open: number,
  members: Map<string, MemberRange>,
  isLast: (name: string, start: number) => boolean = () => false,
): number {
  let at = skipBlank(bytes, open + 1);
  if (bytes[at] === CLOSE_BRACE) return at + 1;
  for (;;) {
    const keyEnd = endOfValue(bytes, at);
    const key: unknown = JSON.parse(bytes.toString('utf8', at, keyEnd));
    const colon = skipBlank(bytes, keyEnd);
    if (typeof key !== 'string' || bytes[colon] !== COLON) throw malformed(at);
    const start = skipBlank(bytes, colon + 1);
    if (isLast(key, start)) return start;
    const end = endOfValue(bytes, start);
    // Readers differ in which of the two they take.
    if (members.has(key)) throw new SyntaxError('A member comes twice in one JSON object');
    members.set(key, { start, end });
    at = skipBlank(bytes, end);
    if (bytes[at] === CLOSE_BRACE) return at + 1;
    if (bytes[at] !== COMMA) throw malformed(at);
    at = skipBlank(bytes, at + 1);
  }
}

/** The position after the value that starts here: brackets are counted and strings skipped. */
function endOfValue(bytes: Buffer, start: number): number {
  const first = bytes[start];
  if (first === undefined) throw new SyntaxError('Unexpected end of JSON');
  if (first === QUOTE) return endOfString(bytes, start);
  if (first !== OPEN_BRACE && first !== OPEN_BRACKET) return endOfScalar(bytes, start);
  let depth = 0;
  for (let at = start; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) at = endOfString(bytes, at) - 1;
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++;
    else if ((byte === CLOSE_BRACE || byte === CLOSE_BRACKET) && --depth === 0) return at + 1;
  }
  throw new SyntaxError('Unexpected end of JSON');
}

function endOfString(bytes: Buffer, start: number): number {
  const quote = closingQuote(bytes, start);
  if (quote === -1) throw new SyntaxError('Unterminated string in JSON');
  return quote + 1;
}

function endOfScalar(bytes: Buffer, start: number): number {
  let at = start;
  while (at < bytes.length && isScalarByte(bytes[at] as number)) at++;
  if (at === start) throw malformed(start);
  return at;
}

/** The characters of numbers, true, false and null. */
const isScalarByte = (byte: number) =>
  (byte >= 0x30 && byte <= 0x39) ||
  (byte >= 0x61 && byte <= 0x7a) ||
  byte === 0x2d ||
  byte === 0x2b ||
  byte === 0x2e ||
  byte === 0x45;

const malformed = (at: number) => new SyntaxError(`Malformed JSON at byte ${at}`);

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
const open = new Int32Array(DEEPEST);
/** The hashes of all keys, mixed with the number of their object; 0 is free. At most half are used. */
const slots = new Int32Array(262_144);
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
  let at = firstByte(bytes);
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
          ? endOfWholeString(bytes, at + 1)
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

const MINUS = 0x2d;

/** The kind of a byte in a string. */
const ORDINARY = 0;
const BEYOND_ASCII = 1;
const SPECIAL = 2;
const KIND = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte === QUOTE || byte === BACKSLASH || byte < 0x20 ? SPECIAL : byte < 0x80 ? ORDINARY : BEYOND_ASCII,
);

/** The position after the closing quote; -1 if it is no string. */
function endOfWholeString(bytes: Uint8Array, from: number): number {
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

const isBlank = (byte: number | undefined): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
