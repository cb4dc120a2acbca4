import { open } from 'node:fs/promises';
import { UsageError } from '../domain/errors.js';
import { decoderFor } from './encoding.js';
import { CHUNK_BYTES, type InspectedFile, inspectFile } from './inspect-file.js';
import { readHeader } from './read-header.js';
import { readLines } from './read-lines.js';
import type { RecogniseHeader, Sheet, SheetEncoding, SheetOptions } from './sheet.js';

const DEFAULT_MAX_RECORD_BYTES = 1024 * 1024;

/**
 * Opens a CSV: finds its encoding, delimiter and header, and refuses what is no text.
 * Damaged lines are no reason to refuse: they come out of `lines()`, each with its number and its problem.
 */
export async function openSheet(path: string, recognises: RecogniseHeader, options: SheetOptions = {}): Promise<Sheet> {
  const maxRecordBytes = options.maxRecordBytes ?? DEFAULT_MAX_RECORD_BYTES;
  checkDelimiter(options.delimiter);
  const file = await inspectFile(path, options.encoding);
  const head = await readHead(path, file, maxRecordBytes);
  const header = readHeader(path, head, recognises, options.delimiter);
  const { headers, delimiter, line: headerLine } = header;
  const { sha256, encoding, warnings, version, damaged } = file;
  const minCells = headers.findLastIndex((name) => name.trim() !== '') + 1;
  const source = { path, version, encoding, headerLine, maxRecordBytes };
  const rules = { ...header, minCells, damaged };
  const lines = () => readLines(source, rules);
  return {
    path,
    sha256,
    kind: 'csv',
    encoding,
    delimiter,
    sheet: null,
    sheets: [],
    headers,
    headerLine,
    warnings,
    lines,
  };
}

function checkDelimiter(delimiter: string | undefined): void {
  // Of a character outside the basic plane the scanner would see one half only.
  if (delimiter === undefined || (delimiter.length === 1 && /^[^"\r\n\p{L}\p{N}]$/u.test(delimiter))) return;
  throw new UsageError(
    `the delimiter must be one character that is no letter, digit or quotation mark: ${JSON.stringify(delimiter)}`,
    'Comma, semicolon, tab and pipe are found without asking.',
  );
}

/** The text in which the header must end: as much as one record may have. */
async function readHead(
  path: string,
  file: InspectedFile,
  maxRecordBytes: number,
): Promise<{ text: string; final: boolean }> {
  const length = Math.min(file.version.size, Math.max(maxRecordBytes, CHUNK_BYTES));
  const handle = await open(path);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, 0);
    return { text: decodeAll(buffer.subarray(0, bytesRead), file.encoding), final: length === file.version.size };
  } finally {
    await handle.close();
  }
}

function decodeAll(bytes: Buffer, encoding: SheetEncoding): string {
  const decoder = decoderFor(encoding);
  return decoder.decode(bytes) + decoder.end();
}
