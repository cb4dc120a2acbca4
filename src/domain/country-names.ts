import { createRequire } from 'node:module';
import countries, { type LocaleData } from 'i18n-iso-countries/index.js';
import { LONGEST_NUMBER, normalizeText } from '../util/text-limits.js';
import { countryDialled } from './country-dialling.js';
import { ENDONYMS, EXONYMS } from './country-endonyms.js';
import { FORM_OF_STATE, OFFICIAL_NAMES, TWO_STATES } from './country-official-names.js';
import { isIsoCountry } from './location.js';
import { belongsTo, isPartOf } from './parts-of-countries.js';
import { plainPlace } from './subdivisions.js';

/** What people write that is neither an ISO code nor a country's name in some language. */
const ALIASES: Readonly<Record<string, string>> = {
  uk: 'GB',
  'u k': 'GB',
  'g b': 'GB',
  unitedkingdom: 'GB',
  el: 'GR',
  england: 'GB',
  scotland: 'GB',
  wales: 'GB',
  'northern ireland': 'GB',
  'england and wales': 'GB',
  'england wales': 'GB',
  'great britain': 'GB',
  'united kingdom of great britain and northern ireland': 'GB',
  britain: 'GB',
  grossbritannien: 'GB',
  'grande bretagne': 'GB',
  'gran bretana': 'GB',
  schottland: 'GB',
  holland: 'NL',
  'the netherlands': 'NL',
  'netherlands the': 'NL',
  usa: 'US',
  'u s': 'US',
  'u s a': 'US',
  america: 'US',
  'united states of america': 'US',
  'the united states': 'US',
  brd: 'DE',
  'federal republic of germany': 'DE',
  bundesrepublik: 'DE',
  'bundesrepublik deutschland': 'DE',
  oesterreich: 'AT',
  'republic of ireland': 'IE',
  'ireland republic of': 'IE',
  'rep of ireland': 'IE',
  eire: 'IE',
  prc: 'CN',
  'p r c': 'CN',
  'vr china': 'CN',
  'volksrepublik china': 'CN',
  'pr china': 'CN',
  'p r china': 'CN',
  'peoples republic of china': 'CN',
  'people s republic of china': 'CN',
  'mainland china': 'CN',
  'czech republic': 'CZ',
  'czech rep': 'CZ',
  'ceska republika': 'CZ',
  cesko: 'CZ',
  'hong kong sar': 'HK',
  'south korea': 'KR',
  korea: 'KR',
  russia: 'RU',
  uae: 'AE',
  emirates: 'AE',
  vietnam: 'VN',
  macau: 'MO',
  macedonia: 'MK',
  'ivory coast': 'CI',
  'cape verde': 'CV',
  turkey: 'TR',
  taiwan: 'TW',
  // On number plates and in sports; only those that are no country's code in ISO, and mean one country wherever they stand.
  d: 'DE',
  ger: 'DE',
  sui: 'CH',
  ned: 'NL',
  den: 'DK',
  por: 'PT',
  gre: 'GR',
  cro: 'HR',
  slo: 'SI',
  bul: 'BG',
  lat: 'LV',
  rsa: 'ZA',
  ksa: 'SA',
  vk: 'GB',
  ...Object.fromEntries(
    Object.entries(EXONYMS).flatMap(([code, names]) => names.map((name) => [plainPlace(name), code] as const)),
  ),
};

const LANGUAGES = [
  'en',
  'de',
  'fr',
  'es',
  'it',
  'nl',
  'pt',
  'pl',
  'sv',
  'da',
  'nb',
  'fi',
  'cs',
  'el',
  'zh',
  'ja',
  'he',
];

/** Of these a country column may be, and nothing else is looked up in them: they take as long again to read. */
const FURTHER_LANGUAGES = 'hu sk sl hr ro bg lt lv et tr ru uk sr ko ca'.split(' ');

export interface NamedCountry {
  readonly code: string;
  /** True where the text is a loose usage that ISO does not know. */
  readonly isAlias: boolean;
}

