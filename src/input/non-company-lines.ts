// Recognises lines of a report that are not companies: totals, notes, repeated headers and group headings.

import { z } from 'zod';
import { hasLegalForm } from '../domain/names/similarity.js';
import { findCountry, isCountryInDoubt, resolveLocation } from '../domain/places/resolve-location.js';
import { isBlank, type NumberedLine, trimCell } from '../sheets/sheet.js';
import { LONGEST_LINE } from '../util/text-limits.js';
import { barredWords, dataFile } from '../util/yaml.js';
import type { SampledColumns } from './decide-columns.js';
import { indicesIn } from './field-text.js';
import { IDENTIFIERS, type InputField, type InputTable, type LeftOutKind } from './types.js';

/**
 * Finds lines that reports put between and below their rows. Only lines that cannot be a company are left out: like a
 * blank line they get no row number, but kybatch reports them. A doubtful line stays a row, and at worst is reported as
 * invalid.
 */
export function nonCompanyLineDetector(
  headers: readonly string[],
  mapping: InputTable['mapping'],
): (line: NumberedLine) => LeftOutKind | undefined {
  const { city: _, state: __, ...named } = mapping;
  // A figure in a column of places is not a place, so these columns are like any other.
  const fields = new Set(Object.values(named).flatMap(indicesIn));
  const identifiers = new Set(IDENTIFIERS.flatMap((field) => indicesIn(mapping[field] ?? [])));
  return ({ cells: written, problem, surplus }) => {
    // A line that ends after "Total" lacks cells. Any other damage makes the cells uncertain.
    if (surplus !== undefined || (problem !== undefined && problem.code !== 'RAGGED')) return undefined;
    const isLong = written.some((cell) => cell.length > LONGEST_LINE);
    const cells = isLong ? written.map((cell) => cell.slice(0, LONGEST_LINE)) : written;
    if (isRepeatedHeader(cells, headers)) return 'repeated header';
    if (isTotalOfCounts(cells, mapping, fields)) return 'totals';
    if (saysTwoThings(cells, fields)) return datedBesideCountry(cells, mapping);
    const filled = cells.flatMap((cell, index) => (isBlank(cell) ? [] : [{ text: trimCell(cell), index }]));
    const [first, ...others] = filled;
    if (first === undefined) return undefined;
    if (filled.every(({ text }) => RULING.test(text))) return 'ruling';
    if (others.length === 0 && (reportLines().footers.some((form) => form.test(first.text)) || isNote(first.text)))
      return 'footer';
    const mayBeName = others.length === 0 && identifiers.has(first.index);
    // `Total UK` beside a figure is a total if a row would have its country there. Elsewhere it may be a company.
    const isTotal =
      (mayBeName ? reportLines().totalAlone : reportLines().total).test(first.text) ||
      isSumOf(first.text) ||
      isSubtotalOf(first.text) ||
      (others.length > 0 && mapping.country !== undefined && isTotalOf(first.text));
    const areFigures = others.every(({ text, index }) => !fields.has(index) && FIGURE.test(text));
    return isTotal && areFigures ? 'totals' : undefined;
  };
}

/**
 * A line of one cell that is a remark if no row follows: in a column that names no company, several words, and in one
 * that does, a mark in front or a colon. A line with a legal form, or a key, stays a row.
 */
export function remarkDetector(mapping: InputTable['mapping']): (line: NumberedLine) => boolean {
  const identifiers = new Set(IDENTIFIERS.flatMap((field) => indicesIn(mapping[field] ?? [])));
  return ({ cells, problem, surplus }) => {
    if (surplus !== undefined || (problem !== undefined && problem.code !== 'RAGGED')) return false;
    const at = cells.findIndex((cell) => !isBlank(cell));
    if (at === -1 || !cells.every((cell, index) => index === at || isBlank(cell))) return false;
    const text = trimCell(cells[at] ?? '').slice(0, LONGEST_LINE);
    if (!/\p{L}{2}.*\s/u.test(text) || hasLegalForm(text)) return false;
    return identifiers.has(at) ? REMARK.test(text) : true;
  };
}

/** `(*) balances of`, `Prepared by: Meier`. */
const REMARK = /^(?:[*†‡¹²³]|\([*†‡\d]\))|\p{L}\s?:\s/u;

/**
 * A line of one cell that may be a group heading. `country`: the country it names, or undefined. A line with a legal
 * form is a company, and so is one with digits in a list of one column.
 */
export function headingIn(
  cells: readonly string[],
  columns: number,
): { readonly country: string | undefined } | undefined {
  const [only, ...others] = cells.filter((cell) => !isBlank(cell));
  if (only === undefined || others.length > 0) return undefined;
  const text = trimCell(only).slice(0, LONGEST_LINE);
  const country = countryOfHeading(text);
  if (country !== undefined) return { country };
  // A subtotal is in the middle of its group, unless it names another one.
  if (reportLines().totalAlone.test(text)) return undefined;
  const isCompany = !/\p{L}/u.test(text) || hasLegalForm(text) || (columns === 1 && /\d/.test(text));
  return isCompany ? undefined : { country: undefined };
}

