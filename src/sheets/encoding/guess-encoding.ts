// Guesses the encoding of lines that are not UTF-8.

import { isAscii, isUtf8 } from 'node:buffer';
import type { SheetEncoding } from '../sheet.js';
import { decoderFor } from './encodings.js';
import { evidenceIn, multibyteEncodings, singleByteEncodings } from './languages.js';
import { hasSignWithin, likelihood } from './single-byte.js';

export interface Detected {
  readonly encoding: SheetEncoding;
  /** Another likely encoding that reads some text differently. */
  readonly rival?: { readonly encoding: SheetEncoding; readonly readings: readonly [string, string] };
  /** A word that even the likeliest encoding reads with signs between its letters. */
  readonly unreadable?: string;
}

/** The right encoding reaches this share of usual characters. A wrong one has almost none. */
const GOOD_FIT = 0.2;
const CLEARLY_BETTER = 2;

/** A hundred times as likely. */
const SURE = Math.log(100);

/** Old Mac files are rare, and Mac and DOS encodings often read each other's bytes as words. */
const SURE_OF_MACINTOSH = 3 * SURE;

/** A file may have damaged words. In the right encoding few have signs between their letters. */
const MOST_WITH_SIGNS = 0.25;

/** Per letter, words in the right encoding are likelier than this. */
const UNLIKELY_LETTER = -5.5;

/** The encoding of lines that are not UTF-8, with a rival if the evidence is weak. `head` is the file's beginning. */
export function guessEncoding(odd: NonUtf8Sample, head: Buffer = Buffer.alloc(0)): Detected {
  const fits = multibyteEncodings()
    .map(({ encoding, characters }) => ({ encoding, fit: fitOf(encoding, characters, odd.lines) }))
    .sort((a, b) => b.fit - a.fit);
  const [best, next] = fits;
  if (best !== undefined && best.fit >= GOOD_FIT) {
    if (next === undefined || best.fit >= next.fit * CLEARLY_BETTER) return { encoding: best.encoding };
    return withRival(best.encoding, next.encoding, odd);
  }
  return detectSingleByte(odd, head);
}

function detectSingleByte(odd: NonUtf8Sample, head: Buffer): Detected {
  const words = wordsIn(odd.lines);
  const evidence = evidenceIn(odd.lines, head);
  const ranked = singleByteEncodings()
    .map((one) => {
      const { encoding } = one;
      const read = words.map((word) => decodeAll(word, encoding));
      return { encoding, likely: likelihood(one, read, evidence.get(encoding) ?? 0) };
    })
    .sort((a, b) => b.likely - a.likely);
  const [best] = ranked;
  if (best === undefined) return { encoding: 'windows-1252' };
  const read = words.map((word) => decodeAll(word, best.encoding));
  const withSigns = read.filter(hasSignWithin);
  if (withSigns.length > read.length * MOST_WITH_SIGNS)
    return { encoding: best.encoding, unreadable: withSigns[0] ?? '' };
  const others = ranked.filter(({ encoding }) => readsDifferently(best.encoding, encoding, odd.seen));
  const letters = words.reduce((sum, word) => sum + word.filter((byte) => byte >= 0x80).length, 0);
  const isUnlikely = best.likely < UNLIKELY_LETTER * Math.max(1, letters);
  const doubt = others.find(
    (other) => isUnlikely || best.likely - other.likely < sureOf(best.encoding, other.encoding),
  );
  return doubt === undefined ? { encoding: best.encoding } : withRival(best.encoding, doubt.encoding, odd);
}

function sureOf(best: SheetEncoding, other: SheetEncoding): number {
  const isRare = best === 'macintosh' || (best.startsWith('cp') && other === 'macintosh');
  return isRare ? SURE_OF_MACINTOSH : SURE;
}

const MOST_WORDS = 2_000;

/** The words with a byte above 127, each once, because repetition adds no evidence. */
function wordsIn(lines: readonly Buffer[]): readonly Buffer[] {
  const words = new Set<string>();
  for (const line of lines) {
    for (const word of line.toString('latin1').match(/[^\s,;|"()/\\[\]<>:=]*[\u0080-\u00ff][^\s,;|"()/\\[\]<>:=]*/g) ??
      [])
      words.add(word);
    if (words.size >= MOST_WORDS) break;
  }
  return [...words].map((word) => Buffer.from(word, 'latin1'));
}

function readsDifferently(one: SheetEncoding, other: SheetEncoding, seen: Uint8Array): boolean {
  const bytes = Buffer.from([...seen.keys()].filter((byte) => seen[byte] === 1));
  return decodeAll(bytes, one) !== decodeAll(bytes, other);
}

