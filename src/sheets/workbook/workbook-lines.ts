import { isBlank } from '../blank.js';
import { type FileSource, refuseChanged } from '../file-source.js';
import { cellProblem, padOrCut } from '../judge-line.js';
import type { NumberedLine } from '../sheet.js';
import type { CellContext } from './cell-value.js';
import type { Worksheet } from './contents.js';
import { openParts } from './with-parts.js';
import { readRows, type WorksheetRow } from './worksheet.js';

/** Every row behind the header that is not blank, once, in order. Memory holds the shared texts and a chunk of the rows. */
export async function* workbookLines(
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

/** Cells keep their columns whatever stands beside them: what is behind the last header makes no row doubtful. */
function lineOf({ row, cells: all, kinds }: WorksheetRow, headers: readonly string[]): NumberedLine {
  const cells = padOrCut(all, headers.length);
  const surplus = all.slice(headers.length);
  const problem = cellProblem(cells, headers);
  return {
    line: row,
    cells,
    ...(kinds !== '' && { kinds }),
    ...(!surplus.every(isBlank) && { surplus }),
    ...(problem !== undefined && { problem }),
  };
}
