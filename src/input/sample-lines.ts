import { isBlank, trimCell } from '../sheets/blank.js';
import type { Sheet } from '../sheets/sheet.js';
import { LONGEST_NAME } from '../util/text-limits.js';
import type { SampledColumns } from './decide-columns.js';
import { CELLS_UNSURE } from './judge-row.js';

const ROWS = 1_000;
/** So much of a line tells whether it is a sentence. */
const LONGEST_TEXT = 1_000;

/** The first rows of a sheet. */
export interface SampledLines {
  /** Column by column, without lines whose cells are not sure. */
  readonly columns: SampledColumns;
  /** It has no row at all. */
  readonly isEmpty: boolean;
  /** Each line as a whole. */
  readonly texts: readonly string[];
  /** How many lines have another number of cells than the header, and how many they fill. */
  readonly ragged: number;
  readonly widths: ReadonlySet<number>;
}

export async function sampleLines(sheet: Pick<Sheet, 'headers' | 'lines' | 'delimiter'>): Promise<SampledLines> {
  const columns: string[][] = sheet.headers.map(() => []);
  const texts: string[] = [];
  const widths = new Set<number>();
  let ragged = 0;
  for await (const { cells, surplus = [], problem } of sheet.lines()) {
    texts.push(trimCell([...cells, ...surplus].join(sheet.delimiter ?? ' ').slice(0, LONGEST_TEXT)));
    if (problem?.code === 'RAGGED') {
      ragged += 1;
      widths.add([...cells, ...surplus].filter((cell) => !isBlank(cell)).length);
    }
    if (problem === undefined || !CELLS_UNSURE[problem.code])
      for (const [index, column] of columns.entries()) column.push(trimCell(cells[index] ?? '').slice(0, LONGEST_NAME));
    if (texts.length === ROWS) break;
  }
  return { columns, isEmpty: texts.length === 0, texts, ragged, widths };
}
