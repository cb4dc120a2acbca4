import { UsageError } from '../domain/errors.js';
import { delimiterNamed } from './delimiter.js';
import { decoderFor } from './encoding.js';
import { CHUNK_BYTES, chunksOf, type FileSource } from './file-source.js';
import { inspectText } from './inspect-file.js';
import { readHeader } from './read-header.js';
import { readLines } from './read-lines.js';
import type { RecogniseHeader, Sheet, SheetEncoding, SheetOptions } from './sheet.js';

const DEFAULT_MAX_RECORD_BYTES = 1024 * 1024;

/** Opens a CSV: finds its encoding, delimiter and header, and refuses what is no text. */
export async function openText(file: FileSource, recognises: RecogniseHeader, options: SheetOptions): Promise<Sheet> {
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
  throw new UsageError(`${path} is no workbook: it has no sheet to choose`, 'Leave --sheet out.');
}

/** The text in which the header must end: as much as one record may have. */
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
