import type { Script, Sql } from '../database.js';
import type { ListedLine } from '../housekeeping.js';
import { isTextRecord, parseStored } from '../stored-json.js';
import { AMONG_ROWS, type RowKey, rowsJson } from './purge-ids.js';

/**
 * Who said it is known no more, and is in its list no longer: nobody notices then that it has left. If its line is still
 * there it comes back as new, with the next file that is read. The lines that were there are returned.
 */
export function* forgetMembers(database: Sql, rows: readonly RowKey[], now: number): Script<readonly ListedLine[]> {
  const given = { rows: rowsJson(rows) };
  const listed = yield* linesOf(database, given);
  yield* database
    .prepare(`UPDATE portfolios SET input_key = NULL WHERE id IN (SELECT portfolio_id ${STANDING})`)
    .run(given);
  yield* database
    .prepare(
      `UPDATE members SET known_by = 'removed:' || id, company = NULL, says = unhex(''), cells = unhex(''),
         last_seen = CASE WHEN left_at IS NULL THEN (SELECT seen_at FROM portfolios WHERE portfolios.id = portfolio_id) ELSE last_seen END,
         left_at = coalesce(left_at, @now)
       WHERE id IN (SELECT id ${STANDING})`,
    )
    .run({ ...given, now });
  return listed;
}

const STANDING = `FROM members WHERE (run_id, run_row) IN (SELECT run_id, row FROM rows WHERE ${AMONG_ROWS})`;

function* linesOf(database: Sql, given: { readonly rows: string }): Script<readonly ListedLine[]> {
  const lines = yield* database
    .prepare<[{ readonly rows: string }], { portfolio: string; row: number; line: number; fields: string }>(
      `SELECT portfolios.name AS portfolio, members.row, members.line, fields FROM members JOIN portfolios ON portfolios.id = portfolio_id
         JOIN rows ON rows.run_id = members.run_id AND rows.row = members.run_row
       WHERE members.id IN (SELECT id ${STANDING}) AND left_at IS NULL ORDER BY portfolios.name, members.row`,
    )
    .all(given);
  return lines.map(({ portfolio, row, line, fields }) => ({
    portfolio,
    row,
    line,
    inputId: parseStored(fields, isTextRecord)?.id ?? null,
  }));
}
