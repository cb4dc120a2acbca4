// Reads the XML of a workbook's parts, and its shared texts.

import { isAscii } from 'node:buffer';
import { UsageError } from '../../domain/errors.js';
import { damagedWorkbook, type ZipParts } from './zip-parts.js';

/** Parts other than tables and texts are small. A larger one is not from a real workbook. */
const SMALL_PART_BYTES = 64 * 1024 * 1024;

/** Walks through a part, chunk by chunk. After each chunk the caller can read the handler's results. */
export async function* walkXml(
  parts: ZipParts,
  name: string,
  handler: XmlHandler,
  mostBytes?: number,
): AsyncGenerator<void> {
  const walker = new XmlWalker(handler);
  let decode: ((piece: Buffer) => string) | undefined;
  try {
    for await (const piece of endingWithTags(parts.chunks(name, mostBytes))) {
      decode ??= decoderOf(piece);
      walker.write(decode(piece));
      parts.budget.takeElements(walker.takeElements());
      yield;
    }
    walker.end();
    yield;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw damagedWorkbook(parts.shownAs, `${name}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** UTF-8 characters are never cut, because every piece ends with a tag. UTF-16 characters may be. */
function decoderOf(head: Buffer): (piece: Buffer) => string {
  const [first] = head;
  if (first !== 0xff && first !== 0xfe)
    return (piece) => (isAscii(piece) ? piece.toString('latin1') : piece.toString('utf8'));
  const decoder = new TextDecoder(first === 0xff ? 'utf-16le' : 'utf-16be');
  return (piece) => decoder.decode(piece, { stream: true });
}

const PIECE_BYTES = 64 * 1024;
const TAG_END = 0x3e;

/** Larger pieces, each cut after a tag if it has one, so that the walker keeps nothing for the next piece. */
async function* endingWithTags(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let held: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    held.push(chunk);
    bytes += chunk.length;
    const cut = bytes < PIECE_BYTES ? -1 : chunk.lastIndexOf(TAG_END);
    if (cut < 0 && bytes > LONGEST_PIECE) throw new Error('a text or a tag is too long');
    if (cut < 0) continue;
    held[held.length - 1] = chunk.subarray(0, cut + 1);
    yield Buffer.concat(held);
    held = [chunk.subarray(cut + 1)];
    bytes = chunk.length - cut - 1;
  }
  yield Buffer.concat(held);
}

export async function readXml(parts: ZipParts, name: string, handler: XmlHandler, mostBytes = SMALL_PART_BYTES) {
  for await (const _ of walkXml(parts, name, handler, mostBytes));
}

/** An attribute with any prefix, as in `r:id`, because the document chooses it. */
export const prefixed = (attributes: Attributes, local: string): string | undefined => {
  const name = Object.keys(attributes).find((key) => key.endsWith(`:${local}`)) ?? local;
  return attributes[name];
};

/** `1`, `true` and `on` mean true. */
export const isOn = (value: string | undefined): boolean => value === '1' || value === 'true' || value === 'on';

export type Attributes = Readonly<Record<string, string>>;

/** Receives the elements of a document. Names have no prefix: `x:row` and `row` are the same. */
export interface XmlHandler {
  open(name: string, attributes: Attributes): void;
  close?(name: string): void;
  text?(text: string): void;
  /**
   * Called at every tag within the document. Reads a whole element and returns its end, or 0 to let the walker read it.
   * For elements that occur by the million in one form.
   */
  whole?(text: string, start: number): number;
}

/**
 * The longest tag, comment or text, in characters. It is kept and read again with every piece until it is complete. An
 * Excel cell has at most 32,767 characters, each written with up to seven.
 */
export const LONGEST_PIECE = 1024 * 1024;

/** Elements of a workbook are nested about ten deep. */
const DEEPEST = 100;

/**
 * Walks through XML in pieces cut anywhere. It reads only the XML of workbooks: no document types, and no entities but
 * the five and numbers. Elements must be closed in order, so that a cut or mixed-up document is not accepted. A general
 * parser, which checks every name, took half as long again.
 */
export class XmlWalker {
  readonly #handler: XmlHandler;
  readonly #open: string[] = [];
  #text = '';
  #elements = 0;

  constructor(handler: XmlHandler) {
    this.#handler = handler;
  }

  write(piece: string): void {
    const text = this.#text === '' ? piece : this.#text + piece;
    let position = 0;
    for (;;) {
      const start = tagStart(text, position);
      if (start < 0) {
        position = this.#takeText(text, position, text.length - heldBack(text, position));
        break;
      }
      if (start > position) this.#takeText(text, position, start);
      position = this.#open.length === 0 ? start : (this.#handler.whole?.(text, start) ?? 0);
      if (position > start) continue;
      position = start;
      const next = text.charCodeAt(start + 1) === BANG ? this.#special(text, start) : this.#tag(text, start);
      if (next < 0) break;
      position = next;
    }
    this.#text = text.slice(position);
    if (this.#text.length > LONGEST_PIECE) throw new Error('a tag or a comment is too long');
  }

  takeElements(): number {
    const elements = this.#elements;
    this.#elements = 0;
    return elements;
  }

  end(): void {
    if (this.#text.trim() !== '' || this.#open.length > 0) throw new Error('it ends too early');
  }

  #takeText(text: string, from: number, to: number): number {
    if (to > from && this.#open.length > 0) this.#handler.text?.(plainText(text.slice(from, to)));
    return to;
  }

  /** The position after a comment or a CDATA section, or -1 if the text ends first. */
  #special(text: string, start: number): number {
    if (text.startsWith('<!--', start)) return behind(text, '-->', start + 4);
    if (text.startsWith('<![CDATA[', start)) {
      const end = text.indexOf(']]>', start);
      if (end < 0) return -1;
      this.#handler.text?.(text.slice(start + '<![CDATA['.length, end));
      return end + 3;
    }
    if (text.length - start < '<![CDATA['.length) return -1;
    throw new Error('it has a document type, which no workbook has');
  }

  /**
   * The position after the tag, or -1 if the text ends first. Going character by character is faster than searching,
   * because tags are short.
   */
  #tag(text: string, start: number): number {
    const first = text.charCodeAt(start + 1);
    if (first === QUESTION) return behind(text, '?>', start + 2);
    const closes = first === SLASH;
    const nameStart = closes ? start + 2 : start + 1;
    let at = nameStart;
    let code = text.charCodeAt(at);
    while (code > BLANK && code !== SLASH && code !== GREATER) code = text.charCodeAt(++at);
    const name = localName(text.slice(nameStart, at));
    let attributes: Record<string, string> | undefined;
    let empty = false;
    for (;;) {
      while (code <= BLANK) code = text.charCodeAt(++at);
      if (at >= text.length) return -1;
      if (code === GREATER) break;
      if (code === SLASH) {
        empty = true;
        code = text.charCodeAt(++at);
        continue;
      }
      const attribute = attributeAt(text, at);
      if (attribute === undefined) return -1;
      attributes ??= {};
      attributes[attribute.name] = attribute.value;
      at = attribute.end;
      code = text.charCodeAt(at);
    }
    if (closes) {
      this.#close(name);
      return at + 1;
    }
    this.#elements++;
    if (this.#open.push(name) > DEEPEST) throw new Error(`its elements are nested more than ${DEEPEST} deep`);
    this.#handler.open(name, attributes ?? NONE);
    if (empty) this.#close(name);
    return at + 1;
  }

  #close(name: string): void {
    const open = this.#open.pop();
    if (open !== name) throw new Error(`</${name}> closes ${open === undefined ? 'nothing' : `<${open}>`}`);
    this.#handler.close?.(name);
  }
}

const BLANK = 32;
const BANG = 33;
const QUOTE = 34;
const APOSTROPHE = 39;
const SLASH = 47;
const LESS_CODE = 60;
const EQUALS = 61;
const GREATER = 62;
const QUESTION = 63;
const NONE: Attributes = {};

/** The start of the next tag. Texts are short, so a loop is faster than a search. */
function tagStart(text: string, from: number): number {
  const { length } = text;
  for (let at = from; at < length; at++) if (text.charCodeAt(at) === LESS_CODE) return at;
  return -1;
}

const behind = (text: string, mark: string, from: number): number => {
  const at = text.indexOf(mark, from);
  return at < 0 ? -1 : at + mark.length;
};

/** The attribute that begins here. Undefined if the text ends first. */
function attributeAt(text: string, start: number): { name: string; value: string; end: number } | undefined {
  let at = start;
  let code = text.charCodeAt(at);
  while (code > BLANK && code !== EQUALS && code !== GREATER) code = text.charCodeAt(++at);
  const nameEnd = at;
  while (code <= BLANK) code = text.charCodeAt(++at);
  if (at >= text.length) return undefined;
  if (code !== EQUALS) throw new Error('an attribute has no value');
  do code = text.charCodeAt(++at);
  while (code <= BLANK);
  if (at >= text.length) return undefined;
  if (code !== QUOTE && code !== APOSTROPHE) throw new Error('the value of an attribute is not quoted');
  let end = at + 1;
  while (end < text.length && text.charCodeAt(end) !== code) end++;
  if (end >= text.length) return undefined;
  return { name: text.slice(start, nameEnd), value: plainText(text.slice(at + 1, end)), end: end + 1 };
}

/** Keeps half a reference, or the first half of a line end, for the next piece. */
function heldBack(text: string, from: number): number {
  if (from >= text.length) return 0;
  if (text.endsWith('\r')) return 1;
  const reference = text.lastIndexOf('&');
  return reference >= from && text.indexOf(';', reference) < 0 && text.length - reference < 12
    ? text.length - reference
    : 0;
}

const NOT_PLAIN = /[&\r]/;

/** Text between tags or in attributes, with references resolved and line ends as line feeds. */
function plainText(text: string): string {
  if (!NOT_PLAIN.test(text)) return text;
  const lines = text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text;
  if (!lines.includes('&')) return lines;
  return lines.replace(/&([^;]*);?/g, (whole, name: string) => {
    const known = whole.endsWith(';') ? (NAMED[name] ?? numbered(name)) : undefined;
    if (known === undefined) throw new Error(`${whole.slice(0, 20)} is an unknown entity`);
    return known;
  });
}

const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function numbered(name: string): string | undefined {
  const [, hex, decimal] = /^#(?:x([0-9a-fA-F]{1,6})|([0-9]{1,7}))$/.exec(name) ?? [];
  const code = hex === undefined ? Number(decimal ?? Number.NaN) : Number.parseInt(hex, 16);
  return code <= 0x10ffff ? String.fromCodePoint(code) : undefined;
}

const names = new Map<string, string>();

/** Cached, because the same few names occur millions of times. */
function localName(name: string): string {
  let local = names.get(name);
  if (local === undefined) {
    local = name.slice(name.indexOf(':') + 1);
    if (names.size < 1_000) names.set(name, local);
  }
  return local;
}

/** All texts are in memory, because a sheet refers to them in any order. */
const MOST_BYTES = 768 * 1024 * 1024;

/** Each takes about 30 bytes of memory, even if it is empty. */
const MOST_STRINGS = 20_000_000;

/** Most programs list a text once, and an empty cell needs none. */
const MOST_EMPTY = 1_000_000;

export async function readSharedStrings(parts: ZipParts, part: string | undefined): Promise<readonly string[]> {
  if (part === undefined || !parts.has(part)) return [];
  const strings: string[] = [];
  const text = new RichText();
  let empty = 0;
  const add = (one: string) => {
    if (one === '' && ++empty > MOST_EMPTY) throw new Error(`it has more than ${MOST_EMPTY} empty texts`);
    if (strings.push(one) > MOST_STRINGS) throw new Error(`it has more than ${MOST_STRINGS} texts`);
  };
  await readXml(
    parts,
    part,
    {
      whole(xml, start) {
        if (!xml.startsWith(OPEN, start)) return 0;
        const end = xml.indexOf(LESS, start + OPEN.length);
        if (end < 0 || !xml.startsWith(CLOSE, end)) return 0;
        add(unescaped(plainText(xml.slice(start + OPEN.length, end))));
        return end + CLOSE.length;
      },
      open: (name, attributes) => text.open(name, attributes),
      text: (piece) => text.take(piece),
      close(name) {
        text.close(name);
        if (name === 'si') add(text.finish());
      },
    },
    MOST_BYTES,
  );
  return strings;
}

/** The form of nearly every text. */
const OPEN = '<si><t>';
const CLOSE = '</t></si>';
const LESS = '<';

/**
 * Joins the runs of a formatted text, without its pronunciation (`rPh`). Raised or lowered characters stay so, because
 * a footnote mark after a number is not one of its digits.
 */
export class RichText {
  #text = '';
  #inside = false;
  #phonetic = false;
  #raised: string | undefined;

  open(name: string, attributes: Attributes): void {
    if (name === 'rPh') this.#phonetic = true;
    else if (name === 't') this.#inside = !this.#phonetic;
    else if (name === 'vertAlign') this.#raised = attributes.val;
  }

  take(piece: string): void {
    if (!this.#inside) return;
    this.#text += this.#raised === undefined ? piece : superscript(piece, this.#raised);
    if (this.#text.length > LONGEST_PIECE) throw new Error('a text is too long');
  }

  close(name: string): void {
    if (name === 'rPh') this.#phonetic = false;
    else if (name === 't') this.#inside = false;
    else if (name === 'r') this.#raised = undefined;
  }

  finish(): string {
    const text = this.#text;
    this.#text = '';
    return unescaped(text);
  }
}

/** `_x000D_` stands for a character that XML cannot contain. `_x005F_` stands for an underscore before such a text. */
export function unescaped(text: string): string {
  if (!text.includes('_x')) return text;
  return text.replace(/_x([0-9A-Fa-f]{4})_/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}

/** A raised or lowered run, written in superscript or subscript characters. Characters without such a form stay. */
function superscript(text: string, vertAlign: string): string {
  const [plain, shown] = LOOKS[vertAlign] ?? ['', ''];
  return text.replace(/[\w+=()-]/g, (character) => shown[plain.indexOf(character)] ?? character);
}

/** Each character and, at the same index, its replacement. All of them are one unit long. */
const LOOKS: Readonly<Record<string, readonly [string, string]>> = {
  superscript: ['0123456789+-=()abcdefghijklmnoprstuvwxyz', '⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ'],
  subscript: ['0123456789+-=()', '₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎'],
};
