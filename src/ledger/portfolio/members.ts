// Matches file rows with the members of a portfolio, and reads the members' state.

import type { RowOutcome } from '../../domain/outcomes.js';
import { ID_SPACES, idSpaces } from '../../domain/provider.js';
import type { Script, Sql, Statement } from '../db/database.js';
import { findCell, type JsonColumn, readCell, rowFetched, rowStages } from '../db/stored-json.js';
import type { Checkpoint } from '../rows/runs.js';
import type { ComparedRow, FileRow, MemberState, UsableRows } from './portfolios.js';

/**
 * The rows of a file, in a temporary table. A file of any size needs the same memory, and a run without news writes
 * nothing.
 */
export class FileRows {
  #insert: Statement<unknown[], unknown> | undefined;
  #compared: Statement<[number, number], ComparedLine> | undefined;

  constructor(private readonly database: Sql) {}

  *lay(rows: readonly FileRow[], anew: boolean): Script<void> {
    const database = this.database;
    if (anew) yield* database.exec(TABLE);
    if (anew || this.#insert === undefined) this.#insert = database.prepare(INSERT);
    const insert = this.#insert;
    for (const { row, line, inputId, company, says, cells, kinds = null, problem, ...read } of rows) {
      const [values, fields] = [JSON.stringify(read.values), JSON.stringify(read.fields)];
      const { code = null, message = null } = problem ?? {};
      yield* insert.run(row, line, inputId, company, says, cells, values, kinds, fields, code, message);
    }
  }

  *repeatedIds(): Script<readonly string[]> {
    return yield* this.database.prepare<[], string>(`${REPEATED_IDS} ORDER BY min(row)`).pluck().all();
  }

  /** Finds the member of each row. An ID counts only if no other row has it. */
  *match(portfolioId: number | null): Script<void> {
    const run = (sql: string, ...parameters: unknown[]) => this.database.prepare(sql).run(...parameters);
    yield* run(MARK_REPEATED_IDS);
    yield* run(NUMBER_COPIES);
    yield* run(NAME_ROWS);
    yield* run('UPDATE temp.laid SET member_id = NULL WHERE member_id IS NOT NULL');
    if (portfolioId === null) return;
    yield* run(MATCH_BY_KEY, { portfolioId });
    yield* run(MATCH_BY_COMPANY, { portfolioId });
    const isAnyNew = this.database.prepare<[], number>('SELECT 1 FROM temp.laid WHERE member_id IS NULL LIMIT 1');
    if ((yield* isAnyNew.get()) !== undefined) yield* run(MATCH_BY_NAME, { portfolioId });
  }

  /** Counts the usable members that are still in the file. */
  *usable(portfolioId: number): Script<UsableRows> {
    yield* this.match(portfolioId);
    const usable = this.database.prepare<[number], UsableRows>(USABLE);
    return (yield* usable.get(portfolioId)) ?? { now: 0, before: 0, kept: 0, replaced: 0, broken: null };
  }

  /** The next rows with the state of their members. Call `match` first. */
  *compared(after: number, read: MemberStateReader): Script<readonly ComparedRow[]> {
    this.#compared ??= this.database.prepare<[number, number], ComparedLine>(COMPARED);
    return (yield* this.#compared.all(after, BATCH)).map((found) => {
      const { line, fields, code, message } = found;
      return {
        row: found.laid_row,
        line,
        fields: JSON.parse(fields) as ComparedRow['fields'],
        problem: code === null ? null : { code, message: message ?? '' },
        standing: found.member === null ? null : read(found as MemberStateRow),
        isKnown: found.member_id !== null,
      };
    });
  }
}

const BATCH = 1000;

interface ComparedLine extends Omit<MemberStateRow, 'member'> {
  readonly member: number | null;
  readonly laid_row: number;
  readonly member_id: number | null;
  readonly line: number;
  readonly fields: string;
  readonly code: string | null;
  readonly message: string | null;
}

/** SQL for both engines. SQLite accepts BYTEA as a type name. An index is dropped with its table. */
const TABLE = `DROP TABLE IF EXISTS temp.laid;
  CREATE TEMP TABLE laid (
    row INTEGER PRIMARY KEY, line BIGINT NOT NULL, input_id TEXT, company TEXT, says BYTEA NOT NULL, cells BYTEA NOT NULL,
    input_values TEXT NOT NULL, input_kinds TEXT, fields TEXT NOT NULL, code TEXT, message TEXT, known_by TEXT, member_id BIGINT,
    id_repeats INTEGER NOT NULL DEFAULT 0);
  CREATE INDEX laid_by_member ON laid (member_id);
  CREATE INDEX laid_by_id ON laid (input_id) WHERE input_id IS NOT NULL;
  CREATE INDEX laid_by_company ON laid (company) WHERE company IS NOT NULL;`;

