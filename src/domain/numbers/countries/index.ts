import type { CountryNumbers } from '../format.js';
import { brazil, canada, mexico, unitedStates } from './americas.js';
import * as asia from './asia-pacific.js';
import { ireland, unitedKingdom } from './british.js';
import { denmark, finland, iceland, norway, sweden } from './nordic.js';
import * as south from './southern-eastern.js';
import * as west from './western.js';

/** Germany is read elsewhere: its number has a section and a court. */
const COUNTRIES: Readonly<Record<string, CountryNumbers | ((state: string | undefined) => CountryNumbers)>> = {
  AT: west.austria,
  AU: asia.australia,
  BE: west.belgium,
  BR: brazil,
  CA: canada,
  CH: west.switzerland,
  CN: asia.china,
  CY: south.cyprus,
  CZ: south.czechia,
  DK: denmark,
  EE: south.estonia,
  ES: south.spain,
  FI: finland,
  FR: west.france,
  GB: unitedKingdom,
  HK: asia.hongKong,
  HR: south.croatia,
  HU: south.hungary,
  IE: ireland,
  IL: asia.israel,
  IN: asia.india,
  IS: iceland,
  IT: south.italy,
  JP: asia.japan,
  LI: west.liechtenstein,
  LT: south.lithuania,
  LU: west.luxembourg,
  LV: south.latvia,
  MT: south.malta,
  MX: mexico,
  NL: west.netherlands,
  NO: norway,
  NZ: asia.newZealand,
  PL: south.poland,
  PT: south.portugal,
  SE: sweden,
  SG: asia.singapore,
  SK: south.slovakia,
  TW: asia.taiwan,
  US: unitedStates,
  ZA: asia.southAfrica,
};

/** The number formats of a country; undefined where none is known. */
export function numbersOf(countryCode: string, state: string | undefined): CountryNumbers | undefined {
  const entry = Object.hasOwn(COUNTRIES, countryCode) ? COUNTRIES[countryCode] : undefined;
  return typeof entry === 'function' ? entry(state) : entry;
}
