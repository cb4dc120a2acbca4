// Refuses files that are not a list of companies, and lists without a header.

import { z } from 'zod';
import { UsageError } from '../domain/errors.js';
import { type Lead, leadWords } from '../domain/leads.js';
import { hasLegalForm } from '../domain/names/similarity.js';
import { openSheet } from '../sheets/open-sheet.js';
import { isBlank, type RecogniseHeader, type Sheet, trimCell } from '../sheets/sheet.js';
import { sanitizeText } from '../util/sanitize-text.js';
import { LONGEST_NAME } from '../util/text-limits.js';
import { dataFile } from '../util/yaml.js';
import { contentOf, countriesIn, isFilled, legalForms, MOST } from './column-content.js';
import { ColumnNames, headersInWords } from './column-names.js';
import { ColumnsUnclearError, type SampledColumns } from './decide-columns.js';
import { indicesIn } from './field-text.js';
import { samplesOf } from './fitting-columns.js';
import { type HeaderLookup, meaningOf, SEARCH_FIELDS, type UnreadLeads } from './header-meaning.js';
import { mapColumns } from './map-columns.js';
import { isRepeatedHeader } from './non-company-lines.js';
import { type ColumnDoubt, IDENTIFIERS, type InputField, type InputOptions } from './types.js';
import { CELLS_MAY_BE_SHIFTED, fallbackSettingFor } from './validate-row.js';

const EXPECTED =
  'Nothing was spent. kybatch reads a CSV or Excel file: the first line names the columns, each further line is one company. Example: name,country,registration_number';

/** Refuses a text or a transposed list before it is read as companies. `firstLine`: of the file. */
export async function refuseNonList(
  sheet: Sheet,
  sample: SampledLines,
  lookup: HeaderLookup,
  firstLine: () => Promise<string>,
): Promise<void> {
  const labels = transposedLabels(sheet.headers, sample.columns, lookup);
  const isKnown = sheet.headers.some((header) => meaningOf(header, lookup) !== undefined);
  const places = labels === undefined && !isKnown ? lineOfCountries(sample.columns) : undefined;
  const seen = labels ?? places;
  if (seen !== undefined)
    throw new UsageError(
      'TRANSPOSED_LIST',
      `${sheet.path}: the list is transposed. ${places === undefined ? 'Its first column names the fields' : 'One line holds the countries'}: ${headersInWords(seen)}`,
      'Put each company on a line of its own. In Excel: copy, then Paste Special, Transpose.',
    );
  if (isProse(sheet, sample)) throw notAList(sheet, await firstLine());
}

/** A line with a country in every cell: each column is one company. Undefined if there is none. */
function lineOfCountries(columns: SampledColumns): readonly string[] | undefined {
  const lines = columns[0]?.length ?? 0;
  // With two columns, one row may be a company named like a country.
  if (columns.length < 2 || lines > (columns.length === 2 ? FEW_FIELDS : MOST_FIELDS)) return undefined;
  return Array.from({ length: lines }, (_, line) => columns.map((cells) => cells[line] ?? '').filter(isFilled)).find(
    (cells) => cells.length >= Math.max(2, columns.length / 2) && countriesIn(cells).every((code) => code !== null),
  );
}

/** The field names in the first column. Undefined if it has others. */
function transposedLabels(
  headers: readonly string[],
  sample: SampledColumns,
  lookup: HeaderLookup,
): readonly string[] | undefined {
  const fieldOf = (text: string) => meaningOf(text, lookup)?.claims[0]?.field;
  const labels = [headers[0] ?? '', ...(sample[0] ?? [])].filter(isFilled);
  if (headers.length < 2 || labels.length > MOST_FIELDS) return undefined;
  const known = labels.filter((label) => meaningOf(label, lookup) !== undefined);
  const fields = new Set(known.map(fieldOf).filter((field) => field !== undefined));
  const across = headers.slice(1).filter((header) => meaningOf(header, lookup) !== undefined);
  const isAsked = [...fields].filter((field) => SEARCH_FIELDS.has(field)).length >= 2;
  return isAsked && known.length >= labels.length / 2 && across.length === 0 ? labels : undefined;
}

/** A list of this many companies has no column of field names alone. */
const MOST_FIELDS = 60;
const FEW_FIELDS = 5;

/**
 * Whether the lines are sentences, markup or code. Most lines of a table have as many cells as its header. A text has
 * commas anywhere, so its lines have many widths.
 */
function isProse({ headers, kind }: Sheet, { texts, ragged, widths }: SampledLines): boolean {
  if (kind !== 'csv' || texts.length < FEW_LINES) return false;
  const odd = oddTexts(texts);
  return headers.length === 1
    ? odd >= texts.length / 2 || isLetter([headers[0] ?? '', ...texts])
    : ragged >= texts.length / 2 && (widths.size >= MANY_WIDTHS || odd >= texts.length / 4);
}

