// Columns by their content: those that fit a field, those to suggest, and those that were agreed for earlier files.

import { hasLegalForm } from '../domain/names/similarity.js';
import { isGermanSection } from '../domain/numbers/german.js';
import { type Message, message } from '../util/message-parts.js';
import { sanitizeText } from '../util/sanitize-text.js';
import {
  A_FIFTH,
  areDays,
  type ColumnContent,
  type Countries,
  contentOf,
  countriesIn,
  FEW,
  isFilled,
  legalForms,
  MOST,
  NEARLY_ALL,
  numberFit,
} from './column-content.js';
import type { ColumnNames } from './column-names.js';
import { type ColumnDecision, type Columns, registerPart, type SampledColumns } from './decide-columns.js';
import { indicesIn, isHeadings, textAt } from './field-text.js';
import { fold, meaningOf, SEARCH_FIELDS } from './header-meaning.js';
import { countriesAbove } from './non-company-lines.js';
import type { AgreedColumns, ColumnSource, InputField } from './types.js';

export function textsOf(sample: SampledColumns, source: ColumnSource, field: InputField): readonly string[] {
  if (typeof source === 'number') return sample[source] ?? [];
  if (isHeadings(source)) return countriesAbove(sample).texts;
  const rows = (sample[0] ?? []).map((_, row) => sample.map((cells) => cells[row] ?? ''));
  return rows.map((values) => textAt(values, source, field));
}

const countriesOf = (
  sample: SampledColumns,
  source: ColumnSource | null | undefined,
  country: string | null,
): Countries =>
  (source === null || source === undefined
    ? (sample[0] ?? []).map(() => null)
    : countriesIn(textsOf(sample, source, 'country'), true)
  ).map((own) => own ?? country);

/** Why the texts cannot be the agreed field. Undefined if they can. */
function contentProblem(field: InputField, texts: readonly string[]): Message | undefined {
  const { filled, numbers } = contentOf(texts);
  if (filled < FEW_TEXTS) return undefined;
  if (field === 'name') return numbers === 1 ? message('COLUMN_HOLDS_NO_LETTERS', 'holds no letters') : undefined;
  if (field !== 'registration_number' && field !== 'vat_number') return undefined;
  if (areDays(texts)) return message('COLUMN_HOLDS_DATES', 'holds dates');
  return texts.some((text) => /\d/.test(text)) ? undefined : message('COLUMN_HOLDS_NO_DIGITS', 'holds no digits');
}

const FEW_TEXTS = 2;

/** The share of texts that are valid numbers of their row's country. Undefined if too few can be judged. */
function shareThatFits(field: InputField, texts: readonly string[], countries: Countries): number | undefined {
  if (field !== 'registration_number' && field !== 'vat_number') return undefined;
  const { fit, nearly, judged } = numberFit(field, texts, countries);
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

function fits(field: InputField, texts: readonly string[], countries: Countries): boolean {
  const filled = texts.filter(isFilled).length;
  if (filled === 0 || contentProblem(field, texts) !== undefined) return false;
  switch (field) {
    case 'name':
      return legalForms(texts) >= 0.5;
    case 'country':
      return countriesIn(texts).filter((found) => found !== null).length >= filled * MOST;
    default:
      // Running numbers are not registration numbers, whatever their length.
      return !contentOf(texts).isCount && (shareThatFits(field, texts, countries) ?? 0) >= MOST;
  }
}

const SAMPLES = 3;

export function samplesOf(sample: SampledColumns, source: ColumnSource, field: InputField): readonly string[] {
  return [...new Set(textsOf(sample, source, field).filter(isFilled))].slice(0, SAMPLES);
}

/** A column with an unknown header but known content. It is read only after the user agrees. */
interface SuggestedColumns {
  readonly field: InputField;
  readonly columns: readonly number[];
  readonly reason: Message;
}

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
    return !isVague(header, columns) || content === undefined || !isFree(index) ? [] : [{ index, content }];
  });
  // A list without a header has no other evidence, however short it is.
  const few = columns.headers.every((header) => header.trim() === '') ? 1 : FEW;
  const among = (
    field: InputField,
    fits: (cells: readonly string[], content: ColumnContent, header: string) => boolean,
  ) => {
    const found = unknown.filter(({ index, content }) => {
      const cells = columns.sample[index] ?? [];
      // Few companies of a list may have a number, so the rows without one say nothing about the column.
      const isFilledEnough = field === 'registration_number' || content.filled >= cells.length / 2;
      return content.filled >= few && isFilledEnough && fits(cells, content, columns.headers[index] ?? '');
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
        return codes + bare < A_FIFTH && forms >= filled * A_FIFTH && forms >= few;
      });
  const countries = countriesBy(country, columns, known);
  if (isRead('registration_number')) return [...country, ...name];
  const isOwn = ({ filled, distinct, isCount }: ColumnContent) => distinct >= filled * NEARLY_ALL && !isCount;
  // Numbers without leading zeros count if others have the full form, even if another field identifies the rows.
  const number = among('registration_number', (cells, content) => {
    const { fit, nearly, judged } = numberFit('registration_number', cells, countries);
    const areNumbers = judged >= few && fit + nearly >= judged * NEARLY_ALL && fit >= judged * A_FIFTH;
    return areNumbers && !content.isCount && isOneEach(cells, names) && !areDays(cells);
  });
  if (isRead('vat_number')) return [...country, ...number, ...name];
  const vat = among('vat_number', (cells, content) => {
    const { fit, judged } = numberFit('vat_number', cells, countries);
    const prefixed = shareOf(cells, (cell) => /^[A-Z]{2}[ .-]?[0-9A-Z]/.test(cell), content.filled);
    return isOwn(content) && prefixed && judged >= few && fit >= judged * NEARLY_ALL;
  });
  return [...country, ...(number.length > 0 ? number : vat), ...name];
}

