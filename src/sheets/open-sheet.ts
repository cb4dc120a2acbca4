// Opens a list and reads its lines.

import { UsageError } from '../domain/errors.js';
import type { Message } from '../util/message-parts.js';
import {
  cursorAt,
  type Dialect,
  delimiterNamed,
  lineEnd,
  parseCells,
  type RawRecord,
  RecordReader,
  scanRecord,
} from './csv/records.js';
import { inspectText } from './encoding/detect-encoding.js';
import { decoderFor } from './encoding/encodings.js';
import { CHUNK_BYTES, chunksOf, emptyFile, type FileSource, openSource, refuseChanged } from './file-source.js';
import {
  aboveHeader,
  groupsAbove,
  HEADER_SEARCH_ROWS,
  headerAtLine,
  invalidHeaderLine,
  pickHeader,
} from './find-header.js';
import { checkLine, type LineRules } from './line-problems.js';
import {
  isBlank,
  type NumberedLine,
  type OnProgress,
  type RecogniseHeader,
  type Sheet,
  type SheetEncoding,
  type SheetOptions,
} from './sheet.js';

/**
 * Opens a table of any file name: text or a workbook, gzipped or not. Detects its format and header, and refuses a file
 * that is not a table. Damaged lines do not refuse the file: `lines()` returns each with its number and problem.
 */
export async function openSheet(path: string, recognises: RecogniseHeader, options: SheetOptions = {}): Promise<Sheet> {
  const source = await openSource(path, options.shownAs);
  for await (const head of chunksOf(source)) {
    if (!isZip(head)) return await openText(source, recognises, options);
    const { openWorkbook } = await import('./xlsx/open-workbook.js');
    return await openWorkbook(source, recognises, options);
  }
  throw emptyFile(source.shownAs);
}

const DEFAULT_MAX_RECORD_BYTES = 1024 * 1024;

/** Opens a CSV: finds its encoding, delimiter and header, and refuses a file that is not text. */
async function openText(file: FileSource, recognises: RecogniseHeader, options: SheetOptions): Promise<Sheet> {
  const maxRecordBytes = options.maxRecordBytes ?? DEFAULT_MAX_RECORD_BYTES;
  const wanted = options.delimiter === undefined ? undefined : delimiterNamed(options.delimiter);
  refuseSheetOption(file.shownAs, options.sheet);
  const { sha256, encoding, damaged, warnings } = await inspectText(file, options.encoding);
  const head = await readHead(file, encoding, maxRecordBytes);
  const header = readHeader(file.shownAs, head, recognises, { delimiter: wanted, line: options.headerLine });
  const { headers, delimiter, line: headerLine } = header;
  const minCells = headers.findLastIndex((name) => name.trim() !== '') + 1;
  const rules = { ...header, minCells, damaged };
  return {
    path: file.shownAs,
    sha256,
    kind: 'csv',
    encoding,
    delimiter,
    sheet: null,
    headers,
    groups: header.groups,
    headerLine,
    warnings: [...warnings, ...header.warnings],
    lines: (onShare) => readLines({ file, encoding, headerLine, maxRecordBytes }, rules, onShare),
  };
}

function refuseSheetOption(path: string, sheet: string | undefined): void {
  if (sheet === undefined) return;
  throw new UsageError('SHEET_NOT_A_WORKBOOK', `${path} is not a workbook, so it has no sheets`, 'Leave --sheet out.');
}

/** The text in which the header must end: the longest record allowed. */
async function readHead(
  file: FileSource,
  encoding: SheetEncoding,
  maxRecordBytes: number,
): Promise<{ text: string; final: boolean }> {
  const length = Math.max(maxRecordBytes, CHUNK_BYTES);
  const decoder = decoderFor(encoding);
  let text = '';
  let taken = 0;
  for await (const chunk of chunksOf(file)) {
    text += decoder.decode(chunk.subarray(0, length - taken));
    taken += chunk.length;
    if (taken > length) return { text, final: false };
  }
  return { text: text + decoder.end(), final: true };
}

interface LineSource {
  readonly file: FileSource;
  readonly encoding: SheetEncoding;
  readonly headerLine: number;
  readonly maxRecordBytes: number;
}

