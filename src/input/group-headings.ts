import { findCountry } from '../domain/country-names.js';
import { hasLegalForm } from '../domain/names.js';
import { isBlank, trimCell } from '../sheets/blank.js';
import type { SampledColumns } from './decide-columns.js';
import { type ColumnSource, HEADING } from './types.js';

/** Whether a field is read from headings that stand above groups of rows. */
export const isHeadings = (source: ColumnSource | null | undefined): boolean =>
  typeof source === 'object' && source?.length === 1 && source[0] === HEADING;

/** A line of one cell that may stand above a group. `country`: as written; undefined where it is none. */
export function headingIn(cells: readonly string[]): { readonly country: string | undefined } | undefined {
  const filled = cells.filter((cell) => !isBlank(cell));
  const [only = ''] = filled;
  if (filled.length !== 1 || only.length > LONGEST) return undefined;
  const text = trimCell(only).replace(/\s*:$/, '');
  if (findCountry(text) !== undefined) return { country: text };
  return hasLegalForm(text) || /\d/.test(text) ? undefined : { country: undefined };
}

const LONGEST = 80;

/** The country above each of the first rows, as written; empty where there is none. `headings`: how many rows are headings. */
export function countriesAbove(sample: SampledColumns): {
  readonly texts: readonly string[];
  readonly headings: readonly number[];
} {
  let above = '';
  const headings: number[] = [];
  const texts = (sample[0] ?? []).map((_, row) => {
    const heading = headingIn(sample.map((cells) => cells[row] ?? ''));
    if (heading !== undefined) above = heading.country ?? '';
    if (heading?.country === undefined) return above;
    headings.push(row);
    return '';
  });
  return { texts, headings };
}

/**
 * Whether the rows stand in groups below a country: the first line is one, a row follows each, and no row names a country
 * itself. `own`: the column that is called the country, if any.
 */
export function hasGroupHeadings(sample: SampledColumns, own: number | undefined): boolean {
  const { headings } = countriesAbove(sample);
  const rows = sample[0]?.length ?? 0;
  if (headings[0] !== 0 || sample.length < 2 || headings.length * 2 > rows) return false;
  if (headings.some((row) => row + 1 >= rows || headings.includes(row + 1))) return false;
  return own === undefined || (sample[own] ?? []).every((cell, row) => isBlank(cell) || headings.includes(row));
}
