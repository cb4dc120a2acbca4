import type { InputTable } from '../input/types.js';
import type { Surroundings } from './surroundings.js';

/** Rows between two words: reading takes longer than telling by far. */
const EVERY = 1000;

/** The same table, whose readings tell how far they are. */
export function tellingTable(table: InputTable, { onReading }: Surroundings): InputTable {
  if (onReading === undefined) return table;
  const rows: InputTable['rows'] = () => {
    let share: number | null = null;
    const read = table.rows((done) => {
      share = done;
    });
    return tellingRows(read, { onReading }, () => share);
  };
  return { ...table, rows };
}

/** The same rows, told as they go by. */
export async function* tellingRows<Row extends { readonly row: number }>(
  rows: AsyncIterable<Row>,
  { onReading }: Pick<Surroundings, 'onReading'>,
  share: () => number | null = () => null,
): AsyncGenerator<Row> {
  try {
    for await (const row of rows) {
      if (row.row % EVERY === 0) onReading?.({ rows: row.row, share: share() });
      yield row;
    }
  } finally {
    onReading?.(null);
  }
}
