import { SHEET_COLUMNS, SHEET_NAMES } from '../../src/review/sheet-columns.js';

const NAMES = new Map<string, string>(SHEET_NAMES.map((column, index) => [SHEET_COLUMNS[index] ?? '', column]));

/** The names of a review sheet's columns, which are the headings of older sheets. For `columns` of csv-parse. */
export const sheetColumns = (headings: readonly string[]): string[] =>
  headings.map((heading) => NAMES.get(heading) ?? heading.replaceAll(' ', '_'));
