// Opens a list and reads its lines.

import { UsageError } from '../domain/errors.js';
import { readHeader } from './csv/read-header.js';
import { parseCells, type RawRecord, RecordReader } from './csv/records.js';
import { type Dialect, delimiterNamed } from './csv/scan-record.js';
import { inspectText } from './encoding/detect-encoding.js';
import { decoderFor } from './encoding/encodings.js';
import { CHUNK_BYTES, chunksOf, emptyFile, type FileSource, openSource, refuseChanged } from './file-source.js';
import { checkLine, type LineRules } from './line-problems.js';
import type { NumberedLine, OnProgress, RecogniseHeader, Sheet, SheetEncoding, SheetOptions } from './sheet.js';
import { isZip } from './xlsx/identify-zip.js';

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
    sheets: [],
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