/** Every record below the header that is not blank, once, in order. Memory holds one chunk for any file size. */
async function* readLines(
  source: LineSource,
  rules: LineRules & Dialect,
  onShare?: OnProgress,
): AsyncGenerator<NumberedLine, void, undefined> {
  await refuseChanged(source.file);
  for await (const records of readRecords(source, rules, onShare)) {
    const data = records.filter((record) => record.line > source.headerLine);
    for (const line of linesOf(data, rules)) yield line;
  }
  await refuseChanged(source.file);
}

function linesOf(records: readonly RawRecord[], rules: LineRules): NumberedLine[] {
  const whole = records.filter((record) => record.problem === undefined);
  const cells = parseCells(
    whole.map((record) => record.text),
    rules.delimiter,
  );
  const lines: NumberedLine[] = [];
  let next = 0;
  for (const record of records) {
    const line = checkLine(record, record.problem === undefined ? cells[next++] : undefined, rules);
    if (line !== undefined) lines.push(line);
  }
  return lines;
}

async function* readRecords(
  source: LineSource,
  rules: LineRules & Dialect,
  onShare: OnProgress = () => {},
): AsyncGenerator<RawRecord[]> {
  const { delimiter, bareCr, minCells } = rules;
  const { maxRecordBytes } = source;
  const reader = new RecordReader({ delimiter, bareCr, minCells, maxCells: rules.headers.length, maxRecordBytes });
  const decoder = decoderFor(source.encoding);
  let stored = 0;
  const count = (chunk: Buffer) => {
    stored += chunk.length;
    onShare(stored / source.file.version.size);
  };
  for await (const chunk of chunksOf(source.file, count)) yield reader.push(decoder.decode(chunk));
  yield reader.push(decoder.end(), true);
}

const isZip = (head: Buffer): boolean => head.subarray(0, 4).equals(Buffer.from('PK\x03\x04', 'latin1'));

interface Header extends Dialect {
  readonly headers: readonly string[];
  readonly groups: readonly string[];
  readonly line: number;
  readonly warnings: readonly Message[];
}

interface HeaderWishes {
  readonly delimiter: string | undefined;
  readonly line: number | undefined;
}

const DELIMITERS = [',', ';', '\t', '|'];
const SEP_LINE = /^"?sep=([^\r\n"a-z0-9]?)"?[,;\t| ]*(?=[\r\n]|$)/i;

/**
 * Finds the header at the file's beginning, and the delimiter. The right delimiter gives the headers most meanings and
 * splits the records below into as many cells. Next best is the one that makes most cells.
 */
function readHeader(
  path: string,
  head: { readonly text: string; readonly final: boolean },
  recognises: RecogniseHeader,
  wishes: HeaderWishes,
): Header {
  const { text, final } = head;
  const bareCr = endsInBareCr(text);
  const sep = SEP_LINE.exec(text);
  const wanted = wishes.delimiter ?? (sep?.[1] || undefined);
  const read = (wanted === undefined ? DELIMITERS : [wanted]).map((delimiter) => {
    const all = firstRecords(text, { delimiter, bareCr }, final, HEADER_SEARCH_ROWS, wishes.line);
    return { delimiter, records: sep === null ? all : all.filter(({ line }) => line > 1) };
  });
  const candidates = read.flatMap(({ delimiter, records }) =>
    wishes.line === 0 ? withoutHeader(delimiter, records) : candidatesIn(delimiter, records, recognises, wishes),
  );
  const best = candidates.sort((a, b) => b.score - a.score || b.headers.length - a.headers.length)[0];
  if (best === undefined)
    throw text.trim() !== '' && !final
      ? tooLong(path, text.length)
      : noHeader(path, read[0]?.records ?? [], wishes.line);
  const { delimiter, headers, groups, line, above } = best;
  return { delimiter, bareCr, headers, groups, line, warnings: aboveHeader(above, line, 'line') };
}

interface Candidate extends Omit<Header, 'bareCr' | 'warnings'> {
  readonly score: number;
  readonly above: readonly number[];
}

/** If all records have as many cells as the header, that counts as much as two more meanings. */
const CONSISTENCY = 2;

