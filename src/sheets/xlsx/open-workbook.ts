// Opens a workbook: chooses the worksheet with the table, surveys its rows, and reads its lines.

import { createHash } from 'node:crypto';
import { UsageError } from '../../domain/errors.js';
import { didYouMean, type Message, message } from '../../util/message-parts.js';
import { sanitizeText } from '../../util/sanitize-text.js';
import { chunksOf, emptyFile, type FileSource, refuseChanged, spool } from '../file-source.js';
import {
  aboveHeader,
  groupsAbove,
  HEADER_SEARCH_ROWS,
  headerAtLine,
  invalidHeaderLine,
  type MergedCells,
  pickHeader,
} from '../find-header.js';
import { cellProblem, padOrCut } from '../line-problems.js';
import {
  isBlank,
  type MergedRows,
  type NumberedLine,
  type RecogniseHeader,
  type Sheet,
  type SheetOptions,
} from '../sheet.js';
import type { CellContext, StoredKind } from './cell-value.js';
import {
  type Contents,
  columnIndex,
  readContents,
  readContext,
  readRows,
  SheetReader,
  type SheetReceiver,
  type Worksheet,
  type WorksheetRow,
} from './worksheet.js';
import { columnName } from './write-sheet.js';
import { type Attributes, isOn, walkXml } from './xml.js';
import { ZipParts } from './zip-parts.js';

/** Opens a workbook: finds the worksheet and its header, and refuses a file that is not an Excel workbook. */
export async function openWorkbook(
  source: FileSource,
  recognises: RecogniseHeader,
  options: SheetOptions,
): Promise<Sheet> {
  refuseTextOptions(source.shownAs, options);
  const sha256 = await sha256Of(source);
  return await withParts(source, options.now ?? (() => performance.now()), async (parts) => {
    refuseOtherZips(parts);
    const contents = await readContents(parts);
    const context = await readContext(parts, contents);
    const { worksheet, header, withData } = await findTable(parts, contents, context, recognises, options);
    const survey = await surveyRows(parts, worksheet, context, header);
    const { headers } = survey;
    return {
      path: source.shownAs,
      sha256,
      kind: 'xlsx',
      encoding: null,
      delimiter: null,
      sheet: worksheet.name,
      ...survey,
      headerLine: header.row,
      warnings: [
        ...severalSheets(worksheet.name, withData),
        ...(options.sheet === undefined ? hiddenSheets(worksheet, contents.worksheets) : []),
        ...aboveHeader(header.above, header.row, 'row'),
        ...survey.warnings,
      ],
      lines: () => workbookLines(source, context, worksheet, headers, header.row),
    };
  });
}

function refuseTextOptions(path: string, { encoding, delimiter }: SheetOptions): void {
  const flag = encoding !== undefined ? '--encoding' : delimiter !== undefined ? '--delimiter' : undefined;
  if (flag !== undefined)
    throw new UsageError(
      'FLAG_NOT_FOR_WORKBOOK',
      `${path} is a workbook. ${flag} is only for text files`,
      `Leave ${flag} out.`,
    );
}

/** A zip archive is read from its end. So a gzipped one is first unpacked to a temporary file. */
async function openParts(source: FileSource, now?: () => number): Promise<{ parts: ZipParts; close: () => void }> {
  const spooled = source.gzipped ? await spool(chunksOf(source), source.shownAs) : undefined;
  try {
    const parts = await ZipParts.open(spooled?.path ?? source.path, source.shownAs, now);
    const close = () => {
      parts.close();
      spooled?.remove();
    };
    return { parts, close };
  } catch (error) {
    spooled?.remove();
    throw error;
  }
}

async function withParts<T>(source: FileSource, now: () => number, use: (parts: ZipParts) => Promise<T>): Promise<T> {
  const { parts, close } = await openParts(source, now);
  try {
    return await use(parts);
  } finally {
    close();
  }
}

