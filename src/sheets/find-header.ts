// Finds the header among the first records of a table.

import { UsageError } from '../domain/errors.js';
import { type Message, message } from '../util/message-parts.js';
import { isBlank, MOST_COLUMNS, type RecogniseHeader, trimCell } from './sheet.js';

/** Titles, dates and notes above a header take fewer records than this. */
export const HEADER_SEARCH_ROWS = 30;

export interface HeaderChoice {
  readonly index: number;
  readonly meanings: number;
}

/**
 * Chooses the record that names the columns: the one with most meanings. It needs two, or one if it is as wide as the
 * rows below. If there is none, the first record is chosen. `undefined` is an unreadable record.
 *
 * A data row may have words that are headers elsewhere ("Company", "Land"). So a later line replaces a possible header
 * only if it has clearly more meanings. Groups above a header leave gaps: the line that fills them wins with as many.
 */
export function pickHeader(
  records: readonly (readonly string[] | undefined)[],
  recognises: RecogniseHeader,
): HeaderChoice | undefined {
  const first = records.findIndex((cells) => cells === undefined || !cells.every(isBlank));
  if (first < 0) return undefined;
  let best: (HeaderChoice & { wide: boolean }) | undefined;
  for (const [index, cells] of records.slice(0, HEADER_SEARCH_ROWS).entries()) {
    if (cells === undefined) continue;
    const meanings = meaningsIn(cells, recognises);
    if (meanings === 0) continue;
    const wide = filled(cells) >= usualWidth(records.slice(index + 1));
    if (meanings < 2 && !wide) continue;
    const needed = best === undefined ? 0 : best.meanings + (best.wide ? 2 : wide ? 0 : 1);
    if (meanings >= needed) best = { index, meanings, wide };
  }
  if (best !== undefined) return { index: best.index, meanings: best.meanings };
  return records[first] === undefined ? undefined : { index: first, meanings: meaningsIn(records[first], recognises) };
}

/** A meaning counts once, even if several cells have it. A record with too many cells is refused, not read. */
function meaningsIn(cells: readonly string[], recognises: RecogniseHeader): number {
  if (cells.length > MOST_COLUMNS) return 0;
  return new Set(cells.map((cell) => recognises(cell)).filter((meaning) => meaning !== undefined)).size;
}

const filled = (cells: readonly string[]): number => cells.filter((cell) => !isBlank(cell)).length;

function usualWidth(records: readonly (readonly string[] | undefined)[]): number {
  const widths = records
    .flatMap((cells) => (cells === undefined ? [] : [filled(cells)]))
    .filter((width) => width > 0)
    .sort((a, b) => a - b);
  return widths[widths.length >> 1] ?? 0;
}

/** The warning about the lines above a header, if there are any. `what`: `line` or `row`. */
export function aboveHeader(lines: readonly number[], header: number, what: 'line' | 'row'): readonly Message[] {
  const [first, last] = [lines[0], lines.at(-1)];
  if (first === undefined || last === undefined) return [];
  const of = what === 'row' ? ' of the sheet' : '';
  const above = first === last ? `${what} ${first}${of} was` : `${what}s ${first} to ${last}${of} were`;
  return [message('ABOVE_HEADER', `${above} left out, because the column names are in ${what} ${header}`)];
}

/** The record that a user gives as header. Undefined if it is blank or broken, or if none begins there. */
export function headerAtLine(
  records: readonly { readonly line: number; readonly cells: readonly string[] | undefined }[],
  line: number,
  recognises: RecogniseHeader,
): HeaderChoice | undefined {
  const index = records.findIndex((record) => record.line === line);
  const cells = records[index]?.cells;
  if (cells === undefined || cells.every(isBlank)) return undefined;
  return { index, meanings: meaningsIn(cells, recognises) };
}

/** `what`: `line` or `row`. */
export const invalidHeaderLine = (path: string, line: number, what: 'line' | 'row'): UsageError =>
  new UsageError(
    'HEADER_LINE_INVALID',
    `${path}: ${what} ${line} cannot be the header: it is empty, or inside a row`,
    `Choose the ${what} with the column names: --header-line N.`,
  );

/** Merged cells of the line above a header: the first and the last column. */
export type MergedCells = readonly (readonly [number, number])[];

/**
 * The text of the line above the header, for each column. A cell covers its merged columns, or the columns up to the
 * next cell. Empty if the line is blank or a title: a single cell at the left edge.
 */
export function groupsAbove(
  cells: readonly string[] | undefined,
  headers: readonly string[],
  merged: MergedCells = [],
): readonly string[] {
  const places = (cells ?? []).flatMap((cell, index) => (isBlank(cell) ? [] : [index]));
  const groups = headers.map(() => '');
  const [first] = places;
  const edge = headers.findIndex((header) => !isBlank(header));
  // If two begin in one column, the first counts.
  const ends = new Map(merged.toReversed());
  if (first === undefined || (places.length === 1 && first <= edge && !ends.has(first))) return groups;
  for (const [at, place] of places.entries()) {
    const last = ends.get(place) ?? (places[at + 1] ?? headers.length) - 1;
    // A cell merged over the whole table is also a title.
    if (place <= edge && last >= headers.length - 1) continue;
    groups.fill(trimCell(cells?.[place] ?? ''), place, last + 1);
  }
  return groups;
}
