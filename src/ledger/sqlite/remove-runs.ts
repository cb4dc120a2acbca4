import type { Connection } from './driver.js';

/** Takes whole runs out. Their calls stay: units were spent, whoever for. */
export function removeRuns(database: Connection, ids: readonly string[]) {
  const without = (table: string, column = 'run_id') => {
    const remove = database.prepare(`DELETE FROM ${table} WHERE ${column} = ?`);
    return ids.reduce((sum, id) => sum + remove.run(id).changes, 0);
  };
  forgetMembers(database, ids);
  const removed = { rows: without('rows'), candidates: without('candidates'), questions: without('questions') };
  for (const table of ['row_ids', 'errors', 'run_environments', 'starts']) without(table);
  without('runs', 'id');
  return { ...removed, portfolios: forgetEmptyLists(database) };
}

export const dropRun = (database: Connection, id: string): void =>
  database.transaction(() => void removeRuns(database, [id])).immediate();

/** Who is in it stands by its runs: the list goes with the last of them. */
export const dropPortfolio = (database: Connection, id: number): void =>
  database
    .transaction(() => {
      const runs = database.prepare<[number], string>('SELECT id FROM runs WHERE portfolio_id = ?').pluck().all(id);
      removeRuns(database, runs);
    })
    .immediate();

/** A list without members and runs is none: nobody could bring it up to date, and a monitor would wait for it. Their names. */
const forgetEmptyLists = (database: Connection): readonly string[] =>
  database
    .prepare<[], string>(
      `DELETE FROM portfolios WHERE NOT EXISTS (SELECT 1 FROM members WHERE portfolio_id = portfolios.id)
         AND NOT EXISTS (SELECT 1 FROM runs WHERE portfolio_id = portfolios.id) RETURNING name`,
    )
    .pluck()
    .all();

/** Who stood by a run that goes stands by the row in which it is under way; who is not is known no more: its file is read again. */
function forgetMembers(database: Connection, ids: readonly string[]): void {
  const gone = JSON.stringify(ids);
  const among = 'IN (SELECT value FROM json_each(?))';
  database
    .prepare(
      `UPDATE members SET run_id = way.run_id, run_row = way.row FROM rows AS way
       WHERE members.run_id ${among} AND way.member_id = members.id AND way.outcome = 'pending' AND way.run_id NOT ${among}`,
    )
    .run(gone, gone);
  database
    .prepare(
      `UPDATE portfolios SET input_key = NULL WHERE id IN (SELECT portfolio_id FROM members WHERE run_id ${among})`,
    )
    .run(gone);
  database.prepare(`DELETE FROM members WHERE run_id ${among}`).run(gone);
}
