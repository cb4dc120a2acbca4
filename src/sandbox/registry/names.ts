import { countries } from './countries/index.js';
import type { Language } from './countries/types.js';
import type { Shelf } from './layout.js';
import { lexicons } from './lexicons.js';
import { at, hash, Permutation } from './random.js';

const FIRST = 64;
const TRADE = 64;
const QUALIFIER = 128;
const WORDS = FIRST * TRADE * QUALIFIER;

/** One position in twenty repeats the name before it: two companies of one register with the same name. */
const NAMESAKE_EVERY = 20;

export interface Names {
  of(shelf: Shelf, rank: number, index: number): string;
  isNamesake(shelf: Shelf, rank: number): boolean;
  legalForm(shelf: Shelf, index: number): string;
  /** Ranks of a register whose name has these words. */
  ranksOf(shelf: Shelf, code: number): readonly number[];
}

export function createNames(seed: number, shelves: readonly Shelf[]): Names {
  // Each register shuffles the words in its own way: a name may or may not exist in the next register.
  const shuffles = shelves.map((shelf) => new Permutation(WORDS, hash(seed, shelf.id, 31)));
  const names: Names = {
    of: (shelf, rank, index) => {
      const words = wordsAt(shelf.country.language, at(shuffles, shelf.id).forward(slotOf(shelf, rank) % WORDS));
      return decorate(words, names.legalForm(shelf, index), hash(seed, index, 32), shelf.country.language);
    },
    isNamesake: (shelf, rank) => {
      const slot = shelf.names.forward(rank);
      const place = slot % NAMESAKE_EVERY;
      return place === NAMESAKE_EVERY - 1 || (place === NAMESAKE_EVERY - 2 && slot + 1 < shelf.count);
    },
    legalForm: (shelf, index) => {
      const form = at(shelf.register.legalForms ?? shelf.country.legalForms, hash(seed, index, 33));
      return form.startsWith(', ') ? form.slice(2) : form;
    },
    ranksOf: (shelf, code) => {
      const first = at(shuffles, shelf.id).backward(code);
      if (first >= shelf.count) return none;
      const ranks: number[] = [];
      for (let slot = first; slot < shelf.count; slot += WORDS) {
        if (slot % NAMESAKE_EVERY !== NAMESAKE_EVERY - 1) ranks.push(shelf.names.backward(slot));
        const next = slot + 1;
        if (next % NAMESAKE_EVERY === NAMESAKE_EVERY - 1 && next < shelf.count) ranks.push(shelf.names.backward(next));
      }
      return ranks;
    },
  };
  return names;
}

const none: readonly number[] = [];

function slotOf(shelf: Shelf, rank: number): number {
  const slot = shelf.names.forward(rank);
  return slot % NAMESAKE_EVERY === NAMESAKE_EVERY - 1 ? slot - 1 : slot;
}

function wordsAt(language: Language, code: number): [string, string, string] {
  const lexicon = lexicons[language];
  return [
    at(lexicon.first, Math.floor(code / (TRADE * QUALIFIER))),
    at(lexicon.trade, Math.floor(code / QUALIFIER) % TRADE),
    at(lexicon.qualifier, code % QUALIFIER),
  ];
}

/** Some names carry quotation marks, some start with a character that a spreadsheet would run as a formula. */
function decorate(words: [string, string, string], form: string, dice: number, language: Language): string {
  const [first, trade, qualifier] = words;
  const body = [trade, qualifier].filter((word) => word !== '');
  if (lexicons[language].joined) {
    return form.startsWith('株') && dice % 2 === 0 ? `${form}${words.join('')}` : `${words.join('')}${form}`;
  }
  const comma = language === 'en' && dice % 5 === 0 ? ',' : '';
  const text = `${[dice % 64 === 1 ? `"${first}"` : first, ...body].join(' ')}${comma} ${form}`;
  return dice % 128 === 2 ? `${at(['=', '+', '-', '@'], dice >>> 8)}${text}` : text;
}

/** Combinations of words that the text may mean, the literal reading first, then names that differ in one word. */
export function readName(language: Language, text: string, most: number): readonly number[] {
  const [firstToken, tradeToken, ...rest] = readTokens(language, text);
  if (firstToken === undefined) return none;
  const words = indexes[language];
  const firsts = near(words.first, firstToken);
  const trades = tradeToken === undefined ? everyTrade : near(words.trade, tradeToken);
  const literal = words.qualifier.get(rest.join(' '));
  const codes: number[] = [];
  if (literal !== undefined) {
    for (const first of firsts) {
      for (const trade of trades) if (codes.length < most) codes.push(codeOf(first, trade, literal));
    }
  }
  for (const first of firsts) {
    for (const trade of trades) {
      for (let qualifier = 0; qualifier < QUALIFIER && codes.length < most; qualifier++) {
        if (qualifier !== literal) codes.push(codeOf(first, trade, qualifier));
      }
    }
  }
  return codes;
}

