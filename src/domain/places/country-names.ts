import { createRequire } from 'node:module';
import type { LocaleData } from 'i18n-iso-countries/index.js';
import { LONGEST_NUMBER, normalizeText } from '../../util/text-limits.js';
import { ENDONYMS, EXONYMS, FORM_OF_STATE, OFFICIAL_NAMES, TWO_STATES } from './country-name-tables.js';
import { belongsTo, isIsoCountry, isoCountries, isPartOf, plainPlace } from './location-codes.js';

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
  const fromAlpha3 = /^[A-Z]{3}$/.test(upper) ? isoCountries().alpha3ToAlpha2(upper) : undefined;
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
  /^\d{3}$/.test(text) ? isoCountries().numericToAlpha2(text) : undefined;

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
    isoCountries().registerLocale(load(`i18n-iso-countries/langs/${language}.json`) as LocaleData);
    for (const [code, variants] of Object.entries(isoCountries().getNames(language, { select: 'all' }))) {
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

/**
 * Dialling codes that mean one country. Codes that several countries share (+1, +7, +262, +590, +599) are not here: they decide nothing.
 * Islands that use the code of a larger country (Jersey +44, Svalbard +47) are not meant by the code alone.
 */
const CODES =
  '20EG 211SS 212MA 213DZ 216TN 218LY 220GM 221SN 222MR 223ML 224GN 225CI 226BF 227NE 228TG 229BJ 230MU 231LR 232SL 233GH 234NG 235TD 236CF 237CM 238CV 239ST 240GQ 241GA 242CG 243CD 244AO 245GW 246IO 248SC 249SD 250RW 251ET 252SO 253DJ 254KE 255TZ 256UG 257BI 258MZ 260ZM 261MG 263ZW 264NA 265MW 266LS 267BW 268SZ 269KM 27ZA 290SH 291ER 297AW 298FO 299GL 30GR 31NL 32BE 33FR 34ES 350GI 351PT 352LU 353IE 354IS 355AL 356MT 357CY 358FI 359BG 36HU 370LT 371LV 372EE 373MD 374AM 375BY 376AD 377MC 378SM 380UA 381RS 382ME 383XK 385HR 386SI 387BA 389MK 39IT 40RO 41CH 420CZ 421SK 423LI 43AT 44GB 45DK 46SE 47NO 48PL 49DE 500FK 501BZ 502GT 503SV 504HN 505NI 506CR 507PA 508PM 509HT 51PE 52MX 53CU 54AR 55BR 56CL 57CO 58VE 591BO 592GY 593EC 594GF 595PY 596MQ 597SR 598UY 60MY 61AU 62ID 63PH 64NZ 65SG 66TH 670TL 673BN 674NR 675PG 676TO 677SB 678VU 679FJ 680PW 681WF 682CK 683NU 685WS 686KI 687NC 688TV 689PF 690TK 691FM 692MH 81JP 82KR 84VN 850KP 852HK 853MO 855KH 856LA 86CN 880BD 886TW 90TR 91IN 92PK 93AF 94LK 95MM 960MV 961LB 962JO 963SY 964IQ 965KW 966SA 967YE 968OM 970PS 971AE 972IL 973BH 974QA 975BT 976MN 977NP 98IR 992TJ 993TM 994AZ 995GE 996KG 998UZ';

const COUNTRIES: ReadonlyMap<string, string> = new Map(
  CODES.split(' ').map((entry) => [entry.slice(0, -2), entry.slice(-2)]),
);

/** Undefined: the text is no dialling code. Null: it is one that several countries share, or none has. */
export function countryDialled(text: string): string | null | undefined {
  const [, code] = /^(?:\+|00) ?([1-9]\d{0,2})$/.exec(text) ?? [];
  return code === undefined ? undefined : (COUNTRIES.get(code) ?? null);
}
