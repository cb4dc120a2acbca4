// Reads the country and the state of a row, in any language and spelling.

import { createRequire } from 'node:module';
import type { LocaleData } from 'i18n-iso-countries/index.js';
import { lazy } from '../../util/packages.js';
import { LONGEST_NUMBER, Memo, normalizeText } from '../../util/text-limits.js';
import { barredWords, dataFile } from '../../util/yaml.js';
import {
  belongsTo,
  isIsoCountry,
  isoCountries,
  isPartOf,
  LOCATION_PATTERN,
  plainPlace,
  subdivisionCode,
} from './location-codes.js';

export type ResolvedLocation =
  | {
      readonly ok: true;
      /** As the API accepts it: `GB`, `US-CA`, `1_44`. */
      readonly location: string;
      /** Null for a provider's own location ID, whose country is unknown. */
      readonly countryCode: string | null;
      readonly state?: string;
    }
  | {
      readonly ok: false;
      readonly reason: string;
      readonly several?: readonly string[];
    };

/** Countries whose locations may include a state (V1-15). */
const WITH_STATES = new Set(['US', 'CA', 'CN']);

export const resolveLocation = (country: string, state?: string): ResolvedLocation =>
  recent.getOrCompute(`${country}\n${state ?? ''}`, () => resolveAnew(country, state));

/** A list has few places and repeats them. */
const recent = new Memo<ResolvedLocation>();

function resolveAnew(country: string, state?: string): ResolvedLocation {
  if (country.length > LONGEST_NUMBER)
    return { ok: false, reason: `no country has a name of more than ${LONGEST_NUMBER} characters` };
  const text = normalizeText(country, 'NFKC').trim();
  if (text === '') return { ok: false, reason: 'the country is empty' };
  if (/^\d+(?:_\d+)+$/.test(text)) return { ok: true, location: text, countryCode: null };
  const coded = /^([A-Za-z]{2})\s*([-_/])\s*([A-Za-z0-9]{1,3})$/.exec(text);
  if (coded !== null) return resolveCoded(text, coded[1] ?? '', coded[2] ?? '', coded[3] ?? '');
  const code = findCountry(text) ?? findForeignCountry(text) ?? findTerseCountry(text);
  if (code === undefined) return unknownCountry(text);
  return located(code, subdivisionOf(code, normalizeText(state ?? '', 'NFKC').trim()));
}

function unknownCountry(text: string): ResolvedLocation {
  if (countryDialled(text) === null)
    return {
      ok: false,
      reason: `the dialling code "${text}" belongs to several countries. Write the code or name of one`,
    };
  if (isCountryInDoubt(text)) {
    return {
      ok: false,
      reason: `"${text}" is not clearly one country. Write the country of the register`,
    };
  }
  const named = countriesNamed(text) ?? [];
  if (named.length > 1) return severalCountries(text, named);
  return { ok: false, reason: `"${text}" is not a known country` };
}

const severalCountries = (text: string, several: readonly string[]): ResolvedLocation => ({
  ok: false,
  several,
  reason: `"${text}" names more than one country, ${several.join(' and ')}. Write the country of the register`,
});

/**
 * `US-CA` has a state. `GB-SCT` is also ISO 3166-2, but the API accepts states of three countries only. `GB-DK` has two
 * countries, and so does every `US/CA`, because a slash rarely means a state.
 */
function resolveCoded(text: string, countryPart: string, sign: string, statePart: string): ResolvedLocation {
  const country = findCountry(countryPart);
  if (country === undefined) return { ok: false, reason: `"${text}": ${countryPart} is not a country code` };
  const other = statePart.length < 2 ? undefined : findCountry(statePart);
  if (other === country) return located(country);
  if (other !== undefined && (sign === '/' || !isPartOf(country, statePart)))
    return severalCountries(text, [country, other]);
  const state = subdivisionOf(country, statePart);
  if (state === undefined && WITH_STATES.has(country))
    return { ok: false, reason: `"${text}": ${statePart} is not a state of ${country}` };
  return located(country, state);
}

/** Without a known state, the whole country is searched. */
const located = (country: string, state?: string): ResolvedLocation =>
  state === undefined
    ? { ok: true, location: country, countryCode: country }
    : { ok: true, location: `${country}-${state}`, countryCode: country, state };

/** Only of countries whose states the API accepts, and in the form that it accepts. */
function subdivisionOf(country: string, state: string): string | undefined {
  const code = WITH_STATES.has(country) && state !== '' ? subdivisionCode(country, state) : undefined;
  return code !== undefined && LOCATION_PATTERN.test(`${country}-${code}`) ? code : undefined;
}

