/** What a table asks of DuckDB, which gathers a whole row group in memory before it writes it. */
export interface TableLoad {
  readonly rows: number;
  readonly columns: number;
  /** Of the text it is made from. */
  readonly bytes: number;
  /** In bytes; 0 where no line is long. */
  readonly longestLine: number;
}

const MB = 1 << 20;
const GROUP_ROWS = 122_880;
const GROUP_BYTES = 64 * MB;
/** Up to here a row group of the usual number of rows is no burden. */
const LIGHT_BYTES = 64 * MB;
const BYTES_A_CELL = 16;
const USUAL_MEMORY = 384 * MB;
const USUAL_THREADS = 2;
/** DuckDB's own: rows of a partitioned table that are held before they are written. */
const USUAL_HELD_ROWS = 524_288;

/** Many columns or long lines: row groups are bounded by their bytes, not by their rows. */
function isHeavy({ rows, columns, bytes, longestLine }: TableLoad): boolean {
  const cells = Math.min(rows, GROUP_ROWS) * columns * BYTES_A_CELL;
  return longestLine > MB || cells + (longestLine > 0 ? bytes : 0) > LIGHT_BYTES;
}

export const rowGroupsFor = (load: TableLoad): string =>
  isHeavy(load) ? `ROW_GROUP_SIZE_BYTES '${GROUP_BYTES / MB}MiB'` : `ROW_GROUP_SIZE ${GROUP_ROWS}`;

/**
 * DuckDB bounds row groups by bytes only where it need not keep the order of rows. On one thread it keeps it all the
 * same, for there is nobody to overtake.
 */
export function settingsFor(load: TableLoad, split: boolean): readonly string[] {
  const heavy = isHeavy(load);
  const bytesARow = Math.max(1, load.bytes / Math.max(1, load.rows));
  const held = heavy ? Math.max(1, Math.floor(GROUP_BYTES / bytesARow)) : USUAL_HELD_ROWS;
  return [
    // A line is held several times over: as it is read, as it is written, compressed.
    `SET memory_limit = '${Math.ceil(Math.max(USUAL_MEMORY, load.longestLine * 12) / MB)}MiB'`,
    `SET threads = ${heavy || split ? 1 : USUAL_THREADS}`,
    `SET preserve_insertion_order = ${!heavy}`,
    `SET partitioned_write_flush_threshold = ${held}`,
  ];
}
