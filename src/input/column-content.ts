// Measures the content of a column.

import { hasLegalForm } from '../domain/names/similarity.js';
import { numberFormatsOf } from '../domain/numbers/country-formats.js';
import { readGermanEntry } from '../domain/numbers/german.js';
import { compact, isWrittenDate } from '../domain/numbers/number-text.js';
import { parseRegistrationNumber } from '../domain/numbers/parse.js';
import { comparableVat, parseVatNumber } from '../domain/numbers/vat.js';
import { subdivisionCode } from '../domain/places/location-codes.js';
import { isCodeLike, resolveLocation } from '../domain/places/resolve-location.js';
import { suggestCountry } from '../domain/places/suggest-country.js';
import { isDitto } from './field-text.js';
import { fold } from './header-meaning.js';

export const MOST = 0.8;
export const NEARLY_ALL = 0.9;
export const A_FIFTH = 0.2;

/** This few rows prove nothing about a column. */
export const FEW = 3;

export type Countries = readonly (string | null)[];

/** The content of one column in the first rows. Shares are of filled cells. */
export interface ColumnContent {
  readonly filled: number;
  readonly distinct: number;
  readonly numbers: number;
  /** Letters and digits as in no name: `C-10023`. */
  readonly codes: number;
  readonly spaced: number;
  readonly isCount: boolean;
}

/** `cells`: trimmed, one for each sampled row. */
export function contentOf(cells: readonly string[]): ColumnContent {
  const filled = cells.filter(isFilled);
  const distinct = new Set(filled);
  const share = (is: (cell: string) => boolean) => (filled.length === 0 ? 0 : filled.filter(is).length / filled.length);
  return {
    filled: filled.length,
    distinct: distinct.size,
    numbers: share((cell) => !/\p{L}/u.test(cell)),
    codes: share(isCode),
    spaced: share((cell) => /\p{L}/u.test(cell) && /\s/.test(cell) && !isCode(cell)),
    isCount:
      filled.length > 2 &&
      Number(filled[0]) <= 1 &&
      filled.every((cell, index) => Number(cell) === Number(filled[0]) + index),
  };
}

/** Signs alone are not content, except flags of countries. */
export const isFilled = (cell: string): boolean => /[\p{L}\p{N}\p{RI}\u{1f3f4}]/u.test(cell);