async function sha256Of(source: FileSource): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of chunksOf({ ...source, gzipped: false })) hash.update(chunk);
  return hash.digest('hex');
}

/**
 * Every row below the header that is not blank, once, in order. Memory holds the shared texts and a chunk of the rows.
 */
async function* workbookLines(
  source: FileSource,
  context: CellContext,
  { part }: Worksheet,
  headers: readonly string[],
  headerRow: number,
): AsyncGenerator<NumberedLine, void, undefined> {
  await refuseChanged(source);
  const { parts, close } = await openParts(source);
  try {
    for await (const rows of readRows(parts, part, context)) {
      for (const row of rows) if (row.row > headerRow && !row.cells.every(isBlank)) yield lineOf(row, headers);
    }
  } finally {
    close();
  }
  await refuseChanged(source);
}

/** Cells keep their columns, so cells beyond the last header are not a problem. */
function lineOf({ row, cells: all, kinds, unknown }: WorksheetRow, headers: readonly string[]): NumberedLine {
  const cells = padOrCut(all, headers.length);
  const surplus = all.slice(headers.length);
  const problem = cellProblem(cells, headers);
  return {
    line: row,
    cells,
    ...(kinds !== '' && { kinds }),
    ...(unknown.length > 0 && { unknown }),
    ...(!surplus.every(isBlank) && { surplus }),
    ...(problem !== undefined && { problem }),
  };
}

const SAVE_AS_XLSX = 'Open it in the program it came from and save the table as .xlsx or CSV.';

