import type { StageStatus } from '../../domain/outcomes.js';
import type { Script, Sql } from '../database.js';
import type { Stages } from '../runs.js';
import { parseStored } from '../stored-json.js';
import { rowFetched, rowStages } from './cells.js';
import type { RowKey } from './purge-ids.js';
import { GOES_ON, REOPEN_RUN, STILL_LISTED } from './row-states.js';
import { recordDropper } from './take-over.js';

/** A row of which stages have to be asked for again. */
export interface ReopenedRow extends RowKey {
  /** Whose it is; null: of no list. */
  readonly member: number | null;
  readonly outcome: string;
}

/**
 * A stage whose answer went is not done any more: the rows by which members stand, and those that are on their way, ask
 * for it again. Where somebody else has bought the same since, they stand by that. Called when the answers have gone.
 */
export function* reopenStages(database: Sql, at: number): Script<readonly ReopenedRow[]> {
  const found = yield* findGone(database, at);
  const save = database.prepare('UPDATE rows SET stages = ?, fetched = ? WHERE run_id = ? AND row = ?');
  const goOn = rowReopener(database);
  for (const { run_id, row, stages, fetched } of found) yield* save.run(stages, fetched, run_id, row);
  // A question waits for a person, and what failed for `retry`, as before.
  for (const { run_id, row, outcome } of found) if (outcome === 'complete') yield* goOn({ run_id, row });
  return found;
}

interface AnsweredRow extends ReopenedRow {
  readonly stages: string;
  readonly fetched: string;
  readonly updated_at: number | null;
}

/** The rows that stand by an answer which is gone, with their stages as they are without it. */
function* findGone(database: Sql, at: number): Script<readonly AnsweredRow[]> {
  const isLeft = yield* answersLeft(database);
  const found: AnsweredRow[] = [];
  for (const { row, stages, fetched, before } of yield* answeredBefore(database, at)) {
    const left = yield* isLeft(row);
    const gone = new Set(before.filter((stage) => !left(stage)));
    if (gone.size === 0) continue;
    // What is under way already, has failed or is not wanted stays so.
    const open = Object.entries(stages).map(([stage, status]) => [
      stage,
      gone.has(stage) && isAnswered(status) ? 'pending' : status,
    ]);
    const dates = Object.entries(fetched).filter(([stage]) => !gone.has(stage));
    found.push({
      ...row,
      stages: JSON.stringify(Object.fromEntries(open)),
      fetched: JSON.stringify(Object.fromEntries(dates)),
    });
  }
  return found;
}

interface AnsweredBefore {
  readonly row: AnsweredRow;
  readonly stages: Stages;
  readonly fetched: Readonly<Record<string, number>>;
  /** The stages that were answered before. */
  readonly before: readonly string[];
}

function* answeredBefore(database: Sql, at: number): Script<readonly AnsweredBefore[]> {
  const found: AnsweredBefore[] = [];
  yield* database.prepare<[], AnsweredRow>(STANDING).walk((row) => {
    const stages = parseStored(row.stages, rowStages.fits);
    const fetched = parseStored(row.fetched, rowFetched.fits);
    // A damaged one is for `doctor`.
    if (stages === undefined || fetched === undefined) return;
    const times = [...Object.values(fetched), ...(row.updated_at === null ? [] : [row.updated_at])];
    if (!times.some((time) => time < at)) return;
    const wasAnswered = (stage: string) => isAnswered(stages[stage]) || Object.hasOwn(fetched, stage);
    const before = Object.keys({ ...stages, ...fetched }).filter(
      (stage) => wasAnswered(stage) && (fetched[stage] ?? row.updated_at ?? 0) < at,
    );
    if (before.length > 0) found.push({ row, stages, fetched, before });
  });
  return found;
}

const isAnswered = (status: StageStatus | undefined): boolean => status === 'done' || status === 'not_available';

/** Rows by which members stand, and those that are on their way. */
const STANDING = `SELECT rows.run_id, rows.row, coalesce(members.id, member_id) AS member, outcome, stages, fetched, updated_at
  FROM rows LEFT JOIN members ON members.run_id = rows.run_id AND members.run_row = rows.row
  WHERE outcome = 'pending' OR members.id IS NOT NULL ORDER BY rows.run_id, rows.row`;

/** Is an answer about a row's company left that a stage can stand by? */
function* answersLeft(database: Sql): Script<(row: RowKey) => Script<(stage: string) => boolean>> {
  // A call keeps its stage and its operation when what it said is gone. One that was made by hand has no stage.
  const used = yield* database
    .prepare<[], [string, string]>('SELECT DISTINCT stage, operation FROM calls WHERE stage IS NOT NULL')
    .raw()
    .all();
  const operations = new Map<string, string[]>();
  for (const [stage, operation] of used) operations.set(stage, [...(operations.get(stage) ?? []), operation]);
  const answered = database
    .prepare<[string, number], string>(
      `SELECT DISTINCT calls.operation FROM row_ids CROSS JOIN calls INDEXED BY calls_by_subject
         ON calls.subject_space = row_ids.space AND calls.subject_id = row_ids.id AND calls.subject_id IS NOT NULL AND calls.params IS NOT NULL
       CROSS JOIN run_environments ON run_environments.run_id = row_ids.run_id AND run_environments.environment_id = calls.environment_id
       CROSS JOIN answers ON answers.environment_id = calls.environment_id AND answers.request_key = calls.request_key AND answers.call_id = calls.id
       WHERE row_ids.run_id = ? AND row_ids.row = ? AND calls.raw_sha256 IS NOT NULL`,
    )
    .pluck();
  return function* ({ run_id, row }) {
    const left = new Set(yield* answered.all(run_id, row));
    return (stage) => (operations.get(stage) ?? []).some((operation) => left.has(operation));
  };
}

/** The row goes on; where its member is under way in another one already, that does. */
function rowReopener(database: Sql): (row: RowKey) => Script<void> {
  const elsewhere = database.prepare<[string, number], RowKey & { member: number }>(
    `SELECT members.id AS member, way.run_id, way.row FROM members JOIN rows AS way ON way.member_id = members.id AND way.outcome = 'pending'
     WHERE members.run_id = ? AND members.run_row = ? ORDER BY way.run_id DESC, way.row DESC LIMIT 1`,
  );
  const stand = database.prepare('UPDATE members SET run_id = ?, run_row = ? WHERE id = ?');
  const drop = recordDropper(database);
  const goOn = database.prepare(`UPDATE rows SET ${GOES_ON}, rank = 0 WHERE run_id = ? AND row = ?`);
  const reopen = database.prepare(
    `${REOPEN_RUN} AND state = 'finished' AND EXISTS (SELECT 1 FROM rows WHERE rows.run_id = runs.id AND rows.row = ? AND ${STILL_LISTED})`,
  );
  return function* ({ run_id, row }) {
    const way = yield* elsewhere.get(run_id, row);
    if (way === undefined) {
      yield* goOn.run(run_id, row);
      yield* reopen.run(run_id, row);
    } else {
      yield* stand.run(way.run_id, way.row, way.member);
      yield* drop(run_id, row);
    }
  };
}
