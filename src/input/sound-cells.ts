import { isTerse } from '../domain/country-names.js';
import { compact } from '../domain/numbers/clean.js';
import { parseRegistrationNumber } from '../domain/numbers/parse.js';
import { resolveLocation } from '../domain/resolve-location.js';
import { parseVatNumber } from '../domain/vat.js';
import { trimCell } from '../sheets/blank.js';
import { indicesIn, textAt } from './join-cells.js';
import type { ColumnSource, InputField, InputTable } from './types.js';

/** What makes a row invalid on its own, whatever stands behind its columns. */
const isUnreadable = (text: string): boolean => text.length > 10_000 || /[\0\ufffd]/.test(text);

/**
 * Whether every field of a line with more cells than headers stands in its own column. A delimiter inside a cell moves all that
 * comes after it by one. So a country that is one, and a number that is one of it, in their columns prove what stands before
 * them; a field behind them could be half of a cell, and then nothing is sure.
 */
export function cellsAreSound(cells: readonly string[], mapping: InputTable['mapping']): boolean {
  const { country, registration_number, vat_number, state } = mapping;
  if (country === undefined || cells.some(isUnreadable)) return false;
  const cell = (field: InputField, source: ColumnSource | undefined) =>
    source === undefined ? '' : textAt(cells, source, field);
  const place = resolveLocation(cell('country', country));
  if (!place.ok || place.countryCode === null) return false;
  const { countryCode } = place;
  const numberText = cell('registration_number', registration_number);
  const number = parseRegistrationNumber(numberText, countryCode, cell('state', state) || undefined);
  const isNumber = number.treatment === 'as_written' || number.treatment === 'automatic';
  const isVat = parseVatNumber(cell('vat_number', vat_number), countryCode).valid === 'yes';
  const proven = [country, ...(isNumber ? [registration_number] : []), ...(isVat ? [vat_number] : [])];
  const last = Math.max(...proven.flatMap((source) => indicesIn(source ?? [])));
  return (
    (isNumber || isVat) &&
    Object.values(mapping)
      .flatMap(indicesIn)
      .every((index) => index <= last)
  );
}

/** Whether cells hold what a row of its own would: a country, and a number of it. */
export function holdsACompany(cells: readonly string[]): boolean {
  const texts = cells.map(trimCell).filter((text) => text !== '');
  const countries = texts.flatMap((text) => {
    const place = /^\p{L}/u.test(text) && !isTerse(text) ? resolveLocation(text) : undefined;
    return place?.ok === true && place.countryCode !== null ? [place.countryCode] : [];
  });
  return texts.some((text) => /\d{5}/.test(compact(text)) && countries.some((country) => isNumberOf(text, country)));
}

function isNumberOf(text: string, country: string): boolean {
  const { treatment } = parseRegistrationNumber(text, country);
  return treatment === 'as_written' || treatment === 'automatic' || parseVatNumber(text, country).valid === 'yes';
}
