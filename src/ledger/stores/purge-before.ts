import type { Script, Sql } from '../database.js';
import type { PurgeReport } from '../housekeeping.js';
import { askedAnew } from './held-decisions.js';
import { endDoubts } from './in-doubt.js';
import { json } from './purge-ids.js';
import { reopenStages } from './purge-stages.js';
import { removeRuns } from './remove-runs.js';

/** Runs that came to rest before, and answers from before. A run that went on later keeps its rows. */
export function* purgeBefore(database: Sql, at: number): Script<PurgeReport> {
  const change = (sql: string, ...parameters: unknown[]): Script<number> => database.prepare(sql).change(...parameters);
  const runsRemoved = yield* database
    .prepare<[number, number], string>(
      `SELECT id FROM runs WHERE created_at < ? AND NOT EXISTS (SELECT 1 FROM rows WHERE run_id = runs.id AND updated_at >= ?) ORDER BY id`,
    )
    .pluck()
    .all(at, at);
  const leaving = yield* membersOf(database, STOOD_BY_RUNS, runsRemoved);
  const { rows, candidates, questions } = yield* removeRuns(database, runsRemoved);
  const decided = yield* change('DELETE FROM decisions WHERE decided_at < ?', at);
  const held = yield* change('DELETE FROM held_decisions WHERE decided_at < ?', at);
  yield* askedAnew(database);
  // What changed holds what the answer before said.
  const changes = yield* change(
    `DELETE FROM changes WHERE id IN (SELECT id FROM changes WHERE changed_at < ? UNION
       SELECT changes.id FROM changes JOIN calls AS newer ON newer.id = changes.call_id JOIN calls AS older ON older.id = newer.replaces
       WHERE older.settled_at < ?)`,
    at,
    at,
  );
  yield* change('DELETE FROM watch_events WHERE heard_at < ?', at);
  const old = 'SELECT id FROM calls WHERE settled_at < ?';
  yield* endDoubts(database, old, at);
  const answers = yield* change(`DELETE FROM answers WHERE call_id IN (${old})`, at);
  // The same bytes may have been bought again since.
  const bodies = yield* change(
    `DELETE FROM bodies WHERE sha256 IN (SELECT sha256 FROM bodies WHERE stored_at < ?
       EXCEPT SELECT raw_sha256 FROM answers JOIN calls ON calls.id = call_id WHERE raw_sha256 IS NOT NULL
       EXCEPT SELECT raw_sha256 FROM calls WHERE raw_sha256 IS NOT NULL AND charge = 'charged' AND settled_at >= ?)`,
    at,
    at,
  );
  yield* change('UPDATE calls SET params = NULL, subject_space = NULL, subject_id = NULL WHERE settled_at < ?', at);
  yield* database.exec(
    'UPDATE calls SET raw_sha256 = NULL WHERE raw_sha256 IS NOT NULL AND NOT EXISTS (SELECT 1 FROM bodies WHERE sha256 = raw_sha256)',
  );
  const reopened = yield* reopenStages(database, at);
  const free = reopened.filter(({ outcome }) => outcome === 'complete' || outcome === 'pending');
  const asking = yield* membersOf(
    database,
    LISTED,
    free.flatMap(({ member }) => member ?? []),
  );
  return {
    runs: [...new Set([...runsRemoved, ...reopened.map(({ run_id }) => run_id)])].sort(),
    runsRemoved,
    rows,
    answers,
    bodies,
    candidates,
    questions,
    decisions: decided + held,
    changes,
    identifiers: [],
    stillListed: [],
    boughtAgain: byList([...leaving, ...asking]),
  };
}

interface ListedMember {
  readonly member: number;
  readonly portfolio: string;
}

/** A line that cannot be worked on costs nothing. */
const STOOD_BY_RUNS = `JOIN rows ON rows.run_id = members.run_id AND rows.row = members.run_row
  WHERE outcome <> 'invalid' AND members.run_id IN (SELECT value FROM json_each(?))`;
const LISTED = 'WHERE members.id IN (SELECT CAST(value AS BIGINT) FROM json_each(?))';

const membersOf = (
  database: Sql,
  which: string,
  among: readonly (string | number)[],
): Script<readonly ListedMember[]> =>
  database
    .prepare<[string], ListedMember>(
      `SELECT members.id AS member, portfolios.name AS portfolio FROM members JOIN portfolios ON portfolios.id = portfolio_id
       ${which} AND left_at IS NULL`,
    )
    .all(json(among));

/** One that is on its way beside what it stands by counts once. */
function byList(members: readonly ListedMember[]): PurgeReport['boughtAgain'] {
  const lists = new Map<string, Set<number>>();
  for (const { member, portfolio } of members)
    lists.set(portfolio, (lists.get(portfolio) ?? new Set<number>()).add(member));
  return [...lists].sort().map(([portfolio, { size }]) => ({ portfolio, rows: size }));
}
