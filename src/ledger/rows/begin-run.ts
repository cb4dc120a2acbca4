// Creates a run with every row that is due.

import type { Script, Sql } from '../db/database.js';
import { WAITS_AT } from '../money/intent.js';
import type { Convergence, Due } from '../portfolio/portfolios.js';
import type { NewRun } from './runs.js';

export interface RunToBegin {
  readonly portfolioId: number;
  readonly convergence: Convergence;
  /** Finished companies and the stages they need now. `underWay`: not finished yet, and starting over. */
  readonly stale: readonly { readonly member: number; readonly due: Due; readonly underWay: boolean }[];
}

/**
 * Moves unfinished rows over with their progress, copies finished rows that are due, and adds new and changed rows. A
 * finished row stays visible until its copy has finished. Unfinished runs end.
 */
export function* beginRun(database: Sql, { portfolioId, convergence, stale }: RunToBegin): Script<void> {
  const { run, now, isLoaded } = convergence;
  const limit = convergence.limit ?? Number.MAX_SAFE_INTEGER;
  yield* insertRun(database, run, now, portfolioId);
  if (isLoaded) yield* beginArrived(database, portfolioId, run.id, limit, now);
  yield* copyStale(database, run.id, stale);
  yield* moveUnfinished(database, portfolioId, run.id, limit);
  yield* endOthers(database, portfolioId, run.id, now);
  yield* database
    .prepare('UPDATE runs SET row_count = (SELECT count(*) FROM rows WHERE run_id = runs.id) WHERE id = ?')
    .run(run.id);
}

/** New and changed rows. A changed row is about another company, so its old data is deleted at once. */
function* beginArrived(database: Sql, portfolioId: number, runId: string, limit: number, now: number): Script<void> {
  const changed =
    'SELECT members.id FROM members JOIN temp.laid ON laid.member_id = members.id AND laid.says <> members.says AND laid.row <= @limit';
  const given = { portfolioId, runId, limit, now };
  yield* deleteRows(database, `SELECT run_id, run_row FROM members WHERE id IN (${changed})`, given);
  const run = (sql: string) => database.prepare(sql).run(given);
  // The changed row may turn out to be the same company.
  yield* run(`UPDATE member_companies SET gone_at = @now WHERE gone_at IS NULL AND member_id IN (${changed})`);
  yield* run(`INSERT INTO members (portfolio_id, known_by, company, says, cells, row, line, first_seen, run_id, run_row)
       SELECT @portfolioId, known_by, company, says, cells, row, line, @now, @runId, row FROM temp.laid
       WHERE member_id IS NULL AND row <= @limit ORDER BY row`);
  yield* run(`UPDATE members SET says = laid.says, run_id = @runId, run_row = laid.row, changed_at = NULL FROM temp.laid
       WHERE laid.member_id = members.id AND laid.says <> members.says AND laid.row <= @limit`);
  yield* run(`INSERT INTO rows (run_id, row, line, input_values, input_kinds, fields, outcome, error_code, error_message, member_id)
       SELECT @runId, laid.row, laid.line, input_values, input_kinds, fields, CASE WHEN code IS NULL THEN 'pending' ELSE 'invalid' END,
         code, message, members.id
       FROM temp.laid JOIN members ON members.portfolio_id = @portfolioId AND members.known_by = laid.known_by
       WHERE members.run_id = @runId AND members.run_row = laid.row`);
}

function* copyStale(database: Sql, runId: string, stale: RunToBegin['stale']): Script<void> {
  const copyRow = database.prepare(
    `INSERT INTO rows (run_id, row, line, input_values, input_kinds, fields, outcome, stage, stages, match_grade, matched_on, member_id, fetched, rank, not_before)
     SELECT @runId, members.row, members.line, input_values, input_kinds, fields, 'pending', stage, @stages,
       CASE WHEN @anew = 1 THEN NULL ELSE match_grade END, CASE WHEN @anew = 1 THEN NULL ELSE matched_on END, members.id, fetched, @rank, @notBefore
     FROM members JOIN rows ON rows.run_id = members.run_id AND rows.row = members.run_row WHERE members.id = @member`,
  );
  const touch = database.prepare(
    'UPDATE rows SET updated_at = 0 WHERE run_id = ? AND row = (SELECT row FROM members WHERE id = ?)',
  );
  const among =
    'FROM members JOIN %t AS old ON old.run_id = members.run_id AND old.row = members.run_row WHERE members.id = @member AND old.space NOT IN (SELECT value FROM json_each(@forget))';
  const copies = COPIED.map(({ table, columns }) =>
    database.prepare(
      `INSERT INTO ${table} (run_id, row, ${columns}) SELECT @runId, members.row, ${columns
        .split(', ')
        .map((name) => `old.${name}`)
        .join(', ')} ${among.replace('%t', table)}`,
    ),
  );
  const moveMember = memberMover(database, runId);
  for (const { member, due, underWay } of stale) {
    const anew = Object.keys(due.stages).length === 0 ? 1 : 0;
    const given = {
      runId,
      member,
      anew,
      stages: JSON.stringify(due.stages),
      rank: due.rank,
      notBefore: due.notBefore,
      forget: JSON.stringify(due.forget),
    };
    yield* copyRow.run(given);
    if (underWay) yield* moveMember(member);
    if (anew === 1) continue;
    // A row that never finished has no IDs.
    yield* touch.run(runId, member);
    for (const copy of copies) yield* copy.run(given);
  }
}

