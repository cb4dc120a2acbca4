import type { Reader, ReaderOutput } from '../../readers/reader.js';
import type { Row, Table } from '../../readers/table.js';

/** The lines of one table that came together, and the raw answer that they came with. */
export interface Part {
  readonly table: Table;
  readonly rows: readonly Row[];
  readonly rawSha256: string;
}

/** What is known of a company at one moment, by table and by what came together in it. What did not come is not in it. */
export type State = ReadonlyMap<string, Part>;

/** What a reader made of answers of which this one is the newest. */
export function stateOf({ tables }: Pick<Reader, 'tables'>, out: ReaderOutput, rawSha256: string): State {
  const state = new Map<string, Part>();
  for (const table of tables) {
    if (table.knownBy === undefined) continue;
    const rows = out.shownOf(table);
    const { within } = table.knownBy;
    for (const together of out.came.get(table.name) ?? []) {
      const own = within === undefined ? rows : rows.filter((row) => row[within] === together);
      state.set(`${table.name} ${together}`, { table, rows: own, rawSha256 });
    }
  }
  return state;
}

/** What came since, and what has not come since as it was before. */
export const carriedOver = (before: State, since: State): State => new Map([...before, ...since]);

/** Whether everything that is compared in `since` has come before. */
export const lacksNothing = (before: State, since: State): boolean =>
  [...since.keys()].every((name) => before.has(name));