/** A letter or a mail, whatever is between its lines. */
const isLetter = (texts: readonly string[]): boolean =>
  texts.some((text) => letterLines().test(text.slice(0, LONGEST_NAME)) && !hasLegalForm(text));

const letterLines = dataFile(
  'input/letter-lines',
  z.array(z.string()).transform((forms) => new RegExp(`^(?:${forms.join('|')})`, 'iu')),
);

/** Most lines have columns of fixed width, separated by spaces. */
const isFixedWidth = ({ headers, kind }: Sheet, texts: readonly string[]): boolean =>
  kind === 'csv' && headers.length === 1 && texts.filter((text) => /\S {2,}\S/.test(text)).length >= texts.length / 2;

/** Most lines are not names: they begin with a small letter, or are a key with its value. */
const areNoNames = ({ headers, kind }: Sheet, texts: readonly string[]): boolean =>
  kind === 'csv' && headers.length === 1 && texts.filter((text) => NO_NAME.test(text)).length >= texts.length / 2;

const NO_NAME = /^(?:\p{Ll}+ \p{Ll}|[\p{L}_-]{2,30} ?[:=])/u;

const oddTexts = (texts: readonly string[]): number =>
  texts.filter((text) => SENTENCE.test(text) || MARKED.test(text)).length;

const FEW_LINES = 3;
const MANY_WIDTHS = 4;

