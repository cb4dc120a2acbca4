import { chunksOf, emptyFile, openSource } from './file-source.js';
import { openText } from './open-text.js';
import type { RecogniseHeader, Sheet, SheetOptions } from './sheet.js';
import { isZip } from './workbook/kinds-of-zip.js';

/**
 * Opens a table, whatever its name says it is: text or a workbook, gzipped or not. Finds how it is written and where its
 * header is, and refuses what is no table. Damaged lines are no reason to refuse: they come out of `lines()`, each with
 * its number and its problem.
 */
export async function openSheet(path: string, recognises: RecogniseHeader, options: SheetOptions = {}): Promise<Sheet> {
  const source = await openSource(path, options.shownAs);
  for await (const head of chunksOf(source)) {
    if (!isZip(head)) return await openText(source, recognises, options);
    const { openWorkbook } = await import('./workbook/open-workbook.js');
    return await openWorkbook(source, recognises, options);
  }
  throw emptyFile(source.shownAs);
}
