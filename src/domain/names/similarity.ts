// How similar two names are.

import { fuzzball } from '../../util/lazy-package.js';
import { Memo } from '../../util/memo.js';
import { LONGEST_NAME, normalizeText } from '../../util/text-limits.js';
import type { GradeLetter } from '../numbers/compare.js';
import { areDifferentForms, findLegalForm, hasPartners, stripJoinedForm } from './legal-forms.js';

/** From this score on, two names agree. */
export const NAME_AGREEMENT = 85;

/**
 * The name for comparing, without case, accents, punctuation and legal form. The country decides the plain spelling of
 * umlauts.
 */
export function normaliseName(name: string, countryCode?: string): string {
  if (isTooLong(name)) return plainLetters(name.toLowerCase());
  return readName(name, UMLAUT_COUNTRIES.has(countryCode ?? '')).words.join(' ');
}

/**
 * 0 to 100. A ratio over sorted words, limited by differences between companies: numbers in the name, a word on one
 * side only. (A token-set ratio gives "Acme" against "Acme Holdings Group Services Limited" 100.)
 */
export function nameSimilarity(a: string, b: string): number {
  if (a === b) return 100;
  if (isTooLong(a) || isTooLong(b)) return 0;
  const score = similarity(readName(a, false), readName(b, false));
  if (score === 100 || !(UMLAUT.test(a) || UMLAUT.test(b))) return score;
  return Math.max(score, similarity(readName(a, true), readName(b, true)));
}

/** Whether both names have legal forms that differ: sister companies often share the rest. */
export function haveDifferentForms(a: string, b: string, countryCode: string): boolean {
  return areDifferentForms(readName(a, false).kinds, readName(b, false).kinds, countryCode);
}

/** Whether a name has a legal form. Few texts other than company names have one. */
export const hasLegalForm = (name: string): boolean => !isTooLong(name) && readName(name, false).kinds.length > 0;

/** Names are compared word by word: 5,000 characters took a minute. */
export const isTooLong = (name: string): boolean => name.length > LONGEST_NAME;

/** Umlauts, composed or not, in any case, which have another spelling. */
const UMLAUT = /[äöüÄÖÜ]|\u0308/u;

export function nameLetter(score: number): GradeLetter {
  if (score === 100) return 'A';
  return score >= NAME_AGREEMENT ? 'B' : 'F';
}

/** The highest scores with each difference. All but the last are below agreement. */
const CAP = { otherNumber: 40, otherWord: 50, missingWord: 70, partnership: 80, otherForm: 90 };

interface ReadName {
  readonly words: readonly string[];
  readonly kinds: readonly string[];
}

function similarity(a: ReadName, b: ReadName): number {
  const [left, right] = [a.words.join(' '), b.words.join(' ')];
  if (left === '' || right === '') return 0;
  const sameLetters = left.replaceAll(' ', '') === right.replaceAll(' ', '');
  const score = sameLetters ? 100 : Math.min(fuzzball().token_sort_ratio(left, right, { full_process: false }), 99);
  return Math.min(score, numberCap(left, right), sameLetters ? 100 : wordCap(a.words, b.words), formCap(a, b));
}

function numberCap(left: string, right: string): number {
  return distinguishing(left) === distinguishing(right) ? 100 : CAP.otherNumber;
}

const ROMAN = /^(?:x{0,3})(?:ix|iv|v?i{0,3})$/;

/** Digits, Roman numerals and single letters: "Fund 11", "Fund II", "Block C". */
function distinguishing(name: string): string {
  const digits = name.match(/\d+/g) ?? [];
  const marks = name.split(' ').filter((word) => !/\d/.test(word) && (/^[a-z]$/.test(word) || ROMAN.test(word)));
  return [...digits, ...marks].sort().join(' ');
}

/** Below this, two words are not the same: one letter in five may differ. */
const SAME_WORD = 80;

