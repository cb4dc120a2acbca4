// Guesses the encoding of lines that are not UTF-8.

import { isAscii, isUtf8 } from 'node:buffer';
import { z } from 'zod';
import { normalizeText } from '../../util/text-limits.js';
import { barredWords, dataFile } from '../../util/yaml.js';
import { SHEET_ENCODINGS, type SheetEncoding } from '../sheet.js';
import { decoderFor } from './encodings.js';

const encoding = z.enum(SHEET_ENCODINGS);

const languageData = dataFile(
  'sheets/languages',
  z
    .strictObject({
      letters: z.record(
        z.string(),
        z.string().transform((text) => new Map(text.trim().split(/\s+/).map(letterAndCost))),
      ),
      groups: z.record(z.string(), barredWords(z)),
      single_byte: z.partialRecord(encoding, z.strictObject({ prior: z.number(), languages: barredWords(z) })),
      clues: z.array(
        z.strictObject({
          encoding,
          countries: barredWords(z).transform(cells),
          forms: barredWords(z).transform(words).optional(),
          headers: barredWords(z).transform(words).optional(),
        }),
      ),
      of_dos: z.partialRecord(encoding, barredWords(z).pipe(z.array(encoding))),
      usual: z.partialRecord(encoding, z.strictObject({ characters: z.string(), kana: z.literal(true).optional() })),
    })
    .transform(({ groups, single_byte, usual, ...rest }) => ({
      ...rest,
      /**
       * Of one byte a character, with the languages that are written in them. In the order of the file: of two that are
       * as likely the first is meant.
       */
      singleByte: Object.entries(single_byte).map(([name, { prior, languages }]) => ({
        encoding: encoding.parse(name),
        prior,
        languages: languages.flatMap((language) => groups[language] ?? [language]),
      })),
      /** Of two bytes a character, with characters that are usual in them. */
      multibyte: Object.entries(usual).map(([name, { characters, kana }]) => ({
        encoding: encoding.parse(name),
        characters: new Set([...characters, ...(kana ? KANA : [])]),
      })),
    }))
    .refine(
      ({ letters, singleByte }) =>
        singleByte.every(({ languages }) => languages.every((one) => Object.hasOwn(letters, one))),
      'a language without letters',
    ),
);

function letterAndCost(entry: string): readonly [string, number] {
  const [, letter = '', share = ''] = /^(\D+)([\d.]+)$/.exec(entry) ?? [];
  return [normalizeText(letter, 'NFC'), Math.log(Number(share) / 100)];
}

const KANA = Array.from({ length: 0x30ff - 0x3041 }, (_, index) => String.fromCodePoint(0x3041 + index));

/** The logarithm of the frequency of a letter that the language lacks. It occurs only in foreign names. */
const FOREIGN = Math.log(0.0005);

/** The weight of one country or legal form beside such a name, and of all of them together. */
const CLUE = 1.5;
const CLUES_AT_MOST = 9;

/** If all countries or the headers agree, an encoding is ten thousand times as likely. */
const AGREED = Math.log(10_000);

/**
 * Evidence for each encoding apart from letters, as a logarithm. `lines` are not ASCII. `head` is the file's beginning.
 * Countries come before the language of the headers, because a German may list Polish companies. If the two differ,
 * neither decides.
 */
export function evidenceIn(lines: readonly Buffer[], head: Buffer): ReadonlyMap<SheetEncoding, number> {
  const texts = lines.map((line) => line.toString('latin1'));
  const { clues, of_dos: ofDos } = languageData();
  const counts = clues.map(({ encoding, countries, forms }) => ({
    encoding,
    lines: texts.filter((text) => countries.test(text) || forms?.test(text) === true).length,
  }));
  const byCountry = clues.filter(({ countries }) => texts.some((text) => countries.test(text)));
  const byHeader = clues.filter(({ headers }) => headersIn(head, headers) >= 2);
  const said = new Set([...byCountry, ...byHeader].map(({ encoding }) => encoding));
  const [agreed] = said.size === 1 ? said : [];
  return new Map(
    counts.flatMap(({ encoding, lines: count }) => {
      const evidence = Math.min(CLUES_AT_MOST, CLUE * count) + (encoding === agreed ? AGREED : 0);
      return [encoding, ...(ofDos[encoding] ?? [])].map((each) => [each, evidence] as const);
    }),
  );
}

/** How many different headers of a language the first lines have. */
function headersIn(head: Buffer, headers: RegExp | undefined): number {
  if (headers === undefined) return 0;
  const lines = head
    .toString('latin1')
    .toLowerCase()
    .split(/[\r\n]+/, HEADER_LINES);
  return Math.max(...lines.map((line) => new Set(line.match(new RegExp(headers, 'gi')) ?? []).size));
}

