import type { Database, Script, Sql } from '../database.js';
import type { PruneReport } from '../housekeeping.js';
import { listsUnderWay } from './lists-under-way.js';
import { NEWEST_RUNS } from './newest-runs.js';
import { removeRuns } from './remove-runs.js';
import { spokeLast } from './spoke-last.js';
import { callSummer } from './summed-calls.js';
import { dropRecords } from './take-over.js';
import { pruneVerdicts } from './verdicts.js';

/** Runs that came to rest before, what they asked for nothing, and answers that a newer one has replaced. */
export async function prune(database: Database, before: number): Promise<PruneReport> {
  const report = await database.write(() => remove(database, before));
  await database.shrink();
  return report;
}

/** The same statements are run and taken back, so that the counts cannot differ. */
export const previewPrune = (database: Database, before: number): Promise<PruneReport> =>
  database.trial(() => remove(database, before));

function* remove(database: Database, before: number): Script<PruneReport> {
  const left = yield* removeDeparted(database, before);
  const finished = yield* database
    .prepare<[number], { id: string; asks: number; held: number }>(
      `SELECT id, EXISTS (SELECT 1 FROM rows WHERE run_id = runs.id AND outcome = 'needs_review') AS asks,
         EXISTS (SELECT 1 FROM members WHERE run_id = runs.id) AS held
       FROM runs WHERE state = 'finished' AND finished_at < ? AND put_away = 0 AND id NOT IN (${NEWEST_RUNS}) ORDER BY id`,
    )
    .all(before);
  // Nothing was spent on them, and where their file has changed since they can never be read to the end.
  const halfRead = yield* database
    .prepare<[number], string>("SELECT id FROM runs WHERE state = 'reading' AND created_at < ? ORDER BY id")
    .pluck()
    .all(before);
  const done = finished.filter(({ asks }) => asks === 0);
  const runs = [...done.filter(({ held }) => held === 0).map(({ id }) => id), ...halfRead];
  const { rows, portfolios } = yield* removeRuns(database, [...runs, ...(yield* emptied(database))]);
  // Where members stand by its rows those stay, for as long as they do.
  const held = done.filter((run) => run.held === 1).map(({ id }) => id);
  const putAway = database.prepare('UPDATE runs SET put_away = 1 WHERE id = ?');
  for (const id of held) yield* putAway.run(id);
  yield* database.prepare('DELETE FROM absences WHERE back_at < ?').run(before);
  // Of companies that no row knows any more.
  yield* database.exec(
    `DELETE FROM asked_for WHERE NOT EXISTS (SELECT 1 FROM row_ids WHERE row_ids.space = asked_for.space AND row_ids.id = asked_for.id)`,
  );
  const answers = yield* removeReplaced(database, before);
  yield* pruneVerdicts(database);
  const unfinished = yield* database
    .prepare<[], string>("SELECT id FROM runs WHERE state <> 'finished' ORDER BY id")
    .pluck()
    .all();
  const changes = yield* database.prepare('DELETE FROM changes WHERE changed_at < ?').change(before);
  const calls = yield* removeFreeCalls(database, before);
  return {
    runs: [...runs, ...held].sort(),
    rows: rows + left,
    portfolios,
    waiting: finished.filter(({ asks }) => asks === 1).map(({ id }) => id),
    unfinished,
    changes,
    calls,
    ...(yield* removeWatched(database, before)),
    ...answers,
  };
}

/** Put away before, and nobody stands by them any more. */
const emptied = (database: Sql): Script<readonly string[]> =>
  database
    .prepare<[], string>(
      'SELECT id FROM runs WHERE put_away = 1 AND NOT EXISTS (SELECT 1 FROM members WHERE members.run_id = runs.id) ORDER BY id',
    )
    .pluck()
    .all();

/** Members that left the list before. Who is in it stays, and so does the row by which it stands. */
function* removeDeparted(database: Sql, before: number): Script<number> {
  const given = { before };
  yield* dropRecords(database, 'SELECT run_id, run_row FROM members WHERE left_at < @before', given);
  return yield* database.prepare('DELETE FROM members WHERE left_at < @before').change(given);
}

