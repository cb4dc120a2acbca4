import countries from 'i18n-iso-countries/index.js';

/** The three forms a location takes: `GB`, `US-CA` (US, CA, CN only), or a provider's path such as `1_44` (V1-15). */
export const LOCATION_PATTERN = /^(?:[A-Z]{2}|(?:US|CA|CN)-[A-Z0-9]{2,3}|\d+(?:_\d+)+)$/;

/** Codes in daily use that are not ISO 3166-1. */
const ALIASES: Readonly<Record<string, string>> = { UK: 'GB', EL: 'GR' };

export const isoAlias = (code: string): string | undefined => ALIASES[code];

export const isIsoCountry = (code: string): boolean => /^[A-Z]{2}$/.test(code) && countries.isValid(code);

/** Why a location cannot be sent, in words; undefined if it can. */
export function locationProblem(location: string): string | undefined {
  if (!LOCATION_PATTERN.test(location)) {
    return 'expected an ISO country code (GB), a US, CA or CN state (US-CA), or a location ID (1_44)';
  }
  if (!/^[A-Z]{2}$/.test(location) || isIsoCountry(location)) return undefined;
  const alias = isoAlias(location);
  return alias === undefined ? 'not an ISO country code' : `not an ISO country code; use ${alias}`;
}
