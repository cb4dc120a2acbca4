import { z } from 'zod';
import { hasLegalForm } from '../domain/names/similarity.js';
import { resolveLocation } from '../domain/places/resolve-location.js';
import { isBlank, type NumberedLine, trimCell } from '../sheets/sheet.js';
import { barredWords, dataFile } from '../util/data-file.js';
import { LONGEST_LINE } from '../util/text-limits.js';
import { indicesIn } from './field-text.js';
import { IDENTIFIERS, type InputField, type InputTable, type LeftOutKind } from './types.js';

/**
 * What reports put between and behind their rows. Only what cannot be a company is left out, like a blank line: without a row
 * number, and said. Whatever is doubtful stays a row: it is then invalid at worst, and told.
 */
export function nonCompanyLineDetector(
  headers: readonly string[],
  mapping: InputTable['mapping'],
): (line: NumberedLine) => LeftOutKind | undefined {
  const fields = new Set(Object.values(mapping).flatMap(indicesIn));
  const identifiers = new Set(IDENTIFIERS.flatMap((field) => indicesIn(mapping[field] ?? [])));
  return ({ cells: written, problem, surplus }) => {
    // A line that ends after "Total" is short of cells. Any other damage leaves nothing to be sure of.
    if (surplus !== undefined || (problem !== undefined && problem.code !== 'RAGGED')) return undefined;
    const isLong = written.some((cell) => cell.length > LONGEST_LINE);
    const cells = isLong ? written.map((cell) => cell.slice(0, LONGEST_LINE)) : written;
    if (isRepeatedHeader(cells, headers)) return 'repeated header';
    if (saysTwoThings(cells, fields)) return ofCountry(cells, mapping, fields);
    const filled = cells.flatMap((cell, index) => (isBlank(cell) ? [] : [{ text: trimCell(cell), index }]));
    const [first, ...others] = filled;
    if (first === undefined) return undefined;
    if (filled.every(({ text }) => RULING.test(text))) return 'ruling';
    if (others.length === 0 && (reportLines().footers.some((form) => form.test(first.text)) || isNote(first.text)))
      return 'footer';
    const mayBeName = others.length === 0 && identifiers.has(first.index);
    // `Total UK` beside a figure is a sum where a row would name its country: elsewhere it may be the company.
    const isTotal =
      (mayBeName ? reportLines().totalAlone : reportLines().total).test(first.text) ||
      isSumOf(first.text) ||
      isSubtotalOf(first.text) ||
      (others.length > 0 && mapping.country !== undefined && isTotalOf(first.text));
    const areFigures = others.every(({ text, index }) => !fields.has(index) && FIGURE.test(text));
    return isTotal && areFigures ? 'totals' : undefined;
  };
}

/** Where the country is filled down to the last line, it stands beside what is no company, too. */
function ofCountry(
  cells: readonly string[],
  mapping: InputTable['mapping'],
  fields: ReadonlySet<number>,
): LeftOutKind | undefined {
  if (isTotalOfCountry(cells, mapping, fields)) return 'totals';
  const own = indicesIn(mapping.country ?? []);
  const [first, second] = cells.flatMap((cell, index) =>
    isBlank(cell) || own.includes(index) ? [] : [trimCell(cell)],
  );
  return first !== undefined && second === undefined && reportLines().dated.test(first) ? 'footer' : undefined;
}

/**
 * A sum that has a country beside it, as every line of its list: in place of the analyst's own key, or as a name where the line
 * lacks the key that the others have. Whatever else stands there is a figure; a count may stand in every column.
 */
function isTotalOfCountry(
  cells: readonly string[],
  mapping: InputTable['mapping'],
  fields: ReadonlySet<number>,
): boolean {
  const textIn = (field: InputField) =>
    indicesIn(mapping[field] ?? [])
      .map((index) => trimCell(cells[index] ?? ''))
      .join('');
  const [key, name] = [textIn('id'), textIn('name')];
  const { total, totalAlone } = reportLines();
  const isKey = total.test(key) && (name === '' || COUNTED.test(name));
  const isSubtotal = isSubtotalOf(name);
  const isName = key === '' && (total.test(name) || isSubtotal);
  if (!isKey && !isName) return false;
  const own = new Set((['id', 'name', 'country'] as const).flatMap((field) => indicesIn(mapping[field] ?? [])));
  const others = cells.flatMap((cell, index) => (isBlank(cell) || own.has(index) ? [] : [{ cell, index }]));
  const mayCount = isKey && name !== '';
  const areFigures = others.every(({ cell, index }) =>
    fields.has(index) ? mayCount && COUNTED.test(trimCell(cell)) : FIGURE.test(trimCell(cell)),
  );
  if (isKey || !areFigures) return areFigures;
  return (
    isSubtotal || /[\d:=]/.test(name) || (others.length > 0 && (mapping.id !== undefined || totalAlone.test(name)))
  );
}