/** Deletes the old row of a company that starts over. */
function memberMover(database: Sql, runId: string): (member: number) => Script<void> {
  const old = database.prepare<[number], { run_id: string; run_row: number }>(
    'SELECT run_id, run_row FROM members WHERE id = ?',
  );
  const move = database.prepare('UPDATE members SET run_id = ?, run_row = row WHERE id = ?');
  const drop = rowDeleter(database);
  const moveCalls = callMover(database);
  const rowOf = database.prepare<[number], number>('SELECT row FROM members WHERE id = ?').pluck();
  return function* (member) {
    const before = yield* old.get(member);
    yield* move.run(runId, member);
    if (before === undefined) return;
    yield* drop(before.run_id, before.run_row);
    yield* moveCalls({ runId, row: (yield* rowOf.get(member)) ?? 0, oldRun: before.run_id, oldRow: before.run_row });
  };
}

interface Move {
  readonly runId: string;
  readonly row: number;
  readonly oldRun: string;
  readonly oldRow: number;
}

const WITHOUT_ANSWER =
  'id IN (SELECT id FROM calls WHERE in_doubt > 0 UNION ALL SELECT id FROM calls WHERE settled_at IS NULL)';

/** A call without an answer stays in the run that paid for it, and learns where its row waits. */
const callMover = (database: Sql): ((move: Move) => Script<unknown>) => {
  const tell = database.prepare(
    `UPDATE calls SET waits_run = @runId, waits_row = @row WHERE ${WITHOUT_ANSWER} AND (${WAITS_AT}) = (@oldRun, @oldRow)`,
  );
  return (move) => tell.run(move);
};

const COPIED = [
  { table: 'row_ids', columns: 'space, id, grade, matched_on' },
  {
    table: 'candidates',
    columns:
      'space, position, id, name, registration_number, vat_number, country_code, state, match_grade, decision, evidence, jurisdiction, extra',
  },
  {
    table: 'questions',
    columns: 'space, stage, environment_id, entity_key, candidate_id, code, message, answered, asked_at, beside',
  },
] as const;

/** Moves unfinished rows. Rows that cost units come first, and their units count from 0 again. */
function* moveUnfinished(database: Sql, portfolioId: number, runId: string, limit: number): Script<void> {
  const given = { portfolioId, runId, limit };
  const run = (sql: string) => database.prepare(sql).run(given);
  yield* database.exec(MOVING);
  // One row for each company: of two unfinished rows the later one.
  yield* run(`INSERT INTO temp.moving SELECT member_id, run_id, run_row, row, line FROM (
         SELECT members.id AS member_id, rows.run_id, rows.row AS run_row, members.row, members.line,
           row_number() OVER (PARTITION BY members.id ORDER BY rows.run_id DESC, rows.row DESC) AS place
         FROM members JOIN rows ON rows.member_id = members.id AND rows.outcome = 'pending'
         WHERE portfolio_id = @portfolioId AND left_at IS NULL AND members.row <= @limit AND rows.run_id <> @runId
           AND NOT EXISTS (SELECT 1 FROM rows AS begun WHERE begun.run_id = @runId AND begun.row = members.row)
       ) AS on_their_way WHERE place = 1`);
  yield* database
    .prepare(
      `UPDATE runs SET units_moved = units_moved + moved.units FROM (
         SELECT rows.run_id, sum(units_charged) AS units FROM temp.moving JOIN rows ON rows.run_id = moving.run_id AND rows.row = moving.run_row
         GROUP BY 1) AS moved WHERE runs.id = moved.run_id`,
    )
    .run();
  for (const table of ['row_ids', 'candidates', 'questions', 'errors'])
    yield* run(`UPDATE ${table} SET run_id = @runId, row = moving.row FROM temp.moving
         WHERE ${table}.run_id = moving.run_id AND ${table}.row = moving.run_row`);
  yield* run(`UPDATE rows SET run_id = @runId, row = moving.row, line = moving.line,
         rank = CASE WHEN units_charged > 0 THEN -1 ELSE rank END, units_charged = 0
       FROM temp.moving WHERE rows.run_id = moving.run_id AND rows.row = moving.run_row`);
  yield* run(`UPDATE members SET run_id = @runId, run_row = moving.row FROM temp.moving
       WHERE members.id = moving.member_id AND members.run_id = moving.run_id AND members.run_row = moving.run_row`);
  const withCalls = database.prepare<[], Omit<Move, 'runId'>>(
    `SELECT DISTINCT moving.row AS row, moving.run_id AS oldRun, moving.run_row AS oldRow FROM calls
     JOIN temp.moving ON (moving.run_id, moving.run_row) = (${WAITS_AT}) WHERE ${WITHOUT_ANSWER}`,
  );
  const moveCalls = callMover(database);
  for (const move of yield* withCalls.all()) yield* moveCalls({ runId, ...move });
  yield* database.exec('DROP TABLE temp.moving');
}

