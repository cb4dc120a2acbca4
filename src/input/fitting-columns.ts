// Finds columns by their content alone.

import { type Message, message } from '../util/message-parts.js';
import { areDays, contentOf, countriesIn, isFilled, legalForms, registerFit, vatFit } from './column-content.js';
import type { SampledColumns } from './decide-columns.js';
import { isHeadings, textAt } from './field-text.js';
import { countriesAbove } from './non-company-lines.js';
import type { ColumnSource, InputField } from './types.js';

type Countries = readonly (string | null)[];

/** The texts of a field in the sampled rows. */
export function textsOf(sample: SampledColumns, source: ColumnSource, field: InputField): readonly string[] {
  if (typeof source === 'number') return sample[source] ?? [];
  if (isHeadings(source)) return countriesAbove(sample).texts;
  const rows = (sample[0] ?? []).map((_, row) => sample.map((cells) => cells[row] ?? ''));
  return rows.map((values) => textAt(values, source, field));
}

/** The country of each sampled row, or the default country. */
export const countriesOf = (
  sample: SampledColumns,
  source: ColumnSource | null | undefined,
  country: string | null,
): Countries =>
  (source === null || source === undefined
    ? (sample[0] ?? []).map(() => null)
    : countriesIn(textsOf(sample, source, 'country'), true)
  ).map((own) => own ?? country);

/** Why the texts cannot be the agreed field. Undefined if they can. */
export function contentProblem(field: InputField, texts: readonly string[]): Message | undefined {
  const { filled, numbers } = contentOf(texts);
  if (filled < FEW_TEXTS) return undefined;
  if (field === 'name') return numbers === 1 ? message('COLUMN_HOLDS_NO_LETTERS', 'holds no letters') : undefined;
  if (field !== 'registration_number' && field !== 'vat_number') return undefined;
  if (areDays(texts)) return message('COLUMN_HOLDS_DATES', 'holds dates');
  return texts.some((text) => /\d/.test(text)) ? undefined : message('COLUMN_HOLDS_NO_DIGITS', 'holds no digits');
}

const FEW_TEXTS = 2;

/** The share of texts that are valid numbers of their row's country. Undefined if too few can be judged. */
export function shareThatFits(field: InputField, texts: readonly string[], countries: Countries): number | undefined {
  if (field !== 'registration_number' && field !== 'vat_number') return undefined;
  const { fit, nearly, judged } = (field === 'vat_number' ? vatFit : registerFit)(texts, countries);
  return judged < FEW_TEXTS ? undefined : (fit + nearly) / judged;
}

/** The columns with fitting content, whatever their headers. `isFree`: no field uses the column. */
export const columnsThatFit = (
  field: InputField,
  sample: SampledColumns,
  countries: Countries,
  isFree: (index: number) => boolean,
): readonly number[] =>
  sample.flatMap((cells, index) => (isFree(index) && fits(field, cells, countries) ? [index] : []));

const MOST_TEXTS = 0.8;

function fits(field: InputField, texts: readonly string[], countries: Countries): boolean {
  const filled = texts.filter(isFilled).length;
  if (filled === 0 || contentProblem(field, texts) !== undefined) return false;
  switch (field) {
    case 'name':
      return legalForms(texts) >= 0.5;
    case 'country':
      return countriesIn(texts).filter((found) => found !== null).length >= filled * MOST_TEXTS;
    default:
      // Running numbers are not registration numbers, whatever their length.
      return !contentOf(texts).isCount && (shareThatFits(field, texts, countries) ?? 0) >= MOST_TEXTS;
  }
}

const SAMPLES = 3;

/** The first different texts of a field, joined if it has several columns. */
export function samplesOf(sample: SampledColumns, source: ColumnSource, field: InputField): readonly string[] {
  return [...new Set(textsOf(sample, source, field).filter(isFilled))].slice(0, SAMPLES);
}
