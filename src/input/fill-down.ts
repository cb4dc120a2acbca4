import { isBlank, trimCell } from '../sheets/blank.js';
import type { MergedRows, NumberedLine } from '../sheets/sheet.js';
import { isFilled } from './column-content.js';
import { isDitto } from './ditto.js';
import { headingIn, isHeadings } from './group-headings.js';
import { indicesIn } from './join-cells.js';
import { CELLS_UNSURE } from './judge-row.js';
import type { FilledBy, InputField, InputTable } from './types.js';

/** Fields that lists write once for several rows. Numbers and keys are never filled: they are of one company. */
const PLACES = ['country', 'state', 'city'] as const satisfies InputField[];

export interface FilledCell {
  readonly field: InputField;
  readonly by: FilledBy;
  /** What the row is read with. */
  readonly text: string;
}

/** A line as it is read: what stands above it counts where the line says so. Its own cells stay as they are. */
export interface FilledLine {
  readonly cells: readonly string[];
  readonly filled: readonly FilledCell[];
  /** The country of the group heading above. */
  readonly country?: string;
}

/** Fills ditto marks, cells that the workbook merged over several rows, and countries of group headings. Lines come in their order. */
export class FillDown {
  readonly #columns: ReadonlyMap<number, InputField>;
  readonly #numbers: readonly number[];
  /** By column, in the order of their rows: those that end above the line are gone. */
  readonly #merged = new Map<number, (MergedRows & { text?: string })[]>();
  readonly #above = new Map<number, string>();
  readonly #hasHeadings: boolean;
  #heading: string | undefined;

  constructor(mapping: InputTable['mapping'], merged: readonly MergedRows[]) {
    const places = PLACES.flatMap((field) => indicesIn(mapping[field] ?? []).map((index) => [index, field] as const));
    const names = indicesIn(mapping.name ?? []).map((index) => [index, 'name'] as const);
    this.#columns = new Map([...names, ...places]);
    this.#numbers = [mapping.registration_number, mapping.vat_number].flatMap((source) => indicesIn(source ?? []));
    for (const index of this.#columns.keys()) {
      const ranges = merged.filter(({ column }) => column === index).sort((a, b) => a.first - b.first);
      if (ranges.length > 0)
        this.#merged.set(
          index,
          ranges.map((range) => ({ ...range })),
        );
    }
    this.#hasHeadings = isHeadings(mapping.country);
  }

  /** Whether the line is a heading: the country of what follows. */
  takesHeading({ cells, surplus }: NumberedLine): boolean {
    if (!this.#hasHeadings || surplus !== undefined) return false;
    const heading = headingIn(cells);
    if (heading === undefined) return false;
    this.#heading = heading.country;
    // A heading that is no country, such as `Others`, ends the group. It stays a row: it may be a company.
    return heading.country !== undefined;
  }

  read({ line, cells, problem }: NumberedLine): FilledLine {
    if (problem !== undefined && CELLS_UNSURE[problem.code]) {
      this.#above.clear();
      return { cells, filled: [] };
    }
    const filled: FilledCell[] = [];
    let told = cells;
    const fill = (index: number, by: FilledBy, text: string) => {
      const field = this.#columns.get(index);
      if (field === undefined) return;
      told = told.with(index, text);
      if (text !== '') filled.push({ field, by, text });
    };
    this.#fillMerged(line, cells, fill);
    for (const [index, field] of this.#columns) {
      if (field === 'name') continue;
      const above = this.#above.get(index);
      // Below a damaged line nobody knows what is meant: the mark stays, and is no country.
      if (isDitto(told[index] ?? '')) {
        if (above !== undefined) fill(index, 'ditto', above);
      } else this.#above.set(index, trimCell(told[index] ?? ''));
    }
    const heading = this.#heading;
    if (heading === undefined) return { cells: told, filled };
    return { cells: told, filled: [...filled, { field: 'country', by: 'heading', text: heading }], country: heading };
  }

  #fillMerged(line: number, cells: readonly string[], fill: (index: number, by: FilledBy, text: string) => void): void {
    for (const [column, ranges] of this.#merged) {
      while ((ranges[0]?.last ?? line) < line) ranges.shift();
      const [range] = ranges;
      if (range === undefined || range.first > line) continue;
      if (range.first === line) range.text = trimCell(cells[column] ?? '');
      else if (isBlank(cells[column] ?? '') && this.#mayFill(column, cells)) fill(column, 'merged', range.text ?? '');
    }
  }

  /** A name is that of a further row only if the row has a number of its own. */
  #mayFill(column: number, cells: readonly string[]): boolean {
    return this.#columns.get(column) !== 'name' || this.#numbers.some((index) => isFilled(cells[index] ?? ''));
  }
}
