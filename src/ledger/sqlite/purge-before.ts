import type { PurgeReport } from '../housekeeping.js';
import type { Connection } from './driver.js';
import { askedAnew } from './held-decisions.js';
import { endDoubts } from './in-doubt.js';
import { json } from './purge-ids.js';
import { reopenStages } from './purge-stages.js';
import { removeRuns } from './remove-runs.js';

/** Runs that came to rest before, and answers from before. A run that went on later keeps its rows. */
export function purgeBefore(database: Connection, at: number): PurgeReport {
  const run = (sql: string, ...parameters: unknown[]) => database.prepare(sql).run(...parameters).changes;
  const runsRemoved = database
    .prepare<[number, number], string>(
      `SELECT id FROM runs WHERE created_at < ? AND NOT EXISTS (SELECT 1 FROM rows WHERE run_id = runs.id AND updated_at >= ?) ORDER BY id`,
    )
    .pluck()
    .all(at, at);
  const leaving = membersOf(database, STOOD_BY_RUNS, runsRemoved);
  const { rows, candidates, questions } = removeRuns(database, runsRemoved);
  const decisions =
    run('DELETE FROM decisions WHERE decided_at < ?', at) + run('DELETE FROM held_decisions WHERE decided_at < ?', at);
  askedAnew(database);
  // What changed holds what the answer before said.
  const changes = run(
    'DELETE FROM changes WHERE changed_at < ? OR call_id IN (SELECT id FROM calls WHERE replaces IN (SELECT id FROM calls WHERE settled_at < ?))',
    at,
    at,
  );
  run('DELETE FROM watch_events WHERE heard_at < ?', at);
  const old = 'SELECT id FROM calls WHERE settled_at < ?';
  endDoubts(database, old, at);
  const answers = run(`DELETE FROM answers WHERE call_id IN (${old})`, at);
  // The same bytes may have been bought again since.
  const bodies = run(
    `DELETE FROM bodies WHERE stored_at < ? AND sha256 NOT IN (SELECT raw_sha256 FROM answers JOIN calls ON calls.id = call_id WHERE raw_sha256 IS NOT NULL)
       AND sha256 NOT IN (SELECT raw_sha256 FROM calls WHERE raw_sha256 IS NOT NULL AND charge = 'charged' AND settled_at >= ?)`,
    at,
    at,
  );
  run('UPDATE calls SET params = NULL, subject_space = NULL, subject_id = NULL WHERE settled_at < ?', at);
  run(
    'UPDATE calls SET raw_sha256 = NULL WHERE raw_sha256 IS NOT NULL AND raw_sha256 NOT IN (SELECT sha256 FROM bodies)',
  );
  const reopened = reopenStages(database, at);
  const free = reopened.filter(({ outcome }) => outcome === 'complete' || outcome === 'pending');
  const asking = membersOf(
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
    decisions,
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
  WHERE outcome <> 'invalid' AND members.run_id`;
const LISTED = 'WHERE members.id';

const membersOf = (database: Connection, which: string, among: readonly (string | number)[]): readonly ListedMember[] =>
  database
    .prepare<[string], ListedMember>(
      `SELECT members.id AS member, portfolios.name AS portfolio FROM members JOIN portfolios ON portfolios.id = portfolio_id
       ${which} IN (SELECT value FROM json_each(?)) AND left_at IS NULL`,
    )
    .all(json(among));

/** One that is on its way beside what it stands by counts once. */
function byList(members: readonly ListedMember[]): PurgeReport['boughtAgain'] {
  const lists = new Map<string, Set<number>>();
  for (const { member, portfolio } of members)
    lists.set(portfolio, (lists.get(portfolio) ?? new Set<number>()).add(member));
  return [...lists].sort().map(([portfolio, { size }]) => ({ portfolio, rows: size }));
}
