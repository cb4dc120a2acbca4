import { openSheet } from '../sheets/open-sheet.js';
import type { NumberedLine } from '../sheets/sheet.js';
import { columnNamed, NEEDED, readSheet, type SheetLine } from './read-sheet.js';

/**
 * Reads a review sheet however a spreadsheet saved it: the same reader that takes analysts' files. Of a workbook, also one of
 * results, the worksheet that has our columns; `named`: another one.
 */
export async function loadSheet(path: string, named?: string): Promise<readonly SheetLine[]> {
  const sheet = await openSheet(path, columnNamed, { sheet: named, needs: NEEDED });
  const lines: NumberedLine[] = [];
  for await (const line of sheet.lines()) lines.push(line);
  return readSheet(sheet.headers, lines);
}