/** If no word reads differently in both, there is nothing to choose. */
function withRival(encoding: SheetEncoding, other: SheetEncoding, { lines }: NonUtf8Sample): Detected {
  for (const line of lines) {
    const [mine, theirs] = [encoding, other].map((each) => decodeAll(line, each).split(/[,;\t|"]/));
    const at = mine?.findIndex((cell, index) => cell !== theirs?.[index]) ?? -1;
    if (at >= 0) return { encoding, rival: { encoding: other, readings: [mine?.[at] ?? '', theirs?.[at] ?? ''] } };
  }
  return { encoding };
}

function decodeAll(bytes: Uint8Array, encoding: SheetEncoding): string {
  const decoder = decoderFor(encoding);
  return decoder.decode(bytes) + decoder.end();
}

/** How well the lines read in a two-byte encoding: the share of usual characters, or 0 if unreadable. */
function fitOf(encoding: SheetEncoding, characters: ReadonlySet<string>, lines: readonly Buffer[]): number {
  const decoder = new TextDecoder(encoding);
  let count = 0;
  let usual = 0;
  let wrong = 0;
  for (const line of lines) {
    const text = decoder.decode(line);
    if (NO_TEXT.test(text)) wrong++;
    for (const character of text.match(BEYOND_ASCII) ?? []) {
      count++;
      if (characters.has(character)) usual++;
    }
  }
  if (count === 0 || wrong > lines.length * MOST_WRONG) return 0;
  return usual / count;
}

/** A file may have damaged lines. In a wrong encoding nearly all lines are damaged. */
const MOST_WRONG = 0.15;
const BEYOND_ASCII = /[^\p{ASCII}\u0080-\u00ff\s]/gu;

/**
 * Unreadable characters, half-width katakana (any byte can be one), or a foreign character in the middle of a Latin
 * word.
 */
const NO_TEXT = /[\ufffd\ue000-\uf8ff\uff61-\uff9f]|[a-z][^\p{ASCII}\u0080-\u02ff\s]|[^\p{ASCII}\u0080-\u02ff\s][a-z]/u;

/** Each byte is sampled in at least this many lines, if there are as many. Frequent bytes are not sampled more. */
const LINES_OF_EACH_BYTE = 40;
const MOST_LINES = 3_000;
const LONGEST_LINE = 4_096;

/** Samples lines that are not plain ASCII, as chunks arrive, until they are enough to tell the encoding. */
export class NonUtf8Sample {
  readonly lines: Buffer[] = [];
  /** Bytes above 127 anywhere in the file, including lines that were not kept. */
  readonly seen = new Uint8Array(256);
  /** Lines of UTF-8 that are not plain ASCII. */
  wholeLines = 0;
  readonly #kept = new Uint32Array(256);
  #rest: Buffer = Buffer.alloc(0);

  update(chunk: Buffer): void {
    const text = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let start = 0;
    for (;;) {
      const end = lineBreak(text, start);
      if (end < 0) break;
      this.#take(text.subarray(start, end));
      start = end + 1;
    }
    // A copy, so that the chunk is not kept for its last line.
    this.#rest = Buffer.from(text.subarray(Math.max(start, text.length - LONGEST_LINE)));
  }

  end(): void {
    this.#take(this.#rest);
    this.#rest = Buffer.alloc(0);
  }

  #take(whole: Buffer): void {
    // A UTF-8 line in another file is wrong in any other encoding, so it proves nothing.
    if (isUtf8(whole)) {
      if (!isAscii(whole)) this.wholeLines += 1;
      return;
    }
    const line = whole.subarray(0, LONGEST_LINE);
    let isNew = false;
    for (const byte of line) {
      if (byte < 0x80) continue;
      this.seen[byte] = 1;
      if ((this.#kept[byte] ?? 0) < LINES_OF_EACH_BYTE) isNew = true;
    }
    if (!isNew || this.lines.length >= MOST_LINES) return;
    for (const byte of new Set(line)) if (byte >= 0x80) this.#kept[byte] = (this.#kept[byte] ?? 0) + 1;
    this.lines.push(Buffer.from(line));
  }
}

/** Lines end in LF, or in CR alone. */
function lineBreak(text: Buffer, from: number): number {
  const feed = text.indexOf(10, from);
  const limit = feed < 0 ? text.length : feed;
  const back = text.subarray(from, limit).indexOf(13);
  if (back >= 0 && back < limit - from - 1) return from + back;
  return feed;
}