/** The country alone: `France:`, `2) France`, `*** France ***`, `FRANCE - 3 customers`. */
function countryOfHeading(text: string): string | undefined {
  if (text.length > LONGEST_HEADING || isCountryInDoubt(text)) return undefined;
  const whole = text.replace(/\s*:$/, '');
  if (findCountry(whole) !== undefined) return whole;
  const { counted } = reportLines();
  const words = text
    .replace(NUMBERING, '')
    .split(/\s+/)
    .map((word) => word.replace(/^[^\p{L}\p{N}\p{RI}]+|[^\p{L}\p{N}\p{RI}.]+$/gu, ''));
  const named = words.filter((word) => /[\p{L}\p{RI}]/u.test(word) && !counted.test(word)).join(' ');
  return findCountry(named) === undefined ? undefined : named;
}

const LONGEST_HEADING = 80;

/** `II.`, `b)`. Digits count nowhere. */
const NUMBERING = /^\P{L}*(?:[ivx]{1,5}|\p{L})[.)]+\s+/iu;

/** The country above each of the first rows, as written, or empty. `headings`: how many rows are headings. */
export function countriesAbove(sample: SampledColumns): {
  readonly texts: readonly string[];
  readonly headings: readonly number[];
} {
  let above = '';
  const headings: number[] = [];
  const texts = (sample[0] ?? []).map((_, row) => {
    const heading = headingIn(
      sample.map((cells) => cells[row] ?? ''),
      sample.length,
    );
    if (heading !== undefined) above = heading.country ?? '';
    if (heading?.country === undefined) return above;
    headings.push(row);
    return '';
  });
  return { texts, headings };
}

/**
 * Whether the rows are in groups below a country: the first line is one, a row follows each, and no row has its own
 * country. `own`: the column of countries, if any.
 */
export function hasGroupHeadings(sample: SampledColumns, own: number | undefined): boolean {
  const { headings } = countriesAbove(sample);
  const rows = sample[0]?.length ?? 0;
  if (headings[0] !== 0 || sample.length < 2 || headings.length * 2 > rows) return false;
  if (headings.some((row) => row + 1 >= rows || headings.includes(row + 1))) return false;
  return (
    own === undefined ||
    (sample[own] ?? []).every((cell, row) => isBlank(cell) || FIGURE.test(cell) || headings.includes(row))
  );
}

/** If the country is filled down to the last line, it is also beside lines that are not companies. */
function datedBesideCountry(cells: readonly string[], mapping: InputTable['mapping']): LeftOutKind | undefined {
  const own = indicesIn(mapping.country ?? []);
  const [first, second] = cells.flatMap((cell, index) =>
    isBlank(cell) || own.includes(index) ? [] : [trimCell(cell)],
  );
  return first !== undefined && second === undefined && reportLines().dated.test(first) ? 'footer' : undefined;
}

/**
 * A total among the fields of its list: beside a country, or with a count as its name. It is in a column of no field or
 * of the user's own key, or is a name in a line without the key that others have. All other cells are figures, and a
 * count may be in any column.
 */
function isTotalOfCounts(
  cells: readonly string[],
  mapping: InputTable['mapping'],
  fields: ReadonlySet<number>,
): boolean {
  const textIn = (field: InputField) =>
    indicesIn(mapping[field] ?? [])
      .map((index) => trimCell(cells[index] ?? ''))
      .join('');
  const [key, name] = [textIn('id'), textIn('name')];
  const labelAt = key === '' ? cells.findIndex((cell, index) => !fields.has(index) && !isBlank(cell)) : -1;
  const label = key || trimCell(cells[labelAt] ?? '');
  const { total, totalAlone } = reportLines();
  const isKey = total.test(label) && (name === '' || COUNT_AS_NAME.test(name));
  const isSubtotal = isSubtotalOf(name);
  const isName = key === '' && (total.test(name) || isSubtotal);
  if (!isKey && !isName) return false;
  const own = new Set((['id', 'name'] as const).flatMap((field) => indicesIn(mapping[field] ?? [])));
  if (isKey) own.add(labelAt);
  const places = indicesIn(mapping.country ?? []);
  const others = cells.flatMap((cell, index) => {
    const text = trimCell(cell);
    const isPlace = places.includes(index) && /\p{L}/u.test(text);
    return text === '' || own.has(index) || isPlace ? [] : [{ text, index }];
  });
  const isFigure = (text: string, isField: boolean) =>
    isField ? name !== '' && COUNTED.test(text) : FIGURE.test(text);
  if (!others.every(({ text, index }) => isFigure(text, fields.has(index)))) return false;
  const hasCount = others.some(({ index }) => fields.has(index));
  const isCounted = isSubtotal || hasCount || /[\d:=]/.test(name);
  return isKey || isCounted || (others.length > 0 && (mapping.id !== undefined || totalAlone.test(name)));
}

/** "Subtotal UK". "Total UK" is a company if it has a country beside it. */
const isSubtotalOf = (text: string): boolean => isCountry(reportLines().subtotalOf.exec(text)?.[1]);

