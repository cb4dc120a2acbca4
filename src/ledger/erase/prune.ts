// Deletes old runs, replaced answers and free calls.

import { ExactNumber, isEmptyBody, parseExact } from '../../util/exact-json.js';
import { isComplete, type ListPage, pageOf, pagesInOrder, readingsIn, wholeCount } from '../../util/list-page.js';
import { Bodies } from '../answers/bodies.js';
import { pruneVerdicts } from '../answers/visible-answer.js';
import { type Database, forEachItem, type Script, type Sql } from '../db/database.js';
import { callParams, findCell, isRecord, parseStored } from '../db/stored-json.js';
import { callSummer } from '../money/usage.js';
import { mustHaveNoWorkersOn } from '../rows/attempts.js';
import { deleteRows, NEWEST_RUNS } from '../rows/begin-run.js';
import type { PruneReport } from './housekeeping.js';

export async function pruneRecords(database: Database, before: number): Promise<PruneReport> {
  const report = await database.write(() => remove(database, before));
  await database.shrink();
  return report;
}

/** The same statements run and are rolled back, so that the counts are equal. */
export const previewPrune = (database: Database, before: number): Promise<PruneReport> =>
  database.dryRun(() => remove(database, before));

function* remove(database: Database, before: number): Script<PruneReport> {
  const left = yield* removeDeparted(database, before);
  const finished = yield* database
    .prepare<[number], { id: string; asks: number; held: number }>(
      `SELECT id, EXISTS (SELECT 1 FROM rows WHERE run_id = runs.id AND outcome = 'needs_review') AS asks,
         EXISTS (SELECT 1 FROM members WHERE run_id = runs.id) AS held
       FROM runs WHERE state = 'finished' AND finished_at < ? AND put_away = 0 AND id NOT IN (${NEWEST_RUNS}) ORDER BY id`,
    )
    .all(before);
  // They cost nothing, and if their file has changed they can never be read to the end.
  const halfRead = yield* database
    .prepare<[number], string>("SELECT id FROM runs WHERE state = 'reading' AND created_at < ? ORDER BY id")
    .pluck()
    .all(before);
  const done = finished.filter(({ asks }) => asks === 0);
  const runs = [...done.filter(({ held }) => held === 0).map(({ id }) => id), ...halfRead];
  const { rows, portfolios } = yield* removeRuns(database, [...runs, ...(yield* emptied(database))]);
  // Rows that members use stay as long as they do.
  const held = done.filter((run) => run.held === 1).map(({ id }) => id);
  const putAway = database.prepare('UPDATE runs SET put_away = 1 WHERE id = ?');
  for (const id of held) yield* putAway.run(id);
  yield* database.prepare('DELETE FROM absences WHERE back_at < ?').run(before);
  // Of companies without rows.
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

/** Hidden runs that no member uses any more. */
const emptied = (database: Sql): Script<readonly string[]> =>
  database
    .prepare<[], string>(
      'SELECT id FROM runs WHERE put_away = 1 AND NOT EXISTS (SELECT 1 FROM members WHERE members.run_id = runs.id) ORDER BY id',
    )
    .pluck()
    .all();

/** Deletes members that left before then, with their rows. Current members and their rows stay. */
function* removeDeparted(database: Sql, before: number): Script<number> {
  const given = { before };
  yield* deleteRows(database, 'SELECT run_id, run_row FROM members WHERE left_at < @before', given);
  return yield* database.prepare('DELETE FROM members WHERE left_at < @before').change(given);
}

/**
 * Deletes old events and empty watch calls, one per company and run. Events within the overlap of the next reading
 * stay, because they would count as new: a history is read from the day before its last reading.
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
 * Deletes reuses, history look-ups and free failures, and keeps their number. They are most of what a nightly job
 * writes, and useless without their run. Paid calls, possibly paid calls and corrected calls stay.
 */
const removeFreeCalls = (database: Sql, before: number): Script<number> =>
  callSummer(
    database,
    `SELECT id FROM calls WHERE charge IN ('owned', 'free') AND reconciled IS NULL AND settled_at < @before
       AND run_id IS NOT NULL AND run_id NOT IN (SELECT id FROM runs WHERE put_away = 0)
     EXCEPT SELECT call_id FROM answers`,
  )({ before });

/**
 * Deletes answers that a newer one to the same request replaced. An answer in use stays. So does one whose newer answer
 * is not compared yet or empty, or whose list was read again only in part.
 */
function* removeReplaced(
  database: Database,
  before: number,
): Script<Pick<PruneReport, 'answers' | 'bodies' | 'bytes'>> {
  const kept = [...(yield* lastNonemptyAnswers(database)), ...(yield* listsUnderWay(database))];
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

/** Answers that may be pages, of lists with a replaced page. */
const LISTS = `SELECT environment_id AS environmentId, subject_space AS space, subject_id AS id, operation, params
  FROM calls AS page WHERE id IN (SELECT call_id FROM answers) AND subject_id IS NOT NULL
    AND (instr(params, '"page"') > 0 OR instr(params, '"per_page"') > 0)
    AND EXISTS (SELECT 1 FROM calls AS newer INDEXED BY calls_by_subject WHERE newer.subject_space = page.subject_space
      AND newer.subject_id = page.subject_id AND newer.subject_id IS NOT NULL AND newer.params IS NOT NULL
      AND newer.operation = page.operation AND newer.replaces IS NOT NULL)`;

const PAGES = `SELECT id, params, lower(hex(raw_sha256)) AS rawSha256, settled_at AS fetchedAt FROM calls INDEXED BY calls_by_subject
  WHERE subject_space = @space AND subject_id = @id AND subject_id IS NOT NULL AND params IS NOT NULL AND environment_id = @environmentId
    AND operation = @operation AND raw_sha256 IS NOT NULL AND charge <> 'owned' AND error_code IS NULL ORDER BY id`;

/**
 * The calls of the last complete reading of lists whose newer reading is incomplete. Their answers are replaced but
 * still shown.
 */
function* listsUnderWay(database: Sql): Script<readonly number[]> {
  const bodies = new Bodies(database);
  const pagesOf = database.prepare<[object], StoredPage>(PAGES);
  const opened = function* ({ id, ...stored }: StoredPage): Script<readonly KeptPage[]> {
    const params = findCell(callParams, stored.params);
    const body = params === undefined ? undefined : objectIn(yield* bodies.readSound(stored.rawSha256));
    return params === undefined || body === undefined ? [] : [{ ...pageOf({ ...stored, params }, body, null), id }];
  };
  const kept: number[] = [];
  for (const list of yield* findLists(database)) {
    const pages = (yield* forEachItem(yield* pagesOf.all(list), opened)).flat();
    const sizes = new Set(pages.map(({ perPage }) => perPage));
    kept.push(...[...sizes].flatMap((size) => lastWhole(pages.filter(({ perPage }) => perPage === size))));
  }
  return kept;
}

function* findLists(database: Sql): Script<readonly List[]> {
  const lists = new Map<string, List>();
  const note = ({ params, ...list }: List & { readonly params: string }) => {
    if (namesPage(params)) lists.set(JSON.stringify(Object.values(list)), list);
  };
  yield* database.prepare<[], List & { readonly params: string }>(LISTS).walk(note);
  return [...lists.values()];
}

/** The first page is not named in the request. A later page or the page size shows that it is a list. */
function namesPage(params: string): boolean {
  const asked = parseStored(params, isRecord);
  return asked !== undefined && ((wholeCount(asked.page) ?? 0) > 1 || asked.per_page != null);
}

/** Answers in use are kept in any case. */
function lastWhole(pages: readonly KeptPage[]): readonly number[] {
  const whole = readingsIn(pages)
    .map(pagesInOrder)
    .findLast((reading) => isComplete(reading));
  return whole?.map(({ id }) => id) ?? [];
}

function objectIn(body: Buffer | undefined): Readonly<Record<string, unknown>> | undefined {
  if (body === undefined) return undefined;
  try {
    const value = parseExact(body);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject && !(value instanceof ExactNumber) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

interface List {
  readonly environmentId: number;
  readonly space: string;
  readonly id: string;
  readonly operation: string;
}

interface StoredPage {
  readonly id: number;
  readonly params: string;
  readonly rawSha256: string;
  readonly fetchedAt: number;
}

interface KeptPage extends ListPage {
  readonly id: number;
}

/** Compressed: an empty answer is never larger. */
const SMALL_BYTES = 4096;

/** The calls of the last nonempty answers before empty ones. They are replaced, but the company still uses them. */
function* lastNonemptyAnswers(database: Sql): Script<readonly number[]> {
  const bodies = new Bodies(database);
  const silent = new Map<string, boolean>();
  const saysNothing = function* (rawSha256: string): Script<boolean> {
    const known = silent.get(rawSha256);
    if (known !== undefined) return known;
    const body = yield* bodies.readSound(rawSha256);
    const nothing = body !== undefined && isEmptyBody(body);
    silent.set(rawSha256, nothing);
    return nothing;
  };
  const stored = database.prepare<[number], Answered>(
    `SELECT calls.id, lower(hex(raw_sha256)) AS rawSha256, replaces FROM answers JOIN calls ON calls.id = call_id JOIN bodies ON sha256 = raw_sha256
     WHERE replaces IS NOT NULL AND length(bytes) <= ?`,
  );
  const earlier = database.prepare<[number], Answered>(
    'SELECT id, lower(hex(raw_sha256)) AS rawSha256, replaces FROM calls WHERE id = ? AND raw_sha256 IS NOT NULL',
  );
  const spoke: number[] = [];
  for (const answer of yield* stored.all(SMALL_BYTES)) {
    let call: Answered | undefined = answer;
    while (call !== undefined && (yield* saysNothing(call.rawSha256)))
      call = call.replaces === null ? undefined : yield* earlier.get(call.replaces);
    if (call !== undefined && call !== answer) spoke.push(call.id);
  }
  return spoke;
}

interface Answered {
  readonly id: number;
  readonly rawSha256: string;
  readonly replaces: number | null;
}

const WAIT = 'Wait until it ends, or stop it (Ctrl-C): calls in flight are finished. Nothing was removed.';

const AMONG = 'IN (SELECT value FROM json_each(?))';

/** Deletes whole runs. Their calls stay, because units were spent. */
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

export function* removeRun(database: Database, id: string, now: number): Script<void> {
  yield* mustHaveNoWorkersOn(database, [id], now, WAIT);
  yield* removeRuns(database, [id]);
}

/** Members use its runs, so the portfolio is deleted with the last of them. */
export function* removePortfolio(database: Database, id: number, now: number): Script<void> {
  const runs = yield* database.prepare<[number], string>('SELECT id FROM runs WHERE portfolio_id = ?').pluck().all(id);
  yield* mustHaveNoWorkersOn(database, runs, now, WAIT);
  yield* removeRuns(database, runs);
}

/** A portfolio without members and runs could not be updated, and a monitor would wait for it. Returns the names. */
function* forgetEmptyLists(database: Sql): Script<readonly string[]> {
  const gone = yield* database
    .prepare<[], { id: number; name: string }>(
      `DELETE FROM portfolios WHERE NOT EXISTS (SELECT 1 FROM members WHERE portfolio_id = portfolios.id)
         AND NOT EXISTS (SELECT 1 FROM runs WHERE portfolio_id = portfolios.id) RETURNING id, name`,
    )
    .all();
  return gone.toSorted((a, b) => a.id - b.id).map(({ name }) => name);
}

/** A member of a deleted run uses its row in progress. Without one it is deleted, and its file is read again. */
function* forgetMembers(database: Sql, gone: string): Script<void> {
  // Of two rows in progress the later one.
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
