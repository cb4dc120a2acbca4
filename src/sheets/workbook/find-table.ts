import { UsageError } from '../../domain/errors.js';
import { emptyFile } from '../file-source.js';
import { headerAtLine, LOOKED_AT, noHeaderThere, pickHeader } from '../pick-header.js';
import type { RecogniseHeader, SheetOptions } from '../sheet.js';
import type { CellContext } from './cell-value.js';
import { namedSheet } from './choose-sheet.js';
import type { Contents, Worksheet } from './contents.js';
import { readRows, type WorksheetRow } from './worksheet.js';
import type { ZipParts } from './zip-parts.js';

export interface FoundHeader {
  /** The worksheet row. */
  readonly row: number;
  readonly cells: readonly string[];
  /** The rows above it that hold anything. */
  readonly above: readonly number[];
  /** The cells of the row right above. */
  readonly groupCells?: readonly string[] | undefined;
}

interface Table {
  readonly worksheet: Worksheet;
  readonly header: FoundHeader;
  readonly meanings: number;
}

/** The worksheet that is meant: the one named, else the first of those whose header has most meanings; and where its header is. */
export async function findTable(
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
  const best = tables.toSorted((a, b) => b.meanings - a.meanings)[0];
  if (best === undefined) throw noTable(parts.shownAs, looked, worksheets, options.headerLine);
  return { ...best, withData: tables.map(({ worksheet }) => worksheet.name) };
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
    if (rows.length >= LOOKED_AT && (rows.at(-1)?.row ?? 0) >= upTo) break;
  }
  return rows;
}

function noTable(
  path: string,
  looked: readonly Worksheet[],
  all: readonly Worksheet[],
  headerLine: number | undefined,
) {
  if (headerLine !== undefined && headerLine > 0) return noHeaderThere(path, headerLine, 'row');
  if (all.some(({ hidden }) => hidden) && looked.every(({ hidden }) => !hidden)) {
    return new UsageError(
      `${path}: its visible sheets are empty; others are hidden`,
      'Show the sheet with the table in Excel, or name it with --sheet.',
    );
  }
  return emptyFile(path);
}
