import * as asia from './country-formats.js';
import * as south from './country-formats.js';
import * as west from './country-formats.js';
import {
  brazil,
  canada,
  denmark,
  finland,
  iceland,
  ireland,
  mexico,
  norway,
  sweden,
  unitedKingdom,
  unitedStates,
} from './country-formats.js';
import type { CountryNumbers } from './format.js';
import { compact } from './number-text.js';
import type { ParsedNumber } from './parsed-number.js';

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
export function numberFormatsOf(countryCode: string, state: string | undefined): CountryNumbers | undefined {
  const entry = Object.hasOwn(COUNTRIES, countryCode) ? COUNTRIES[countryCode] : undefined;
  return typeof entry === 'function' ? entry(state) : entry;
}

/**
 * Could this number be a slip of the pen for another? It could, unless its check digit fails for every number that
 * differs in one character or in two neighbours swapped. How much a check digit catches differs: mod 97 and the
 * Scandinavian mod 11 catch all of it, Luhn lets 09 and 90 be swapped, Australia's lets every tenth wrong digit pass.
 * So the number's own neighbours are tried, and no list of good countries is needed.
 */
export function checkDigitCatchesTypos(parsed: ParsedNumber, countryCode: string, state?: string): boolean {
  if (parsed.valid !== 'yes' || parsed.canonical === null) return false;
  const formats = numberFormatsOf(countryCode, state)?.formats ?? [];
  for (const neighbour of neighboursOf(compact(parsed.canonical))) {
    if (formats.some(({ shape, check }) => shape.test(neighbour) && check?.(neighbour) !== false)) return false;
  }
  return true;
}

function* neighboursOf(number: string): Iterable<string> {
  for (let place = 0; place < number.length; place++) {
    const [before, character, after] = [number.slice(0, place), number[place] ?? '', number.slice(place + 1)];
    for (const other of /\d/.test(character) ? DIGITS : LETTERS) {
      if (other !== character) yield `${before}${other}${after}`;
    }
    const next = after[0];
    if (next !== undefined && next !== character) yield `${before}${next}${character}${after.slice(1)}`;
  }
}

const DIGITS = '0123456789';
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