/**
 * Old events, and looks at what the watch says that brought none: one a company and night. What would be read once more is
 * kept, as it would be taken for news: a history is read from the day before it was last read.
 */
function* removeWatched(database: Sql, before: number): Script<Pick<PruneReport, 'watchEvents' | 'watchLooks'>> {
  const events = database.prepare(
    `DELETE FROM watch_events WHERE heard_at < @before AND heard_at < coalesce((SELECT coalesce(read_at, registered_at, 0) - @margin FROM watches
       WHERE watches.environment_id = watch_events.environment_id AND watches.company_id = watch_events.company_id), @before)`,
  );
  const looks = callSummer(
    database,
    `SELECT id FROM calls LEFT JOIN (SELECT DISTINCT raw_sha256 FROM watch_events) AS told ON told.raw_sha256 = calls.raw_sha256
     WHERE operation IN ('watchHistory', 'watchList') AND charge = 'charged' AND run_id IS NULL AND reconciled IS NULL
       AND settled_at < @before AND told.raw_sha256 IS NULL`,
  );
  const watchEvents = yield* events.change({ before, margin: 3 * DAY_MS });
  return { watchEvents, watchLooks: yield* looks({ before }) };
}

const DAY_MS = 86_400_000;

/**
 * Uses of owned answers, looks in a history, failures that cost nothing: most of what a nightly job writes, and of no use
 * without its run; their number stays in the books. What was paid for stays, and so does what may have been or was found
 * out later.
 */
const removeFreeCalls = (database: Sql, before: number): Script<number> =>
  callSummer(
    database,
    `SELECT id FROM calls WHERE charge IN ('owned', 'free') AND reconciled IS NULL AND settled_at < @before
       AND run_id IS NOT NULL AND run_id NOT IN (SELECT id FROM runs WHERE put_away = 0)
     EXCEPT SELECT call_id FROM answers`,
  )({ before });

/**
 * An answer is replaced where the same request was answered again. What is owned stays, however old it is, and so does what
 * the newer one was not compared with yet, or says nothing against: the company may stand by the one before. So does a list of which the newer reading is not whole.
 */
function* removeReplaced(
  database: Database,
  before: number,
): Script<Pick<PruneReport, 'answers' | 'bodies' | 'bytes'>> {
  const kept = [...(yield* spokeLast(database)), ...(yield* listsUnderWay(database))];
  const answers = yield* database
    .prepare(
      `UPDATE calls SET raw_sha256 = NULL, params = NULL WHERE id IN (
         SELECT id FROM (SELECT id, settled_at, max(id) OVER (PARTITION BY environment_id, request_key) AS newest FROM calls
           WHERE raw_sha256 IS NOT NULL AND charge <> 'owned' AND error_code IS NULL) AS answered
         WHERE id < newest AND settled_at < ?
         EXCEPT SELECT call_id FROM answers
         EXCEPT SELECT CAST(value AS BIGINT) FROM json_each(?)
         EXCEPT SELECT replaces FROM calls WHERE replaces IS NOT NULL AND compared = 0 AND subject_id IS NOT NULL)`,
    )
    .change(before, JSON.stringify(kept));
  const gone = yield* database
    .prepare<[number, number], number>(
      `DELETE FROM bodies WHERE sha256 IN (SELECT sha256 FROM bodies WHERE stored_at < ?
         EXCEPT SELECT raw_sha256 FROM calls WHERE raw_sha256 IS NOT NULL AND (charge <> 'owned' OR settled_at >= ?))
       RETURNING length(bytes)`,
    )
    .pluck()
    .all(before, before);
  yield* database.exec(
    'UPDATE calls SET raw_sha256 = NULL WHERE raw_sha256 IS NOT NULL AND NOT EXISTS (SELECT 1 FROM bodies WHERE sha256 = raw_sha256)',
  );
  return { answers, bodies: gone.length, bytes: gone.reduce((sum, size) => sum + size, 0) };
}
