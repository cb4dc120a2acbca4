import type { RawRecord } from './record-reader.js';
import {
  IDENTIFIERS,
  INPUT_FIELDS,
  type InputField,
  type InputFields,
  type InputRow,
  type RowProblem,
} from './types.js';

const MAX_CELL_CHARACTERS = 10_000;

export interface RowRules {
  readonly columns: readonly string[];
  /** Columns behind this many have no header: a row may leave them out. */
  readonly minCells: number;
  readonly mapping: Readonly<Partial<Record<InputField, number>>>;
  readonly delimiter: string;
  /** The file holds bytes that are not valid in its encoding; they were read as U+FFFD. */
  readonly damaged: boolean;
}

/** The row that a record is, or undefined for a blank one. `cells` are missing where the record is broken. */
export function judgeRow(
  record: RawRecord,
  cells: readonly string[] | undefined,
  row: number,
  rules: RowRules,
): InputRow | undefined {
  const { line } = record;
  if (record.problem !== undefined || cells === undefined) {
    const values = padOrCut(record.text === '' ? [] : record.text.split(rules.delimiter), rules.columns.length);
    return { row, line, values, fields: {}, ...(record.problem && { problem: record.problem }) };
  }
  if (cells.every(isBlank)) return undefined;
  const values = padOrCut(cells, rules.columns.length);
  const ragged = raggedness(cells, rules);
  if (ragged !== undefined) return { row, line, values, fields: {}, problem: ragged };
  const fields = fieldsOf(values, rules.mapping);
  const problem = unreadable(record.text, values, rules) ?? incomplete(fields);
  return problem === undefined ? { row, line, values, fields } : { row, line, values, fields, problem };
}

/** More cells than headers are fine if what is too much is blank, as spreadsheets leave it behind. */
function raggedness(cells: readonly string[], { columns, minCells }: RowRules): RowProblem | undefined {
  if (cells.length >= minCells && cells.length <= columns.length) return undefined;
  if (cells.length > columns.length && cells.slice(columns.length).every(isBlank)) return undefined;
  return { code: 'RAGGED', message: `the row has ${cells.length} cells, the header ${columns.length}` };
}

function unreadable(text: string, values: readonly string[], { columns, damaged }: RowRules): RowProblem | undefined {
  if (text.includes('\0')) return { code: 'NUL_CHARACTER', message: 'the row holds a NUL character' };
  if (damaged && text.includes('\ufffd')) {
    return { code: 'BAD_ENCODING', message: "the row holds bytes that are not valid in the file's encoding" };
  }
  if (text.length <= MAX_CELL_CHARACTERS) return undefined;
  const index = values.findIndex((value) => value.length > MAX_CELL_CHARACTERS);
  if (index < 0) return undefined;
  return {
    code: 'CELL_TOO_LONG',
    message: `the cell "${columns[index]}" has ${values[index]?.length} characters; at most ${MAX_CELL_CHARACTERS} are allowed`,
  };
}

function incomplete(fields: InputFields): RowProblem | undefined {
  if (IDENTIFIERS.every((field) => fields[field] === undefined)) {
    return { code: 'NO_IDENTIFIER', message: 'the row has no name, registration number, VAT number or ticker' };
  }
  if (fields.country === undefined) return { code: 'NO_COUNTRY', message: 'the row has no country' };
  return undefined;
}

function fieldsOf(values: readonly string[], mapping: RowRules['mapping']): InputFields {
  const fields: { [F in InputField]?: string } = {};
  for (const field of INPUT_FIELDS) {
    const index = mapping[field];
    if (index === undefined) continue;
    const value = trim(values[index] ?? '');
    if (value !== '') fields[field] = value;
  }
  return fields;
}

function padOrCut(cells: readonly string[], columns: number): readonly string[] {
  if (cells.length === columns) return cells;
  return Array.from({ length: columns }, (_, index) => cells[index] ?? '');
}

function isBlank(cell: string): boolean {
  return trim(cell) === '';
}

/** Zero-width characters, pasted along from web pages, are white space to a reader but not to `String.trim`. */
function trim(value: string): string {
  const trimmed = value.trim();
  if (!isZeroWidth(trimmed.charCodeAt(0)) && !isZeroWidth(trimmed.charCodeAt(trimmed.length - 1))) return trimmed;
  return trimmed.replace(/^[\s\u200b\u2060]+|[\s\u200b\u2060]+$/g, '');
}

function isZeroWidth(code: number): boolean {
  return code === 0x200b || code === 0x2060;
}