const countryWords = dataFile('domain/countries', (z) => {
  const words = barredWords(z);
  const byCountry = z.record(z.string().length(2), words);
  return z
    .strictObject({
      aliases: byCountry,
      exonyms: byCountry,
      east_asian: byCountry,
      endonyms: byCountry,
      official_names: byCountry,
      forms_of_state: words,
      links: words,
      two_states: words.transform((codes) => new Set(codes)),
      republics: words,
      doubts: words,
      doubts_alone: words,
      plates: z.record(z.string(), z.string()),
      languages: words,
      further_languages: words,
      dialling_codes: words.transform((codes) => new Map(codes.map((each) => [each.slice(0, -2), each.slice(-2)]))),
    })
    .transform(({ aliases, exonyms, east_asian, ...rest }) => ({
      ...rest,
      aliases: new Map([aliases, exonyms, east_asian].flatMap(codesBy)),
      formOfState: new RegExp(
        `^(?:the )?(?:${rest.forms_of_state.join('|')}) (?:(?:${longestFirst(rest.links).join('|')}) )?(?=\\p{L})`,
        'u',
      ),
      doubt: new RegExp(`^(?:${rest.doubts_alone.join('|')})$|(?<!\\p{L})(?:${rest.doubts.join('|')})(?!\\p{L})`, 'u'),
    }));
});

const codesBy = (names: Readonly<Record<string, readonly string[]>>) =>
  Object.entries(names).flatMap(([code, all]) => all.map((name) => [plainPlace(name), code] as const));

const longestFirst = (words: readonly string[]) => words.toSorted((a, b) => b.length - a.length);

export function findCountry(text: string): string | undefined {
  if (text.length > LONGEST_NUMBER) return undefined;
  const trimmed = normalizeText(text, 'NFKC').trim();
  if (trimmed.includes('?')) return undefined;
  const flag = FLAG.exec(trimmed);
  if (flag !== null) return withFlag(flag[0], trimmed.replace(FLAG, ' ').trim());
  const dialled = countryDialled(trimmed);
  if (dialled !== undefined) return dialled ?? undefined;
  const upper = trimmed.toUpperCase().replace(/\.+$/, '');
  // Without the accent it is Costa Rica.
  if (/^Č\.? ?R$/.test(upper)) return 'CZ';
  if (isIsoCountry(upper)) return upper;
  const plain = plainPlace(trimmed);
  const { aliases, formOfState, two_states: twoStates } = countryWords();
  const fromAlpha3 = /^[A-Z]{3}$/.test(upper) ? isoCountries().alpha3ToAlpha2(upper) : undefined;
  const code =
    aliases.get(plain) ?? fromAlpha3 ?? codeOf(plain) ?? codeOf(plain.replace(/^the /, '')) ?? withRepublic(plain);
  if (code !== undefined) return code;
  const common = plain.replace(formOfState, '');
  const state = common === plain ? undefined : codeOfName(common);
  if (state !== undefined && !twoStates.has(state)) return state;
  const [, name = '', remark = ''] = /^(.*\S)\s*\(([^()]*)\)$/.exec(trimmed) ?? [];
  if (name === '') return namedTwice(trimmed);
  // "Ireland (Northern)" is not Ireland.
  const turned = isDoubt(remark) ? undefined : codeOfName(plainPlace(`${remark} ${name}`));
  return turned ?? withRemark(findCountry(name), remark.trim());
}

/** Two regional indicators, or the flag of England, Scotland or Wales, spelled in tags. */
const FLAG = /\p{RI}{2}|\u{1f3f4}[\u{e0061}-\u{e007a}\u{e0030}-\u{e0039}]{4,6}\u{e007f}/u;

const INDICATOR_A = 0x1f1e6;
const TAG_A = 0xe0061;

/** A flag alone is a country. A name beside it must mean the same one. */
function withFlag(flag: string, rest: string): string | undefined {
  const points = [...flag].map((sign) => sign.codePointAt(0) ?? 0);
  const isPart = points.length > 2;
  const letters = (isPart ? points.slice(1, 3) : points).map((point) => point - (isPart ? TAG_A : INDICATOR_A) + 65);
  const code = String.fromCodePoint(...letters);
  if (!isIsoCountry(code)) return undefined;
  return rest === '' || findCountry(rest) === code ? code : undefined;
}

/** "Deutschland (DE)", "Germany (West)": the remark does not count, unless it is another country: "GB (DE)". */
function withRemark(named: string | undefined, remark: string): string | undefined {
  if (isDoubt(remark)) return undefined;
  const other = remark.length < 2 ? undefined : findCountry(remark);
  if (named === undefined || other === undefined || other === named) return named;
  const isPart = isPartOf(named, remark) && !belongsTo(other, named);
  return isPart || belongsTo(named, other) ? named : undefined;
}

