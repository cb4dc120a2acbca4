import { statSync } from 'node:fs';
import { freeBytes } from '../../util/free-space.js';
import type { PruneReport } from '../housekeeping.js';
import type { Connection } from './driver.js';
import { listsUnderWay } from './lists-under-way.js';
import { NEWEST_RUNS } from './newest-runs.js';
import { removeRuns } from './remove-runs.js';
import { spokeLast } from './spoke-last.js';
import { callSummer } from './summed-calls.js';
import { dropRecords } from './take-over.js';
import { pruneVerdicts } from './verdicts.js';

/** Runs that came to rest before, what they asked for nothing, and answers that a newer one has replaced. */
export function prune(database: Connection, before: number): PruneReport {
  const report = database.transaction(() => remove(database, before)).immediate();
  // Written anew it needs its own size once more; without that room the space is used again by what is bought next.
  const free = freeBytes(database.name);
  if (free === undefined || free > 2 * statSync(database.name).size) {
    database.exec('VACUUM');
    database.pragma('wal_checkpoint(TRUNCATE)');
  }
  return report;
}

/** The same statements are run and taken back, so that the counts cannot differ. */
export function previewPrune(database: Connection, before: number): PruneReport {
  database.exec('BEGIN IMMEDIATE');
  try {
    return remove(database, before);
  } finally {
    if (database.inTransaction) database.exec('ROLLBACK');
  }
}

function remove(database: Connection, before: number): PruneReport {
  const left = removeDeparted(database, before);
  const finished = database
    .prepare<[number], { id: string; asks: number; held: number }>(
      `SELECT id, EXISTS (SELECT 1 FROM rows WHERE run_id = runs.id AND outcome = 'needs_review') AS asks,
         EXISTS (SELECT 1 FROM members WHERE run_id = runs.id) AS held
       FROM runs WHERE state = 'finished' AND finished_at < ? AND put_away = 0 AND id NOT IN (${NEWEST_RUNS}) ORDER BY id`,
    )
    .all(before);
  // Nothing was spent on them, and where their file has changed since they can never be read to the end.
  const halfRead = database
    .prepare<[number], string>("SELECT id FROM runs WHERE state = 'reading' AND created_at < ? ORDER BY id")
    .pluck()
    .all(before);
  const done = finished.filter(({ asks }) => asks === 0);
  const runs = [...done.filter(({ held }) => held === 0).map(({ id }) => id), ...halfRead];
  const { rows, portfolios } = removeRuns(database, [...runs, ...emptied(database)]);
  // Where members stand by its rows those stay, for as long as they do.
  const held = done.filter((run) => run.held === 1).map(({ id }) => id);
  const putAway = database.prepare('UPDATE runs SET put_away = 1 WHERE id = ?');
  for (const id of held) putAway.run(id);
  database.prepare('DELETE FROM absences WHERE back_at < ?').run(before);
  // Of companies that no row knows any more.
  database.exec('DELETE FROM asked_for WHERE (space, id) NOT IN (SELECT space, id FROM row_ids)');
  const answers = removeReplaced(database, before);
  pruneVerdicts(database);
  return {
    runs: [...runs, ...held].sort(),
    rows: rows + left,
    portfolios,
    waiting: finished.filter(({ asks }) => asks === 1).map(({ id }) => id),
    unfinished: database.prepare<[], string>("SELECT id FROM runs WHERE state <> 'finished'").pluck().all(),
    changes: database.prepare('DELETE FROM changes WHERE changed_at < ?').run(before).changes,
    calls: removeFreeCalls(database, before),
    ...removeWatched(database, before),
    ...answers,
  };
}

/** Put away before, and nobody stands by them any more. */
const emptied = (database: Connection): readonly string[] =>
  database
    .prepare<[], string>('SELECT id FROM runs WHERE put_away = 1 AND id NOT IN (SELECT run_id FROM members)')
    .pluck()
    .all();

