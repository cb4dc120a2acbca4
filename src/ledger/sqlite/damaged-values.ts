import { isUtf8 } from 'node:buffer';
import type { StoredPlace } from '../stored-json.js';
import type { Connection } from './driver.js';

/** The end of the year 9999: no clock that kybatch ran on said more. */
const LAST_MS = 253_402_300_799_999;

/** Times that no clock has ever told; with `run`, those of one run. */
export function damagedTimes(database: Connection, run?: string): readonly StoredPlace[] {
  return columnsOf(database, 'INTEGER')
    .filter(({ column }) => /(?:^|_)at$/.test(column))
    .flatMap((of) => placesWhere(database, of, `"${of.column}" NOT BETWEEN 0 AND ${LAST_MS}`, run));
}

/** Texts whose bytes are no UTF-8, in whatever table. JSON is looked at apart. */
export function damagedTexts(database: Connection, leftOut: (column: Column) => boolean): readonly StoredPlace[] {
  database.function('is_utf8', { deterministic: true }, (bytes: unknown) =>
    Buffer.isBuffer(bytes) && !isUtf8(bytes) ? 0 : 1,
  );
  return columnsOf(database, 'TEXT')
    .filter((of) => !leftOut(of))
    .flatMap((of) => placesWhere(database, of, `NOT is_utf8(CAST("${of.column}" AS BLOB))`));
}

/** Every column of text that there is. */
export const textColumns = (database: Connection): readonly Pick<Column, 'table' | 'column'>[] =>
  columnsOf(database, 'TEXT').map(({ table, column }) => ({ table, column }));

interface Column {
  readonly table: string;
  readonly column: string;
  /** The names of all columns of the table. */
  readonly beside: ReadonlySet<string>;
}

/** Asked of the database, so that no table of a later version is left out. */
function columnsOf(database: Connection, type: string): readonly Column[] {
  const all = database
    .prepare<[], { readonly table: string; readonly column: string; readonly type: string }>(
      `SELECT tables.name AS "table", columns.name AS "column", columns.type AS type
       FROM sqlite_master AS tables, pragma_table_info(tables.name) AS columns
       WHERE tables.type = 'table' AND tables.name NOT LIKE 'sqlite_%'`,
    )
    .all();
  const beside = new Map<string, Set<string>>();
  for (const { table, column } of all) beside.set(table, (beside.get(table) ?? new Set()).add(column));
  return all
    .filter((of) => of.type === type)
    .map(({ table, column }) => ({ table, column, beside: beside.get(table) ?? new Set() }));
}

function placesWhere(database: Connection, { table, column, beside }: Column, condition: string, run?: string) {
  const runColumn = table === 'runs' ? 'id' : beside.has('run_id') ? 'run_id' : undefined;
  if (run !== undefined && runColumn === undefined) return [];
  const number = table !== 'runs' && beside.has('id') ? 'id' : 'NULL';
  return database
    .prepare<unknown[], StoredPlace>(
      `SELECT '${table}' AS "table", '${column}' AS "column", ${runColumn ?? 'NULL'} AS run, ${beside.has('row') ? 'row' : 'NULL'} AS row, ${number} AS id
       FROM "${table}" WHERE ${condition}${run === undefined ? '' : ` AND ${runColumn} = ?`}`,
    )
    .all(...(run === undefined ? [] : [run]));
}