const HEADER_LINES = 10;

function cells(codes: readonly string[]): RegExp {
  return new RegExp(`(?:^|[,;\\t|"])(?:${codes.join('|')})(?=$|[,;\\t|"\\r])`, 'i');
}

function words(alternatives: readonly string[]): RegExp {
  return new RegExp(`(?<![\\w.\u0080-\u00ff])(?:${alternatives.join('|')})(?![\\w\u0080-\u00ff])`, 'i');
}

type SingleByte = ReturnType<typeof languageData>['singleByte'][number];

/**
 * The logarithm of how likely the words are in this encoding. Each word is in one of its languages, and most words of a
 * file are in few languages. `words` are decoded with this encoding. `evidence` is the other evidence for it.
 */
function likelihood({ prior, languages }: SingleByte, words: readonly string[], evidence: number): number {
  const costs = words.map((word) => {
    const odd = oddityOf(word);
    return languages.map((language) => odd + lettersCost(word, language));
  });
  return prior + evidence + mixture(costs, languages.length);
}

function lettersCost(word: string, language: string): number {
  const costs = languageData().letters[language];
  let cost = 0;
  for (const character of normalizeText(word.toLowerCase(), 'NFC')) {
    if (character > '\u007f' && isLetter(character)) cost += costs?.get(character) ?? FOREIGN;
  }
  return cost;
}

const ROUNDS = 6;

/** Fits the shares of the languages to the words, round by round (expectation and maximisation). */
function mixture(costs: readonly (readonly number[])[], languages: number): number {
  let shares: readonly number[] = Array.from({ length: languages }, () => 1 / languages);
  let total = 0;
  for (let round = 0; round < ROUNDS; round++) {
    total = 0;
    // No language is excluded, because a file may have one word of it.
    const sums = Array.from({ length: languages }, () => 0.1);
    for (const word of costs) {
      const parts = word.map((cost, index) => cost + Math.log(shares[index] ?? 0));
      const top = Math.max(...parts);
      const sum = parts.reduce((before, part) => before + Math.exp(part - top), 0);
      total += top + Math.log(sum);
      for (const [index, part] of parts.entries()) sums[index] = (sums[index] ?? 0) + Math.exp(part - top) / sum;
    }
    const all = sums.reduce((before, sum) => before + sum, 0);
    shares = sums.map((sum) => sum / all);
  }
  return total;
}

/**
 * How odd a word looks in any language: 0 for not odd, otherwise the logarithm of how rare the oddity is. A wrong
 * encoding causes signs between letters (`Szk³opol`), inner capitals (`SpóŁka`), mixed alphabets, and vowels in a row.
 */
function oddityOf(word: string): number {
  const characters = [...word];
  let odd = 0;
  let row = 0;
  for (const [index, character] of characters.entries()) {
    if (character <= '\u007f') {
      row = 0;
      continue;
    }
    const before = characters[index - 1] ?? '';
    const after = characters[index + 1] ?? '';
    if (!isLetter(character)) {
      odd += signOddity(character, before, after);
      row = 0;
      continue;
    }
    row = isLatin(character) ? row + 1 : 0;
    if (row === 2) odd -= 0.5;
    if (row > 2) odd -= 4;
    odd += letterOddity(character, before, after);
  }
  return odd;
}

function letterOddity(letter: string, before: string, after: string): number {
  let odd = 0;
  if (isUpper(letter) && isLower(before)) odd -= 5;
  if (isLower(letter) && isUpper(before) && isUpper(after)) odd -= 4;
  for (const neighbour of [before, after]) {
    if (isLetter(neighbour) && scriptOf(neighbour) !== scriptOf(letter)) odd -= 6;
    if (isVowel(letter) && isVowel(neighbour)) odd -= 1;
  }
  return odd;
}

function signOddity(sign: string, before: string, after: string): number {
  if (NO_TEXT.test(sign)) return -12;
  const within = isLetter(before) && isLetter(after);
  if (within) return isWithinWords(sign, before, after) ? -4 : -9;
  if (TYPOGRAPHIC.has(sign) && !(BEHIND_WORDS.has(sign) && isLetter(after))) return -3;
  // A sign at a word's end or beginning may be a letter of another encoding.
  return isLetter(before) || isLetter(after) ? -7 : -6;
}

/** The middle dot is Catalan between two l. Elsewhere it is a letter of another encoding (`Gro·inger`). */
function isWithinWords(sign: string, before: string, after: string): boolean {
  return APOSTROPHES.has(sign) || (sign === '·' && /^ll$/i.test(before + after));
}

