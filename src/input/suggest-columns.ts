import { readGermanEntry } from '../domain/numbers/german.js';
import { type ColumnContent, countriesIn, legalForms, registerFit, vatFit } from './column-content.js';
import { areDays } from './date-cells.js';
import type { ColumnDecision, Columns } from './decide-columns.js';
import { fold } from './fold.js';
import { meaningOf } from './header-claims.js';
import { NUMBERS_OF_ANYTHING } from './headers/strengths.js';
import type { InputField } from './types.js';

/** A column whose header says nothing, and whose content does. It is never read before somebody has agreed. */
export interface SuggestedColumns {
  readonly field: InputField;
  readonly columns: readonly number[];
  /** What was seen, in words. */
  readonly reason: string;
}

const NEARLY_ALL = 0.9;
const FEW = 3;

/** What the file lacks, and which of the columns that nobody knows may be it. `isRead`: the fields that have a column. */
export function suggestColumns(
  columns: Columns,
  { contents, countries: known }: Pick<ColumnDecision, 'contents' | 'countries'>,
  isRead: (field: InputField) => boolean,
  isFree: (index: number) => boolean,
): readonly SuggestedColumns[] {
  const unknown = columns.headers.flatMap((header, index) => {
    const content = contents[index];
    const isKnown = meaningOf(header, columns.lookup)?.claims.every(({ strength }) => strength !== 'generic');
    return isKnown === true || content === undefined || !isFree(index) ? [] : [{ index, content }];
  });
  // A list without a header has nothing else to go by, however short it is.
  const few = columns.headers.every((header) => header.trim() === '') ? 1 : FEW;
  const among = (
    field: InputField,
    fits: (cells: readonly string[], content: ColumnContent, header: string) => boolean,
  ) => {
    const found = unknown.filter(({ index, content }) => {
      const cells = columns.sample[index] ?? [];
      return (
        content.filled >= few &&
        content.filled >= cells.length / 2 &&
        fits(cells, content, columns.headers[index] ?? '')
      );
    });
    return found.length === 0 ? [] : [suggestion(field, found)];
  };
  const country =
    isRead('country') || columns.country !== null
      ? []
      : among('country', (cells, { filled }) => shareOf(countriesIn(cells), (found) => found !== null, filled));
  // Numbers alone would decide, and a wrong one is another company: names are asked for whatever else a row has.
  const name = isRead('name')
    ? []
    : among('name', (cells, { codes, numbers: bare, filled }) => {
        const forms = Math.round(legalForms(cells) * filled);
        return codes + bare < 0.2 && forms >= filled * 0.2 && forms >= few;
      });
  const countries = countriesBy(country, columns, known);
  if (isRead('registration_number')) return [...country, ...name];
  const isOwn = ({ filled, distinct, isCount }: ColumnContent) => distinct >= filled * NEARLY_ALL && !isCount;
  // Beside VAT numbers only what a register alone writes is worth a question, and a `Number` of which every one has the form:
  // bare digits elsewhere may be any key, and are told about.
  const isSure = (cells: readonly string[], { filled }: ColumnContent, isNumber: boolean) =>
    !isRead('vat_number') || isNumber || shareOf(cells, (cell) => readGermanEntry(cell) !== undefined, filled);
  const number = among('registration_number', (cells, content, header) => {
    const { fit, judged } = registerFit(cells, countries);
    if (!isOwn(content) || judged < few || fit < judged * NEARLY_ALL || areDays(cells)) return false;
    return isSure(cells, content, fit === judged && NUMBERS_OF_ANYTHING.some((word) => fold(word) === fold(header)));
  });
  if (isRead('vat_number')) return [...country, ...number, ...name];
  const vat = among('vat_number', (cells, content) => {
    const { fit, judged } = vatFit(cells, countries);
    const prefixed = shareOf(cells, (cell) => /^[A-Z]{2}[ .-]?[0-9A-Z]/.test(cell), content.filled);
    return isOwn(content) && prefixed && judged >= few && fit >= judged * NEARLY_ALL;
  });
  return [...country, ...(number.length > 0 ? number : vat), ...name];
}

/** Where one column alone can hold the countries, numbers are held against those: both are then asked about at once. */
function countriesBy(
  suggested: readonly SuggestedColumns[],
  { sample }: Columns,
  known: readonly (string | null)[],
): readonly (string | null)[] {
  const [index, ...others] = suggested.flatMap(({ columns }) => columns);
  return index === undefined || others.length > 0 ? known : countriesIn(sample[index] ?? []);
}

const shareOf = <T>(items: readonly T[], is: (item: T) => boolean, filled: number): boolean =>
  items.filter(is).length >= filled * NEARLY_ALL;

const HOLDS: Readonly<Partial<Record<InputField, string>>> = {
  country: 'holds countries',
  registration_number: "holds numbers of the form that registers of the rows' countries give",
  vat_number: 'holds VAT numbers',
  name: 'holds names of companies',
};

const suggestion = (field: InputField, found: readonly { readonly index: number }[]): SuggestedColumns => ({
  field,
  columns: found.map(({ index }) => index),
  reason: `no header says which column is the ${field}, and ${found.length === 1 ? 'one' : 'each of these'} ${HOLDS[field] ?? ''}`,
});