/** "UK?", "UK (tbc)", "UK (formerly)": the country was uncertain, or of another time or company. */
export const isCountryInDoubt = (text: string): boolean => {
  const plain = normalizeText(text, 'NFKC');
  if (codeOfDigits(plain.trim()) !== undefined && mayBeDialled(plain.trim())) return true;
  return plain.includes('?') || [...plain.matchAll(/\(([^()]*)\)/g)].some(([, remark = '']) => isDoubt(remark));
};

const isDoubt = (remark: string): boolean => countryWords().doubt.test(plainPlace(remark));

/** "DE - Germany", "DE Deutschland", "Belgique/België". */
function namedTwice(text: string): string | undefined {
  const [, before = '', behind = ''] = /^([A-Za-z]{2})[\s–—-]+(\S.*)$/.exec(text) ?? [];
  const first = before === '' ? undefined : findCountry(before);
  if (first !== undefined && findCountry(behind) === first) return first;
  const [code, ...others] = countriesNamed(text) ?? [];
  return others.length > 0 ? undefined : code;
}

/** The countries in a list, each once. Undefined if the text is not a list of countries. */
const countriesNamed = (text: string): readonly string[] | undefined =>
  countriesBetween(text, /\s*[/|;,()&+]\s*|\s+[-–—]\s+/) ?? countriesBetween(text, /(?<=\p{L}{3})[-–—](?=\p{L}{3})/u);

function countriesBetween(text: string, signs: RegExp): readonly string[] | undefined {
  const pieces = text.split(signs).filter((piece) => piece !== '');
  if (pieces.length < 2 || pieces.length > MOST_PIECES) return undefined;
  const codes = pieces.map(findCountry);
  return codes.every((code) => code !== undefined) ? [...new Set(codes)] : undefined;
}

const MOST_PIECES = 4;

/** Expands "Rep. Ceca", "Rép. tchèque", "Bundesrep. Deutschland", "Slovenská rep.". */
function withRepublic(plain: string): string | undefined {
  if (!REP.test(plain)) return undefined;
  const full = countryWords().republics.map((word) => plain.replace(REP, word));
  return full.map(codeOfName).find((code) => code !== undefined);
}

const REP = /^(?:bundes)?rep(?= \p{L})|(?<=\p{L} )rep$/u;

/** A short code that means a country only in a country column: a letter of number plates, or ISO digits. */
function findTerseCountry(text: string): string | undefined {
  const plate = countryWords().plates[text.toUpperCase().replace(/\.$/, '')];
  return plate ?? (mayBeDialled(text) ? undefined : codeOfDigits(text));
}

/** Such a text is a country only in a column with a country header. */
export const isCodeLike = (text: string): boolean => /^(?:[A-CE-Z]\.?|\d{3})$/i.test(text);

const codeOfDigits = (text: string): string | undefined =>
  /^\d{3}$/.test(text) ? isoCountries().numericToAlpha2(text) : undefined;

/** 352 is Iceland in ISO, but Luxembourg's dialling code. */
const mayBeDialled = (text: string): boolean =>
  countryDialled(text) !== undefined || typeof countryDialled(`+${text}`) === 'string';

const findForeignCountry = (text: string): string | undefined =>
  /\d/.test(text) ? undefined : furtherIndex().get(plainPlace(text));

/** Built at the first name, because reading seventeen languages takes longer than most commands. */
const index = lazy(buildIndex);
const furtherIndex = lazy(() => namesIn(countryWords().further_languages));

const codeOf = (plain: string): string | undefined => index().get(plain);

const codeOfName = (plain: string): string | undefined => countryWords().aliases.get(plain) ?? codeOf(plain);

function buildIndex(): ReadonlyMap<string, string> {
  const { languages, endonyms, official_names: official } = countryWords();
  const found = namesIn(languages);
  for (const [code, own] of [...Object.entries(endonyms), ...Object.entries(official)])
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
  // A word that means two countries in two languages is not certain for either.
  for (const plain of ambiguous) found.delete(plain);
  return found;
}

/** Undefined: not a dialling code. Null: a code that several countries share, or none has. */
function countryDialled(text: string): string | null | undefined {
  const [, code] = /^(?:\+|00) ?([1-9]\d{0,2})$/.exec(text) ?? [];
  return code === undefined ? undefined : (countryWords().dialling_codes.get(code) ?? null);
}