function wordCap(a: readonly string[], b: readonly string[]): number {
  const left = [...a];
  const right = [...b];
  for (const exact of [true, false]) {
    for (let i = left.length - 1; i >= 0; i--) {
      const word = left[i] ?? '';
      const at = right.findIndex((other) =>
        exact ? other === word : fuzzball().ratio(word, other, { full_process: false }) >= SAME_WORD,
      );
      if (at < 0) continue;
      left.splice(i, 1);
      right.splice(at, 1);
    }
  }
  if (left.length === 0 && right.length === 0) return 100;
  if (left.length === 0 || right.length === 0) return CAP.missingWord;
  // A word written in two ("Data Works", "Dataworks") leaves words on both sides that are equal when joined.
  return fuzzball().ratio(left.sort().join(''), right.sort().join(''), { full_process: false }) >= 90
    ? 100
    : CAP.otherWord;
}

/** "X GmbH" is the partner of "X GmbH & Co. KG", and another company. */
function formCap(a: ReadName, b: ReadName): number {
  if (a.kinds.length === 0 || b.kinds.length === 0) return 100;
  if (a.kinds.toSorted().join() === b.kinds.toSorted().join()) return 100;
  return hasPartners([...a.kinds, ...b.kinds]) ? CAP.partnership : CAP.otherForm;
}

const UMLAUT_COUNTRIES = new Set(['DE', 'AT', 'CH', 'LI', 'LU']);

export const STOP_WORDS: ReadonlySet<string> = new Set('the and und et of og och i e y ja a en'.split(' '));

const UMLAUTS: Readonly<Record<string, string>> = { ä: 'ae', ö: 'oe', ü: 'ue' };

const SPECIAL: Readonly<Record<string, string>> = {
  ß: 'ss',
  ø: 'o',
  æ: 'ae',
  œ: 'oe',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ı: 'i',
};

/** A row compares its name with each candidate and with the record. */
const recent = new Memo<ReadName>();

const readName = (name: string, spellOutUmlauts: boolean): ReadName =>
  isTooLong(name)
    ? workOutName(name, spellOutUmlauts)
    : recent.getOrCompute(`${spellOutUmlauts}${name}`, () => workOutName(name, spellOutUmlauts));

function workOutName(name: string, spellOutUmlauts: boolean): ReadName {
  const joined = stripJoinedForm(normalizeText(name, 'NFKC').toLowerCase().trim());
  const plain = plainWords(joined.text);
  const form = findLegalForm(plain);
  // Transcribing umlauts keeps word boundaries, so the form's place is the same in both readings.
  const words = spellOutUmlauts
    ? plainWords(joined.text.replace(/[äöü]/g, (letter) => UMLAUTS[letter] ?? letter))
    : plain;
  const named = words.slice(form.from, form.to);
  const telling = named.filter((word, i) => i === 0 || i === named.length - 1 || !STOP_WORDS.has(word));
  const withoutArticle = telling.length > 1 && telling[0] === 'the' ? telling.slice(1) : telling;
  return { words: withoutArticle, kinds: joined.kind === undefined ? form.kinds : [joined.kind, ...form.kinds] };
}

/** Without marks, and with plain letters for special ones. */
export const plainLetters = (lowerCase: string): string =>
  normalizeText(
    normalizeText(
      lowerCase.replace(/[ßøæœłđðþı]/g, (letter) => SPECIAL[letter] ?? letter),
      'NFD',
    ).replace(/\p{M}/gu, ''),
    'NFC',
  );

function plainWords(lowerCase: string): string[] {
  const text = plainLetters(lowerCase)
    .replace(/[&+]/g, ' and ')
    .replace(/(?<=\p{L})['’`´"״׳](?=\p{L})/gu, '')
    // A/S and S.p.A. are one word, Sp. z o.o. is three.
    .replace(/(?<![\p{L}\p{N}])(\p{L})\/(\p{L})(?![\p{L}\p{N}])/gu, '$1$2')
    .replace(/(?<=\p{L})\.(?=\p{L})/gu, '')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .replace(/(?<!\d)0+(?=\d)/g, '')
    .trim();
  return mergeInitials(text === '' ? [] : text.split(' '));
}

/** "J P Morgan" reads like "JP Morgan", and "s a r l" like "sarl". */
function mergeInitials(words: readonly string[]): string[] {
  const merged: string[] = [];
  let open = false;
  for (const word of words) {
    const initial = /^[a-z]$/.test(word);
    const last = merged.at(-1);
    if (initial && open && last !== undefined) merged[merged.length - 1] = `${last}${word}`;
    else merged.push(word);
    open = initial;
  }
  return merged;
}
