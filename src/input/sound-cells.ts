import { parseRegistrationNumber } from '../domain/numbers/parse.js';
import { resolveLocation } from '../domain/resolve-location.js';
import { parseVatNumber } from '../domain/vat.js';
import { trimCell } from '../sheets/blank.js';
import type { InputTable } from './types.js';

/** What makes a row invalid on its own, whatever stands behind its columns. */
const isUnreadable = (text: string): boolean => text.length > 10_000 || /[\0\ufffd]/.test(text);

/**
 * Whether every field of a line with more cells than headers stands in its own column. A delimiter inside a cell moves all that
 * comes after it by one. So a country that is one, and a number that is one of it, in their columns prove what stands before
 * them; a field behind them could be half of a cell, and then nothing is sure.
 */
export function cellsAreSound(cells: readonly string[], mapping: InputTable['mapping']): boolean {
  const { country: countryAt, registration_number: numberAt, vat_number: vatAt, state: stateAt } = mapping;
  if (countryAt === undefined || cells.some(isUnreadable)) return false;
  const cell = (index: number | undefined) => (index === undefined ? '' : trimCell(cells[index] ?? ''));
  const place = resolveLocation(cell(countryAt));
  if (!place.ok || place.countryCode === null) return false;
  const { countryCode } = place;
  const number = parseRegistrationNumber(cell(numberAt), countryCode, cell(stateAt) || undefined);
  const isNumber = number.treatment === 'as_written' || number.treatment === 'automatic';
  const isVat = parseVatNumber(cell(vatAt), countryCode).valid === 'yes';
  const proven = [countryAt, ...(isNumber ? [numberAt] : []), ...(isVat ? [vatAt] : [])];
  const last = Math.max(...proven.flatMap((index) => index ?? []));
  return (isNumber || isVat) && Object.values(mapping).every((index) => index <= last);
}
