// Finds the location that a search needs.

import { Memo } from '../../util/memo.js';
import { LONGEST_NUMBER, normalizeText } from '../../util/text-limits.js';
import {
  countriesNamed,
  countryDialled,
  findCountry,
  findForeignCountry,
  findTerseCountry,
  isCountryInDoubt,
} from './country-names.js';
import { isPartOf, LOCATION_PATTERN, subdivisionCode } from './location-codes.js';

export type ResolvedLocation =
  | {
      readonly ok: true;
      /** As the API accepts it: `GB`, `US-CA`, `1_44`. */
      readonly location: string;
      /** Null for a provider's own location ID, whose country is unknown. */
      readonly countryCode: string | null;
      readonly state?: string;
      readonly alias?: { readonly from: string; readonly to: string };
      /** The part that the location leaves out, in words. */
      readonly note?: string;
    }
  | {
      readonly ok: false;
      readonly reason: string;
      /** The codes, if the text has more than one country. */
      readonly several?: readonly string[];
    };

/** Countries whose locations may include a state (V1-15). */
const WITH_STATES = new Set(['US', 'CA', 'CN']);

/** Reads a country column, with a state column if there is one. */
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
  const found = findCountry(text) ?? findForeignCountry(text) ?? findTerseCountry(text);
  if (found === undefined) return unknownCountry(text);
  const alias = found.isAlias ? { alias: { from: text, to: found.code } } : {};
  return { ok: true, ...withState(found.code, normalizeText(state ?? '', 'NFKC').trim()), ...alias };
}

function unknownCountry(text: string): ResolvedLocation {
  if (countryDialled(text) === null)
    return { ok: false, reason: `the dialling code "${text}" does not tell one country; write its code or name` };
  if (isCountryInDoubt(text)) {
    return {
      ok: false,
      reason: `"${text}" leaves the country in doubt; write the one in whose register the company is`,
    };
  }
  const named = countriesNamed(text) ?? [];
  if (named.length > 1) return severalCountries(text, named);
  return { ok: false, reason: `"${text}" is not a country known by code or name` };
}

const severalCountries = (text: string, several: readonly string[]): ResolvedLocation => ({
  ok: false,
  several,
  reason: `"${text}" names more than one country, ${several.join(' and ')}; write the one in whose register the company is`,
});

/**
 * `US-CA` has a state. `GB-SCT` is also ISO 3166-2, but the API accepts states of three countries only. `GB-DK` has two
 * countries, and so does every `US/CA`, because a slash rarely means a state.
 */
function resolveCoded(text: string, countryPart: string, sign: string, statePart: string): ResolvedLocation {
  const found = findCountry(countryPart);
  if (found === undefined) return { ok: false, reason: `"${text}": ${countryPart} is not a country code` };
  const alias = found.isAlias ? { alias: { from: countryPart, to: found.code } } : {};
  const other = statePart.length < 2 ? undefined : findCountry(statePart)?.code;
  if (other === found.code) return { ok: true, location: found.code, countryCode: found.code, ...alias };
  if (other !== undefined && (sign === '/' || !isPartOf(found.code, statePart))) {
    return severalCountries(text, [found.code, other]);
  }
  if (!WITH_STATES.has(found.code)) {
    const note = `${text} is searched as ${found.code}: the API takes states of US, CA and CN only`;
    return { ok: true, location: found.code, countryCode: found.code, note, ...alias };
  }
  const code = subdivisionCode(found.code, statePart);
  if (code === undefined) return { ok: false, reason: `"${text}": ${statePart} is not a state of ${found.code}` };
  return { ok: true, location: `${found.code}-${code}`, countryCode: found.code, state: code, ...alias };
}

function withState(code: string, state: string) {
  if (state === '' || !WITH_STATES.has(code)) return { location: code, countryCode: code };
  const found = subdivisionCode(code, state);
  const location = `${code}-${found}`;
  if (found !== undefined && LOCATION_PATTERN.test(location)) return { location, countryCode: code, state: found };
  return {
    location: code,
    countryCode: code,
    note: `"${state}" is not a state of ${code}; the whole country is searched`,
  };
}