/** The header is unknown, or says too little to tell what its column is. */
const isVague = (header: string, { lookup }: Pick<Columns, 'lookup'>): boolean =>
  meaningOf(header, lookup)?.claims.every(({ strength }) => strength !== 'generic') !== true;

/** If only one column can be the countries, numbers are compared with them, and both are asked about together. */
function countriesBy(suggested: readonly SuggestedColumns[], { sample }: Columns, known: Countries): Countries {
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
  { headers, lookup, country, sample }: Columns,
  { countries }: Pick<ColumnDecision, 'countries'>,
  names: ColumnNames,
  isSettled: (field: InputField) => boolean,
  likely: (field: InputField) => readonly number[],
): readonly Message[] {
  const missed: readonly InputField[] = [
    ...(isSettled('country') || country !== null ? [] : (['country'] as const)),
    ...(isSettled('registration_number') ? [] : (['registration_number'] as const)),
  ];
  return missed.flatMap((field) => {
    const unknown = likely(field).filter(
      (index) =>
        isVague(headers[index] ?? '', { lookup }) &&
        (field === 'country' || numberFit('registration_number', sample[index] ?? [], countries).fit > 0),
    );
    if (unknown.length === 0) return [];
    const said = unknown.map((index) => JSON.stringify(sanitizeText(names.headerOf(index), 60))).join(' and ');
    const flags = unknown.map((index) => `--map ${field}=${JSON.stringify(sanitizeText(names.wordsOf(index), 60))}`);
    return [
      {
        ...message(
          'COLUMN_MAY_BE_MEANT',
          `${said} could be the ${field}, but ${unknown.length === 1 ? 'is' : 'are'} not used.`,
        ),
        flags: `To use ${unknown.length === 1 ? 'it' : 'one'}: ${flags.join(' or ')}`,
      },
    ];
  });
}

/**
 * The pieces of a German number if its number column lacks the section, and an unused column has it. Not every cell there
 * is one, so it is suggested only.
 */
export function numberParts(
  columns: Columns,
  number: number,
  isFree: (index: number) => boolean,
): number[] | undefined {
  const cells = (columns.sample[number] ?? []).filter(isFilled);
  const lacking = cells.filter((cell) => IS_BARE.test(cell)).length;
  if (lacking < Math.max(FEW, cells.length * A_FIFTH)) return undefined;
  const others = columns.headers.flatMap((_, index) => (isFree(index) && index !== number ? [index] : []));
  const court = others.find((index) => registerPart(columns, index) === 'court');
  const section = others.find((index) => {
    const filled = (columns.sample[index] ?? []).filter(isFilled);
    return filled.length >= FEW && filled.filter(isGermanSection).length * 2 > filled.length;
  });
  return section === undefined ? undefined : [...(court === undefined ? [] : [court]), section, number];
}

/** A number without its section. */
export const IS_BARE = /^\d{1,6}$/;

