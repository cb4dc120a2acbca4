import type { Database, Script, Sql } from '../database.js';
import { mustBeAtRest } from './at-rest.js';

const WAIT = 'Wait for it to end, or stop it (Ctrl-C, SIGTERM): what is under way comes home. Nothing was removed.';

const AMONG = 'IN (SELECT value FROM json_each(?))';

/** Takes whole runs out. Their calls stay: units were spent, whoever for. */
export function* removeRuns(database: Sql, ids: readonly string[]) {
  const gone = JSON.stringify(ids);
  const without = (table: string, column = 'run_id'): Script<number> =>
    database.prepare(`DELETE FROM ${table} WHERE ${column} ${AMONG}`).change(gone);
  yield* forgetMembers(database, gone);
  const rows = yield* without('rows');
  const candidates = yield* without('candidates');
  const questions = yield* without('questions');
  for (const table of ['row_ids', 'errors', 'run_environments', 'starts']) yield* without(table);
  yield* without('runs', 'id');
  return { rows, candidates, questions, portfolios: yield* forgetEmptyLists(database) };
}

export function* dropRun(database: Database, id: string, now: number): Script<void> {
  yield* mustBeAtRest(database, [id], now, WAIT);
  yield* removeRuns(database, [id]);
}

/** Who is in it stands by its runs: the list goes with the last of them. */
export function* dropPortfolio(database: Database, id: number, now: number): Script<void> {
  const runs = yield* database.prepare<[number], string>('SELECT id FROM runs WHERE portfolio_id = ?').pluck().all(id);
  yield* mustBeAtRest(database, runs, now, WAIT);
  yield* removeRuns(database, runs);
}

/** A list without members and runs is none: nobody could bring it up to date, and a monitor would wait for it. Their names. */
function* forgetEmptyLists(database: Sql): Script<readonly string[]> {
  const gone = yield* database
    .prepare<[], { id: number; name: string }>(
      `DELETE FROM portfolios WHERE NOT EXISTS (SELECT 1 FROM members WHERE portfolio_id = portfolios.id)
         AND NOT EXISTS (SELECT 1 FROM runs WHERE portfolio_id = portfolios.id) RETURNING id, name`,
    )
    .all();
  return gone.toSorted((a, b) => a.id - b.id).map(({ name }) => name);
}

/** Who stood by a run that goes stands by the row in which it is under way; who is not is known no more: its file is read again. */
function* forgetMembers(database: Sql, gone: string): Script<void> {
  // Of two in which it is under way the later one.
  yield* database
    .prepare(
      `UPDATE members SET run_id = way.run_id, run_row = way.row FROM rows AS way
       WHERE members.run_id ${AMONG} AND way.member_id = members.id AND way.outcome = 'pending' AND way.run_id NOT ${AMONG}
         AND NOT EXISTS (SELECT 1 FROM rows AS later WHERE later.member_id = members.id AND later.outcome = 'pending'
           AND later.run_id NOT ${AMONG} AND (later.run_id, later.row) > (way.run_id, way.row))`,
    )
    .run(gone, gone, gone);
  yield* database
    .prepare(
      `UPDATE portfolios SET input_key = NULL WHERE id IN (SELECT portfolio_id FROM members WHERE run_id ${AMONG})`,
    )
    .run(gone);
  yield* database.prepare(`DELETE FROM members WHERE run_id ${AMONG}`).run(gone);
}
