import { type ExactJson, ExactNumber } from '../../util/exact-json.js';
import { stringifyExact } from '../../util/exact-json-write.js';
import type { Cell, ColumnType } from '../table.js';

/** What a value gives for a column. What does not fit stays readable: it goes to `extra`. */
export interface CellReading {
  readonly cell: Cell;
  /** The value is kept in `extra`, because the cell does not hold it. */
  readonly spill?: true;
  /** What was expected instead. */
  readonly expected?: string;
}

const NOT_RETURNED: CellReading = { cell: null };
/** Empty text where a number or a date belongs: not returned, yet not the same as null. */
const EMPTY: CellReading = { cell: null, spill: true };

export function readCell(value: ExactJson | undefined, type: ColumnType): CellReading {
  if (value === undefined || value === null) return NOT_RETURNED;
  const text = value instanceof ExactNumber ? value.text : value;
  switch (type) {
    case 'text':
      if (typeof text !== 'string') return misfit('text');
      return typeof value === 'string' ? { cell: text } : { cell: text, expected: 'text' };
    case 'id':
    case 'scalar':
      return typeof text === 'string' ? { cell: text } : misfit('text or a number');
    case 'text_or_list':
      if (Array.isArray(value)) return { cell: stringifyExact(value) };
      if (typeof text !== 'string') return misfit('text or a list');
      if (typeof value !== 'string') return { cell: text, expected: 'text or a list' };
      // What looks like a list and is none is told apart in `extra`.
      return text.trimStart().startsWith('[') ? { cell: text, spill: true } : { cell: text };
    case 'number':
      return fits(text, NUMBER, 'a number');
    case 'integer':
      return fits(text, INTEGER, 'an integer');
    case 'date':
      return typeof text === 'string' && DATE.test(text) && !isDate(text)
        ? misfit('a date')
        : fits(text, DATE, 'a date (YYYY-MM-DD)');
    case 'boolean':
      if (typeof value === 'boolean') return { cell: String(value) };
      return value === '' ? EMPTY : misfit('true or false');
    case 'json':
      return { cell: stringifyExact(value) };
    default:
      throw new TypeError(`no value is read for a column of type ${type}`);
  }
}

const NUMBER = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const INTEGER = /^-?\d{1,18}$/;
const DATE = /^\d{4}-\d{2}-\d{2}$/;

const misfit = (expected: string): CellReading => ({ cell: null, spill: true, expected });

function fits(text: ExactJson, form: RegExp, expected: string): CellReading {
  if (typeof text !== 'string') return misfit(expected);
  if (form.test(text)) return { cell: text };
  return text === '' ? EMPTY : misfit(expected);
}

/** A day that the calendar has: a partial date (`1998-00-00`) is none. */
function isDate(text: string): boolean {
  const [year, month, day] = [Number(text.slice(0, 4)), Number(text.slice(5, 7)), Number(text.slice(8))];
  if (year === 0 || month < 1 || month > 12 || day < 1) return false;
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return day <= (month === 2 && leap ? 29 : (DAYS[month - 1] ?? 0));
}

const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