function candidatesIn(
  delimiter: string,
  records: readonly FirstRecord[],
  recognises: RecogniseHeader,
  wishes: HeaderWishes,
): readonly Candidate[] {
  const cells = records.map((record) => record.cells);
  const choice =
    wishes.line === undefined ? pickHeader(cells, recognises) : headerAtLine(records, wishes.line, recognises);
  if (choice === undefined) return [];
  const header = records[choice.index];
  if (header?.cells === undefined) return [];
  const { line, cells: headers } = header;
  const score = choice.meanings + CONSISTENCY * consistency(headers.length, cells.slice(choice.index + 1));
  const above = records.slice(0, choice.index).flatMap((record) => (isEmptyRecord(record) ? [] : [record.line]));
  const before = records[choice.index - 1];
  const groups = groupsAbove(before !== undefined && isRightAbove(before, line) ? before.cells : undefined, headers);
  return [{ delimiter, headers, groups, line, score, above }];
}

/** Every record is a row, and the most common width is used. Only a `sep=` line may be above the first. */
function withoutHeader(delimiter: string, records: readonly FirstRecord[]): readonly Candidate[] {
  const cells = records.map((record) => record.cells);
  const widths = cells
    .flatMap((row) => (row === undefined || row.every(isBlank) ? [] : [row.length]))
    .sort((a, b) => a - b);
  const width = widths[widths.length >> 1];
  if (width === undefined) return [];
  const headers = Array.from({ length: width }, () => '');
  const score = CONSISTENCY * consistency(width, cells);
  return [{ delimiter, headers, groups: headers, line: (records[0]?.line ?? 1) > 1 ? 1 : 0, score, above: [] }];
}

const isRightAbove = ({ line, cells = [] }: FirstRecord, below: number): boolean =>
  line + cells.join('').split('\n').length === below;

const isEmptyRecord = ({ cells }: FirstRecord): boolean => cells?.every(isBlank) ?? false;

/** The share of records that have as many cells as the header. One cell proves nothing, because any record has one. */
function consistency(width: number, records: readonly (readonly string[] | undefined)[]): number {
  const filled = records.filter((cells) => cells === undefined || !cells.every(isBlank));
  if (width < 2 || filled.length === 0) return 0;
  return filled.filter((cells) => cells?.length === width).length / filled.length;
}

const tooLong = (path: string, characters: number): UsageError =>
  new UsageError(
    'HEADER_TOO_LONG',
    `${path}: the header line is longer than ${characters} characters`,
    'Remove columns that are not needed, or check that the quotation marks match.',
  );

function noHeader(path: string, records: readonly FirstRecord[], wanted: number | undefined): UsageError {
  const broken = records.find((record) => !isEmptyRecord(record));
  if (broken === undefined) return emptyFile(path);
  if (wanted !== undefined) return invalidHeaderLine(path, wanted, 'line');
  return new UsageError(
    'HEADER_UNREADABLE',
    `${path}, line ${broken.line}: the header cannot be read: its quotation marks do not match, or it is too long`,
    'The first line must name the columns. If another line does: --header-line N.',
  );
}

/** Whether the first line ending outside quotation marks is a lone CR, as old Macintosh programs write it. */
function endsInBareCr(text: string): boolean {
  let quoted = false;
  for (let position = 0; position < text.length; position++) {
    const character = text[position];
    if (character === '"') quoted = !quoted;
    else if (quoted) continue;
    else if (character === '\n') return false;
    else if (character === '\r') return text[position + 1] !== '\n';
  }
  return false;
}

interface FirstRecord {
  readonly line: number;
  /** Undefined if its quotation marks do not match. The record then ends with its line. */
  readonly cells: readonly string[] | undefined;
}

/** A line of delimiters alone is blank. */
const SAYS_SOMETHING = /[^\s,;|"]/;

/** The first records that are not blank: at least `most` if there are as many, and up to the line `upTo`. */
function firstRecords(text: string, dialect: Dialect, final: boolean, most: number, upTo = 0): readonly FirstRecord[] {
  const records: FirstRecord[] = [];
  let start = 0;
  let line = 1;
  while (start < text.length && (records.length < most || line <= upTo + most)) {
    const cursor = cursorAt(start);
    const outcome = scanRecord(text, cursor, dialect, final);
    if (outcome === 'record') {
      const content = text.slice(start, cursor.end);
      if (SAYS_SOMETHING.test(content)) records.push({ line, cells: parseCells([content], dialect.delimiter)[0] });
      line += cursor.breaks + 1;
      start = cursor.position;
      continue;
    }
    const ending = lineEnd(text, start, dialect, final);
    // The text ends first. An incomplete record is only used if there is no other.
    if (ending === undefined || (outcome === 'more' && records.length > 0)) return records;
    records.push({ line, cells: undefined });
    line++;
    start = ending.next;
  }
  return records;
}
