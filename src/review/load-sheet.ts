import { openSheet } from '../sheets/open-sheet.js';
import type { NumberedLine } from '../sheets/sheet.js';
import { columnNamed, readSheet, type SheetLine } from './read-sheet.js';

/** Reads a review sheet however a spreadsheet saved it: the same reader that takes analysts' files. */
export async function loadSheet(path: string): Promise<readonly SheetLine[]> {
  const sheet = await openSheet(path, columnNamed);
  const lines: NumberedLine[] = [];
  for await (const line of sheet.lines()) lines.push(line);
  return readSheet(sheet.headers, lines);
}
