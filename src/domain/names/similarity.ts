// How similar two names are, with damaged letters restored and legal forms set apart.

import { fuzzball } from '../../util/packages.js';
import { LONGEST_NAME, Memo, normalizeText } from '../../util/text-limits.js';
import { barredWords, dataFile } from '../../util/yaml.js';
import type { GradeLetter } from '../numbers/compare.js';

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
 * side only. (A token-set ratio gives "Acme" against "Acme Holdings Group Services Limited" 100.) The country tells which
 * legal forms may precede a name.
 */
export function nameSimilarity(a: string, b: string, countryCode?: string): number {
  if (a === b) return 100;
  if (isTooLong(a) || isTooLong(b)) return 0;
  const score = similarity(readName(a, false, countryCode), readName(b, false, countryCode));
  if (score === 100 || !(UMLAUT.test(a) || UMLAUT.test(b))) return score;
  return Math.max(score, similarity(readName(a, true, countryCode), readName(b, true, countryCode)));
}

/** Whether both names have legal forms that differ: sister companies often share the rest. */
export function haveDifferentForms(a: string, b: string, countryCode: string): boolean {
  return areDifferentForms(readName(a, false, countryCode).kinds, readName(b, false, countryCode).kinds, countryCode);
}

export const legalFormOf = (name: string, countryCode?: string): string =>
  isTooLong(name) ? '' : readName(name, false, countryCode).kinds.toSorted().join('+');

/** Whether a name has a legal form. Few texts other than company names have one. */
export const hasLegalForm = (name: string): boolean => !isTooLong(name) && readName(name, false).kinds.length > 0;

/** Whether a name begins or ends with a legal form that has its usual spaces. "Gm bH" has not. */
export function hasUsualForm(name: string): boolean {
  if (isTooLong(name)) return false;
  const { kinds, leading } = legalForms();
  const words = plainWords(name.toLowerCase());
  const ends = words.slice(-LONGEST).some((_, at, last) => kinds.usual.has(last.slice(at).join(' ')));
  return ends || leading.has(words[0] ?? '');
}

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

