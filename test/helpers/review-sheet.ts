import { SHEET_HEADINGS } from '../../src/review/compare-cells.js';

const NAMES = new Map(Object.entries(SHEET_HEADINGS).map(([column, heading]) => [heading, column]));

/** The names of a review sheet's columns, which are also the headings of older sheets. For `columns` of csv-parse. */
export const sheetColumns = (headings: readonly string[]): string[] =>
  headings.map((heading) => NAMES.get(heading) ?? heading.replaceAll(' ', '_'));