/** Many programs save zip archives. The names of the parts show which program it was. */
function refuseOtherZips(parts: ZipParts): void {
  const has = (pattern: RegExp) => [...parts.entries.keys()].some((name) => pattern.test(name));
  const refuse = (what: string, hint = SAVE_AS_XLSX) =>
    new UsageError('NOT_A_TABLE', `${parts.shownAs} is ${what}`, hint);
  if (parts.has('xl/workbook.bin')) throw refuse('a binary workbook (.xlsb), which kybatch cannot read');
  if (parts.has('xl/workbook.xml')) return;
  if (parts.has('mimetype') && parts.has('content.xml'))
    throw refuse('an OpenDocument file (.ods), which kybatch cannot read');
  if (has(/^word\//)) throw refuse('a Word document, not a table');
  if (has(/^ppt\//)) throw refuse('a presentation, not a table');
  if (has(/^index\/.*\.iwa$/)) throw refuse('a Numbers document, which kybatch cannot read');
  // A workbook may keep its parts elsewhere if it declares the place.
  if (parts.has('[Content_Types].xml') && parts.has('_rels/.rels')) return;
  throw refuse('a zip archive', 'Unpack it first, then use one of its files.');
}

interface FoundHeader {
  readonly row: number;
  readonly cells: readonly string[];
  readonly above: readonly number[];
  readonly groupCells?: readonly string[] | undefined;
}

interface Table {
  readonly worksheet: Worksheet;
  readonly header: FoundHeader;
  readonly meanings: number;
}

/** The named worksheet, else the first whose header has most meanings, and its header. */
async function findTable(
  parts: ZipParts,
  { worksheets }: Contents,
  context: CellContext,
  recognises: RecogniseHeader,
  options: SheetOptions,
): Promise<Table & { readonly withData: readonly string[] }> {
  const named = options.sheet === undefined ? undefined : namedSheet(parts.shownAs, options.sheet, worksheets);
  const looked = named === undefined ? worksheets.filter(({ hidden }) => !hidden) : [named];
  const tables: Table[] = [];
  for (const worksheet of looked) {
    const rows = await firstRows(parts, worksheet, context, options.headerLine);
    const table = tableIn(worksheet, rows, recognises, options.headerLine);
    if (table !== undefined) tables.push(table);
  }
  if (named === undefined) refuseSeveral(parts.shownAs, tables, recognises, options);
  const best = tables.toSorted((a, b) => b.meanings - a.meanings)[0];
  if (best === undefined) throw noTable(parts.shownAs, looked, worksheets, options.headerLine);
  return { ...best, withData: tables.map(({ worksheet }) => worksheet.name) };
}

function refuseSeveral(
  path: string,
  tables: readonly Table[],
  recognises: RecogniseHeader,
  { needs }: SheetOptions,
): void {
  if (needs === undefined) return;
  const fitting = tables.flatMap(({ header, worksheet }) => {
    const meanings = new Set(header.cells.map(recognises));
    return needs.every((need) => meanings.has(need)) ? [worksheet.name] : [];
  });
  if (fitting.length > 1)
    throw new UsageError(
      'SHEET_AMBIGUOUS',
      `${path}: ${fitting.length} sheets could be the list: ${listed(fitting)}`,
      'Choose one with --sheet.',
    );
}

function tableIn(
  worksheet: Worksheet,
  rows: readonly WorksheetRow[],
  recognises: RecogniseHeader,
  wanted: number | undefined,
): Table | undefined {
  if (wanted === 0) return rows.length === 0 ? undefined : { worksheet, header: NO_HEADER, meanings: 0 };
  const choice =
    wanted === undefined
      ? pickHeader(
          rows.map(({ cells }) => cells),
          recognises,
        )
      : headerAtLine(
          rows.map(({ row, cells }) => ({ line: row, cells })),
          wanted,
          recognises,
        );
  if (choice === undefined) return undefined;
  const found = rows[choice.index];
  if (found === undefined) return undefined;
  const above = rows.slice(0, choice.index).map(({ row }) => row);
  const groupCells = rows.find(({ row }) => row === found.row - 1)?.cells;
  return { worksheet, header: { row: found.row, cells: found.cells, above, groupCells }, meanings: choice.meanings };
}

const NO_HEADER: FoundHeader = { row: 0, cells: [], above: [] };

async function firstRows(
  parts: ZipParts,
  { part }: Worksheet,
  context: CellContext,
  upTo = 0,
): Promise<readonly WorksheetRow[]> {
  const rows: WorksheetRow[] = [];
  for await (const more of readRows(parts, part, context)) {
    rows.push(...more);
    if (rows.length >= HEADER_SEARCH_ROWS && (rows.at(-1)?.row ?? 0) >= upTo) break;
  }
  return rows;
}

function noTable(
  path: string,
  looked: readonly Worksheet[],
  all: readonly Worksheet[],
  headerLine: number | undefined,
) {
  if (headerLine !== undefined && headerLine > 0) return invalidHeaderLine(path, headerLine, 'row');
  if (all.some(({ hidden }) => hidden) && looked.every(({ hidden }) => !hidden)) {
    return new UsageError(
      'SHEETS_HIDDEN',
      `${path}: its visible sheets are empty, others are hidden`,
      'Show the sheet with the table in Excel, or name it with --sheet.',
    );
  }
  return emptyFile(path);
}

/** The worksheet of this name, even a hidden one, or of this number among the visible ones. */
function namedSheet(path: string, wanted: string, worksheets: readonly Worksheet[]): Worksheet {
  const visible = worksheets.filter(({ hidden }) => !hidden);
  const folded = (name: string) => name.trim().toLowerCase();
  const found =
    worksheets.find(({ name }) => name === wanted) ??
    worksheets.find(({ name }) => folded(name) === folded(wanted)) ??
    (/^[1-9]\d{0,3}$/.test(wanted.trim()) ? visible[Number(wanted) - 1] : undefined);
  if (found !== undefined) return found;
  const names = worksheets.map(({ name }) => name);
  throw new UsageError(
    'SHEET_NOT_FOUND',
    `${path} has no sheet ${sanitizeText(wanted, 80)}. Its sheets: ${listed(names)}`,
    `Choose one with --sheet.${/^\d+$/.test(wanted.trim()) ? '' : didYouMean(wanted, names)}`,
  );
}

function severalSheets(chosen: string, withData: readonly string[]): readonly Message[] {
  if (withData.length < 2) return [];
  return [
    message(
      'SEVERAL_SHEETS',
      `the workbook has ${withData.length} sheets with data (${listed(withData)}). kybatch reads ${sanitizeText(chosen, 80)}. For another: --sheet NAME`,
    ),
  ];
}

/** A hidden sheet may be left over from an older list. A warning names it, and only --sheet reads it. */
function hiddenSheets(chosen: Worksheet, worksheets: readonly Worksheet[]): readonly Message[] {
  const names = worksheets.flatMap(({ name, hidden }) => (hidden ? [name] : []));
  if (names.length === 0 || chosen.hidden) return [];
  const which = names.length === 1 ? 'a hidden sheet' : `${names.length} hidden sheets`;
  return [
    message(
      'HIDDEN_SHEETS',
      `the workbook has ${which} (${listed(names)}), which kybatch does not read. To read one: --sheet NAME`,
    ),
  ];
}

const MOST_NAMES = 12;

function listed(names: readonly string[]): string {
  const shown = names.slice(0, MOST_NAMES).map((name) => sanitizeText(name, 80));
  return shown.join(', ') + (names.length > MOST_NAMES ? ` and ${names.length - MOST_NAMES} more` : '');
}

/**
 * Columns without a header are read up to this many, so that a stray cell far to the right does not create a thousand
 * columns.
 */
const MOST_WITHOUT_HEADER = 100;

async function surveyRows(
  parts: ZipParts,
  { part }: Worksheet,
  context: CellContext,
  header: FoundHeader,
): Promise<Pick<Sheet, 'headers' | 'groups' | 'merged' | 'warnings'>> {
  const survey = new Survey(context, header.row);
  for await (const _ of walkXml(parts, part, new SheetReader(context, survey, parts.budget)));
  const { width } = survey;
  const cells = withMergedAbove(header, survey);
  const named = cells.findLastIndex((cell) => !isBlank(cell)) + 1;
  const read = Math.min(Math.max(named, width), named + MOST_WITHOUT_HEADER);
  const headers = Array.from({ length: read }, (_, index) => cells[index] ?? '');
  return {
    headers,
    groups: groupsAbove(header.groupCells, headers, mergedInRow(survey, header.row - 1)),
    merged: mergedRows(survey, header),
    warnings: [...(header.row === 0 ? [] : unnamed(named, read, width)), ...odd(survey, headers)],
  };
}

/** Counts unusual cells. It needs few texts: those beyond the widest row so far, and numbers that may be padded. */
class Survey implements SheetReceiver {
  width = 0;
  hiddenRows = 0;
  /** Formulas without a saved result. Their cells are read as empty. */
  unknownResults = 0;
  /** Columns of numbers that are read as their format shows them. */
  readonly paddedColumns = new Set<number>();
  /** First and last column of each group. */
  readonly hiddenColumns: (readonly [number, number])[] = [];
  /** Only the first cell of a range has content. */
  readonly merged: MergedRange[] = [];
  readonly #mayPad: readonly boolean[];
  readonly #headerRow: number;
  #counts = false;
  /** A hidden row counts if it has content. */
  #isHidden = false;

  constructor({ styles }: CellContext, headerRow: number) {
    this.#mayPad = styles.map(({ kind }) => kind === 'digits');
    this.#headerRow = headerRow;
  }

  openRow(row: number, hidden: boolean): void {
    this.#counts = row > this.#headerRow;
    this.#isHidden = hidden;
  }

  wants(column: number, style: number): boolean {
    return (this.#counts && column >= this.width) || this.#isHidden || this.#mayPad[style] === true;
  }

  cell(column: number, text: string, kind: StoredKind): void {
    if (this.#counts && column >= this.width && !isBlank(text)) this.width = column + 1;
    if (kind === 'padded') this.paddedColumns.add(column);
    if (!this.#isHidden) return;
    this.hiddenRows++;
    this.#isHidden = false;
  }

  closeRow(): void {}

  unknownResult(): void {
    this.unknownResults++;
  }

  element(name: string, { min, max, hidden, ref = '' }: Attributes): void {
    if (name === 'col' && isOn(hidden)) this.hiddenColumns.push([Number(min) - 1, Number(max) - 1]);
    else if (name === 'mergeCell') this.merged.push(...rangeOf(ref));
  }
}

function unnamed(named: number, read: number, width: number): readonly Message[] {
  if (width <= named) return [];
  const what = `${columnName(named)}${width - 1 === named ? '' : ` to ${columnName(width - 1)}`}`;
  const kept = read < width ? `. Only those up to ${columnName(read - 1)} are kept` : '';
  return [
    message(
      'CELLS_BEYOND_HEADER',
      `cells without a header, in ${width - 1 === named ? 'column' : 'columns'} ${what}${kept}`,
    ),
  ];
}

function odd(survey: Survey, headers: readonly string[]): readonly Message[] {
  const said: Message[] = [];
  const { hiddenRows, unknownResults, paddedColumns } = survey;
  const hiddenColumns = headers.filter((_, index) =>
    survey.hiddenColumns.some(([first, last]) => index >= first && index <= last),
  );
  const hidden = [counted(hiddenRows, 'hidden row'), counted(hiddenColumns.length, 'hidden column')].filter(Boolean);
  if (hidden.length > 0)
    said.push(
      message(
        'HIDDEN_CELLS_READ',
        `${hidden.join(' and ')} ${hiddenRows + hiddenColumns.length === 1 ? 'is' : 'are'} read like the others`,
      ),
    );
  if (unknownResults > 0) {
    said.push(
      message(
        'FORMULAS_WITHOUT_RESULT',
        `${counted(unknownResults, 'formula')} ${unknownResults === 1 ? 'has' : 'have'} no stored result and ${unknownResults === 1 ? 'counts' : 'count'} as empty. Open the workbook in Excel and save it`,
      ),
    );
  }
  for (const column of [...paddedColumns].sort((a, b) => a - b)) {
    const name = sanitizeText(headers[column] ?? '', 80) || columnName(column);
    said.push(
      message('NUMBERS_PADDED', `column "${name}": numbers are read as their format shows them, with leading zeros`),
    );
  }
  return said;
}

interface MergedRange {
  readonly columns: readonly [first: number, last: number];
  readonly first: number;
  readonly last: number;
}

/** `C4:C23`. Empty if it is no range. */
function rangeOf(ref: string): readonly MergedRange[] {
  const [, left, first, right, last] = /^([A-Z]+)(\d+):([A-Z]+)(\d+)$/.exec(ref) ?? [];
  if (left === undefined) return [];
  const columns = [columnIndex(`${left}${first}`), columnIndex(`${right}${last}`)] as const;
  return [{ columns, first: Number(first), last: Number(last) }];
}

/** A cell merged over several rows shows its text for all of them, but only the first row stores it. */
const mergedRows = ({ merged }: Survey, header: FoundHeader): readonly MergedRows[] =>
  merged
    .filter(({ first, last }) => first > header.row && last > first)
    .map(({ columns: [column], first, last }) => ({ column, first, last }));

/** The header. A cell merged over it and the line above has its text in the line above. */
function withMergedAbove({ row, cells, groupCells = [] }: FoundHeader, { merged }: Survey): readonly string[] {
  const whole = [...cells];
  for (const { columns, first, last } of merged) {
    const [index] = columns;
    if (first !== row - 1 || last < row || !isBlank(whole[index] ?? '')) continue;
    while (whole.length <= index) whole.push('');
    whole[index] = groupCells[index] ?? '';
  }
  return whole;
}

const mergedInRow = ({ merged }: Survey, row: number): MergedCells =>
  merged.filter(({ first, last }) => first <= row && row <= last).map(({ columns }) => columns);

const counted = (count: number, what: string): string =>
  count === 0 ? '' : `${count} ${what}${count === 1 ? '' : 's'}`;