export const SPECIAL_LETTERS: Readonly<Record<string, string>> = {
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

function readName(name: string, spellOutUmlauts: boolean, countryCode = ''): ReadName {
  const country = legalForms().leading_in.has(countryCode) ? countryCode : '';
  const read = () => workOutName(name, spellOutUmlauts, country);
  return isTooLong(name) ? read() : recent.getOrCompute(`${spellOutUmlauts}${country} ${name}`, read);
}

function workOutName(name: string, spellOutUmlauts: boolean, country: string): ReadName {
  const joined = stripJoinedForm(normalizeText(name, 'NFKC').toLowerCase().trim());
  const plain = plainWords(joined.text);
  const form = findLegalForm(plain, country);
  // Transcribing umlauts keeps word boundaries, so the form's place is the same in both readings.
  const words = spellOutUmlauts
    ? plainWords(joined.text.replace(/[äöü]/g, (letter) => UMLAUTS[letter] ?? letter))
    : plain;
  const named = words.slice(form.from, form.to);
  const telling = named.filter((word, i) => i === 0 || i === named.length - 1 || !STOP_WORDS.has(word));
  const withoutArticle = telling.length > 1 && telling[0] === 'the' ? telling.slice(1) : telling;
  return { words: withoutArticle, kinds: joined.kind === undefined ? form.kinds : [joined.kind, ...form.kinds] };
}

export const plainLetters = (lowerCase: string): string =>
  normalizeText(
    normalizeText(
      lowerCase.replace(/[ßøæœłđðþı]/g, (letter) => SPECIAL_LETTERS[letter] ?? letter),
      'NFD',
    ).replace(/\p{M}/gu, ''),
    'NFC',
  );

function plainWords(lowerCase: string): string[] {
  const text = plainLetters(lowerCase)
    // "Meier u. Söhne", "GmbH u Co. KG".
    .replace(/[&+]| u(?:\.(?! ?\p{L}\.)| (?=co\b))/gu, ' and ')
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

/**
 * Names are compared without their legal forms, but different kinds (GmbH, GmbH & Co. KG) are still a reason to ask.
 */
const legalForms = dataFile('domain/legal-forms', (z) => {
  const words = barredWords(z);
  const wordSet = words.transform((list) => new Set(list));
  const byKind = z.record(z.string(), words);
  return z.strictObject({
    kinds: byKind.transform((kinds) => ({
      usual: new Set(spellingsOf(kinds).map(([text]) => text)),
      bySpelling: new Map(spellingsOf(kinds).map(([text, kind]) => [withoutSpaces(text), kind])),
    })),
    joined: byKind.transform(spellingsOf),
    same_in: z.record(z.string(), z.array(words)),
    translates: byKind,
    english_law: wordSet,
    leading: wordSet,
    leading_in: z.record(z.string(), wordSet).transform((countries) => new Map(Object.entries(countries))),
    mistyped: words,
  });
});

const spellingsOf = (kinds: Readonly<Record<string, readonly string[]>>): readonly (readonly [string, string])[] =>
  Object.entries(kinds).flatMap(([kind, spellings]) => spellings.map((spelling) => [spelling, kind] as const));

/** Whether the legal forms mean two companies: a form of one has no equivalent in the other. */
function areDifferentForms(a: readonly string[], b: readonly string[], countryCode: string): boolean {
  const lacks = (kinds: readonly string[], others: readonly string[]) =>
    kinds.some((kind) => !others.some((other) => isSameForm(kind, other, countryCode)));
  return a.length > 0 && b.length > 0 && (lacks(a, b) || lacks(b, a));
}

function isSameForm(a: string, b: string, countryCode: string): boolean {
  const { same_in: sameIn, english_law: englishLaw, translates } = legalForms();
  if (a === b || sameIn[countryCode]?.some((group) => group.includes(a) && group.includes(b)) === true) return true;
  // Under English law an English form is not a translation, unless the other is in another script.
  if (englishLaw.has(countryCode) && !isJoined(a) && !isJoined(b)) return false;
  return translates[a]?.includes(b) === true || translates[b]?.includes(a) === true;
}

const isJoined = (kind: string): boolean => legalForms().joined.some(([, joined]) => joined === kind);

const LONGEST = 5;

interface FormPlace {
  /** The words between `from` and `to` are the name without its legal forms. */
  readonly from: number;
  readonly to: number;
  readonly kinds: readonly string[];
}

/** Finds the legal forms of a name in plain words. A name that is only a form keeps it. */
function findLegalForm(words: readonly string[], country: string): FormPlace {
  let to = words.length;
  const kinds: string[] = [];
  let partners = false;
  for (;;) {
    const form = endingForm(words.slice(0, to));
    if (form === undefined || form.size === to) break;
    // "GmbH & Co. KG" is one form, and so is any other form with partners.
    if (partners) kinds.push(`${form.kind}${WITH_PARTNERS}${kinds.pop()}`);
    else kinds.push(form.kind);
    partners = PARTNERS.test(formText(words.slice(to - form.size, to)));
    to -= form.size;
    // "Muster Gesellschft mbH": a typing error in the longer spelling of the form.
    if (to > 1 && form.kind === 'gmbh' && isMistyped(words[to - 1] ?? '', 'gesellschaft')) to -= 1;
  }
  const [first] = words;
  const { leading, leading_in: leadingIn } = legalForms();
  const leads = to > 1 && first !== undefined && (leading.has(first) || leadingIn.get(country)?.has(first) === true);
  if (leads) kinds.push(legalForms().kinds.bySpelling.get(first) ?? first);
  return { from: leads ? 1 : 0, to, kinds: [...new Set(kinds)] };
}

const PARTNERS = /^(?:and)?co(?:mpagnie)?(?:kg|kommanditgesellschaft|kgaa|ohg)$/;
const WITH_PARTNERS = ' and co ';

/** "X GmbH & Co. KG": "X GmbH" is its partner. */
const hasPartners = (kinds: readonly string[]): boolean => kinds.some((kind) => kind.includes(WITH_PARTNERS));

function endingForm(words: readonly string[]): { readonly size: number; readonly kind: string } | undefined {
  const { kinds, mistyped } = legalForms();
  for (let size = Math.min(LONGEST, words.length); size > 0; size--) {
    const kind = kinds.bySpelling.get(formText(words.slice(-size)));
    if (kind !== undefined) return { size, kind };
  }
  const meant = mistyped.find((form) => isMistyped(words.at(-1) ?? '', form));
  const kind = kinds.bySpelling.get(withoutSpaces(meant ?? ''));
  return kind === undefined ? undefined : { size: 1, kind };
}

/** Forms are written with spaces in many places: "Sp. z o.o.", "Sp.z o. o.". "GmbH und Co. KG" has a word for "&". */
const formText = (words: readonly string[]): string =>
  withoutSpaces(words.map((word) => (STOP_WORDS.has(word) ? 'and' : word)).join(''));

const withoutSpaces = (text: string): string => text.replaceAll(' ', '');

const isMistyped = (word: string, form: string) =>
  word.length > 2 && fuzzball().ratio(word, form, { full_process: false }) >= 85;

function stripJoinedForm(text: string): { readonly text: string; readonly kind: string | undefined } {
  for (const [spelling, kind] of legalForms().joined) {
    const rest = text.endsWith(spelling)
      ? text.slice(0, -spelling.length)
      : text.startsWith(spelling)
        ? text.slice(spelling.length)
        : text;
    if (rest !== text && rest.trim() !== '') return { text: rest.trim(), kind };
  }
  return { text, kind: undefined };
}

/**
 * Possible spellings of a name before its letters were damaged: UTF-8 read as a code page (`MÃ¼ller`), Cyrillic or
 * Greek letters that look Latin, and `?` for a letter that a program could not write (`M?ller`). The other name shows
 * which letter it was.
 */
export function restoredNames(damaged: string, other: string): readonly string[] {
  const read = [damaged, inLatin(damaged), ...CODE_PAGES.map((page) => readAgain(damaged, page))];
  const restored = read.map((name) => withLettersOf(name, other));
  return [...new Set(restored)].filter((name) => name !== damaged);
}

const CODE_PAGES = ['windows-1252', 'windows-1250'] as const;
type CodePage = (typeof CODE_PAGES)[number];

/** Decodes runs that are valid UTF-8 as bytes, and keeps all others. */
function readAgain(name: string, page: CodePage): string {
  if (!MISREAD.test(name)) return name;
  const bytes = bytesIn(page);
  return name.replace(/[^\0-\x7f]{2,}/gu, (run) => {
    const codes = [...run].map((character) => bytes.get(character));
    try {
      return codes.includes(undefined) ? run : UTF8.decode(Uint8Array.from(codes as number[]));
    } catch {
      return run;
    }
  });
}

/** The first of two UTF-8 bytes, as either code page shows it, and a sign that is rare after it. */
const MISREAD = /[ÂÃÄÅĂĹÎÏÐÑ][^\0-\x7f]/u;
const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** 0x80 to 0x9F, with a control character if the code page has no sign. */
const SIGNS_1252 = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ';

const tables = new Map<CodePage, ReadonlyMap<string, number>>();

function bytesIn(page: CodePage): ReadonlyMap<string, number> {
  const known = tables.get(page);
  if (known !== undefined) return known;
  const decoder = new TextDecoder(page);
  const codes = Array.from({ length: 128 }, (_, at) => at + 128);
  const table = new Map(codes.map((code) => [decoder.decode(Uint8Array.of(code)), code]));
  // Node reads these bytes of windows-1252 as control characters. Both readings occur.
  if (page === 'windows-1252') for (const [at, sign] of [...SIGNS_1252].entries()) table.set(sign, at + 128);
  tables.set(page, table);
  return table;
}

/** A name in one script stays unchanged. */
const inLatin = (name: string): string =>
  /\p{Script=Latin}/u.test(name) && /[\p{Script=Cyrillic}\p{Script=Greek}]/u.test(name)
    ? [...name].map((letter) => LATIN.get(letter) ?? letter).join('')
    : name;

const LOOKALIKES = 'АВЕЅІЈКМНОРСТУХаеѕіјорсухΑΒΕΖΗΙΚΜΝΟΡΤΥΧο';
const LATIN: ReadonlyMap<string, string> = new Map(
  [...LOOKALIKES].map((letter, at) => [letter, 'ABESIJKMHOPCTYXaesijopcyxABEZHIKMNOPTYXo'.charAt(at)]),
);

/**
 * Replaces each word with `?` by the other name's word with a letter beyond ASCII, or its transcription, in that place.
 */
function withLettersOf(name: string, other: string): string {
  if (!/[?\ufffd]/u.test(name)) return name;
  const words = other.split(BETWEEN_WORDS);
  return name
    .split(/(\s+)/)
    .map((word) => {
      const runs = word.split(/[?\ufffd]+/u).length - 1;
      if (runs === 0 || runs > MOST_RUNS || word.length > LONGEST_WORD || !/\p{L}/u.test(word)) return word;
      const [, start = '', core = '', end = ''] = /^([("'„]*)(.*?)([)"',;.]*)$/u.exec(word) ?? [];
      const pattern = core
        .split(/([?\ufffd]+)/u)
        .map((piece) =>
          /^[?\ufffd]/u.test(piece) ? `(?:${LOST}){1,${piece.length}}` : piece.replace(PATTERN_SIGNS, '\\$&'),
        );
      const found = words.find((one) => new RegExp(`^${pattern.join('')}$`, 'iu').test(one));
      return found === undefined ? word : `${start}${found}${end}`;
    })
    .join('');
}

/** A low limit keeps the pattern fast. */
const MOST_RUNS = 3;
const LONGEST_WORD = 60;
const LOST = '[^\\0-\\x7f]|ae|oe|ue|ss';
const PATTERN_SIGNS = /[.*+?^${}()|[\]\\/]/g;
const BETWEEN_WORDS = /[\s,;()"']+/u;
