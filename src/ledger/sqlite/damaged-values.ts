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

interface Column {
  readonly table: string;
  readonly column: string;
}

/** Asked of the database, so that no table of a later version is left out. */
const columnsOf = (database: Connection, type: string): readonly Column[] =>
  database
    .prepare<[string], Column>(
      `SELECT tables.name AS "table", columns.name AS "column" FROM sqlite_master AS tables, pragma_table_info(tables.name) AS columns
       WHERE tables.type = 'table' AND tables.name NOT LIKE 'sqlite_%' AND columns.type = ?`,
    )
    .all(type);

function placesWhere(database: Connection, { table, column }: Column, condition: string, run?: string) {
  const known = new Set(database.prepare<[string], string>('SELECT name FROM pragma_table_info(?)').pluck().all(table));
  const runColumn = table === 'runs' ? 'id' : known.has('run_id') ? 'run_id' : undefined;
  if (run !== undefined && runColumn === undefined) return [];
  const number = table !== 'runs' && known.has('id') ? 'id' : 'NULL';
  return database
    .prepare<unknown[], StoredPlace>(
      `SELECT '${table}' AS "table", '${column}' AS "column", ${runColumn ?? 'NULL'} AS run, ${known.has('row') ? 'row' : 'NULL'} AS row, ${number} AS id
       FROM "${table}" WHERE ${condition}${run === undefined ? '' : ` AND ${runColumn} = ?`}`,
    )
    .all(...(run === undefined ? [] : [run]));
}