/** "Subtotal UK". "Total UK" is a company where a country stands beside it. */
const isSubtotalOf = (text: string): boolean => isCountry(reportLines().subtotalOf.exec(text)?.[1]);

/** "Total UK". "Total SE" is a company, not Sweden's sum. */
const isTotalOf = (text: string): boolean => isCountry(reportLines().totalOf.exec(text)?.[1]) && !hasLegalForm(text);

const isCountry = (text: string | undefined): boolean => text !== undefined && resolveLocation(text).ok;

/** "Summe A-Lieferanten". "Total Quality Logistics" is a company, and so is whatever has a legal form. */
const isSumOf = (text: string): boolean => reportLines().sumOf.test(text) && !hasLegalForm(text);

/** "geprüft: Meier", "* vorläufig": what somebody wrote below the list. */
const isNote = (text: string): boolean =>
  (reportLines().note.test(text) || MARKED_NOTE.test(text)) && !hasLegalForm(text);

/** Two fields that hold more than dashes: nearly every line, and the end of the matter. */
function saysTwoThings(cells: readonly string[], fields: ReadonlySet<number>): boolean {
  let said = 0;
  for (const index of fields) {
    const text = trimCell(cells[index] ?? '');
    if (text !== '' && !RULING.test(text) && ++said === 2) return true;
  }
  return false;
}

/** One cell that equals its header may be a company of that name; a whole line of them is the header once more. */
function isRepeatedHeader(cells: readonly string[], headers: readonly string[]): boolean {
  let equal = 0;
  for (const [index, header] of headers.entries()) {
    const [ours, theirs] = [trimCell(cells[index] ?? ''), trimCell(header)];
    if (ours.toLowerCase() !== theirs.toLowerCase()) return false;
    if (ours !== '') equal += 1;
  }
  return equal >= 2;
}

/** `-----`, `=====`: drawn under a header or above a sum. */
const RULING = /^(?:[-–—]{3,}|[=_*~.]{3,}|[+|][-+|=]{3,})$/;

/** A sum, a count, an amount of money, a share: "1.234,50 €", "25", "12 %", "25 rows". */
const FIGURE =
  /^[(+-]?\s*(?:\p{Sc}|[A-Z]{3})?\s*[(+-]?\d[\d\s.,'’]*\)?\s*(?:\p{Sc}|%|[A-Z]{3}|k|m|mio\.?|rows|items)?$/iu;

/** How many there are, where a field of the company belongs: no register's number is as short. */
const COUNTED = /^\d{1,2}$/;

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
    })
    .transform((words) => {
      const dated = new RegExp(
        `^(?:${words.reports}\\s+)?${words.reports_made}\\s*(?:on|at|am|le|el|il|by \\S+ on)?\\s*:?\\s*\\d{1,4}[./-]\\d{1,2}[./-]\\d{1,4}`,
        'iu',
      );
      return {
        totalOf: new RegExp(`^${words.sums}[\\s:-]+(\\S.*)$`, 'iu'),
        /** Beside figures, or where no name is looked for. */
        total: new RegExp(`^${words.sums}\\s*[:=]?(?:${COUNT})?$`, 'iu'),
        /** With nothing beside it: `Total` was a company's name, and `Sum` and `Suma` are short enough to be. */
        totalAlone: new RegExp(
          `^(?:${words.sums}${COUNT}|(?!${words.sums_and_names}\\s*$)${words.sums}\\s*:?|${words.sums}\\s*[:=])$`,
          'iu',
        ),
        sumOf: new RegExp(`^${words.sums_of}(?:\\s*[:(]|\\s)\\s*\\S`, 'iu'),
        subtotalOf: new RegExp(`^${words.subtotals_of}[\\s:-]+(\\S.*)$`, 'iu'),
        note: new RegExp(`^${words.notes}(?: ${words.note_links})?\\s*:\\s*\\S`, 'iu'),
        dated,
        footers: [...words.footers.map((form) => new RegExp(form, 'iu')), dated],
      };
    }),
);

/** A name that is marked so begins with a capital, right behind the mark. */
const MARKED_NOTE = /^\*+\)?(?:\s+\S|\p{Ll})/u;
