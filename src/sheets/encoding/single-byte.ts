// How likely a text is in a single-byte encoding.

import { normalizeText } from '../../util/text-limits.js';
import { letterCost, type singleByteEncodings } from './languages.js';

type SingleByte = ReturnType<typeof singleByteEncodings>[number];

/**
 * The logarithm of how likely the words are in this encoding. Each word is in one of its languages, and most words of a
 * file are in few languages. `words` are decoded with this encoding. `evidence` is the other evidence for it.
 */
export function likelihood({ prior, languages }: SingleByte, words: readonly string[], evidence: number): number {
  const costs = words.map((word) => {
    const odd = oddityOf(word);
    return languages.map((language) => odd + lettersCost(word, language));
  });
  return prior + evidence + mixture(costs, languages.length);
}

function lettersCost(word: string, language: string): number {
  let cost = 0;
  for (const character of normalizeText(word.toLowerCase(), 'NFC')) {
    if (character > '\u007f' && isLetter(character)) cost += letterCost(language, character);
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
export function hasSignWithin(word: string): boolean {
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
