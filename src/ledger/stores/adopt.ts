import type { Script, Sql } from '../database.js';
import type { Adoption } from '../portfolios.js';
import type { LaidRows } from './laid-rows.js';
import { noteStanding } from './member-companies.js';

/** Its rows are the members, and what they have come to is where they stand. */
export function* adopt(database: Sql, laid: LaidRows, { name, providers, now, run, older }: Adoption): Script<void> {
  const insert = database
    .prepare<unknown[], number>(
      `INSERT INTO portfolios (name, providers, created_at, input_path, columns, seen_at) VALUES (?, ?, ?, ?, ?, ?) RETURNING id`,
    )
    .pluck();
  const columns = JSON.stringify(run.columns);
  const portfolioId = (yield* insert.get(name, providers, run.createdAt, run.inputPath, columns, now)) as number;
  yield* laid.match(portfolioId);
  yield* database
    .prepare(
      `INSERT INTO members (portfolio_id, known_by, company, says, cells, row, line, first_seen, run_id, run_row)
       SELECT ?, known_by, company, says, cells, row, line, ?, ?, row FROM temp.laid ORDER BY row`,
    )
    .run(portfolioId, run.createdAt, run.id);
  yield* database
    .prepare(
      `UPDATE rows SET member_id = members.id FROM members
       WHERE rows.run_id = ? AND members.run_id = rows.run_id AND members.run_row = rows.row`,
    )
    .run(run.id);
  yield* noteStanding(database, portfolioId);
  const join = database.prepare('UPDATE runs SET portfolio_id = ? WHERE id = ?');
  for (const id of [run.id, ...older]) yield* join.run(portfolioId, id);
  const end = database.prepare(
    "UPDATE runs SET state = 'finished', finished_at = ?, superseded_by = ? WHERE id = ? AND state = 'open'",
  );
  for (const id of older) yield* end.run(now, run.id, id);
}