/** The name column and an unused column of legal forms, which most of its names lack. */
export function nameWithForm(
  { sample }: Columns,
  name: number,
  isFree: (index: number) => boolean,
): number[] | undefined {
  if (legalForms(sample[name] ?? []) >= 0.5) return undefined;
  const form = sample.findIndex((cells, index) => {
    if (!isFree(index) || index === name) return false;
    const filled = cells.filter(isFilled);
    const { distinct } = contentOf(cells);
    const forms = filled.filter((cell) => cell.length <= LONGEST_FORM && hasLegalForm(`${ANY_NAME} ${cell}`));
    return filled.length >= FEW && distinct * 2 <= filled.length && forms.length >= filled.length * NEARLY_ALL;
  });
  return form === -1 ? undefined : [name, form];
}

const LONGEST_FORM = 40;
const ANY_NAME = 'Muster';

interface StandingAgreement {
  readonly kept: ReadonlyMap<InputField, ColumnSource | null>;
  readonly gone: ReadonlyMap<InputField, string>;
  readonly changed: ReadonlyMap<InputField, ChangedColumn>;
}

interface ChangedColumn {
  readonly source: ColumnSource;
  readonly why: Message;
}

interface NewFile {
  readonly headers: readonly string[];
  readonly names: ColumnNames;
  readonly sample: SampledColumns;
  readonly country: string | null;
  readonly given: ReadonlyMap<InputField, ColumnSource | null>;
}

/** `isRead`: the fields that this pipeline reads and that the user has not given. */
export function applyAgreement(
  agreed: AgreedColumns | undefined,
  { headers, names, sample, country, given }: NewFile,
  isRead: (field: InputField) => boolean,
): StandingAgreement {
  const kept = new Map<InputField, ColumnSource | null>();
  const gone = new Map<InputField, string>();
  const changed = new Map<InputField, ChangedColumn>();
  // If the number of columns changed, a place is another column's.
  const isMoved = (piece: string) =>
    /^#\d+$/.test(piece) && headers.length !== agreed?.columns.length && !headers.some((one) => one.trim() === piece);
  // A column that `--map` gives to another field no longer has its former one. A key of rows stays.
  const isGiven = (source: ColumnSource) =>
    [...given.values()].some((now) => now !== null && indicesIn(now).some((at) => indicesIn(source).includes(at)));
  for (const [field, pieces] of Object.entries(agreed?.fields ?? {}) as [InputField, readonly string[]][]) {
    if (!isRead(field)) continue;
    const words = pieces.join(' + ');
    const source = pieces.length === 0 ? null : pieces.some(isMoved) ? undefined : names.findSource(words);
    if (source === undefined) gone.set(field, words);
    else if (field === 'id' || source === null || !isGiven(source)) kept.set(field, source);
  }
  const countries = countriesOf(sample, given.get('country') ?? kept.get('country'), country);
  const read = new Set(
    [...kept.values(), ...given.values()].flatMap((source) => (source === null ? [] : indicesIn(source))),
  );
  const isElsewhere = (field: InputField) =>
    columnsThatFit(field, sample, countries, (index) => !read.has(index)).length > 0;
  for (const [field, source] of kept) {
    if (source === null) continue;
    const texts = textsOf(sample, source, field);
    const didFit = agreed?.fitting?.includes(field) === true;
    const isOdd = didFit && (shareThatFits(field, texts, countries) ?? 1) < A_FIFTH;
    // If no other column fits, the rows have lost their numbers, which another check reports.
    const isEmptied = didFit && texts.length >= FEW && !texts.some(isFilled) && isElsewhere(field);
    const odd = isOdd ? message('COLUMN_HOLDS_OTHER_FORM', 'has other content than before') : undefined;
    const why = isEmptied ? message('COLUMN_EMPTIED', 'is empty now') : (contentProblem(field, texts) ?? odd);
    if (why === undefined) continue;
    kept.delete(field);
    changed.set(field, { source, why });
  }
  return { kept, gone, changed };
}

/** The fields whose numbers fit the countries of their rows, stored to check the next file. */
export function fittingFields(
  fields: ReadonlyMap<InputField, { readonly source: ColumnSource }>,
  sample: SampledColumns,
  country: string | null,
): readonly InputField[] {
  const countries = countriesOf(sample, fields.get('country')?.source, country);
  return [...fields].flatMap(([field, { source }]) =>
    (shareThatFits(field, textsOf(sample, source, field), countries) ?? 0) >= MOST ? [field] : [],
  );
}

/**
 * Whether a field whose column is gone needs a confirmation. A search field may not vanish unnoticed, nor come from an
 * old column that meant something else. A new column with a fitting header is the old one renamed.
 */
export const needsConfirmation = (
  field: InputField,
  now: string | undefined,
  { columns }: Pick<AgreedColumns, 'columns'>,
): boolean => SEARCH_FIELDS.has(field) && (now === undefined || columns.some((before) => fold(before) === fold(now)));