/** Members that left the list before. Who is in it stays, and so does the row by which it stands. */
function removeDeparted(database: Connection, before: number): number {
  const given = { before };
  dropRecords(database, 'SELECT run_id, run_row FROM members WHERE left_at < @before', given);
  return database.prepare('DELETE FROM members WHERE left_at < @before').run(given).changes;
}

/**
 * Old events, and looks at what the watch says that brought none: one a company and night. What would be read once more is
 * kept, as it would be taken for news: a history is read from the day before it was last read.
 */
function removeWatched(database: Connection, before: number): Pick<PruneReport, 'watchEvents' | 'watchLooks'> {
  const events = database.prepare(
    `DELETE FROM watch_events WHERE heard_at < @before AND heard_at < coalesce((SELECT coalesce(read_at, registered_at, 0) - @margin FROM watches
       WHERE watches.environment_id = watch_events.environment_id AND watches.company_id = watch_events.company_id), @before)`,
  );
  const looks = callSummer(
    database,
    `SELECT id FROM calls WHERE operation IN ('watchHistory', 'watchList') AND charge = 'charged' AND run_id IS NULL AND reconciled IS NULL
       AND settled_at < @before AND (raw_sha256 IS NULL OR raw_sha256 NOT IN (SELECT raw_sha256 FROM watch_events))`,
  );
  return { watchEvents: events.run({ before, margin: 3 * DAY_MS }).changes, watchLooks: looks({ before }) };
}

const DAY_MS = 86_400_000;

/**
 * Uses of owned answers, looks in a history, failures that cost nothing: most of what a nightly job writes, and of no use
 * without its run; their number stays in the books. What was paid for stays, and so does what may have been or was found
 * out later.
 */
const removeFreeCalls = (database: Connection, before: number): number =>
  callSummer(
    database,
    `SELECT id FROM calls WHERE charge IN ('owned', 'free') AND reconciled IS NULL AND settled_at < @before
       AND run_id IS NOT NULL AND run_id NOT IN (SELECT id FROM runs WHERE put_away = 0) AND id NOT IN (SELECT call_id FROM answers)`,
  )({ before });

/**
 * An answer is replaced where the same request was answered again. What is owned stays, however old it is, and so does what
 * the newer one was not compared with yet, or says nothing against: the company may stand by the one before. So does a list of which the newer reading is not whole.
 */
function removeReplaced(database: Connection, before: number): Pick<PruneReport, 'answers' | 'bodies' | 'bytes'> {
  const answers = database
    .prepare(
      `UPDATE calls SET raw_sha256 = NULL, params = NULL WHERE id NOT IN (SELECT call_id FROM answers) AND id NOT IN (SELECT value FROM json_each(?))
         AND id NOT IN (SELECT replaces FROM calls WHERE replaces IS NOT NULL AND compared = 0 AND subject_id IS NOT NULL) AND id IN (
         SELECT id FROM (SELECT id, settled_at, max(id) OVER (PARTITION BY environment_id, request_key) AS newest FROM calls
           WHERE raw_sha256 IS NOT NULL AND charge <> 'owned' AND error_code IS NULL)
         WHERE id < newest AND settled_at < ?)`,
    )
    .run(JSON.stringify([...spokeLast(database), ...listsUnderWay(database)]), before).changes;
  const gone = database
    .prepare<[number, number], number>(
      `DELETE FROM bodies WHERE stored_at < ? AND sha256 NOT IN (
         SELECT raw_sha256 FROM calls WHERE raw_sha256 IS NOT NULL AND (charge <> 'owned' OR settled_at >= ?))
       RETURNING length(bytes)`,
    )
    .pluck()
    .all(before, before);
  database.exec(
    'UPDATE calls SET raw_sha256 = NULL WHERE raw_sha256 IS NOT NULL AND raw_sha256 NOT IN (SELECT sha256 FROM bodies)',
  );
  return { answers, bodies: gone.length, bytes: gone.reduce((sum, size) => sum + size, 0) };
}
