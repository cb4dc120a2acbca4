import { trimCell } from '../sheets/blank.js';
import type { LineProblemCode, NumberedLine } from '../sheets/sheet.js';
import {
  IDENTIFIERS,
  INPUT_FIELDS,
  type InputField,
  type InputFields,
  type InputRow,
  type InputTable,
  type RowProblem,
} from './types.js';

/** The row that a line of the sheet is: its fields, and what they lack. */
export function judgeRow(line: NumberedLine, row: number, mapping: InputTable['mapping']): InputRow {
  const { cells: values, problem: damage } = line;
  if (damage !== undefined && CELLS_UNSURE[damage.code]) {
    return { row, line: line.line, values, fields: {}, problem: damage };
  }
  const fields = fieldsOf(values, mapping);
  const problem = damage ?? incomplete(fields);
  if (problem === undefined) return { row, line: line.line, values, fields };
  return { row, line: line.line, values, fields, problem };
}

/** Whether a value may stand in another cell than the one it was written for. */
const CELLS_UNSURE: Readonly<Record<LineProblemCode, boolean>> = {
  BROKEN_QUOTES: true,
  OVER_LONG: true,
  RAGGED: true,
  NUL_CHARACTER: false,
  BAD_ENCODING: false,
  CELL_TOO_LONG: false,
};

function incomplete(fields: InputFields): RowProblem | undefined {
  if (IDENTIFIERS.every((field) => fields[field] === undefined)) {
    return { code: 'NO_IDENTIFIER', message: 'the row has no name, registration number, VAT number or ticker' };
  }
  if (fields.country === undefined) return { code: 'NO_COUNTRY', message: 'the row has no country' };
  return undefined;
}

function fieldsOf(values: readonly string[], mapping: InputTable['mapping']): InputFields {
  const fields: { [F in InputField]?: string } = {};
  for (const field of INPUT_FIELDS) {
    const index = mapping[field];
    if (index === undefined) continue;
    const value = trimCell(values[index] ?? '');
    if (value !== '') fields[field] = value;
  }
  return fields;
}