const INSERT = `INSERT INTO temp.laid (row, line, input_id, company, says, cells, input_values, input_kinds, fields, code, message)
  VALUES (?, ?, ?, ?, unhex(?), unhex(?), ?, ?, ?, ?, ?)`;

const REPEATED_IDS = 'SELECT input_id FROM temp.laid WHERE input_id IS NOT NULL GROUP BY input_id HAVING count(*) > 1';

const MARK_REPEATED_IDS = `UPDATE temp.laid SET id_repeats = 1 WHERE id_repeats = 0 AND input_id IN (${REPEATED_IDS})`;

/**
 * Rows with the same company are numbered by their order. Rows with and without an ID are numbered separately. If any
 * ID repeats, all are numbered together: earlier versions recognised all rows of such a file by these numbers.
 */
const NUMBER_COPIES = `UPDATE temp.laid SET company = numbered.company FROM (
    SELECT row AS at, company || '#' || row_number() OVER (PARTITION BY company,
      input_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM temp.laid WHERE id_repeats = 1) ORDER BY row) AS company
    FROM temp.laid WHERE company IS NOT NULL AND known_by IS NULL) AS numbered
  WHERE laid.row = numbered.at`;

const KNOWN_BY = `CASE
    WHEN input_id IS NOT NULL AND id_repeats = 0 THEN 'id:' || input_id
    WHEN company IS NOT NULL THEN 'company:' || company
    ELSE 'row:' || laid.row END`;

/** A file is matched several times, so unchanged keys are not written again. */
const NAME_ROWS = `UPDATE temp.laid SET known_by = ${KNOWN_BY} WHERE known_by IS DISTINCT FROM ${KNOWN_BY}`;

const MATCH_BY_KEY = `UPDATE temp.laid SET member_id = members.id FROM members
  WHERE members.portfolio_id = @portfolioId AND members.known_by = laid.known_by`;

/** For files whose ID column was added or removed. Two different IDs are two members, whatever else matches. */
const MATCH_BY_COMPANY = `UPDATE temp.laid SET member_id = (
    SELECT id FROM members WHERE portfolio_id = @portfolioId AND members.company = laid.company
      AND NOT (substr(members.known_by, 1, 3) = 'id:' AND substr(laid.known_by, 1, 3) = 'id:')
      AND NOT EXISTS (SELECT 1 FROM temp.laid AS other WHERE other.member_id = members.id)
    ORDER BY left_at IS NOT NULL, id LIMIT 1)
  WHERE member_id IS NULL AND company IS NOT NULL
    AND EXISTS (SELECT 1 FROM members WHERE portfolio_id = @portfolioId AND members.company = laid.company)`;

const NAME_AND_COUNTRY = (fields: string) =>
  `json_extract(${fields}, '$.name') || '|' || coalesce(json_extract(${fields}, '$.country'), '')`;

/**
 * For rows without an ID whose number was corrected: the only new row of a name is the only missing member of that name.
 * A changed row is resolved again in any case.
 */
const MATCH_BY_NAME = `UPDATE temp.laid SET member_id = missing.id FROM (
    SELECT min(row) AS row, ${NAME_AND_COUNTRY('fields')} AS name FROM temp.laid
    WHERE member_id IS NULL AND company IS NOT NULL GROUP BY 2 HAVING count(*) = 1) AS arrived
  JOIN (
    SELECT min(members.id) AS id, min(members.known_by) AS known_by, ${NAME_AND_COUNTRY('rows.fields')} AS name
    FROM members JOIN rows ON rows.run_id = members.run_id AND rows.row = members.run_row
    WHERE portfolio_id = @portfolioId AND left_at IS NULL AND company IS NOT NULL AND json_valid(rows.fields)
      AND NOT EXISTS (SELECT 1 FROM temp.laid WHERE laid.member_id = members.id)
    GROUP BY 3 HAVING count(*) = 1) AS missing ON missing.name = arrived.name
  WHERE laid.row = arrived.row AND NOT (substr(missing.known_by, 1, 3) = 'id:' AND substr(laid.known_by, 1, 3) = 'id:')`;