/** The country a code or a name in one of the registered languages means. */
export function findCountry(text: string): NamedCountry | undefined {
  if (text.length > LONGEST_NUMBER) return undefined;
  const trimmed = normalizeText(text, 'NFKC').trim();
  if (trimmed.includes('?')) return undefined;
  const flag = FLAG.exec(trimmed);
  if (flag !== null) return withFlag(flag[0], trimmed.replace(FLAG, ' ').trim());
  const dialled = countryDialled(trimmed);
  if (dialled !== undefined) return dialled === null ? undefined : { code: dialled, isAlias: true };
  const upper = trimmed.toUpperCase().replace(/\.+$/, '');
  // Without its mark it is Costa Rica.
  if (/^Č\.? ?R$/.test(upper)) return { code: 'CZ', isAlias: true };
  if (isIsoCountry(upper)) return { code: upper, isAlias: false };
  const plain = plainPlace(trimmed);
  const alias = Object.hasOwn(ALIASES, plain) ? ALIASES[plain] : undefined;
  if (alias !== undefined) return { code: alias, isAlias: true };
  const fromAlpha3 = /^[A-Z]{3}$/.test(upper) ? countries.alpha3ToAlpha2(upper) : undefined;
  const code = fromAlpha3 ?? codeOf(plain) ?? codeOf(plain.replace(/^the /, '')) ?? withRepublic(plain);
  if (code !== undefined) return { code, isAlias: false };
  const common = plain.replace(FORM_OF_STATE, '');
  const state = common === plain ? undefined : (ALIASES[common] ?? codeOf(common));
  if (state !== undefined && !TWO_STATES.has(state)) return { code: state, isAlias: false };
  const [, name = '', remark = ''] = /^(.*\S)\s*\(([^()]*)\)$/.exec(trimmed) ?? [];
  return name === '' ? namedTwice(trimmed) : withRemark(findCountry(name), remark.trim());
}

/** Two regional indicators, or the flag of England, Scotland or Wales, spelled in tags. */
const FLAG = /\p{RI}{2}|\u{1f3f4}[\u{e0061}-\u{e007a}\u{e0030}-\u{e0039}]{4,6}\u{e007f}/u;

const INDICATOR_A = 0x1f1e6;
const TAG_A = 0xe0061;

/** A flag alone names a country. With a name beside it both must name the same one. */
function withFlag(flag: string, rest: string): NamedCountry | undefined {
  const points = [...flag].map((sign) => sign.codePointAt(0) ?? 0);
  const isPart = points.length > 2;
  const letters = (isPart ? points.slice(1, 3) : points).map((point) => point - (isPart ? TAG_A : INDICATOR_A) + 65);
  const code = String.fromCodePoint(...letters);
  if (!isIsoCountry(code)) return undefined;
  return rest === '' || findCountry(rest)?.code === code ? { code, isAlias: true } : undefined;
}

/** "Deutschland (DE)", "Germany (West)": the name counts, the remark does not, unless it is another country: "GB (DE)". */
function withRemark(named: NamedCountry | undefined, remark: string): NamedCountry | undefined {
  if (isDoubt(remark)) return undefined;
  const other = remark.length < 2 ? undefined : findCountry(remark);
  if (named === undefined || other === undefined || other.code === named.code) return named;
  const isPart = isPartOf(named.code, remark) && !belongsTo(other.code, named.code);
  return isPart || belongsTo(named.code, other.code) ? named : undefined;
}

/** "UK?", "UK (tbc)", "UK (formerly)": whoever wrote it did not know the country, or meant another time or company. */
export const isCountryInDoubt = (text: string): boolean => {
  const plain = normalizeText(text, 'NFKC');
  if (codeOfDigits(plain.trim()) !== undefined && mayBeDialled(plain.trim())) return true;
  return plain.includes('?') || [...plain.matchAll(/\(([^()]*)\)/g)].some(([, remark = '']) => isDoubt(remark));
};

const isDoubt = (remark: string): boolean => DOUBT.test(plainPlace(remark));

/** Old and alt alone: places begin with them. */
const DOUBT = new RegExp(
  `^(?:old|alt|check|open|offen)$|(?<!\\p{L})(?:${[
    'tb[acd]|not|unsure|uncertain|unclear|unknown|unconfirmed|maybe|perhaps|possibly|probably|presumably|assumed|to check|to verify',
    'former|formerly|previous|previously|ex|until|parent|parent company|hq|headquarters?|head office',
    'nicht|unsicher|unklar|unbekannt|fraglich|vielleicht|vermutlich|wahrscheinlich|evtl|eventuell|zu prufen|zu pruefen',
    'fruher|frueher|ehemals|ehemalige?|vormals|bisher|bis|mutter|muttergesellschaft|konzern|zentrale|hauptsitz',
    'a confirmer|a verifier|incertain|inconnu|peut etre|probablement|ancien|ancienne|anciennement|precedemment|jusque?|maison mere|societe mere|siege',
  ].join('|')})(?!\\p{L})`,
  'u',
);

