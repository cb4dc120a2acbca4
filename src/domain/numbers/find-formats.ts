import * as formats from './country-formats.js';
import type { CountryNumbers } from './format.js';
import { compact } from './number-text.js';
import type { ParsedNumber } from './parsed-number.js';

/** Germany is read elsewhere: its number has a section and a court. */
const COUNTRIES: Readonly<Record<string, CountryNumbers | ((state: string | undefined) => CountryNumbers)>> = {
  AT: formats.austria,
  AU: formats.australia,
  BE: formats.belgium,
  BR: formats.brazil,
  CA: formats.canada,
  CH: formats.switzerland,
  CN: formats.china,
  CY: formats.cyprus,
  CZ: formats.czechia,
  DK: formats.denmark,
  EE: formats.estonia,
  ES: formats.spain,
  FI: formats.finland,
  FR: formats.france,
  GB: formats.unitedKingdom,
  HK: formats.hongKong,
  HR: formats.croatia,
  HU: formats.hungary,
  IE: formats.ireland,
  IL: formats.israel,
  IN: formats.india,
  IS: formats.iceland,
  IT: formats.italy,
  JP: formats.japan,
  LI: formats.liechtenstein,
  LT: formats.lithuania,
  LU: formats.luxembourg,
  LV: formats.latvia,
  MT: formats.malta,
  MX: formats.mexico,
  NL: formats.netherlands,
  NO: formats.norway,
  NZ: formats.newZealand,
  PL: formats.poland,
  PT: formats.portugal,
  SE: formats.sweden,
  SG: formats.singapore,
  SK: formats.slovakia,
  TW: formats.taiwan,
  US: formats.unitedStates,
  ZA: formats.southAfrica,
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
