// Turns a line into a row: its fields, or the reason why it is invalid.

import { LEADS, type Lead, leadsIn, leadWords } from '../domain/leads.js';
import { compact } from '../domain/numbers/number-text.js';
import { parseRegistrationNumber } from '../domain/numbers/parse.js';
import { parseVatNumber } from '../domain/numbers/vat.js';
import { isCodeLike, resolveLocation } from '../domain/places/resolve-location.js';
import { suggestCountry } from '../domain/places/suggest-country.js';
import { isBlank, type LineProblem, type LineProblemCode, type NumberedLine, trimCell } from '../sheets/sheet.js';
import { LONGEST_LINE, LONGEST_NAME, LONGEST_NUMBER } from '../util/text-limits.js';
import { indicesIn, isPlaceholder, textAt } from './field-text.js';
import type { UnreadLeads } from './header-meaning.js';
import {
  type ColumnSource,
  IDENTIFIERS,
  INPUT_FIELDS,
  type InputField,
  type InputFields,
  type InputRow,
  type InputTable,
  type RowProblem,
} from './types.js';

/** The row of a line: its fields and its problem. `country`: for a row without one. `told`: its cells after filling. */
export function validateRow(
  line: NumberedLine,
  row: number,
  mapping: InputTable['mapping'],
  unread: UnreadLeads = {},
  country: string | null = null,
  told: readonly string[] = line.cells,
): InputRow {
  const { cells, surplus = [], kinds } = line;
  const values = surplus.length === 0 ? cells : [...cells, ...surplus];
  const damage = damageOf(line, mapping);
  if (damage !== undefined && CELLS_MAY_BE_SHIFTED[damage.code]) {
    return { row, line: line.line, values, fields: {}, problem: damage };
  }
  const { fields: given, emptied, tooLong } = fieldsOf(told === cells ? values : told, mapping);
  const fields = given.country === undefined && country !== null ? { ...given, country } : given;
  const problem = damage ?? tooLong ?? incomplete(fields, emptied, () => fieldsOf(values, unread).fields);
  return {
    row,
    line: line.line,
    values,
    ...(kinds === undefined ? {} : { kinds }),
    fields,
    ...(emptied.length === 0 ? {} : { emptied }),
    ...(problem === undefined ? {} : { problem }),
  };
}

/** A comment beyond the last column is not damage if the fields before it are certain. */
function damageOf({ cells, surplus, problem }: NumberedLine, mapping: InputTable['mapping']): LineProblem | undefined {
  if (problem?.code !== 'RAGGED' || surplus === undefined) return problem;
  const isSecond = looksLikeCompany(surplus);
  if (!isSecond && areFieldsInPlace(cells, mapping)) return undefined;
  const told = surplus.filter((cell) => !isBlank(cell)).map((cell) => `"${cell.slice(0, 40)}"`);
  const what = isSecond ? ' is probably a second company, joined to this line' : '';
  return { ...problem, message: `${problem.message}. After the last column${what}: ${told.slice(0, 3).join(', ')}` };
}

export const CELLS_MAY_BE_SHIFTED: Readonly<Record<LineProblemCode, boolean>> = {
  BROKEN_QUOTES: true,
  OVER_LONG: true,
  RAGGED: true,
  NUL_CHARACTER: false,
  BAD_ENCODING: false,
  CELL_TOO_LONG: false,
};

/** `unread`: leads of the row that are not followed. */
function incomplete(fields: InputFields, emptied: Emptied, unread: () => InputFields): RowProblem | undefined {
  if (IDENTIFIERS.every((field) => fields[field] === undefined) && leadsIn(fields) === undefined) {
    const missing = 'the row has no name, registration number, VAT number or ticker';
    const rest = `${emptiedNote(emptied, IDENTIFIERS)}${whatItHas(fields, leadsIn(unread()))}`;
    return { code: 'NO_IDENTIFIER', message: `${missing}${rest}` };
  }
  if (fields.country !== undefined || suggestCountry(fields) !== undefined) return undefined;
  return { code: 'NO_COUNTRY', message: `the row has no country${emptiedNote(emptied, ['country'])}` };
}

/** If a company really has such a name, the user must learn why it was not searched for. */
function emptiedNote(emptied: Emptied, fields: readonly InputField[]): string {
  const cells = emptied.filter(({ field }) => fields.includes(field)).map(({ field, text }) => `${field} "${text}"`);
  return cells.length === 0 ? '' : ` (counted as empty: ${cells.join(', ')})`;
}