/** "DE - Germany", "DE Deutschland", "Belgique/België". */
function namedTwice(text: string): NamedCountry | undefined {
  const [, before = '', behind = ''] = /^([A-Za-z]{2})[\s–—-]+(\S.*)$/.exec(text) ?? [];
  const first = before === '' ? undefined : findCountry(before);
  if (first !== undefined && findCountry(behind)?.code === first.code) return first;
  const [code, ...others] = countriesNamed(text) ?? [];
  return code === undefined || others.length > 0 ? undefined : { code, isAlias: false };
}

/** The countries that a text lists, each once; undefined where it is no list of countries. */
export const countriesNamed = (text: string): readonly string[] | undefined =>
  countriesBetween(text, /\s*[/|;,()&+]\s*|\s+[-–—]\s+/) ?? countriesBetween(text, /(?<=\p{L}{3})[-–—](?=\p{L}{3})/u);

function countriesBetween(text: string, signs: RegExp): readonly string[] | undefined {
  const pieces = text.split(signs).filter((piece) => piece !== '');
  if (pieces.length < 2 || pieces.length > MOST_PIECES) return undefined;
  const codes = pieces.map((piece) => findCountry(piece)?.code);
  return codes.every((code) => code !== undefined) ? [...new Set(codes)] : undefined;
}

const MOST_PIECES = 4;

/** "Rep. Ceca", "Rép. tchèque", "Bundesrep. Deutschland", "Slovenská rep.", written in full. */
function withRepublic(plain: string): string | undefined {
  if (!REP.test(plain)) return undefined;
  const full = REPUBLICS.map((word) => plain.replace(REP, word));
  return full.map((name) => ALIASES[name] ?? codeOf(name)).find((code) => code);
}

const REP = /^(?:bundes)?rep(?= \p{L})|(?<=\p{L} )rep$/u;
const REPUBLICS = 'republic republique repubblica republica bundesrepublik republik republika republiek'.split(' ');

/** Letters of number plates that mean one country in a column of countries, and anything elsewhere. */
const PLATES: Readonly<Record<string, string>> = {
  A: 'AT',
  B: 'BE',
  E: 'ES',
  F: 'FR',
  I: 'IT',
  L: 'LU',
  N: 'NO',
  P: 'PT',
  S: 'SE',
};

/** What names a country only where nothing else is to be expected: a letter of number plates, or the digits of ISO. */
export function findTerseCountry(text: string): NamedCountry | undefined {
  const code = PLATES[text.toUpperCase().replace(/\.$/, '')] ?? (mayBeDialled(text) ? undefined : codeOfDigits(text));
  return code === undefined ? undefined : { code, isAlias: true };
}

/** Such a text names a country only in a column that is called so. */
export const isTerse = (text: string): boolean => /^(?:[A-CE-Z]\.?|\d{3})$/i.test(text);

const codeOfDigits = (text: string): string | undefined =>
  /^\d{3}$/.test(text) ? countries.numericToAlpha2(text) : undefined;

/** 352 is Iceland in ISO, and dials Luxembourg. */
const mayBeDialled = (text: string): boolean =>
  countryDialled(text) !== undefined || typeof countryDialled(`+${text}`) === 'string';

/** Built at the first name: reading seventeen languages takes longer than most commands run. */
function codeOf(plain: string): string | undefined {
  index ??= buildIndex();
  return index.get(plain);
}

/** The country that a name means in a language that few lists are written in. */
export function findForeignCountry(text: string): NamedCountry | undefined {
  if (/\d/.test(text)) return undefined;
  furtherIndex ??= namesIn(FURTHER_LANGUAGES);
  const code = furtherIndex.get(plainPlace(text));
  return code === undefined ? undefined : { code, isAlias: false };
}

let index: ReadonlyMap<string, string> | undefined;
let furtherIndex: ReadonlyMap<string, string> | undefined;

function buildIndex(): ReadonlyMap<string, string> {
  const found = namesIn(LANGUAGES);
  for (const [code, own] of [...Object.entries(ENDONYMS), ...Object.entries(OFFICIAL_NAMES)])
    for (const name of own) found.set(plainPlace(name), code);
  return found;
}

function namesIn(languages: readonly string[]): Map<string, string> {
  const load = createRequire(import.meta.url);
  const found = new Map<string, string>();
  const ambiguous = new Set<string>();
  for (const language of languages) {
    countries.registerLocale(load(`i18n-iso-countries/langs/${language}.json`) as LocaleData);
    for (const [code, variants] of Object.entries(countries.getNames(language, { select: 'all' }))) {
      for (const variant of variants) {
        const plain = plainPlace(variant);
        const other = found.get(plain);
        if (other !== undefined && other !== code) ambiguous.add(plain);
        found.set(plain, code);
      }
    }
  }
  // A word that means two countries in two languages means neither for certain.
  for (const plain of ambiguous) found.delete(plain);
  return found;
}
