import { inspect } from 'node:util';

/** A key that never prints itself: not in logs, JSON or inspected objects, and not if others echo it. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
    remember(value);
  }

  /** The only access, for the one header that needs it. */
  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return '[secret]';
  }

  toJSON(): string {
    return '[secret]';
  }

  [inspect.custom](): string {
    return '[secret]';
  }
}

/** Removes every known key from a text: whole or in part, in any case, also in URL or JSON form. */
export function redact(text: string): string {
  if (pieces.size === 0 && shortOnes.size === 0) return text;
  const lower = asciiLower(text);
  const hidden = hiddenRanges(lower);
  return hidden.length === 0 ? text : replaced(text, hidden);
}

function replaced(text: string, hidden: readonly Range[]): string {
  let shown = '';
  let from = 0;
  for (const { start, end } of hidden) {
    shown += `${text.slice(from, start)}[key]`;
    from = end;
  }
  return shown + text.slice(from);
}

/** This many characters of a key in a row are unique enough to recognize, and worth hiding. */
const PIECE = 12;

/**
 * Parts of keys that must never be shown while the process lives. The set is global, because a key of one API may come
 * back from the other. The author of a message must not have to think of it.
 */
const pieces = new Set<string>();
/** Half as long: any piece in a text contains a whole block of six characters at a multiple of six. */
const blocks = new Set<string>();
const BLOCK = PIECE / 2;
/** Short keys count only as whole words. Shorter ones would be found in anything. */
const WORD = 4;
const shortOnes = new Set<string>();

/** A program that starts many runs gives the same keys again and again. */
const remembered = new Set<string>();

function remember(value: string): void {
  if (remembered.has(value)) return;
  remembered.add(value);
  for (const spelling of spellingsOf(value)) {
    if (spelling.length < PIECE && spelling.length >= WORD) shortOnes.add(spelling);
    for (let at = 0; at + PIECE <= spelling.length; at++) pieces.add(spelling.slice(at, at + PIECE));
    for (let at = 0; at + BLOCK <= spelling.length; at++) blocks.add(spelling.slice(at, at + BLOCK));
  }
}

/**
 * How programs that repeat a header write it: plain, in a URL (also in a URL within a URL), in JSON, in hexadecimal
 * digits, and in Base64. A key that is reversed, encrypted or in UTF-16 is not looked for: no echoing server writes it
 * so.
 */
const spellingsOf = (value: string): readonly string[] =>
  [
    value,
    encodeURIComponent(value),
    encodeURIComponent(encodeURIComponent(value)),
    eachByte(value, (hex) => `%${hex}`),
    eachByte(value, (hex) => hex),
    JSON.stringify(value).slice(1, -1),
    ...[0, 1, 2].flatMap((before) => base64At(before, value)),
  ]
    .filter((spelling) => spelling !== '')
    .map(asciiLower);

const eachByte = (value: string, write: (hex: string, byte: number) => string): string =>
  [...Buffer.from(value)].map((byte) => write(byte.toString(16).padStart(2, '0'), byte)).join('');

/**
 * The characters of Base64 that the key alone decides when so many bytes stand before it ("Bearer "), in both
 * alphabets.
 */
function base64At(before: number, value: string): readonly string[] {
  const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(value)]);
  const decided = [Math.ceil((before * 8) / 6), Math.floor((bytes.length * 8) / 6)] as const;
  return [bytes.toString('base64').slice(...decided), bytes.toString('base64url').slice(...decided)];
}

/**
 * Forms that write single characters: pieces of them are too short to be told from other text, so whole keys count
 * alone.
 */
