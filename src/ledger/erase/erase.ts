// Erases one company, or everything older than a time, from the ledger.

import { hash } from 'node:crypto';
import type { StageStatus } from '../../domain/outcomes.js';
import { Bodies } from '../answers/bodies.js';
import { COMPANY_CALLS, OF_ROW, WITH_ANSWERS } from '../answers/visible-answer.js';
import type { Database, Script, Sql } from '../db/database.js';
import { findCell, isRecord, isTexts, parseStored, rowFetched, rowStages } from '../db/stored-json.js';
import { clearUnknownCharges } from '../money/read-intent-state.js';
import { restoreQuestions } from '../review/questions.js';
import { mustHaveNoWorkers } from '../rows/attempts.js';
import { CONTINUE_ROW, REOPEN_RUN, STILL_LISTED } from '../rows/read-rows.js';
import { eraseEntity } from './erase-company.js';
import { Lists } from './find-company.js';
import type { EraseDone, EraseReport, EraseRequest, ItemIds } from './housekeeping.js';
import { json, type RowKey } from './identifiers.js';
import { removeRuns } from './prune.js';

/**
 * Calls stay without their bodies, because units were spent. Deleted text stays on disk until the store is rewritten,
 * which comes last because it can fail.
 */
export async function eraseFromLedger(
  database: Database,
  request: EraseRequest,
  itemIds: ItemIds,
  now: number,
): Promise<EraseDone> {
  const report = await database.write(function* () {
    const removed = yield* remove(database, request, itemIds, now);
    yield* rememberErase(database, request, removed, now);
    return removed;
  });
  return { ...report, notRewritten: await database.rewrite() };
}

/** Finishes an erasure that was interrupted after its deletions. Undefined if there is none. */
export async function finishErase(database: Database, request: EraseRequest): Promise<EraseDone | undefined> {
  const report = await database.read(() => unfinishedErase(database, request));
  return report && { ...report, notRewritten: await database.rewrite() };
}

/** What `erase` would remove. The same statements run and are rolled back, so that the counts are equal. */
export const previewEraseFromLedger = (
  database: Database,
  request: EraseRequest,
  itemIds: ItemIds,
  now: number,
): Promise<EraseReport> => database.dryRun(() => remove(database, request, itemIds, now));

function* remove(database: Database, request: EraseRequest, itemIds: ItemIds, now: number): Script<EraseReport> {
  // Work in progress would store data again after it.
  yield* mustHaveNoWorkers(database, now, GOES_ON_LATER);
  return yield* request.kind === 'before'
    ? eraseBefore(database, request.at)
    : eraseEntity(database, new Lists(database, new Bodies(database), itemIds), request, now);
}

const GOES_ON_LATER =
  'A running process would store its answers after the data was erased. Stop all processes (SIGTERM finishes their calls in flight), erase, and start them again. kybatch notices a killed process within half a minute. Nothing was removed.';

/**
 * An erasure is remembered until its proof: if that fails or the process is killed, the same command finishes it. The
 * record names no company.
 */
const rememberErase = (database: Sql, request: EraseRequest, removed: EraseReport, now: number): Script<void> =>
  database
    .prepare(
      `INSERT INTO purges (request, report, begun_at) VALUES (unhex(?), ?, ?)
       ON CONFLICT (request) DO UPDATE SET report = excluded.report`,
    )
    .run(digestOf(request), JSON.stringify({ ...removed, ...NAMES_NOBODY }), now);

function* unfinishedErase(database: Sql, request: EraseRequest): Script<EraseReport | undefined> {
  const stored = yield* database
    .prepare<[string], string>('SELECT report FROM purges WHERE request = unhex(?)')
    .pluck()
    .get(digestOf(request));
  // With damaged counts there is still something to prove.
  return stored === undefined ? undefined : { ...COUNTS_LOST, ...parseStored(stored, isCounts), ...NAMES_NOBODY };
}

const NAMES_NOBODY = { identifiers: [], stillListed: [], boughtAgain: [] } as const;

