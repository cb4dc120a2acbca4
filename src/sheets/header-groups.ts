import { isBlank, trimCell } from './blank.js';

/** Cells of the line above a header that are one: the first and the last column. */
export type MergedCells = readonly (readonly [number, number])[];

/**
 * What the line right above a header says of each column: its cells stand over groups of columns, each as far as it is
 * merged, else up to the next. Empty where it says nothing, or is a title: one cell at the left edge of all.
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
  // Of two that begin in one column the first counts.
  const ends = new Map(merged.toReversed());
  if (first === undefined || (places.length === 1 && first <= edge && !ends.has(first))) return groups;
  for (const [at, place] of places.entries()) {
    const last = ends.get(place) ?? (places[at + 1] ?? headers.length) - 1;
    // Merged over the whole table it is a title as well.
    if (place <= edge && last >= headers.length - 1) continue;
    groups.fill(trimCell(cells?.[place] ?? ''), place, last + 1);
  }
  return groups;
}