const escapedSpellings = (value: string): readonly string[] =>
  [
    eachByte(value, (hex) => `%25${hex}`),
    eachByte(value, (_, byte) => `&#${byte};`),
    eachByte(value, (hex) => `&#x${hex};`),
    value.replace(/[&<>"']/g, (character) => HTML_ENTITIES[character] ?? character),
  ].map(asciiLower);

const HTML_ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

interface Range {
  readonly start: number;
  end: number;
}

function hiddenRanges(lower: string): readonly Range[] {
  const found = mayHoldPiece(lower) ? piecesIn(lower) : [];
  for (const short of shortOnes) for (const range of standingAlone(lower, short)) found.push(range);
  return joined(found.sort((a, b) => a.start - b.start));
}

/** One key may begin with another: all of both is hidden. */
function joined(inOrder: readonly Range[]): readonly Range[] {
  const apart: Range[] = [];
  for (const range of inOrder) {
    const last = apart.at(-1);
    if (last !== undefined && range.start < last.end) last.end = Math.max(last.end, range.end);
    else apart.push(range);
  }
  return apart;
}

/** A sixth of the work, and nearly always enough. */
function mayHoldPiece(lower: string): boolean {
  for (let at = 0; at + BLOCK <= lower.length; at += BLOCK) if (blocks.has(lower.slice(at, at + BLOCK))) return true;
  return false;
}

function piecesIn(lower: string): Range[] {
  const found: Range[] = [];
  for (let at = 0; at + PIECE <= lower.length; at++) {
    if (!pieces.has(lower.slice(at, at + PIECE))) continue;
    const last = found.at(-1);
    if (last !== undefined && at <= last.end) last.end = at + PIECE;
    else found.push({ start: at, end: at + PIECE });
  }
  return found;
}

function* standingAlone(lower: string, word: string): Generator<Range> {
  for (let at = lower.indexOf(word); at >= 0; at = lower.indexOf(word, at + 1)) {
    const end = at + word.length;
    if (!isWordCharacter(lower[at - 1]) && !isWordCharacter(lower[end])) yield { start: at, end };
  }
}

const isWordCharacter = (character: string | undefined): boolean => character !== undefined && /\w/.test(character);

/**
 * API keys that a provider may send back. A stored answer keeps every byte except these, because a stored key would
 * reach the tables. Only whole keys count, because a part could be real data.
 */
const keysInAnswers = new Set<string>();
/** Marks the four-byte blocks of those keys, ignoring case, to decide quickly that a body has no key. */
const keyBlocks = new Uint8Array(1 << 22);
/** A whole key contains a whole block at every multiple of this many bytes. */
let stride = Number.POSITIVE_INFINITY;
const KEY_BLOCK = 4;
/** A shorter key could be a word of an answer. */
const SHORTEST_KEY = 8;

export function hideKeyInAnswers(key: string): void {
  if (key.length < SHORTEST_KEY) return;
  for (const spelling of [...spellingsOf(key), ...escapedSpellings(key)]) {
    keysInAnswers.add(spelling);
    stride = Math.min(stride, spelling.length - KEY_BLOCK + 1);
    const bytes = Buffer.from(spelling, 'latin1');
    for (let at = 0; at + KEY_BLOCK <= bytes.length; at++) keyBlocks[blockMark(bytes, at)] = 1;
  }
}

/** The answer with `[key]` instead of our API keys, in any case. No other byte changes. */
export function redactAnswer(bytes: Buffer): Buffer {
  const plain = mayHoldKey(bytes);
  const escaped = bytes.includes('\\u00') || bytes.includes('\\/');
  if (!plain && !escaped) return bytes;
  const found = [...(plain ? keysIn(bytes) : []), ...(escaped ? escapedKeysIn(bytes) : [])];
  const hidden = joined(found.sort((a, b) => a.start - b.start));
  // One character per byte.
  return hidden.length === 0 ? bytes : Buffer.from(replaced(bytes.toString('latin1'), hidden), 'latin1');
}

const BACKSLASH = 0x5c;
const SLASH = 0x2f;
const QUOTE = 0x22;
const LOWER_U = 0x75;
const ZERO = 0x30;

function keysIn(bytes: Buffer): Range[] {
  const lowerBytes = Buffer.from(bytes);
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    if (byte >= 0x41 && byte <= 0x5a) lowerBytes[at] = byte + 0x20;
  }
  const lower = lowerBytes.toString('latin1');
  return [...keysInAnswers].flatMap((key) => occurrences(lower, key));
}

/**
 * JSON may escape any character of a key. A quote or backslash stays escaped, as in the key's JSON spelling. A loop over
 * bytes, because an answer may be all escapes.
 */
function escapedKeysIn(bytes: Buffer): Range[] {
  const unescaped = Buffer.allocUnsafe(bytes.length);
  /** Where each byte of it is in the answer. */
  const origins = new Uint32Array(bytes.length + 1);
  let length = 0;
  const copy = (from: number, to: number) => {
    for (let at = from; at < to && at < bytes.length; at++) {
      origins[length] = at;
      unescaped[length++] = bytes[at] as number;
    }
    return to;
  };
  for (let at = 0; at < bytes.length; ) {
    const written = bytes[at] === BACKSLASH ? escapedByte(bytes, at + 1) : undefined;
    if (written === undefined) at = copy(at, bytes[at] === BACKSLASH ? at + 2 : at + 1);
    else {
      origins[length] = at;
      unescaped[length++] = written.byte;
      at += written.length;
    }
  }
  origins[length] = bytes.length;
  const text = unescaped.subarray(0, length);
  if (!mayHoldKey(text)) return [];
  const asWritten = (place: number) => origins[place] ?? bytes.length;
  return keysIn(text).map(({ start, end }) => ({ start: asWritten(start), end: asWritten(end) }));
}

/** The ASCII character of the escape behind a backslash, and the length of the escape. */
function escapedByte(bytes: Buffer, at: number): { readonly byte: number; readonly length: number } | undefined {
  if (bytes[at] === SLASH) return { byte: SLASH, length: 2 };
  if (((bytes[at] ?? 0) | 0x20) !== LOWER_U || bytes[at + 1] !== ZERO || bytes[at + 2] !== ZERO) return undefined;
  const [high, low] = [hexDigit(bytes[at + 3]), hexDigit(bytes[at + 4])];
  if (high < 2 || high > 7 || low < 0) return undefined;
  const byte = high * 16 + low;
  return byte === QUOTE || byte === BACKSLASH ? undefined : { byte, length: 6 };
}

function hexDigit(byte = 0): number {
  if (byte >= ZERO && byte <= 0x39) return byte - ZERO;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}

/** Every block of a whole key is marked. Single blocks of a long key are also in figures: `6175` in hexadecimal. */
function mayHoldKey(bytes: Buffer): boolean {
  const last = bytes.length - KEY_BLOCK;
  const isMarked = (at: number) => keyBlocks[blockMark(bytes, at)] === 1;
  for (let at = 0; at <= last; at += stride) {
    if (!isMarked(at)) continue;
    let [from, to] = [at, at];
    while (from > 0 && isMarked(from - 1)) from -= 1;
    while (to < last && isMarked(to + 1)) to += 1;
    if (to - from + 1 >= stride) return true;
  }
  return false;
}

/** Five bits per letter, without its case, and two more of the block. */
const blockMark = (bytes: Buffer, at: number): number =>
  (((bytes[at] ?? 0) & 0x1f) << 15) |
  (((bytes[at + 1] ?? 0) & 0x1f) << 10) |
  (((bytes[at + 2] ?? 0) & 0x1f) << 5) |
  ((bytes[at + 3] ?? 0) & 0x1f) |
  (((bytes[at] ?? 0) & 0x40) << 14) |
  (((bytes[at + 1] ?? 0) & 0x40) << 15);

function occurrences(lower: string, word: string): Range[] {
  const found: Range[] = [];
  for (let at = lower.indexOf(word); at >= 0; at = lower.indexOf(word, at + word.length))
    found.push({ start: at, end: at + word.length });
  return found;
}

/** Keeps the length of the text, whatever its letters. */
const asciiLower = (text: string): string =>
  /[A-Z]/.test(text) ? text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase()) : text;
