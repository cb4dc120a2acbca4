import { readGermanEntry } from '../domain/numbers/german.js';
import { isFilled, registerFit } from './column-content.js';
import type { ColumnDecision, Columns, SampledColumns } from './decide-columns.js';
import { fold, meaningOf } from './header-meaning.js';
import type { ColumnPiece } from './types.js';

/**
 * A German number needs its section and its court, and lists often give them columns of their own. Returns the pieces that
 * make up the number, or undefined where the column of numbers is enough by itself, or nothing else belongs to it.
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
  // Numbers of other registers, or ones that name their court, stand alone.
  if (entries === 0 && section === -1) return undefined;
  return [...(court === -1 ? [] : [court]), ...(section === -1 ? [] : [section]), number];
}

const IS_BARE = /^\d{1,6}$/;

/** A column that is called HRB holds numbers of that section. */
const sectionIn = (header: string): string | undefined => {
  const [, section] = /^(hr[ab])(?:nr|no|nummer|number)?$/.exec(fold(header)) ?? [];
  return section?.toUpperCase();
};

const MOST = 0.8;

/**
 * The columns that hold the registration number between them, one for each country (`CRN`, `SIREN`, `KvK`): each is called so,
 * holds numbers of its rows' registers, and no row fills two. Undefined where one column is all there is.
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
 * The same where a row fills two, so that nobody can tell whether the columns belong together: others are called so and hold
 * numbers of the register in rows in which the chosen one is empty. Undefined where too few rows say so.
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
