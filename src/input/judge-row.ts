import { LEADS, type Lead, leadsIn, leadWords } from '../domain/leads.js';
import type { LineProblemCode, NumberedLine } from '../sheets/sheet.js';
import type { UnreadLeads } from './header-claims.js';
import { textAt } from './join-cells.js';
import {
  IDENTIFIERS,
  INPUT_FIELDS,
  type InputField,
  type InputFields,
  type InputRow,
  type InputTable,
  type RowProblem,
} from './types.js';

/** The row that a line of the sheet is: its fields, and what they lack. `country`: where the row names none. */
export function judgeRow(
  line: NumberedLine,
  row: number,
  mapping: InputTable['mapping'],
  unread: UnreadLeads = {},
  country: string | null = null,
): InputRow {
  const { cells: values, problem: damage } = line;
  if (damage !== undefined && CELLS_UNSURE[damage.code]) {
    return { row, line: line.line, values, fields: {}, problem: damage };
  }
  const given = fieldsOf(values, mapping);
  const fields = given.country === undefined && country !== null ? { ...given, country } : given;
  const problem = damage ?? incomplete(fields, () => fieldsOf(values, unread));
  if (problem === undefined) return { row, line: line.line, values, fields };
  return { row, line: line.line, values, fields, problem };
}

/** Whether a value may stand in another cell than the one it was written for. */
export const CELLS_UNSURE: Readonly<Record<LineProblemCode, boolean>> = {
  BROKEN_QUOTES: true,
  OVER_LONG: true,
  RAGGED: true,
  NUL_CHARACTER: false,
  BAD_ENCODING: false,
  CELL_TOO_LONG: false,
};

/** `unread`: leads that the row gives, and nobody follows. */
function incomplete(fields: InputFields, unread: () => InputFields): RowProblem | undefined {
  if (IDENTIFIERS.every((field) => fields[field] === undefined) && leadsIn(fields) === undefined) {
    const missing = 'the row has no name, registration number, VAT number or ticker';
    return { code: 'NO_IDENTIFIER', message: `${missing}${whatItHas(fields, leadsIn(unread()))}` };
  }
  if (fields.country === undefined) return { code: 'NO_COUNTRY', message: 'the row has no country' };
  return undefined;
}

function whatItHas(fields: InputFields, unread: InputFields | undefined): string {
  const given = LEADS.find((lead) => fields[lead] !== undefined);
  if (given !== undefined) return `, and what it gives as ${leadWords[given]} is none`;
  const lead = LEADS.find((one) => unread?.[one] !== undefined);
  return lead === undefined
    ? ''
    : `; its ${leadWords[lead]} is followed with ${wouldFollow(lead)} in the pipeline file`;
}

/** The key that would make a row usable which gives nothing but this. */
export const wouldFollow = (lead: Lead): string => `search.fallback: [${FOLLOWED_BY[lead]}]`;

const FOLLOWED_BY: Readonly<Record<Lead, string>> = {
  lei: 'lookup',
  website: 'website',
  linkedin: 'linkedin',
  phone: 'lookup',
  email: 'autocomplete',
};

function fieldsOf(values: readonly string[], mapping: InputTable['mapping']): InputFields {
  const fields: { [F in InputField]?: string } = {};
  for (const field of INPUT_FIELDS) {
    const source = mapping[field];
    if (source === undefined) continue;
    const value = textAt(values, source, field);
    if (value !== '') fields[field] = value;
  }
  return fields;
}