/** Eight words, and a sign that ends a sentence. */
const SENTENCE = /^(?:\S+\s+){7,200}\S*[.!?:;]["')\]]?$/u;

/** Markdown, code, a line of a log. */
const MARKED =
  /^(?:#{1,6}\s|[-*+>]\s|\d+\.\s|```|\/\/|\/\*|\*\/|[{}]|import\s|export\s|const\s|\d{4}-\d\d-\d\d[T ]\d\d:\d\d)/;

const notAList = ({ path }: Sheet, firstLine: string): UsageError =>
  new UsageError(
    'NOT_A_LIST',
    `${path} is a text, not a table of companies. It begins with ${JSON.stringify(sanitizeText(firstLine, 60))}`,
    EXPECTED,
  );

/** No column identifies a company. The message shows the columns and suggests the likeliest one. */
export async function noUsableColumn(
  sheet: Sheet,
  columns: readonly string[],
  sample: SampledLines,
  unread: UnreadLeads,
  firstLine: () => Promise<string>,
): Promise<UsageError> {
  const { path, headerLine, headers } = sheet;
  const isText = sheet.kind === 'csv' && oddTexts(sample.texts) + sample.ragged >= Math.max(1, sample.texts.length / 4);
  if (isText || areNoNames(sheet, sample.texts)) return notAList(sheet, await firstLine());
  if (sample.texts.length > 0 && isFixedWidth(sheet, sample.texts))
    return new UsageError(
      'FIXED_WIDTH_LIST',
      `${path}: spaces separate the columns, at fixed widths. Line ${Math.max(headerLine, 1)} is ${JSON.stringify(sanitizeText(headers[0] ?? '', 80))}`,
      'Save it as CSV or as a workbook. In Excel: Data, From Text, Fixed width.',
    );
  const [lead] = Object.keys(unread) as Lead[];
  const where = headerLine === 0 ? `${path} (no header)` : `${path}, line ${headerLine}`;
  const row =
    sample.texts[0] === undefined ? '' : `. The first row is ${JSON.stringify(sanitizeText(sample.texts[0], 80))}`;
  const seen = `${headerLine === 0 ? 'It' : 'The header'} has ${headersInWords(columns)}${row}`;
  const message = `${where}: no column is a name, registration_number, vat_number or ticker. ${seen}`;
  if (lead !== undefined)
    return new UsageError(
      'NO_USABLE_COLUMN',
      message,
      `Add one of these columns, or let kybatch search by ${leadWords[lead]}: set ${fallbackSettingFor(lead)} in the pipeline file.`,
    );
  if (sample.isEmpty && headerLine > 0)
    return new UsageError('NO_USABLE_COLUMN', message, 'If that line is a company, read it as one: --header-line 0.');
  const [likely] = likelyNames(sample.columns);
  if (likely === undefined) return new UsageError('NO_USABLE_COLUMN', message, EXPECTED);
  const words = JSON.stringify(sanitizeText(new ColumnNames(headers).wordsOf(likely), 60));
  const other = headerLine === 0 ? '' : ' If another line names the columns: --header-line N.';
  const cut = columns.length === 1 ? ' If another character separates the cells: --delimiter.' : '';
  return new UsageError('NO_USABLE_COLUMN', message, `If a column has the names: --map name=${words}.${other}${cut}`);
}

/** The columns of words, which may be names. The one with most different words comes first. */
function likelyNames(sample: SampledColumns): readonly number[] {
  return sample
    .map((cells, index) => ({ index, ...contentOf(cells) }))
    .filter(({ filled, numbers, codes }) => filled > 0 && numbers + codes < 0.5)
    .sort((a, b) => b.distinct - a.distinct || b.spaced - a.spaced || a.index - b.index)
    .map(({ index }) => index);
}

/**
 * Refuses a list whose first line is a company, because reading it as the header would lose it. A given header line is
 * never refused. The error has the flags that read the list as it is, with the columns found by content.
 */
export async function refuseWithoutHeader(
  { path, headers, headerLine }: Sheet,
  sample: SampledColumns,
  lookup: HeaderLookup,
  reopen: { readonly path: string; readonly recognises: RecogniseHeader; readonly options: InputOptions },
): Promise<void> {
  const { options } = reopen;
  if (options.headerLine !== undefined || !isCompany(headers, sample, lookup)) return;
  const bare = await openSheet(reopen.path, reopen.recognises, { ...options, headerLine: 0 });
  const { columns } = await sampleLines(bare);
  const names = new ColumnNames(bare.headers);
  const isStill = (words: string) => words === '' || names.findSource(words) !== undefined;
  const map = options.map?.filter((flag) => isStill(flag.slice(flag.indexOf('=') + 1).trim()));
  const file = { headers: bare.headers, written: bare.headers, lookup, sample: columns };
  const { doubts: found, fields } = mapColumns(file, { ...options, map, agreed: undefined });
  const isFound = [...fields.keys(), ...found.map(({ field }) => field)].some((field) => isIdentifier(field));
  const doubts = isFound ? found : [...found, ...nameDoubt(columns, found)];
  // Without a column that identifies a company, --header-line 0 would only lead to the next refusal.
  if (!isFound && doubts.length === found.length) return;
  const text = headers.filter(isFilled).join(', ');
  throw new ColumnsUnclearError(path, doubts, { line: headerLine, text });
}

const isIdentifier = (field: InputField): boolean => IDENTIFIERS.some((one) => one === field);

/** No column is known to be the name, so each column of words without another doubt is offered. */
function nameDoubt(columns: SampledColumns, others: readonly ColumnDoubt[]): readonly ColumnDoubt[] {
  const taken = others.flatMap(({ choices }) => choices.flatMap(({ source }) => indicesIn(source)));
  const choices = likelyNames(columns)
    .filter((index) => !taken.includes(index))
    .map((index) => ({
      source: index,
      header: `#${index + 1}`,
      samples: samplesOf(columns, index, 'name'),
      flag: `name=#${index + 1}`,
    }));
  return choices.length === 0
    ? []
    : [{ field: 'name', code: 'NO_NAME_COLUMN', reason: 'no header says which column is the name', choices }];
}

/** No cell is a known header, and one is content: a country, a long number, a name with a legal form. */
function isCompany(headers: readonly string[], sample: SampledColumns, lookup: HeaderLookup): boolean {
  if (headers.some((header) => (meaningOf(header, lookup)?.claims.length ?? 0) > 0)) return false;
  return headers.some((header, index) => {
    const cells = (sample[index] ?? []).filter(isFilled);
    const areMost = (is: (cell: string) => boolean) =>
      cells.length > 0 && cells.filter(is).length >= cells.length * MOST;
    if (isLongNumber(header)) return areMost(isLongNumber);
    if (countriesIn([header])[0] !== null) return areMost((cell) => countriesIn([cell])[0] !== null);
    return hasLegalForm(header) && /\s/.test(header.trim()) && legalForms(cells) >= 0.5;
  });
}

/** As registers write them, perhaps with a court or a prefix. */
const isLongNumber = (text: string): boolean => text.replace(/\D/g, '').length >= 5 && !/[@/]/.test(text);

const ROWS = 1_000;

/** Enough of a line to recognise a sentence. */
const LONGEST_TEXT = 1_000;

export interface SampledLines {
  /** Column by column, without damaged lines. */
  readonly columns: SampledColumns;
  readonly isEmpty: boolean;
  readonly texts: readonly string[];
  /** How many lines have another number of cells than the header, and how many they fill. */
  readonly ragged: number;
  readonly widths: ReadonlySet<number>;
}

export async function sampleLines(sheet: Pick<Sheet, 'headers' | 'lines' | 'delimiter'>): Promise<SampledLines> {
  const columns: string[][] = sheet.headers.map(() => []);
  const texts: string[] = [];
  const widths = new Set<number>();
  let ragged = 0;
  for await (const { cells, surplus = [], problem } of sheet.lines()) {
    texts.push(trimCell([...cells, ...surplus].join(sheet.delimiter ?? ' ').slice(0, LONGEST_TEXT)));
    if (problem?.code === 'RAGGED') {
      ragged += 1;
      widths.add([...cells, ...surplus].filter((cell) => !isBlank(cell)).length);
    }
    const isSure = problem === undefined || !CELLS_MAY_BE_SHIFTED[problem.code];
    if (isSure && !isRepeatedHeader(cells, sheet.headers))
      for (const [index, column] of columns.entries()) column.push(trimCell(cells[index] ?? '').slice(0, LONGEST_NAME));
    if (texts.length === ROWS) break;
  }
  return { columns, isEmpty: texts.length === 0, texts, ragged, widths };
}