const IS_BROKEN = "code IN ('RAGGED', 'BROKEN_QUOTES')";

/** Not NULL only if both have a name and a number: a cell that was filled in is a correction. */
const IS_REPLACED = (() => {
  const differs = (field: string) =>
    `json_extract(laid.fields, '$.${field}') <> json_extract(rows.fields, '$.${field}')`;
  return `(json_valid(rows.fields) AND ${differs('name')} AND coalesce(${differs('registration_number')}, ${differs('vat_number')}))`;
})();

const IN_FILE = 'SELECT 1 FROM temp.laid WHERE laid.member_id = members.id AND laid.code IS NULL';

const USABLE = `SELECT (SELECT count(*) FROM temp.laid WHERE code IS NULL) AS now, count(*) AS before,
    count(*) FILTER (WHERE EXISTS (${IN_FILE} AND ${IS_REPLACED} IS NOT TRUE)) AS kept,
    count(*) FILTER (WHERE EXISTS (${IN_FILE} AND ${IS_REPLACED})) AS replaced,
    (SELECT line FROM temp.laid WHERE ${IS_BROKEN} AND row = (SELECT max(row) FROM temp.laid)
       AND (SELECT count(*) FROM temp.laid WHERE ${IS_BROKEN}) = 1
       AND NOT EXISTS (SELECT 1 FROM members WHERE members.id = laid.member_id AND members.says = laid.says)) AS broken
  FROM members JOIN rows ON rows.run_id = members.run_id AND rows.row = members.run_row
  WHERE portfolio_id = ? AND left_at IS NULL AND outcome <> 'invalid'`;

export const MEMBER_STATE_COLUMNS = `members.id AS member, members.row AS at_row, rows.outcome, rows.stages, rows.fetched, rows.updated_at, members.changed_at,
  (SELECT way.run_id || ' ' || way.row FROM rows AS way WHERE way.member_id = members.id AND way.outcome = 'pending' ORDER BY way.run_id DESC LIMIT 1) AS way`;

const COMPARED = `SELECT laid.row AS laid_row, laid.member_id, laid.line, laid.fields, laid.code, laid.message, members.run_id, members.run_row, ${MEMBER_STATE_COLUMNS}
  FROM temp.laid
  LEFT JOIN members ON members.id = laid.member_id AND members.says = laid.says
  LEFT JOIN rows ON rows.run_id = members.run_id AND rows.row = members.run_row
  WHERE laid.row > ? ORDER BY laid.row LIMIT ?`;

/** The current members of a portfolio, each with its row. */
export const MEMBER_STATES = `members.run_id, members.run_row, ${MEMBER_STATE_COLUMNS}
  FROM members JOIN rows ON rows.run_id = members.run_id AND rows.row = members.run_row
  WHERE portfolio_id = ? AND left_at IS NULL`;

/** A member's state, as read from `members` and `rows`. */
export interface MemberStateRow {
  readonly member: number;
  readonly at_row: number;
  readonly run_id: string;
  readonly run_row: number;
  readonly outcome: RowOutcome;
  readonly stages: string;
  readonly fetched: string;
  readonly updated_at: number | null;
  readonly changed_at: number | null;
  /** The run and number of a row in progress, as one text. */
  readonly way: string | null;
}

/** The same as an array: for hundreds of thousands of members it is read in two thirds of the time. */
export type MemberStateColumns = readonly [
  run_id: string,
  run_row: number,
  member: number,
  at_row: number,
  outcome: RowOutcome,
  stages: string,
  fetched: string,
  updated_at: number | null,
  changed_at: number | null,
  way: string | null,
];

export function rowOfColumns(columns: MemberStateColumns): MemberStateRow {
  const [run_id, run_row, member, at_row, outcome, stages, fetched, updated_at, changed_at, way] = columns;
  return { run_id, run_row, member, at_row, outcome, stages, fetched, updated_at, changed_at, way };
}

export type MemberStateReader = (row: MemberStateRow) => MemberState;

