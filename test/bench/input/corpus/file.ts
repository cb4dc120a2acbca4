import { type Dialect, delimited } from './delimited.js';
import { encode, type OldEncoding, utf8, utf16 } from './encode.js';
import type { Expected, Question, Reading } from './expected.js';
import type { Firm } from './firms.js';
import { type Cell, type Column, companiesOf, type Page, readingOf } from './page.js';
import { rowNumbers, type WorkbookOptions, type WorkbookSheet, workbook } from './workbook.js';

/** A file of the corpus, and what must become of it. */
export interface CorpusFile {
  readonly name: string;
  readonly bytes: Buffer;
  readonly expected: Expected;
}

export interface Told {
  readonly like: string;
  readonly question?: Question;
  readonly mayAsk?: Question;
  readonly answer?: readonly string[];
  /** Changes what follows from the page. */
  readonly reading?: (reading: Reading) => Reading;
  /** Rows that must be confirmed, at least, when it is run on the sandbox. */
  readonly confirmed?: number;
}

export type TextEncoding = OldEncoding | 'utf-8' | 'utf-8-bom' | 'utf-16le' | 'utf-16be' | 'utf-16le-bare';

export function csvFile(
  name: string,
  page: Page,
  told: Told,
  dialect: Dialect & { encoding?: TextEncoding } = {},
): CorpusFile {
  const { text, numbers } = delimited(page, dialect);
  return { name, bytes: inBytes(text, dialect.encoding ?? 'utf-8'), expected: expectedOf(page, numbers, told) };
}

/** The first sheet is the one to be read, unless `read` names another. */
export async function xlsxFile(
  name: string,
  sheets: readonly WorkbookSheet[],
  told: Told & { readonly read?: number },
  options: WorkbookOptions,
): Promise<CorpusFile> {
  const sheet = sheets[told.read ?? 0];
  if (sheet === undefined) throw new RangeError(`${name} has no such sheet`);
  return {
    name,
    bytes: await workbook(sheets, options),
    expected: expectedOf(sheet.page, rowNumbers(sheet.page), told),
  };
}

export const refused = (name: string, bytes: Buffer, like: string, ...mentions: string[]): CorpusFile => ({
  name,
  bytes,
  expected: { like, question: { mentions } },
});

function expectedOf(page: Page, numbers: readonly number[], told: Told): Expected {
  const { like, question, mayAsk, answer, confirmed, reading: change = (reading: Reading) => reading } = told;
  const companies = companiesOf(page, numbers);
  return {
    like,
    ...(question === undefined ? {} : { question }),
    ...(mayAsk === undefined ? {} : { mayAsk }),
    ...(answer === undefined ? {} : { answer }),
    reading: change(readingOf(page, numbers)),
    ...(Object.keys(companies).length === 0 ? {} : { companies }),
    ...(confirmed === undefined ? {} : { confirmed }),
  };
}

export function inBytes(text: string, encoding: TextEncoding): Buffer {
  switch (encoding) {
    case 'utf-8':
      return utf8(text);
    case 'utf-8-bom':
      return utf8(text, true);
    case 'utf-16le':
      return utf16(text, 'le');
    case 'utf-16be':
      return utf16(text, 'be');
    case 'utf-16le-bare':
      return utf16(text, 'le', false);
    default:
      return encode(text, encoding);
  }
}

/** Columns by what they hold: a field where kybatch must read it as one. */
export const column = {
  name: (header: string): Column => ({ header, field: 'name', cell: ({ name }) => name }),
  country: (header: string, words: (firm: Firm) => string = ({ country }) => country): Column => ({
    header,
    field: 'country',
    cell: words,
  }),
  number: (header: string, words: (firm: Firm, index: number) => Cell = ({ number }) => number): Column => ({
    header,
    field: 'registration_number',
    cell: words,
  }),
  vat: (header: string, words: (firm: Firm) => string = ({ vat }) => vat): Column => ({
    header,
    field: 'vat_number',
    cell: words,
  }),
  city: (header: string): Column => ({ header, field: 'city', cell: ({ city }) => city }),
  state: (header: string): Column => ({ header, field: 'state', cell: ({ state }) => state ?? '' }),
  id: (header: string, words: (index: number) => Cell = (index) => `C-${10_001 + index * 7}`): Column => ({
    header,
    field: 'id',
    cell: (_, index) => words(index),
  }),
  /** Carried through, and meant to be nothing. */
  other: (header: string, words: (firm: Firm, index: number) => Cell): Column => ({ header, cell: words }),
};

/** One of a few, in turn. */
export const oneOf =
  (...texts: readonly string[]) =>
  (_: unknown, index: number): string =>
    texts[index % texts.length] ?? '';