const MOVING = `DROP TABLE IF EXISTS temp.moving;
  CREATE TEMP TABLE moving (member_id BIGINT, run_id TEXT, run_row BIGINT, row BIGINT, line BIGINT);
  CREATE INDEX moving_from ON moving (run_id, run_row);`;

/** Their unfinished rows are in the new run, or no longer needed. */
function* endOthers(database: Sql, portfolioId: number, runId: string, now: number): Script<void> {
  const given = { portfolioId, runId, now };
  const open = "SELECT id FROM runs WHERE portfolio_id = @portfolioId AND state = 'open' AND id <> @runId";
  yield* deleteRows(
    database,
    `SELECT run_id, row FROM rows WHERE run_id IN (${open}) AND outcome = 'pending'
       AND NOT EXISTS (SELECT 1 FROM members WHERE members.run_id = rows.run_id AND members.run_row = rows.row)`,
    given,
  );
  yield* database
    .prepare(`UPDATE runs SET state = 'finished', finished_at = @now, superseded_by = @runId WHERE id IN (${open})`)
    .run(given);
}

/** Deletes rows with all their records. `which` selects their run and number. */
export function* deleteRows(database: Sql, which: string, given: Readonly<Record<string, unknown>>): Script<void> {
  const drop = rowDeleter(database);
  const found = yield* database.prepare<unknown[], [string, number]>(which).raw().all(given);
  for (const [runId, row] of found) yield* drop(runId, row);
}

/** Deletes one row. Its units stay counted in its run. */
export function rowDeleter(database: Sql): (runId: string, row: number) => Script<void> {
  const keepUnits = database.prepare(
    `UPDATE runs SET units_moved = units_moved + rows.units_charged FROM rows
     WHERE runs.id = rows.run_id AND rows.run_id = ? AND rows.row = ?`,
  );
  const drops = ['rows', 'row_ids', 'candidates', 'questions', 'errors'].map((table) =>
    database.prepare(`DELETE FROM ${table} WHERE run_id = ? AND row = ?`),
  );
  return function* (runId, row) {
    yield* keepUnits.run(runId, row);
    for (const drop of drops) yield* drop.run(runId, row);
  };
}

const insertRun = (database: Sql, run: NewRun, createdAt: number, portfolioId: number): Script<void> =>
  database
    .prepare(
      `INSERT INTO runs (id, input_path, input_sha256, pipeline_name, pipeline_sha256, settings, columns, state, created_at, portfolio_id)
       VALUES (@id, @inputPath, @inputSha256, @pipelineName, @pipelineSha256, @settings, @columns, 'open', @createdAt, @portfolioId)`,
    )
    .run({ ...run, columns: JSON.stringify(run.columns), createdAt, portfolioId });

/**
 * The newest run of each portfolio with companies. It is the default run and the source of the portfolio's tables, so
 * it is listed and kept at any age.
 */
export const NEWEST_RUNS = `SELECT id FROM runs AS newest WHERE portfolio_id IS NOT NULL AND superseded_by IS NULL AND state <> 'reading'
  AND EXISTS (SELECT 1 FROM members WHERE members.portfolio_id = newest.portfolio_id AND left_at IS NULL)
  AND NOT EXISTS (SELECT 1 FROM runs AS later WHERE later.portfolio_id = newest.portfolio_id AND later.superseded_by IS NULL
    AND later.state <> 'reading' AND later.rowid > newest.rowid)`;
