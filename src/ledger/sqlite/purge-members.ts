import type { ListedLine } from '../housekeeping.js';
import { isTextRecord, parseStored } from '../stored-json.js';
import type { Connection } from './driver.js';
import { AMONG_ROWS, type RowKey, rowsJson } from './purge-ids.js';

/**
 * Who said it is known no more, and is in its list no longer: nobody notices then that it has left. If its line is still
 * there it comes back as new, with the next file that is read. The lines that were there are returned.
 */
export function forgetMembers(database: Connection, rows: readonly RowKey[], now: number): readonly ListedLine[] {
  const given = { rows: rowsJson(rows) };
  const listed = linesOf(database, given);
  database.prepare(`UPDATE portfolios SET input_key = NULL WHERE id IN (SELECT portfolio_id ${STANDING})`).run(given);
  database
    .prepare(
      `UPDATE members SET known_by = 'removed:' || id, company = NULL, says = x'', cells = x'',
         last_seen = iif(left_at IS NULL, (SELECT seen_at FROM portfolios WHERE portfolios.id = portfolio_id), last_seen),
         left_at = coalesce(left_at, @now)
       WHERE id IN (SELECT id ${STANDING})`,
    )
    .run({ ...given, now });
  return listed;
}

const STANDING = `FROM members WHERE (run_id, run_row) IN (SELECT run_id, row FROM rows WHERE ${AMONG_ROWS})`;

const linesOf = (database: Connection, given: { readonly rows: string }): readonly ListedLine[] =>
  database
    .prepare<[{ readonly rows: string }], { portfolio: string; row: number; line: number; fields: string }>(
      `SELECT portfolios.name AS portfolio, members.row, members.line, fields FROM members JOIN portfolios ON portfolios.id = portfolio_id
         JOIN rows ON rows.run_id = members.run_id AND rows.row = members.run_row
       WHERE members.id IN (SELECT id ${STANDING}) AND left_at IS NULL ORDER BY portfolios.name, members.row`,
    )
    .all(given)
    .map(({ portfolio, row, line, fields }) => ({
      portfolio,
      row,
      line,
      inputId: parseStored(fields, isTextRecord)?.id ?? null,
    }));
