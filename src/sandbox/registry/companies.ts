// Companies of the registry: identity, names, and the way back from each number or name.

import { lazy } from '../../util/packages.js';
import { at, hash, Permutation } from '../random.js';
import { countries } from './countries/index.js';
import { compact, type Language } from './countries/number-formats.js';
import { createIds, createLayout, hasTrait, LISTED_AT, LISTED_EVERY, type RegisterIndex } from './layout.js';
import type { Company } from './types.js';
import { lexicons } from './vocabularies.js';

export type Companies = ReturnType<typeof createCompanies>;

/** Leads from an index to a company, and from each of its numbers back to the index. */
export function createCompanies(seed: number, size: number) {
  const layout = createLayout(seed, size);
  const ids = createIds(seed, size);
  const names = createNames(seed, layout.shelves);
  const tickers = new Permutation(26 ** 4, hash(seed, 51));

  const numberAt = (shelf: RegisterIndex, rank: number) => shelf.register.number.encode(shelf.numbers.forward(rank));

  const vatAt = (shelf: RegisterIndex, rank: number, index: number, number: string): string | null => {
    if (hasTrait(seed, index, 'noVatNumber')) return null;
    if (shelf.vat.kind === 'derived') return shelf.vat.encode(compact(number));
    return shelf.vat.format.encode(shelf.vats.forward(rank) * shelf.country.registers.length + shelf.position);
  };

  const changes = new Map<number, Readonly<Record<string, string | null>>>();

  const company = (index: number): Company => {
    const changed = changes.get(index);
    return changed === undefined ? founded(index) : asChanged(founded(index), changed);
  };

  const founded = (index: number): Company => {
    if (!Number.isInteger(index) || index < 0 || index >= size) throw new RangeError(`no company ${index}`);
    const { shelf, rank } = layout.locate(index);
    const number = numberAt(shelf, rank);
    const dice = hash(seed, index, 52);
    return {
      index,
      v1Id: ids.v1(index),
      v2Id: ids.v2(index),
      sourceId: ids.source(index, shelf.country.code),
      name: names.of(shelf, rank, index),
      registrationNumber: hasTrait(seed, index, 'noRegistrationNumber') ? null : number,
      vatNumber: vatAt(shelf, rank, index, number),
      ticker: index % LISTED_EVERY === LISTED_AT ? letters(tickers.forward(Math.floor(index / LISTED_EVERY))) : null,
      countryCode: shelf.country.code,
      state: shelf.register.state,
      jurisdiction: shelf.register.jurisdiction,
      city: at(shelf.register.cities, dice),
      status: statusOf(seed, index),
      legalForm: dice % 41 === 0 ? null : names.legalForm(shelf, index),
      incorporationDate: dice % 53 === 0 ? null : dateOf(dice),
    };
  };

  /** A company is found only by values that its own entry shows. */
  const confirm = (index: number | undefined, shows: (found: Company) => boolean): Company | undefined => {
    if (index === undefined) return undefined;
    const found = company(index);
    return shows(found) ? found : undefined;
  };

  const byNumber = (shelf: RegisterIndex, wanted: string): Company | undefined => {
    const position = shelf.register.number.decode(wanted);
    if (position === undefined || !(position >= 0 && position < shelf.numbers.size)) return undefined;
    return confirm(
      layout.indexOf(shelf, shelf.numbers.backward(position)),
      (found) => found.registrationNumber !== null && compact(found.registrationNumber) === wanted,
    );
  };

  return {
    seed,
    size,
    layout,
    ids,
    names,
    company,
    /** Changes the company from now on. */
    change: (index: number, field: string, value: string | null) =>
      void changes.set(index, { ...changes.get(index), [field]: value }),
    shelfOf: (entry: Company) => layout.locate(entry.index).shelf,
    isNamesake: (entry: Company) => {
      const { shelf, rank } = layout.locate(entry.index);
      return names.isNamesake(shelf, rank);
    },
    /** The number at another position of the same register, for records that contradict the search. */
    otherNumber: (entry: Company) => {
      const { shelf, rank } = layout.locate(entry.index);
      return shelf.register.number.encode((shelf.numbers.forward(rank) + 1) % shelf.numbers.size);
    },
    /** The company of a register with exactly this compact number. */
    byNumber,
    byVat: (shelf: RegisterIndex, wanted: string) => {
      const shows = (found: Company) => found.vatNumber !== null && compact(found.vatNumber) === wanted;
      if (shelf.vat.kind === 'derived') {
        const position = shelf.register.number.decode(shelf.vat.decode(wanted));
        if (position === undefined || !(position >= 0 && position < shelf.numbers.size)) return undefined;
        return confirm(layout.indexOf(shelf, shelf.numbers.backward(position)), shows);
      }
      const position = shelf.vat.format.decode(wanted);
      const registers = shelf.country.registers.length;
      if (position === undefined || position % registers !== shelf.position) return undefined;
      const slot = Math.floor(position / registers);
      if (!(slot >= 0 && slot < shelf.count)) return undefined;
      return confirm(layout.indexOf(shelf, shelf.vats.backward(slot)), shows);
    },
    byTicker: (ticker: string) => {
      const text = ticker.toUpperCase();
      if (!/^[A-Z]{4}$/.test(text)) return undefined;
      const index = tickers.backward(fromLetters(text)) * LISTED_EVERY + LISTED_AT;
      return index < size ? company(index) : undefined;
    },
  };
}