type Counts = Omit<EraseReport, keyof typeof NAMES_NOBODY>;

export const forgetErase = (database: Sql, request: EraseRequest): Script<void> =>
  database.prepare('DELETE FROM purges WHERE request = unhex(?)').run(digestOf(request));

const COUNTS_LOST: Counts = {
  runs: [],
  runsRemoved: [],
  rows: 0,
  answers: 0,
  bodies: 0,
  candidates: 0,
  questions: 0,
  decisions: 0,
  changes: 0,
};

const digestOf = (request: EraseRequest): string => hash('sha256', JSON.stringify(Object.entries(request).sort()));

/** Earlier versions did not count changes. */
const isCounts = (value: unknown): value is Omit<Counts, 'changes'> =>
  isRecord(value) &&
  [value.runs, value.runsRemoved].every(isTexts) &&
  [value.rows, value.answers, value.bodies, value.candidates, value.questions, value.decisions].every(
    (count) => typeof count === 'number',
  );

/** Deletes runs that finished before then, and older answers. A run that continued later keeps its rows. */
function* eraseBefore(database: Sql, at: number): Script<EraseReport> {
  const change = (sql: string, ...parameters: unknown[]): Script<number> => database.prepare(sql).change(...parameters);
  const runsRemoved = yield* database
    .prepare<[number, number], string>(
      `SELECT id FROM runs WHERE created_at < ? AND NOT EXISTS (SELECT 1 FROM rows WHERE run_id = runs.id AND updated_at >= ?) ORDER BY id`,
    )
    .pluck()
    .all(at, at);
  const leaving = yield* membersOf(database, USING_ROWS_OF_RUNS, runsRemoved);
  const { rows, candidates, questions } = yield* removeRuns(database, runsRemoved);
  const decided = yield* change('DELETE FROM decisions WHERE decided_at < ?', at);
  const held = yield* change('DELETE FROM held_decisions WHERE decided_at < ?', at);
  yield* restoreQuestions(database);
  // A change contains values of the earlier answer.
  const changes = yield* change(
    `DELETE FROM changes WHERE id IN (SELECT id FROM changes WHERE changed_at < ? UNION
       SELECT changes.id FROM changes JOIN calls AS newer ON newer.id = changes.call_id JOIN calls AS older ON older.id = newer.replaces
       WHERE older.settled_at < ?)`,
    at,
    at,
  );
  yield* change('DELETE FROM watch_events WHERE heard_at < ?', at);
  const old = 'SELECT id FROM calls WHERE settled_at < ?';
  yield* clearUnknownCharges(database, old, at);
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
    WITH_IDS,
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

/** An invalid line costs nothing. */
const USING_ROWS_OF_RUNS = `JOIN rows ON rows.run_id = members.run_id AND rows.row = members.run_row
  WHERE outcome <> 'invalid' AND members.run_id IN (SELECT value FROM json_each(?))`;
const WITH_IDS = 'WHERE members.id IN (SELECT CAST(value AS BIGINT) FROM json_each(?))';

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

/** A member with two rows counts once. */
function byList(members: readonly ListedMember[]): EraseReport['boughtAgain'] {
  const lists = new Map<string, Set<number>>();
  for (const { member, portfolio } of members)
    lists.set(portfolio, (lists.get(portfolio) ?? new Set<number>()).add(member));
  return [...lists].sort().map(([portfolio, { size }]) => ({ portfolio, rows: size }));
}

interface ReopenedRow extends RowKey {
  /** Null: in no portfolio. */
  readonly member: number | null;
  readonly outcome: string;
}

interface AnsweredRow extends ReopenedRow {
  readonly stages: string;
  readonly fetched: string;
  readonly updated_at: number | null;
  readonly isReplaced: 0 | 1;
}

/** Reopens stages whose answer was deleted, for rows in use or in progress. Call it after the deletions. */
function* reopenStages(database: Sql, at: number): Script<readonly ReopenedRow[]> {
  const old: AnsweredRow[] = [];
  yield* database.prepare<[], AnsweredRow>(USED_OR_PENDING_ROWS).walk((row) => {
    const times = Object.values(findCell(rowFetched, row.fetched) ?? {});
    if ([...times, row.updated_at ?? at].some((time) => time < at)) old.push(row);
  });
  const isLeft = yield* answersLeft(database);
  const save = database.prepare('UPDATE rows SET stages = ?, fetched = ? WHERE run_id = ? AND row = ?');
  const goOn = database.prepare(`UPDATE rows SET ${CONTINUE_ROW}, rank = 0 WHERE run_id = ? AND row = ?`);
  const reopen = database.prepare(
    `${REOPEN_RUN} AND state = 'finished' AND EXISTS (SELECT 1 FROM rows WHERE rows.run_id = runs.id AND rows.row = ? AND ${STILL_LISTED})`,
  );
  const reopened: ReopenedRow[] = [];
  for (const row of old) {
    const stages = findCell(rowStages, row.stages) ?? {};
    const fetched = findCell(rowFetched, row.fetched) ?? {};
    const left = yield* isLeft(row);
    const gone = Object.keys({ ...stages, ...fetched }).filter(
      (stage) =>
        (isAnswered(stages[stage]) || Object.hasOwn(fetched, stage)) &&
        (fetched[stage] ?? row.updated_at ?? 0) < at &&
        !left(stage),
    );
    if (gone.length === 0) continue;
    reopened.push(row);
    // Stages in progress, failed or not wanted keep their status.
    const open = gone.filter((stage) => isAnswered(stages[stage])).map((stage) => [stage, 'pending']);
    const dates = Object.entries(fetched).filter(([stage]) => !gone.includes(stage));
    const { run_id, row: number, outcome, isReplaced } = row;
    const states = JSON.stringify({ ...stages, ...Object.fromEntries(open) });
    yield* save.run(states, JSON.stringify(Object.fromEntries(dates)), run_id, number);
    // Rows with a review question keep waiting, and failed rows stay for `retry`.
    if (outcome !== 'complete' || isReplaced === 1) continue;
    yield* goOn.run(run_id, number);
    yield* reopen.run(run_id, number);
  }
  return reopened;
}

const isAnswered = (status: StageStatus | undefined): boolean => status === 'done' || status === 'not_available';

/** Rows that members use, and rows in progress. `isReplaced`: its member has another row in progress, which replaces it. */
const USED_OR_PENDING_ROWS = `SELECT rows.run_id, rows.row, coalesce(members.id, rows.member_id) AS member, rows.outcome, rows.stages, rows.fetched, rows.updated_at,
    EXISTS (SELECT 1 FROM rows AS way WHERE way.member_id = members.id AND way.outcome = 'pending') AS "isReplaced"
  FROM rows LEFT JOIN members ON members.run_id = rows.run_id AND members.run_row = rows.row
  WHERE rows.outcome = 'pending' OR members.id IS NOT NULL ORDER BY rows.run_id, rows.row`;

/** Is there still an answer about the row's company that a stage can use? */
function* answersLeft(database: Sql): Script<(row: RowKey) => Script<(stage: string) => boolean>> {
  // A call keeps its stage and operation when its answer is deleted. A call outside a run has no stage.
  const used = yield* database
    .prepare<[], [string, string]>('SELECT DISTINCT stage, operation FROM calls WHERE stage IS NOT NULL')
    .raw()
    .all();
  const operations = new Map<string, string[]>();
  for (const [stage, operation] of used) operations.set(stage, [...(operations.get(stage) ?? []), operation]);
  const answered = database
    .prepare<[string, number], string>(
      `SELECT DISTINCT calls.operation FROM ${COMPANY_CALLS} ${WITH_ANSWERS}
       WHERE ${OF_ROW} AND calls.raw_sha256 IS NOT NULL`,
    )
    .pluck();
  return function* ({ run_id, row }) {
    const left = new Set(yield* answered.all(run_id, row));
    return (stage) => (operations.get(stage) ?? []).some((operation) => left.has(operation));
  };
}
