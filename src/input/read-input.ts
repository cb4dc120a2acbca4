import { open } from 'node:fs/promises';
import { UsageError } from '../domain/errors.js';
import { decoderFor } from './encoding.js';
import { CHUNK_BYTES, type InspectedFile, inspectFile } from './inspect-file.js';
import { headerLookup, mapColumns } from './map-columns.js';
import { readHeader } from './read-header.js';
import { readRows } from './read-rows.js';
import { IDENTIFIERS, type InputEncoding, type InputOptions, type InputTable } from './types.js';

const DEFAULT_MAX_RECORD_BYTES = 1024 * 1024;

/**
 * Opens a CSV: finds its encoding, delimiter and columns, and refuses what is no table of companies.
 * Damaged rows are no reason to refuse: they come out of `rows()` as invalid, each with its line.
 */
export async function readInput(path: string, options: InputOptions = {}): Promise<InputTable> {
  const maxRecordBytes = options.maxRecordBytes ?? DEFAULT_MAX_RECORD_BYTES;
  checkDelimiter(options.delimiter);
  const lookup = headerLookup(options.synonyms);
  const file = await inspectFile(path, options.encoding);
  const head = await readHead(path, file, maxRecordBytes);
  const header = readHeader(path, head, lookup, options.delimiter);
  const { columns, mapping, warnings } = mapColumns(header.headers, lookup);
  if (IDENTIFIERS.every((field) => mapping[field] === undefined)) throw noUsableColumn(path, header.line, columns);
  const minCells = header.headers.findLastIndex((name) => name.trim() !== '') + 1;
  const source = { path, version: file.version, encoding: file.encoding, headerLine: header.line, maxRecordBytes };
  const rules = { ...header, columns, mapping, minCells, damaged: file.damaged };
  const rows = () => readRows(source, rules);
  const notes = [...file.warnings, ...warnings];
  if (mapping.country === undefined) notes.push('there is no country column: every row will be invalid');
  if (await isEmpty(rows())) notes.push('there is a header and no row');
  const { sha256, encoding } = file;
  return { path, sha256, encoding, delimiter: header.delimiter, columns, mapping, warnings: notes, rows };
}

function checkDelimiter(delimiter: string | undefined): void {
  if (delimiter === undefined || /^[^"\r\n\p{L}\p{N}]$/u.test(delimiter)) return;
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

function decodeAll(bytes: Buffer, encoding: InputEncoding): string {
  const decoder = decoderFor(encoding);
  return decoder.decode(bytes) + decoder.end();
}

async function isEmpty(rows: AsyncIterable<unknown>): Promise<boolean> {
  for await (const _ of rows) return false;
  return true;
}

function noUsableColumn(path: string, line: number, columns: readonly string[]): UsageError {
  const seen = columns.slice(0, 12).map((name) => JSON.stringify(name.slice(0, 40)));
  if (columns.length > seen.length) seen.push('…');
  return new UsageError(
    `${path}, line ${line}: no column can be read as name, registration_number, vat_number or ticker; the header has ${seen.join(', ')}`,
    'The first line must name the columns. Rename one, or add its header to the synonyms in the pipeline file.',
  );
}