/** `damaged`: the value used for a damaged text. Without it, damage throws with its place. */
export function* memberStateReader(database: Sql, damaged?: Record<string, never>): Script<MemberStateReader> {
  const read = <T>(of: JsonColumn<T>, text: string, { run_id, run_row }: MemberStateRow): T | Record<string, never> =>
    (damaged && (findCell(of, text) ?? damaged)) ?? readCell(of, text, { run: run_id, row: run_row });
  const pipelines = new Map(
    yield* database.prepare<[], [string, string]>('SELECT id, pipeline_sha256 FROM runs').raw().all(),
  );
  return (row) => ({
    member: row.member,
    row: row.at_row,
    at: { runId: row.run_id, row: row.run_row },
    outcome: row.outcome,
    stages: read(rowStages, row.stages, row),
    fetched: read(rowFetched, row.fetched, row),
    updatedAt: row.updated_at ?? 0,
    changedAt: row.changed_at,
    pipelineSha256: pipelines.get(row.run_id) ?? '',
    onItsWay: placeOf(row.way),
  });
}

function placeOf(way: string | null): MemberState['onItsWay'] {
  const [runId = '', row = ''] = way?.split(' ') ?? [];
  return way === null ? null : { runId, row: Number(row) };
}

const OF_V1 = ID_SPACES.filter((space) => idSpaces[space].api === 'v1')
  .map((space) => `'${space}'`)
  .join(', ');

/** The companies of members' current rows, at the provider of their run. `since` is an SQL value. */
const standing = (since: string) => `INSERT INTO member_companies (member_id, space, id, environment_id, known_since)
  SELECT members.id, row_ids.space, row_ids.id, environment_id, ${since}
  FROM members JOIN row_ids ON row_ids.run_id = members.run_id AND row_ids.row = members.run_row
  JOIN run_environments ON run_environments.run_id = members.run_id AND api = CASE WHEN row_ids.space IN (${OF_V1}) THEN 'v1' ELSE 'v2' END`;

/** Of a member's company, as `known`: the match was not withdrawn. */
export const STILL_KNOWN = 'known.gone_at IS NULL';

/**
 * Records the companies that a member is matched with. A company it keeps has its earlier date. For a new company the
 * row's own purchases came before: a first purchase is no change.
 */
export function companyWriter(database: Sql) {
  const isSame = 'member_companies.id = excluded.id AND member_companies.environment_id = excluded.environment_id';
  const keep = database.prepare(
    `${standing('@updatedAt')} WHERE members.run_id = @runId AND members.run_row = @row
     ON CONFLICT (member_id, space) DO UPDATE SET id = excluded.id, environment_id = excluded.environment_id,
       known_since = CASE WHEN ${isSame} THEN member_companies.known_since ELSE excluded.known_since END, gone_at = NULL
     WHERE NOT (${isSame}) OR member_companies.gone_at IS NOT NULL`,
  );
  // The member turns out to be the same company as before.
  const back = database.prepare(
    `INSERT INTO absences (member_id, space, left_at, back_at)
     SELECT known.member_id, known.space, gone_at, @updatedAt FROM members
     JOIN row_ids ON row_ids.run_id = members.run_id AND row_ids.row = members.run_row
     JOIN member_companies AS known ON known.member_id = members.id AND known.space = row_ids.space AND known.id = row_ids.id
     WHERE members.run_id = @runId AND members.run_row = @row AND gone_at IS NOT NULL
     ON CONFLICT (member_id, space, left_at) DO UPDATE SET back_at = excluded.back_at`,
  );
  const lose = database.prepare(
    `UPDATE member_companies AS known SET gone_at = @updatedAt
     WHERE member_id IN (SELECT id FROM members WHERE run_id = @runId AND run_row = @row) AND ${STILL_KNOWN}
       AND space NOT IN (SELECT space FROM row_ids WHERE run_id = @runId AND row = @row)`,
  );
  return function* (
    runId: string,
    row: number,
    { outcome, updatedAt }: Pick<Checkpoint, 'outcome' | 'updatedAt'>,
    isAnyKnown: boolean,
  ): Script<void> {
    // A pending or failed row does not end an earlier match.
    if (isAnyKnown && outcome !== 'pending' && outcome !== 'failed') yield* lose.run({ runId, row, updatedAt });
    if (isAnyKnown) yield* back.run({ runId, row, updatedAt });
    yield* keep.run({ runId, row, updatedAt });
  };
}

/** For a portfolio made of finished rows: matches count from when the members were first seen. */
export const recordMatches = (database: Sql, portfolioId: number): Script<void> =>
  database.prepare(`${standing('first_seen - 1')} WHERE members.portfolio_id = ?`).run(portfolioId);
