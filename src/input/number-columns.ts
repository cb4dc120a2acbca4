// Registration numbers in several columns: German parts, and one column for each country.

import { readGermanEntry } from '../domain/numbers/german.js';
import { isFilled, registerFit } from './column-content.js';
import type { ColumnDecision, Columns, SampledColumns } from './decide-columns.js';
import { fold, meaningOf } from './header-meaning.js';
import type { ColumnPiece } from './types.js';

/**
 * A German number needs its section and its court, which lists often put in separate columns. Returns the pieces of the
 * number. Undefined if the number column is complete, or if no other column belongs to it.
 */
export function germanPieces(
  { headers, lookup, sample }: Pick<Columns, 'headers' | 'lookup' | 'sample'>,
  number: number,
  isFree: (index: number) => boolean,
): readonly ColumnPiece[] | undefined {
  const cells = (sample[number] ?? []).filter(isFilled);
  const entries = cells.filter((cell) => {
    const entry = readGermanEntry(cell);
    return entry !== undefined && entry.court === undefined;
  }).length;
  const bare = cells.filter((cell) => IS_BARE.test(cell)).length;
  const partAt = (part: 'court' | 'section') =>
    headers.findIndex((header, index) => isFree(index) && meaningOf(header, lookup)?.part === part);
  const court = partAt('court');
  const section = bare > entries ? (sectionIn(headers[number] ?? '') ?? partAt('section')) : -1;
  if (court === -1 && section === -1) return undefined;
  // Numbers of other registers, or with their court, need no other column.
  if (entries === 0 && section === -1) return undefined;
  return [...(court === -1 ? [] : [court]), ...(section === -1 ? [] : [section]), number];
}

const IS_BARE = /^\d{1,6}$/;

/** A column with the header HRB has numbers of that section. */
const sectionIn = (header: string): string | undefined => {
  const [, section] = /^(hr[ab])(?:nr|no|nummer|number)?$/.exec(fold(header)) ?? [];
  return section?.toUpperCase();
};

const MOST = 0.8;

/**
 * The columns that together have the registration number, one for each country (`CRN`, `SIREN`, `KvK`). Each has such a
 * header and numbers of its rows' registers, and no row fills two. Undefined if there is only one column.
 */
export function numberColumns(
  { chosen, passedOver, countries, unclear }: ColumnDecision,
  sample: SampledColumns,
): readonly number[] | undefined {
  const first = chosen.get('registration_number')?.index;
  if (first === undefined || unclear.some(({ field }) => field === 'registration_number')) return undefined;
  const cellsOf = (index: number) => sample[index] ?? [];
  const holdsNumbers = (index: number) => {
    const { fit, nearly, judged } = registerFit(cellsOf(index), countries);
    return judged > 0 && fit + nearly >= judged * MOST;
  };
  const others = passedOver
    .filter(({ field, index }) => field === 'registration_number' && holdsNumbers(index))
    .map(({ index }) => index);
  if (others.length === 0 || !holdsNumbers(first)) return undefined;
  const all = [first, ...others].sort((a, b) => a - b);
  const isApart = countries.every((_, row) => all.filter((index) => isFilled(cellsOf(index)[row] ?? '')).length < 2);
  return isApart ? all : undefined;
}

/**
 * Other number columns if a row fills two, so that it is unclear whether they belong together. They have fitting
 * headers and numbers in rows where the chosen column is empty. Undefined if too few rows do.
 */
export function numbersInGaps(
  { chosen, passedOver, countries }: Pick<ColumnDecision, 'chosen' | 'passedOver' | 'countries'>,
  sample: SampledColumns,
): readonly number[] | undefined {
  const first = chosen.get('registration_number')?.index;
  if (first === undefined) return undefined;
  const own = sample[first] ?? [];
  const rows = own.length;
  const others = passedOver.flatMap(({ field, index }) => {
    if (field !== 'registration_number') return [];
    const inGaps = (sample[index] ?? []).map((cell, row) => (isFilled(own[row] ?? '') ? '' : cell));
    const { fit, nearly, judged } = registerFit(inGaps, countries);
    const numbers = fit + nearly;
    const isTold = numbers >= FEW || numbers >= rows * A_FIFTH;
    return numbers > 0 && isTold && numbers >= judged * MOST ? [index] : [];
  });
  return others.length === 0 ? undefined : [first, ...others].sort((a, b) => a - b);
}

const FEW = 3;
const A_FIFTH = 0.2;
