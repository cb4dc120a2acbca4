import type { EmptiedCells, FilledBy, FilledCells, InputRemarks, LeftOutLine } from '../../input/types.js';
import { type Message, message } from '../../util/message-parts.js';
import { sanitizeText } from '../../util/sanitize-text.js';
import { rowInWords } from '../../util/words.js';

/** Notes about text that was read differently from the file, so that no intended company is missed. */
export function remarkNotes({
  emptied,
  filled,
  damagedNames,
  damagedNameRows,
  leftOut,
  leftOutLines,
  surplus,
  surplusLines,
}: InputRemarks): readonly Message[] {
  return [
    ...(emptied.length === 0 ? [] : [message('CELLS_EMPTIED', emptiedInWords(emptied))]),
    ...filled.map((one) => message('CELLS_FILLED', filledInWords(one))),
    ...(damagedNameRows === 0 ? [] : [message('NAMES_DAMAGED', damagedInWords(damagedNames, damagedNameRows))]),
    ...(leftOutLines === 0 ? [] : [message('LINES_LEFT_OUT', leftOutInWords(leftOut, leftOutLines))]),
    ...(surplusLines === 0 ? [] : [message('CELLS_SURPLUS', surplusInWords(surplus, surplusLines))]),
  ];
}

const SHOWN = 8;

function emptiedInWords(emptied: readonly EmptiedCells[]): string {
  const cells = emptied.reduce((sum, one) => sum + one.cells, 0);
  const kinds = emptied.map(({ field, text, cells: alike, row, line }) => {
    const where = rowInWords(row, line);
    return `${field} "${sanitizeText(text, 40)}" in ${alike === 1 ? where : `${alike} cells, the first in ${where}`}`;
  });
  return `${cells === 1 ? '1 cell was' : `${cells} cells were`} counted as empty: ${firstOf(kinds)}`;
}

/** `country "DE" for 12 rows by a ditto mark, the first in row 3 (line 4)` */
const filledInWords = ({ field, by, text, cells, row, line }: FilledCells): string =>
  `${field} "${sanitizeText(text, 40)}" for ${cells === 1 ? '1 row' : `${cells} rows`} ${FILLED_BY[by]}, the first in ${rowInWords(row, line)}`;

const FILLED_BY: Readonly<Record<FilledBy, string>> = {
  ditto: 'with a ditto mark',
  merged: 'in a merged cell',
  heading: 'below that heading',
};

function damagedInWords(damaged: InputRemarks['damagedNames'], rows: number): string {
  const told = damaged.map(({ row, line, text }) => `"${sanitizeText(text, 40)}" in ${rowInWords(row, line)}`);
  return `${rows === 1 ? '1 name has' : `${rows} names have`} damaged letters and may not agree with the register: ${firstOf(told, rows)}`;
}

function leftOutInWords(leftOut: readonly LeftOutLine[], lines: number): string {
  const told = leftOut.map(({ line, kind, text }) => `line ${line} (${kind}: "${shortened(sanitizeText(text))}")`);
  return `${lines === 1 ? '1 line is' : `${lines} lines are`} not a company and left out: ${firstOf(told, lines)}`;
}

const shortened = (text: string): string => (text.length > 60 ? `${text.slice(0, 59)}…` : text);

function surplusInWords(surplus: InputRemarks['surplus'], lines: number): string {
  const told = surplus.map(({ line, text }) => `line ${line} ("${sanitizeText(text, 60)}")`);
  return `${lines === 1 ? '1 line has' : `${lines} lines have`} cells after the last column, which kybatch keeps but does not use: ${firstOf(told, lines)}`;
}

function firstOf(told: readonly string[], all = told.length): string {
  const shown = told.slice(0, SHOWN);
  return shown.length === all ? shown.join(', ') : `${shown.join(', ')} and ${all - shown.length} more`;
}