/** "Total UK". "Total SE" is a company, not Sweden's total. */
const isTotalOf = (text: string): boolean => isCountry(reportLines().totalOf.exec(text)?.[1]) && !hasLegalForm(text);

const isCountry = (text: string | undefined): boolean => text !== undefined && resolveLocation(text).ok;

/** "Summe A-Lieferanten". "Total Quality Logistics" is a company, and so is any name with a legal form. */
const isSumOf = (text: string): boolean => reportLines().sumOf.test(text) && !hasLegalForm(text);

/** "geprüft: Meier", "* vorläufig": notes below the list. */
const isNote = (text: string): boolean =>
  (reportLines().note.test(text) || MARKED_NOTE.test(text)) && !hasLegalForm(text);

/** Two fields with more than dashes. This is true of nearly every line, and ends the check early. */
function saysTwoThings(cells: readonly string[], fields: ReadonlySet<number>): boolean {
  let said = 0;
  for (const index of fields) {
    const text = trimCell(cells[index] ?? '');
    if (text !== '' && !RULING.test(text) && ++said === 2) return true;
  }
  return false;
}

/** One cell equal to its header may be a company of that name. A whole line of them is the header again. */
export function isRepeatedHeader(cells: readonly string[], headers: readonly string[]): boolean {
  let equal = 0;
  for (const [index, header] of headers.entries()) {
    const [ours, theirs] = [trimCell(cells[index] ?? ''), trimCell(header)];
    if (ours.toLowerCase() !== theirs.toLowerCase()) return false;
    if (ours !== '') equal += 1;
  }
  return equal >= 2;
}

/** `-----`, `=====`: a line below a header or above a total. */
const RULING = /^(?:[-–—]{3,}|[=_*~.]{3,}|[+|][-+|=]{3,})$/;

/** A total, a count, an amount of money, a share: "1.234,50 €", "25", "12 %", "25 rows". */
const FIGURE =
  /^[(+-]?\s*(?:\p{Sc}|[A-Z]{3})?\s*[(+-]?\d[\d\s.,'’]*\)?\s*(?:\p{Sc}|%|[A-Z]{3}|k|m|mio\.?|rows|items)?$/iu;

/** A count in a company's field: no registration number is as short. */
const COUNTED = /^\d{1,2}$/;
const COUNT_AS_NAME = /^\d[\d.,\s]*$/;

/** `: 25`, `(6 Lieferanten)` */
const COUNT = '(?:\\s*[:=]?\\s*(?:[-–]\\s*)?\\d[\\d.,\\s]*|\\s*\\(\\d[^)]*\\)\\s*:?)';

const anyOf = barredWords(z).transform((words) => `(?:${words.join('|')})`);

const reportLines = dataFile(
  'input/report-lines',
  z
    .strictObject({
      sums: anyOf,
      sums_and_names: anyOf,
      sums_of: anyOf,
      subtotals_of: anyOf,
      notes: anyOf,
      note_links: anyOf,
      reports: anyOf,
      reports_made: anyOf,
      footers: z.array(z.string()),
      counted: anyOf,
    })
    .transform((words) => {
      const dated = new RegExp(
        `^(?:${words.reports}\\s+)?${words.reports_made}\\s*(?:on|at|am|le|el|il|by \\S+ on)?\\s*:?\\s*\\d{1,4}[./-]\\d{1,2}[./-]\\d{1,4}`,
        'iu',
      );
      // "Totale fornitori", "Total of suppliers".
      const counted = `\\s+(?:\\p{L}{1,4}\\s+)?${words.counted}`;
      return {
        totalOf: new RegExp(`^${words.sums}[\\s:-]+(\\S.*)$`, 'iu'),
        /** Beside figures, or in a column that is not the name. */
        total: new RegExp(`^${words.sums}(?:${counted})?\\s*[:=]?(?:${COUNT})?$`, 'iu'),
        /** With nothing beside it. `Total` was a company's name, and `Sum` and `Suma` may be names. */
        totalAlone: new RegExp(
          `^(?:${words.sums}(?:${counted})?${COUNT}|${words.sums}${counted}|(?!${words.sums_and_names}\\s*$)${words.sums}\\s*:?|${words.sums}\\s*[:=])$`,
          'iu',
        ),
        sumOf: new RegExp(`^${words.sums_of}(?:\\s*[:(]|\\s)\\s*\\S`, 'iu'),
        subtotalOf: new RegExp(`^${words.subtotals_of}[\\s:-]+(\\S.*)$`, 'iu'),
        note: new RegExp(`^${words.notes}(?: ${words.note_links})?\\s*:\\s*\\S`, 'iu'),
        counted: new RegExp(`^${words.counted}$`, 'iu'),
        dated,
        footers: [...words.footers.map((form) => new RegExp(form, 'iu')), dated],
      };
    }),
);

/** A marked name begins with a capital directly after the mark. */
const MARKED_NOTE = /^\*+\)?(?:\s+\S|\p{Ll})/u;
