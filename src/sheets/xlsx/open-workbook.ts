import { createHash } from 'node:crypto';
import { UsageError } from '../../domain/errors.js';
import { chunksOf, type FileSource, refuseChanged, spool } from '../file-source.js';
import { aboveHeader } from '../find-header.js';
import { cellProblem, padOrCut } from '../line-problems.js';
import { isBlank, type NumberedLine, type RecogniseHeader, type Sheet, type SheetOptions } from '../sheet.js';
import type { CellContext } from './cell-value.js';
import { findTable, hiddenSheets, severalSheets, surveyRows } from './find-table.js';
import { readContents, readContext, readRows, type Worksheet, type WorksheetRow } from './worksheet.js';
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
    const { headers, groups, merged } = survey;
    return {
      path: source.shownAs,
      sha256,
      kind: 'xlsx',
      encoding: null,
      delimiter: null,
      sheet: worksheet.name,
      headers,
      groups,
      merged,
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