function codeOf(first: number, trade: number, qualifier: number): number {
  return (first * TRADE + trade) * QUALIFIER + qualifier;
}

/** Lower case, without accents, punctuation and legal form. */
export function plain(text: string): string {
  let result = '';
  let blank = false;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    const letters = folded[code] ?? fold(code);
    if (letters === mixed) return plainWhole(text);
    if (letters === ' ') blank = true;
    else if (letters !== '') {
      result += blank && result !== '' ? ` ${letters}` : letters;
      blank = false;
    }
  }
  return result;
}

/** What each character becomes, learned as they come: a search folds many names, and the patterns are slow. */
const folded = new Array<string | undefined>(0x1_0000);
const mixed = '\ud800';

function fold(code: number): string {
  const letters = withoutMarks(String.fromCharCode(code));
  // Half a pair, the sigma that changes at the end of a word, letters and blanks from one character: text by text.
  const alone = (code < 0xd800 || code > 0xdfff) && !letters.includes('σ');
  const result = alone && /^[\p{L}\p{N}]*$/u.test(letters) ? letters : mixed;
  folded[code] = alone && letters !== '' && !/[\p{L}\p{N}]/u.test(letters) ? ' ' : result;
  return folded[code] ?? mixed;
}

function plainWhole(text: string): string {
  return withoutMarks(text)
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}

function withoutMarks(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/[\p{M}'’"”“„«»׳״]/gu, '')
    .replace(/ß/g, 'ss')
    .toLowerCase();
}

const everyTrade: readonly number[] = Array.from({ length: TRADE }, (_, i) => i);

const legalForms: readonly string[] = [
  ...new Set(
    countries.flatMap((country) =>
      [country, ...country.registers].flatMap((entry) => (entry.legalForms ?? []).map(plain)),
    ),
  ),
].sort((a, b) => b.length - a.length);

const lastWords = new Set(legalForms.map((form) => form.slice(form.lastIndexOf(' ') + 1)));

function readTokens(language: Language, text: string): string[] {
  let name = plain(text);
  if (lexicons[language].joined) {
    for (const form of legalForms) name = name.replace(form, '');
    name = name.replaceAll(' ', '');
    return [name.slice(0, 2), name.slice(2, 4), name.slice(4)].filter((part) => part !== '');
  }
  if (lastWords.has(name.slice(name.lastIndexOf(' ') + 1))) {
    const form = legalForms.find((candidate) => name.endsWith(` ${candidate}`));
    if (form !== undefined) name = name.slice(0, -form.length - 1);
  }
  return name === '' ? [] : name.split(' ');
}

interface WordIndex {
  readonly first: ReadonlyMap<string, number>;
  readonly trade: ReadonlyMap<string, number>;
  readonly qualifier: ReadonlyMap<string, number>;
}

const indexWords = (words: readonly string[]): Map<string, number> => new Map(words.map((word, i) => [plain(word), i]));

const indexOf = (language: Language): WordIndex => ({
  first: indexWords(lexicons[language].first),
  trade: indexWords(lexicons[language].trade),
  qualifier: indexWords(lexicons[language].qualifier),
});

const indexes: Readonly<Record<Language, WordIndex>> = {
  en: indexOf('en'),
  de: indexOf('de'),
  fr: indexOf('fr'),
  es: indexOf('es'),
  it: indexOf('it'),
  nordic: indexOf('nordic'),
  slavic: indexOf('slavic'),
  cjk: indexOf('cjk'),
  hebrew: indexOf('hebrew'),
};

/** The word itself, or those that start with it or are one letter away. */
function near(words: ReadonlyMap<string, number>, token: string): readonly number[] {
  const exact = words.get(token);
  if (exact !== undefined) return [exact];
  const found: number[] = [];
  for (const [word, index] of words) {
    if ((token.length >= 3 && word.startsWith(token)) || oneLetterApart(word, token)) found.push(index);
  }
  return found;
}

function oneLetterApart(a: string, b: string): boolean {
  if (Math.abs(a.length - b.length) > 1) return false;
  let start = 0;
  while (start < a.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < Math.min(a.length, b.length) - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  return Math.max(a.length, b.length) - start - end <= 1;
}