/** Whether the word has an unusual sign between letters, or a character that is not text. */
function hasSignWithin(word: string): boolean {
  const characters = [...word];
  return characters.some((character, index) => {
    if (character <= '\u007f' || isLetter(character)) return false;
    const [before = '', after = ''] = [characters[index - 1], characters[index + 1]];
    const within = isLetter(before) && isLetter(after) && !isWithinWords(character, before, after);
    return within || NO_TEXT.test(character);
  });
}

/** Thai writes some vowels and its tones as separate characters above and below letters. */
const LETTER = /[\p{L}\u0e31\u0e34-\u0e3a\u0e47-\u0e4e]/u;
const isLetter = (character: string): boolean => LETTER.test(character);

/** Controls, and DOS characters for drawing frames. */
const NO_TEXT = /[\p{Cc}\ufffd\p{Co}\p{Cn}\u2500-\u25ff]/u;
const APOSTROPHES: ReadonlySet<string> = new Set('’‘´–-');

/** Signs that end a word and never begin one. At the beginning (`®ďár`) they are letters of another encoding. */
const BEHIND_WORDS: ReadonlySet<string> = new Set('®™©²³ªº');
const TYPOGRAPHIC: ReadonlySet<string> = new Set('«»„“”‘’‚‹›–—•…€°®™©§ªº·´\u00a0№²³½&');
const VOWELS: ReadonlySet<string> = new Set('aeiouyàáâãåæèéêìíîòóôõøùúûýăąęěőűůāēīūėįųı');

/** A vowel with two dots is not listed, because languages do put it beside another vowel. */
const isVowel = (letter: string): boolean => VOWELS.has(letter.toLowerCase());
const isUpper = (letter: string): boolean => /^\p{Lu}$/u.test(letter);
const isLower = (letter: string): boolean => /^\p{Ll}$/u.test(letter);
const isLatin = (letter: string): boolean => scriptOf(letter) === 'latin';

function scriptOf(letter: string): 'latin' | 'cyrillic' | 'greek' | 'other' {
  const code = letter.codePointAt(0) ?? 0;
  if (code < 0x250 || (code >= 0x1e00 && code < 0x1f00)) return 'latin';
  if (code >= 0x400 && code < 0x530) return 'cyrillic';
  return (code >= 0x370 && code < 0x400) || (code >= 0x1f00 && code < 0x2000) ? 'greek' : 'other';
}

export interface Detected {
  readonly encoding: SheetEncoding;
  readonly rival?: { readonly encoding: SheetEncoding; readonly readings: readonly [string, string] };
  /** A word with a letter that tells encodings apart, as the encoding reads it. */
  readonly example?: string | undefined;
  /** A word that even the likeliest encoding reads with signs between its letters. */
  readonly unreadable?: string;
}

/** The right encoding reaches this share of usual characters. A wrong one has almost none. */
const GOOD_FIT = 0.2;
const CLEARLY_BETTER = 2;

const SURE = Math.log(100);

/** Old Mac files are rare, and Mac and DOS encodings often read each other's bytes as words. */
const SURE_OF_MACINTOSH = 3 * SURE;

/** A file may have damaged words. In the right encoding few have signs between their letters. */
const MOST_WITH_SIGNS = 0.25;

/** Per letter, words in the right encoding are likelier than this. */
const UNLIKELY_LETTER = -5.5;

/** The encoding of lines that are not UTF-8, with a rival if the evidence is weak. `head` is the file's beginning. */
export function guessEncoding(odd: NonUtf8Sample, head: Buffer = Buffer.alloc(0)): Detected {
  const fits = languageData()
    .multibyte.map(({ encoding, characters }) => ({ encoding, fit: fitOf(encoding, characters, odd.lines) }))
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
  const ranked = languageData()
    .singleByte.map((one) => {
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
  const example = withSigns[0] ?? read.find((word) => word.length > 2) ?? read[0];
  return doubt === undefined ? { encoding: best.encoding, example } : withRival(best.encoding, doubt.encoding, odd);
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
    if (WRONG_SIGNS.test(text)) wrong++;
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
const WRONG_SIGNS =
  /[\ufffd\ue000-\uf8ff\uff61-\uff9f]|[a-z][^\p{ASCII}\u0080-\u02ff\s]|[^\p{ASCII}\u0080-\u02ff\s][a-z]/u;

/** Each byte is sampled in at least this many lines, if there are as many. Frequent bytes are not sampled more. */
const LINES_OF_EACH_BYTE = 40;
const MOST_LINES = 3_000;
const LONGEST_LINE = 4_096;

/** Samples lines that are not plain ASCII, as chunks arrive, until they are enough to tell the encoding. */
export class NonUtf8Sample {
  readonly lines: Buffer[] = [];
  /** Bytes above 127 anywhere in the file, including lines that were not kept. */
  readonly seen = new Uint8Array(256);
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
