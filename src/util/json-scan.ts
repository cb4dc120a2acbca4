/**
 * A look at the outside of a JSON value without parsing what is in it. Parsing costs more than fetching, and most of
 * a body is not needed when it arrives: this tells what kind of value it is, names its members and where they lie.
 */
export type JsonOutline =
  | { readonly kind: 'object'; readonly members: ReadonlyMap<string, MemberRange> }
  | { readonly kind: 'array'; readonly empty: boolean; readonly range: MemberRange }
  | { readonly kind: 'scalar' };

export interface MemberRange {
  readonly start: number;
  readonly end: number;
}

/** Throws SyntaxError where the brackets do not close (a body that was cut) or something follows the value. */
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
 * One member of an object, found without a look at what comes after it. Of the rest only the last byte is checked: it
 * must close the object, which a body that was cut off almost never does.
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
 * Is there a member of this kind? The scan ends at the first one; of the rest only the last byte is checked, as in
 * `findMember`.
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

/** The first and the last byte belong together: `{…}` or `[…]`. Cheap, and enough to tell a body that was cut off. */
export function hasMatchingEnds(bytes: Buffer): boolean {
  let last = bytes.length - 1;
  while (last > 0 && isBlank(bytes[last])) last--;
  const first = bytes[firstByte(bytes)];
  return (
    (first === OPEN_BRACE && bytes[last] === CLOSE_BRACE) || (first === OPEN_BRACKET && bytes[last] === CLOSE_BRACKET)
  );
}

/** An object or a list has come to its end, whatever is in it, or behind it: it was not cut off. */
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

/** Where the items of a list lie; undefined where no list begins at this place. */
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

/** `{}`, however it is spaced. */
export function isEmptyObject(bytes: Buffer): boolean {
  const open = firstByte(bytes);
  return bytes[open] === OPEN_BRACE && bytes[skipBlank(bytes, open + 1)] === CLOSE_BRACE;
}

const firstByte = (bytes: Buffer) =>
  skipBlank(bytes, bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0);

const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;

/** Fills in the members and returns the position after the object, or of the value that it may stop at. */
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

/** The position after the value that starts here; brackets are counted, strings are passed over. */
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

/** Native search for the closing quote: a third of the time that a loop over the bytes takes. */
function endOfString(bytes: Buffer, start: number): number {
  for (let quote = bytes.indexOf(QUOTE, start + 1); quote !== -1; quote = bytes.indexOf(QUOTE, quote + 1)) {
    let backslashes = 0;
    while (bytes[quote - 1 - backslashes] === BACKSLASH) backslashes++;
    if (backslashes % 2 === 0) return quote + 1;
  }
  throw new SyntaxError('Unterminated string in JSON');
}

function endOfScalar(bytes: Buffer, start: number): number {
  let at = start;
  while (at < bytes.length && isScalarByte(bytes[at] as number)) at++;
  if (at === start) throw malformed(start);
  return at;
}

/** Letters, digits, sign, point: what numbers, true, false and null are made of. */
const isScalarByte = (byte: number) =>
  (byte >= 0x30 && byte <= 0x39) ||
  (byte >= 0x61 && byte <= 0x7a) ||
  byte === 0x2d ||
  byte === 0x2b ||
  byte === 0x2e ||
  byte === 0x45;

function skipBlank(bytes: Buffer, from: number): number {
  let at = from;
  while (isBlank(bytes[at])) at++;
  return at;
}

const isBlank = (byte: number | undefined) => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

const malformed = (at: number) => new SyntaxError(`Malformed JSON at byte ${at}`);
