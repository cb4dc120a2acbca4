// Codes of countries, states and territories.

import { lazyPackage } from '../../util/packages.js';
import { LONGEST_NUMBER, Memo, normalizeText } from '../../util/text-limits.js';
import { barredWords, dataFile } from '../../util/yaml.js';

export const isoCountries = lazyPackage<typeof import('i18n-iso-countries')>('i18n-iso-countries/index.js');

/** The three forms of a location: `GB`, `US-CA` (US, CA, CN only), or a provider's path such as `1_44` (V1-15). */
export const LOCATION_PATTERN = /^(?:[A-Z]{2}|(?:US|CA|CN)-[A-Z0-9]{2,3}|\d+(?:_\d+)+)$/;

/** Common codes that are not ISO 3166-1. */
const ALIASES: Readonly<Record<string, string>> = { UK: 'GB', EL: 'GR' };

export const isoAlias = (code: string): string | undefined => ALIASES[code];

export const isIsoCountry = (code: string): boolean => /^[A-Z]{2}$/.test(code) && isoCountries().isValid(code);

export function locationProblem(location: string): string | undefined {
  if (!LOCATION_PATTERN.test(location)) {
    return 'expected an ISO country code (GB), a US, CA or CN state (US-CA), or a location ID (1_44)';
  }
  if (!/^[A-Z]{2}$/.test(location) || isIsoCountry(location)) return undefined;
  const alias = isoAlias(location);
  return alias === undefined ? 'not an ISO country code' : `not an ISO country code (use ${alias})`;
}

const subdivisions = dataFile('domain/subdivisions', (z) => {
  const words = barredWords(z);
  const codes = z.record(
    z.string(),
    words.transform((list) => new Set(list)),
  );
  return z.strictObject({
    names: z
      .record(z.string(), words)
      .transform(
        (lists): ReadonlyMap<string, Subdivisions> =>
          new Map(
            Object.entries(lists).map(([country, list]) => [
              country,
              { prefix: new RegExp(`^${country}\\s*-\\s*`, 'i'), codes: indexOf(list) },
            ]),
          ),
      ),
    parts: codes,
    territories: codes,
  });
});

interface Subdivisions {
  readonly prefix: RegExp;
  readonly codes: ReadonlyMap<string, string>;
}

/** `CA` for "California", "ca" or "US-CA" in the US. Undefined if the text is not a known subdivision. */
export function subdivisionCode(countryCode: string, text: string): string | undefined {
  const table = subdivisions().names.get(countryCode);
  if (table === undefined) return undefined;
  return table.codes.get(plainPlace(text.trim().replace(table.prefix, '')));
}

export const plainPlace = (text: string): string => recent.getOrCompute(text, () => withoutMarks(text));

const cityNames = dataFile('domain/city-names', (z) => z.strictObject({ names: z.record(z.string(), z.string()) }));

export function cityKey(city: string): string {
  const plain = plainPlace(city);
  return cityNames().names[plain] ?? plain;
}

/** A town without its postal code: `20095 Hamburg`, `D-20095 Hamburg`, `1012 AB Amsterdam`, `London SW1A 1AA`. */
export const withoutPostcode = (place: string): string =>
  place.length > LONGEST_NUMBER ? place : place.trim().replace(CODE_BEFORE, '').replace(CODE_BEHIND, '');

/** A word with a digit, perhaps with the letters of a country before it, and a second such word or two letters. */
const CODE = '(?:\\p{Lu}{1,3}[ -])?(?:\\p{Lu}{1,2})?\\d[\\p{Lu}\\d-]*(?: \\d[\\p{Lu}\\d]*| \\p{Lu}{2}(?![\\p{L}.]))?';
const CODE_BEFORE = new RegExp(`^${CODE}[\\s,]+(?=\\p{L}{2})`, 'u');
const CODE_BEHIND = new RegExp(`(?<=\\p{L}{2})[\\s,]+\\(?${CODE}\\)?$`, 'u');

/** A list has few places and repeats them. */
const recent = new Memo<string>();

function withoutMarks(text: string): string {
  return normalizeText(text, 'NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/ß/g, 'ss')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
    .replace(/ (?:province|sheng|shi|state)$/, '')
    .replace(/(?<=\p{Script=Han}{2})[省市]$/u, '');
}

function indexOf(list: readonly string[]): ReadonlyMap<string, string> {
  const index = new Map<string, string>();
  for (const entry of list) {
    const code = entry.slice(0, entry.indexOf(' '));
    index.set(withoutMarks(entry.slice(code.length + 1)), code);
    index.set(code.toLowerCase(), code);
  }
  return index;
}

/** Whether the code is a part of the country, even if it also has another meaning. */
export function isPartOf(countryCode: string, code: string): boolean {
  if (subdivisionCode(countryCode, code) !== undefined) return true;
  return subdivisions().parts[countryCode]?.has(code.toUpperCase()) === true;
}

/**
 * A company of a territory is in the territory's register: "Hong Kong (China)" is Hong Kong, and "China (Hong Kong)" is
 * either.
 */
export const belongsTo = (territory: string, country: string): boolean =>
  subdivisions().territories[country]?.has(territory) === true;