function asChanged(company: Company, changes: Readonly<Record<string, string | null>>): Company {
  const { name, vat_number: vatNumber, company_status: status } = changes;
  return {
    ...company,
    ...(name == null ? {} : { name, formerName: company.name }),
    ...(vatNumber === undefined ? {} : { vatNumber }),
    ...(status == null ? {} : { status }),
    changes,
  };
}

function statusOf(seed: number, index: number): string {
  const dice = hash(seed, index, 53);
  if (hasTrait(seed, index, 'dissolved')) return at(['Dissolved', 'Dissolved', 'Struck off', 'Gelöscht'], dice);
  if (hasTrait(seed, index, 'intermediate')) return at(['In liquidation', 'Insolvency proceedings', 'Dormant'], dice);
  return at(['Active', 'Active', 'Active', 'Live', 'ACTIVE'], dice);
}

/** From 1921 to 2024, with days that every month has. */
function dateOf(dice: number): string {
  const year = 2024 - Math.floor(((dice >>> 8) % 104) * (((dice >>> 4) % 16) / 16));
  return `${year}-${two(1 + (dice % 12))}-${two(1 + ((dice >>> 12) % 28))}`;
}

const two = (value: number): string => String(value).padStart(2, '0');

function letters(value: number): string {
  let rest = value;
  let text = '';
  for (let i = 0; i < 4; i++) {
    text = String.fromCharCode(65 + (rest % 26)) + text;
    rest = Math.floor(rest / 26);
  }
  return text;
}

function fromLetters(text: string): number {
  let value = 0;
  for (const letter of text) value = value * 26 + letter.charCodeAt(0) - 65;
  return value;
}

const inactive = new Set(['Dissolved', 'Struck off', 'Gelöscht']);
const intermediate = new Set(['In liquidation', 'Insolvency proceedings', 'Dormant']);

/** The company-status nomenclature: Active 106, Inactive 108, Intermediate 1615. */
export function statusId(company: Company): number {
  if (inactive.has(company.status)) return 108;
  return intermediate.has(company.status) ? 1615 : 106;
}

/** The LEI prefix of the only local operating unit here, and the two zeros of every LEI. */
const PREFIX = '549300';
const EVERY = 3;

/** One company in three has a legal entity identifier: 18 characters and two check digits (ISO 17442). */
export function leiOf({ index }: Company): string | null {
  if (index % EVERY !== 0) return null;
  const body = `${PREFIX}${index.toString(36).toUpperCase().padStart(12, '0')}`;
  return `${body}${String(98 - modulo97(`${body}00`)).padStart(2, '0')}`;
}

/** The index in an LEI of this registry. Undefined for any other text. */
export function indexOfLei(lei: string): number | undefined {
  const text = lei.trim().toUpperCase();
  if (!/^549300[0-9A-Z]{12}\d{2}$/.test(text)) return undefined;
  return Number.parseInt(text.slice(PREFIX.length, -2), 36);
}

/** Letters count as 10 to 35 (ISO 7064). */
function modulo97(text: string): number {
  let rest = 0;
  for (const character of text)
    for (const digit of String(Number.parseInt(character, 36))) rest = (rest * 10 + Number(digit)) % 97;
  return rest;
}

const FIRST = 64;
const TRADE = 64;
const QUALIFIER = 128;
const WORDS = FIRST * TRADE * QUALIFIER;

/** One position in twenty repeats the name before it: two companies of one register with the same name. */
const NAMESAKE_EVERY = 20;

