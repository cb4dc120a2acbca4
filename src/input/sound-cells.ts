import { parseRegistrationNumber } from '../domain/numbers/parse.js';
import { resolveLocation } from '../domain/resolve-location.js';
import { parseVatNumber } from '../domain/vat.js';
import { indicesIn, textAt } from './join-cells.js';
import { INPUT_FIELDS, type InputField, type InputTable } from './types.js';

/** What makes a row invalid on its own, whatever stands behind its columns. */
const isUnreadable = (text: string): boolean => text.length > 10_000 || /[\0\ufffd]/.test(text);

/**
 * Whether every field of a line with more cells than headers stands in its own column. A delimiter inside a cell moves all that
 * comes after it by one. So a country that is one, and a number that is one of it, in their columns prove what stands before
 * them; a field behind them could be half of a cell, and then nothing is sure.
 */
export function cellsAreSound(cells: readonly string[], mapping: InputTable['mapping']): boolean {
  if (mapping.country === undefined || cells.some(isUnreadable)) return false;
  const text = (field: InputField) => {
    const source = mapping[field];
    return source === undefined ? '' : textAt(cells, source, field);
  };
  const place = resolveLocation(text('country'));
  if (!place.ok || place.countryCode === null) return false;
  const { countryCode } = place;
  const number = parseRegistrationNumber(text('registration_number'), countryCode, text('state') || undefined);
  const isNumber = number.treatment === 'as_written' || number.treatment === 'automatic';
  const isVat = parseVatNumber(text('vat_number'), countryCode).valid === 'yes';
  const proven: readonly InputField[] = [
    'country',
    ...(isNumber ? (['registration_number'] as const) : []),
    ...(isVat ? (['vat_number'] as const) : []),
  ];
  const columnsOf = (field: InputField) => {
    const source = mapping[field];
    return source === undefined ? [] : indicesIn(source);
  };
  const last = Math.max(...proven.flatMap(columnsOf));
  return (isNumber || isVat) && INPUT_FIELDS.flatMap(columnsOf).every((index) => index <= last);
}
