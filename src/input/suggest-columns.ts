// Suggests columns by content if their headers are unknown.

import { type Message, message } from '../util/message-parts.js';
import { sanitizeText } from '../util/sanitize-text.js';
import {
  areDays,
  type ColumnContent,
  countriesIn,
  isFilled,
  legalForms,
  registerFit,
  vatFit,
} from './column-content.js';
import type { ColumnNames } from './column-names.js';
import type { ColumnDecision, Columns } from './decide-columns.js';
import { fold, meaningOf } from './header-meaning.js';
import type { InputField } from './types.js';

/** A column with an unknown header but known content. It is read only after the user agrees. */
export interface SuggestedColumns {
  readonly field: InputField;
  readonly columns: readonly number[];
  /** The observation, in words. */
  readonly reason: Message;
}

const NEARLY_ALL = 0.9;
const A_FIFTH = 0.2;
const FEW = 3;

/**
 * The missing fields, and the unknown columns that may be them. `isRead`: the fields with a column. `names`: of the
 * rows, if known.
 */
export function suggestColumns(
  columns: Columns,
  { contents, countries: known }: Pick<ColumnDecision, 'contents' | 'countries'>,
  isRead: (field: InputField) => boolean,
  isFree: (index: number) => boolean,
  names?: readonly string[],
): readonly SuggestedColumns[] {
  const unknown = columns.headers.flatMap((header, index) => {
    const content = contents[index];
    const isKnown = meaningOf(header, columns.lookup)?.claims.every(({ strength }) => strength !== 'generic');
    return isKnown === true || content === undefined || !isFree(index) ? [] : [{ index, content }];
  });
  // A list without a header has no other evidence, however short it is.
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
  // Numbers alone would decide, and a wrong one is another company. So kybatch asks for names in any case.
  const name = isRead('name')
    ? []
    : among('name', (cells, { codes, numbers: bare, filled }) => {
        const forms = Math.round(legalForms(cells) * filled);
        return codes + bare < 0.2 && forms >= filled * 0.2 && forms >= few;
      });
  const countries = countriesBy(country, columns, known);
  if (isRead('registration_number')) return [...country, ...name];
  const isOwn = ({ filled, distinct, isCount }: ColumnContent) => distinct >= filled * NEARLY_ALL && !isCount;
  // Numbers without leading zeros count if others have the full form, even if another field identifies the rows.
  const number = among('registration_number', (cells, content) => {
    const { fit, nearly, judged } = registerFit(cells, countries);
    const areNumbers = judged >= few && fit + nearly >= judged * NEARLY_ALL && fit >= judged * A_FIFTH;
    return areNumbers && !content.isCount && isOneEach(cells, names) && !areDays(cells);
  });
  if (isRead('vat_number')) return [...country, ...number, ...name];
  const vat = among('vat_number', (cells, content) => {
    const { fit, judged } = vatFit(cells, countries);
    const prefixed = shareOf(cells, (cell) => /^[A-Z]{2}[ .-]?[0-9A-Z]/.test(cell), content.filled);
    return isOwn(content) && prefixed && judged >= few && fit >= judged * NEARLY_ALL;
  });
  return [...country, ...(number.length > 0 ? number : vat), ...name];
}

/** If only one column can be the countries, numbers are compared with them, and both are asked about together. */
function countriesBy(
  suggested: readonly SuggestedColumns[],
  { sample }: Columns,
  known: readonly (string | null)[],
): readonly (string | null)[] {
  const [index, ...others] = suggested.flatMap(({ columns }) => columns);
  return index === undefined || others.length > 0 ? known : countriesIn(sample[index] ?? []);
}

/** Nearly every company has its own number, over any number of rows. Without names, each row is a company. */
function isOneEach(cells: readonly string[], names: readonly string[] | undefined): boolean {
  const numbered = cells.flatMap((cell, row) => (isFilled(cell) ? [{ cell, name: names?.[row] ?? String(row) }] : []));
  const count = (texts: readonly string[]) => new Set(texts).size;
  return count(numbered.map(({ cell }) => cell)) >= count(numbered.map(({ name }) => fold(name))) * NEARLY_ALL;
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
  reason: message(
    'HEADER_MISSING',
    `no header says which column is the ${field}. ${found.length === 1 ? 'One column' : 'Each of these'} ${HOLDS[field] ?? ''}`,
  ),
});

/**
 * Columns with unknown headers that have a missing field in too few rows for a question. A note reports them. `likely`:
 * the columns that fit a field.
 */
export function unreadNotes(
  { headers, lookup, country }: Columns,
  names: ColumnNames,
  isSettled: (field: InputField) => boolean,
  likely: (field: InputField) => readonly number[],
): readonly Message[] {
  const missed: readonly InputField[] = [
    ...(isSettled('country') || country !== null ? [] : (['country'] as const)),
    ...(isSettled('registration_number') ? [] : (['registration_number'] as const)),
  ];
  return missed.flatMap((field) => {
    const unknown = likely(field).filter((index) => meaningOf(headers[index] ?? '', lookup) === undefined);
    if (unknown.length === 0) return [];
    const said = unknown.map((index) => JSON.stringify(sanitizeText(names.headerOf(index), 60))).join(' and ');
    const flags = unknown.map((index) => `--map ${field}=${JSON.stringify(sanitizeText(names.wordsOf(index), 60))}`);
    return [
      message(
        'COLUMN_MAY_BE_MEANT',
        `${said} could be the ${field}, but ${unknown.length === 1 ? 'is' : 'are'} not used. To use ${unknown.length === 1 ? 'it' : 'one'}: ${flags.join(' or ')}`,
      ),
    ];
  });
}