function createNames(seed: number, shelves: readonly RegisterIndex[]) {
  // Each register shuffles the words differently, so that a name may or may not exist in the next register.
  const shuffles = shelves.map((shelf) => new Permutation(WORDS, hash(seed, shelf.id, 31)));
  const legalForm = (shelf: RegisterIndex, index: number): string => {
    const form = at(shelf.register.legalForms ?? shelf.country.legalForms, hash(seed, index, 33));
    return form.startsWith(', ') ? form.slice(2) : form;
  };
  return {
    legalForm,
    of: (shelf: RegisterIndex, rank: number, index: number) => {
      const words = wordsAt(shelf.country.language, at(shuffles, shelf.id).forward(slotOf(shelf, rank) % WORDS));
      return decorate(words, legalForm(shelf, index), hash(seed, index, 32), shelf.country.language);
    },
    isNamesake: (shelf: RegisterIndex, rank: number) => {
      const slot = shelf.names.forward(rank);
      const place = slot % NAMESAKE_EVERY;
      return place === NAMESAKE_EVERY - 1 || (place === NAMESAKE_EVERY - 2 && slot + 1 < shelf.count);
    },
    /** Ranks of a register whose name has these words. */
    ranksOf: (shelf: RegisterIndex, code: number): readonly number[] => {
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
}

const none: readonly number[] = [];

function slotOf(shelf: RegisterIndex, rank: number): number {
  const slot = shelf.names.forward(rank);
  return slot % NAMESAKE_EVERY === NAMESAKE_EVERY - 1 ? slot - 1 : slot;
}

function wordsAt(language: Language, code: number): [string, string, string] {
  const lexicon = lexicons()[language];
  return [
    at(lexicon.first, Math.floor(code / (TRADE * QUALIFIER))),
    at(lexicon.trade, Math.floor(code / QUALIFIER) % TRADE),
    at(lexicon.qualifier, code % QUALIFIER),
  ];
}

/** Some names have quotation marks. Some start with a character that a spreadsheet would run as a formula. */
function decorate(words: [string, string, string], form: string, dice: number, language: Language): string {
  const [first, trade, qualifier] = words;
  const body = [trade, qualifier].filter((word) => word !== '');
  if (lexicons()[language].joined) {
    return form.startsWith('株') && dice % 2 === 0 ? `${form}${words.join('')}` : `${words.join('')}${form}`;
  }
  const comma = language === 'en' && dice % 5 === 0 ? ',' : '';
  const text = `${[dice % 64 === 1 ? `"${first}"` : first, ...body].join(' ')}${comma} ${form}`;
  return dice % 128 === 2 ? `${at(['=', '+', '-', '@'], dice >>> 8)}${text}` : text;
}

/** Combinations of words that the text may mean: the literal reading first, then names that differ in one word. */
export function readName(language: Language, text: string, most: number): readonly number[] {
  const [firstToken, tradeToken, ...rest] = readTokens(language, text);
  if (firstToken === undefined) return none;
  const words = indexOf(language);
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

/** Folded characters, stored at first use: a search folds many names, and the patterns are slow. */
const folded = new Array<string | undefined>(0x1_0000);
const mixed = '\ud800';

function fold(code: number): string {
  const letters = withoutMarks(String.fromCharCode(code));
  // Surrogates, sigma (which changes at the end of a word), and characters that fold to several are folded with their
  // text.
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

/** All of the countries and their registers, longest first. */
const legalForms = lazy(() => {
  const entries = countries().flatMap((country) => [country, ...country.registers]);
  const forms = new Set(entries.flatMap((entry) => (entry.legalForms ?? []).map(plain)));
  const all = [...forms].sort((a, b) => b.length - a.length);
  return { all, lastWords: new Set(all.map((form) => form.slice(form.lastIndexOf(' ') + 1))) };
});

function readTokens(language: Language, text: string): string[] {
  const { all, lastWords } = legalForms();
  let name = plain(text);
  if (lexicons()[language].joined) {
    for (const form of all) name = name.replace(form, '');
    name = name.replaceAll(' ', '');
    return [name.slice(0, 2), name.slice(2, 4), name.slice(4)].filter((part) => part !== '');
  }
  if (lastWords.has(name.slice(name.lastIndexOf(' ') + 1))) {
    const form = all.find((candidate) => name.endsWith(` ${candidate}`));
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

const indexes = new Map<Language, WordIndex>();

function indexOf(language: Language): WordIndex {
  const known = indexes.get(language);
  if (known !== undefined) return known;
  const { first, trade, qualifier } = lexicons()[language];
  const made = { first: indexWords(first), trade: indexWords(trade), qualifier: indexWords(qualifier) };
  indexes.set(language, made);
  return made;
}

/** The word itself, or words that start with it or are one letter away. */
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