/** `C-10023`, `SUPPLIER-001`, `KD 10023`, but not `Acme 123` or `Company17`: a word before a number may be a name. */
function isCode(cell: string): boolean {
  if (!/\p{L}/u.test(cell)) return false;
  if (/\s/.test(cell)) return /^\p{Lu}{1,4}[\s./-]*\d[\d\s./-]{2,}\p{L}?$/u.test(cell);
  const letters = cell.replace(/\P{L}/gu, '');
  const isShort = letters.length <= 4 || letters === letters.toUpperCase();
  return isShort && cell.replace(/\D/g, '').length >= 2 && !/[&'’]/.test(cell);
}

export function legalForms(cells: readonly string[]): number {
  const filled = cells.filter(isFilled);
  return filled.length === 0 ? 0 : filled.filter(hasLegalForm).length / filled.length;
}

/** The countries of a column's cells, or null. `isCalledSo`: the header means countries. */
export function countriesIn(cells: readonly string[], isCalledSo = false): Countries {
  const known = new Map<string, string | null>();
  let above: string | null = null;
  return cells.map((cell) => {
    if (isDitto(cell)) return above;
    let found = known.get(cell);
    if (found === undefined) {
      const place = cell === '' || (isCodeLike(cell) && !isCalledSo) ? undefined : resolveLocation(cell);
      // A location ID of the provider is also a country.
      found = place?.ok === true ? (place.countryCode ?? place.location) : null;
      known.set(cell, found);
    }
    above = found;
    return found;
  });
}

/** How many cells are numbers of a kind, among cells whose country has a known form. */
export interface NumberFit {
  readonly fit: number;
  /** Numbers that would fit with leading zeros, or with the missing part of a German number. */
  readonly nearly: number;
  readonly judged: number;
}

export type NumberField = 'registration_number' | 'vat_number';

type Fit = 'fit' | 'nearly' | 'no' | 'unknown';

/** Compared with the registers, or the VAT and tax numbers, of each row's country. */
export function numberFit(field: NumberField, cells: readonly string[], countries: Countries): NumberFit {
  const fits = field === 'vat_number' ? fitsVat : fitsRegister;
  const counts = { fit: 0, nearly: 0, judged: 0 };
  for (const [index, cell] of cells.entries()) {
    if (!isFilled(cell)) continue;
    const fit = fits(cell, countries[index] ?? null);
    if (fit === 'unknown') continue;
    counts.judged += 1;
    if (fit !== 'no') counts[fit] += 1;
  }
  return counts;
}

/** If a row has no country, a number whose form only one country has is compared with that country. */
const countryFor = (cell: string, country: string | null): string | null =>
  country ?? suggestCountry({ registration_number: cell })?.countryCode ?? null;

function fitsRegister(cell: string, named: string | null): Fit {
  const country = countryFor(cell, named);
  if (country === 'DE') return readGermanEntry(cell) !== undefined ? 'fit' : /^\d{1,6}$/.test(cell) ? 'nearly' : 'no';
  if (country === null || numberFormatsOf(country, undefined) === undefined) return 'unknown';
  const { treatment, repairs } = parseRegistrationNumber(cell, country);
  if (treatment === 'review') return 'no';
  return repairs.some(({ rule }) => rule === 'zero_padding' || rule === 'zeros_removed') ? 'nearly' : 'fit';
}

function fitsVat(cell: string, country: string | null): Fit {
  const hasPrefix = /^[A-Z]{2}[0-9A-Z]{7,13}$/.test(compact(cell)) && /\d{5}/.test(compact(cell));
  if (country === null) return hasPrefix ? 'fit' : 'unknown';
  const { treatment, valid } = parseVatNumber(cell, country);
  if (treatment === 'review') return 'no';
  return valid === 'unknown' ? 'unknown' : 'fit';
}

export const COMPARED: Readonly<
  Record<'name' | 'country' | 'registration_number' | 'vat_number', (cell: string, country: string | null) => string>
> = {
  name: fold,
  country: (cell) => countriesIn([cell])[0] ?? fold(cell),
  registration_number: (cell, country) => {
    const { canonical } = parseRegistrationNumber(cell, country ?? '');
    return compact(canonical ?? cell);
  },
  vat_number: (cell, country) => comparableVat(cell, country ?? ''),
};

/** Whether a column has days. `20240131` also fits many registers, so one alone proves nothing. */
export function areDays(cells: readonly string[]): boolean {
  const filled = cells.filter(isFilled);
  const days = filled.filter((cell) => isWrittenDate(cell.toUpperCase()) || (filled.length > 1 && BARE.test(cell)));
  return filled.length > 0 && days.length >= filled.length * NEARLY_ALL;
}

const BARE = /^(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])$/;

/** Words alone. An address has a number or a comma, and a column of countries is not one of towns. */
export function areTowns(cells: readonly string[]): boolean {
  const filled = cells.filter(isFilled);
  const countries = countriesIn(filled);
  const others = filled.filter((cell, at) => /[\p{N},;]/u.test(cell) || countries[at] !== null);
  return others.length <= filled.length * A_FIFTH;
}

const FEDERATIONS = ['US', 'CA', 'CN'];

/** Some cells are countries, the others unknown: `Stát` with `CZ` and a word. States are known. */
export function isCountryWithGaps(cells: readonly string[]): boolean {
  const filled = cells.filter(isFilled);
  const isState = (cell: string) => FEDERATIONS.some((country) => subdivisionCode(country, cell) !== undefined);
  const named = countriesIn(filled);
  return named.some((country) => country !== null) && !filled.some((cell, at) => named[at] === null && isState(cell));
}