function whatItHas(fields: InputFields, unread: InputFields | undefined): string {
  const given = LEADS.find((lead) => fields[lead] !== undefined);
  if (given !== undefined) return `, and its ${leadWords[given]} is not valid`;
  const lead = LEADS.find((one) => unread?.[one] !== undefined);
  return lead === undefined
    ? ''
    : `. To search by its ${leadWords[lead]}, set ${fallbackSettingFor(lead)} in the pipeline file`;
}

/** The pipeline key that would make a row with only this lead usable. */
export const fallbackSettingFor = (lead: Lead): string => `search.fallback: [${FOLLOWED_BY[lead]}]`;

const FOLLOWED_BY: Readonly<Record<Lead, string>> = {
  lei: 'lookup',
  website: 'website',
  linkedin: 'linkedin',
  phone: 'lookup',
  email: 'autocomplete',
};

type Emptied = NonNullable<InputRow['emptied']>;

function fieldsOf(
  values: readonly string[],
  mapping: InputTable['mapping'],
): { readonly fields: InputFields; readonly emptied: Emptied; readonly tooLong: LineProblem | undefined } {
  const fields: { [F in InputField]?: string } = {};
  const emptied: { field: InputField; text: string }[] = [];
  let tooLong: LineProblem | undefined;
  for (const field of INPUT_FIELDS) {
    const source = mapping[field];
    if (source === undefined) continue;
    let told = values;
    for (const index of indicesIn(source)) {
      const text = trimCell(values[index] ?? '');
      if (text.length > longest(field) || !isPlaceholder(text, field)) continue;
      emptied.push({ field, text });
      told = told.with(index, '');
    }
    const value = textAt(told, source, field);
    if (value.length > longest(field)) tooLong ??= tooLongField(field, value);
    else if (value !== '') fields[field] = value;
  }
  if (fields.country?.toUpperCase() === 'NA' && isNotNamibia(fields)) {
    emptied.push({ field: 'country', text: fields.country });
    delete fields.country;
  }
  return { fields, emptied, tooLong };
}

/**
 * Some rules take more than linear time on these fields. Other columns may be longer, because they are only
 * passed on.
 */
const longest = (field: InputField): number =>
  field === 'name' ? LONGEST_NAME : LONG_FIELDS.includes(field) ? LONGEST_LINE : LONGEST_NUMBER;

const LONG_FIELDS: readonly InputField[] = ['id', 'website', 'linkedin', 'email'];

const tooLongField = (field: InputField, value: string): LineProblem => ({
  code: 'CELL_TOO_LONG',
  message: `the ${field} has ${value.length} characters. At most ${longest(field)} are allowed`,
});

/** `NA` is Namibia, unless the row's numbers are of another country. Then it is "not available". */
function isNotNamibia({ country: _, ...fields }: InputFields): boolean {
  const told = suggestCountry(fields)?.countryCode;
  return told !== undefined && told !== 'NA';
}

/** Text that makes a row invalid in any case. */
const isUnreadable = (text: string): boolean => text.length > 10_000 || /[\0\ufffd]/.test(text);

/**
 * Whether every field of a line with too many cells is in its own column. A delimiter inside a cell moves all later
 * cells by one. So a valid country and its number in their columns prove the fields before them. A field after them
 * could be half of a cell, and then nothing is certain.
 */
function areFieldsInPlace(cells: readonly string[], mapping: InputTable['mapping']): boolean {
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

/** Whether cells look like a separate row: a country, and a number of it. */
function looksLikeCompany(cells: readonly string[]): boolean {
  const texts = cells.map(trimCell).filter((text) => text !== '');
  const countries = texts.flatMap((text) => {
    const place = /^\p{L}/u.test(text) && !isCodeLike(text) ? resolveLocation(text) : undefined;
    return place?.ok === true && place.countryCode !== null ? [place.countryCode] : [];
  });
  return texts.some((text) => /\d{5}/.test(compact(text)) && countries.some((country) => isNumberOf(text, country)));
}

function isNumberOf(text: string, country: string): boolean {
  const { treatment } = parseRegistrationNumber(text, country);
  return treatment === 'as_written' || treatment === 'automatic' || parseVatNumber(text, country).valid === 'yes';
}
