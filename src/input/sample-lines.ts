import { trimCell } from '../sheets/blank.js';
import type { Sheet } from '../sheets/sheet.js';
import { LONGEST_NAME } from '../util/text-limits.js';
import type { SampledColumns } from './decide-columns.js';
import { CELLS_UNSURE } from './judge-row.js';

const ROWS = 1_000;

/** The first rows of a sheet, column by column. `isEmpty`: it has no row at all. */
export async function sampleLines(
  sheet: Pick<Sheet, 'headers' | 'lines'>,
): Promise<{ readonly columns: SampledColumns; readonly isEmpty: boolean }> {
  const columns: string[][] = sheet.headers.map(() => []);
  let seen = 0;
  for await (const { cells, problem } of sheet.lines()) {
    seen += 1;
    if (problem === undefined || !CELLS_UNSURE[problem.code])
      for (const [index, column] of columns.entries()) column.push(trimCell(cells[index] ?? '').slice(0, LONGEST_NAME));
    if (seen === ROWS) break;
  }
  return { columns, isEmpty: seen === 0 };
}
