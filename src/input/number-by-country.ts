import { isFilled, registerFit } from './column-content.js';
import type { ColumnDecision, SampledColumns } from './decide-columns.js';

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
