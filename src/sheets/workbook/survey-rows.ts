import { outsideText } from '../../util/outside-text.js';
import { isBlank } from '../blank.js';
import { groupsAbove, type MergedCells } from '../header-groups.js';
import type { MergedRows } from '../sheet.js';
import { columnName } from '../workbook-out/text.js';
import type { CellContext, StoredKind } from './cell-value.js';
import { columnIndex } from './column-index.js';
import type { Worksheet } from './contents.js';
import type { FoundHeader } from './find-table.js';
import { SheetReader, type SheetTaker } from './sheet-reader.js';
import { isOn, walkXml } from './xml.js';
import type { Attributes } from './xml-walker.js';
import type { ZipParts } from './zip-parts.js';

/** Columns without a header are read too, this many at most: a stray cell far to the right makes no thousand columns. */
const MOST_WITHOUT_HEADER = 100;

export interface RowSurvey {
  /** One for each column with anything in it; empty behind the last that is named. */
  readonly headers: readonly string[];
  readonly groups: readonly string[];
  readonly merged: readonly MergedRows[];
  readonly warnings: readonly string[];
}

/** Reads the table once, to know how wide it is and what has to be said of it. */
export async function surveyRows(
  parts: ZipParts,
  { part }: Worksheet,
  context: CellContext,
  header: FoundHeader,
): Promise<RowSurvey> {
  const survey = new Survey(context, header.row);
  for await (const _ of walkXml(parts, part, new SheetReader(context, survey)));
  const { width } = survey;
  const named = header.cells.findLastIndex((cell) => !isBlank(cell)) + 1;
  const read = Math.min(Math.max(named, width), named + MOST_WITHOUT_HEADER);
  const headers = Array.from({ length: read }, (_, index) => header.cells[index] ?? '');
  return {
    headers,
    groups: groupsAbove(header.groupCells, headers, mergedInRow(survey, header.row - 1)),
    merged: mergedRows(survey, header),
    warnings: [...(header.row === 0 ? [] : unnamed(named, read, width)), ...odd(survey, headers)],
  };
}

/** Counts what is odd. Few texts matter to it: those beyond the widest row so far, and numbers that may be padded. */
class Survey implements SheetTaker {
  /** Of the rows behind the header, in columns. */
  width = 0;
  hiddenRows = 0;
  /** Their cells are read as empty. */
  unknownResults = 0;
  /** Columns of numbers that are read as their format shows them. */
  readonly paddedColumns = new Set<number>();
  /** First and last of each group. */
  readonly hiddenColumns: (readonly [number, number])[] = [];
  /** Cells that are one, as Excel names them: `C4:C23`. Only the first of them holds anything. */
  readonly merged: string[] = [];
  readonly #mayPad: readonly boolean[];
  readonly #headerRow: number;
  #counts = false;
  /** A hidden row counts once something was found in it. */
  #isHidden = false;

  constructor({ styles }: CellContext, headerRow: number) {
    this.#mayPad = styles.map(({ kind }) => kind === 'digits');
    this.#headerRow = headerRow;
  }

  openRow(row: number, hidden: boolean): void {
    this.#counts = row > this.#headerRow;
    this.#isHidden = hidden;
  }

  wants(column: number, style: number): boolean {
    return (this.#counts && column >= this.width) || this.#isHidden || this.#mayPad[style] === true;
  }

  cell(column: number, text: string, kind: StoredKind): void {
    if (this.#counts && column >= this.width && !isBlank(text)) this.width = column + 1;
    if (kind === 'padded') this.paddedColumns.add(column);
    if (!this.#isHidden) return;
    this.hiddenRows++;
    this.#isHidden = false;
  }

  closeRow(): void {}

  unknownResult(): void {
    this.unknownResults++;
  }

  element(name: string, { min, max, hidden, ref = '' }: Attributes): void {
    if (name === 'col' && isOn(hidden)) this.hiddenColumns.push([Number(min) - 1, Number(max) - 1]);
    else if (name === 'mergeCell') this.merged.push(ref);
  }
}

function unnamed(named: number, read: number, width: number): readonly string[] {
  if (width <= named) return [];
  const what = `${columnName(named)}${width - 1 === named ? '' : ` to ${columnName(width - 1)}`}`;
  const kept = read < width ? `; only those up to ${columnName(read - 1)} are kept as columns` : '';
  return [`cells stand to the right of the header, in ${width - 1 === named ? 'column' : 'columns'} ${what}${kept}`];
}

function odd(survey: Survey, headers: readonly string[]): readonly string[] {
  const said: string[] = [];
  const { hiddenRows, unknownResults, paddedColumns } = survey;
  const hiddenColumns = headers.filter((_, index) =>
    survey.hiddenColumns.some(([first, last]) => index >= first && index <= last),
  );
  const hidden = [counted(hiddenRows, 'hidden row'), counted(hiddenColumns.length, 'hidden column')].filter(Boolean);
  if (hidden.length > 0)
    said.push(`${hidden.join(' and ')} ${hiddenRows + hiddenColumns.length === 1 ? 'is' : 'are'} read like the others`);
  if (unknownResults > 0) {
    said.push(
      `${counted(unknownResults, 'formula')} ${unknownResults === 1 ? 'has' : 'have'} no result stored and ${unknownResults === 1 ? 'is' : 'are'} read as empty: open the workbook in Excel and save it to have ${unknownResults === 1 ? 'it' : 'them'} worked out`,
    );
  }
  for (const column of [...paddedColumns].sort((a, b) => a - b)) {
    const name = outsideText(headers[column] ?? '', 80) || columnName(column);
    said.push(`column "${name}": numbers are read as their format shows them, with leading zeros`);
  }
  return said;
}

/** Columns and rows of `C4:C23`. */
const RANGE = /^([A-Z]+)(\d+):([A-Z]+)(\d+)$/;

/** One cell over several rows is that of each of them to whoever looks at it; stored it is only in the first. */
const mergedRows = ({ merged }: Survey, header: FoundHeader): readonly MergedRows[] =>
  merged.flatMap((range) => {
    const [, column = '', first, , last] = RANGE.exec(range) ?? [];
    const isBelow = Number(first) > header.row && Number(last) > Number(first);
    return isBelow ? [{ column: columnIndex(`${column}${first}`), first: Number(first), last: Number(last) }] : [];
  });

const mergedInRow = ({ merged }: Survey, row: number): MergedCells =>
  merged.flatMap((range) => {
    const [, first = '', from, last = '', to] = RANGE.exec(range) ?? [];
    return Number(from) <= row && row <= Number(to)
      ? [[columnIndex(`${first}${from}`), columnIndex(`${last}${to}`)] as const]
      : [];
  });

const counted = (count: number, what: string): string =>
  count === 0 ? '' : `${count} ${what}${count === 1 ? '' : 's'}`;
