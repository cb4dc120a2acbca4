import type { Script, Sql, Statement } from '../database.js';
import type { ComparedRow, LaidRow, UsableRows } from '../portfolios.js';
import { STANDING_COLUMNS, type StandingReader, type StandingRow } from './standings.js';

/**
 * The rows of a file beside the members of a portfolio. They lie in a temporary table: a file of any size is compared in
 * the same memory, and a night on which nothing is new leaves nothing behind.
 */
export class LaidRows {
  readonly #database: Sql;
  #insert: Statement<unknown[], unknown> | undefined;
  #compared: Statement<[number, number], ComparedLine> | undefined;

  constructor(database: Sql) {
    this.#database = database;
  }

  *lay(rows: readonly LaidRow[], anew: boolean): Script<void> {
    const database = this.#database;
    if (anew) yield* database.exec(TABLE);
    if (anew || this.#insert === undefined) this.#insert = database.prepare(INSERT);
    const insert = this.#insert;
    for (const { row, line, inputId, company, says, cells, values, kinds, fields, problem } of rows)
      yield* insert.run(
        row,
        line,
        inputId,
        company,
        says,
        cells,
        JSON.stringify(values),
        kinds ?? null,
        JSON.stringify(fields),
        problem?.code ?? null,
        problem?.message ?? null,
      );
  }

  *repeatedId(): Script<string | null> {
    const repeated = this.#database.prepare<[], string>(
      'SELECT input_id FROM temp.laid WHERE input_id IS NOT NULL GROUP BY input_id HAVING count(*) > 1 LIMIT 1',
    );
    return (yield* repeated.pluck().get()) ?? null;
  }

  /** Says of each row which member it is. An ID counts where no other row has the same. */
  *match(portfolioId: number | null): Script<void> {
    const run = (sql: string, ...parameters: unknown[]) => this.#database.prepare(sql).run(...parameters);
    const byId = (yield* this.repeatedId()) === null ? 1 : 0;
    yield* run(NUMBER_COPIES, { byId });
    yield* run(NAME_ROWS, { byId });
    yield* run('UPDATE temp.laid SET member_id = NULL WHERE member_id IS NOT NULL');
    if (portfolioId === null) return;
    yield* run(MATCH_BY_KEY, { portfolioId });
    yield* run(MATCH_BY_COMPANY, { portfolioId });
  }

  /** How many members that can be worked on are there still. */
  *usable(portfolioId: number): Script<UsableRows> {
    yield* this.match(portfolioId);
    const usable = this.#database.prepare<[number], UsableRows>(USABLE);
    return (yield* usable.get(portfolioId)) ?? { now: 0, before: 0, kept: 0 };
  }

  /** The rows after one, with where each stands; after `match`. */
  *compared(after: number, read: StandingReader): Script<readonly ComparedRow[]> {
    this.#compared ??= this.#database.prepare<[number, number], ComparedLine>(COMPARED);
    return (yield* this.#compared.all(after, BATCH)).map((found) => {
      const { line, fields, code, message } = found;
      const isKnown = found.member !== null;
      return {
        row: found.laid_row,
        line,
        fields: JSON.parse(fields) as ComparedRow['fields'],
        problem: code === null ? null : { code, message: message ?? '' },
        standing: isKnown ? read(found as StandingRow) : null,
      };
    });
  }
}

const BATCH = 1000;

interface ComparedLine extends Omit<StandingRow, 'member'> {
  readonly member: number | null;
  readonly laid_row: number;
  readonly line: number;
  readonly fields: string;
  readonly code: string | null;
  readonly message: string | null;
}

/** In words of both engines. To SQLite BYTEA is a name like any other, and bytes stay as they are; an index goes with its table. */
const TABLE = `DROP TABLE IF EXISTS temp.laid;
  CREATE TEMP TABLE laid (
    row INTEGER PRIMARY KEY, line BIGINT NOT NULL, input_id TEXT, company TEXT, says BYTEA NOT NULL, cells BYTEA NOT NULL,
    input_values TEXT NOT NULL, input_kinds TEXT, fields TEXT NOT NULL, code TEXT, message TEXT, known_by TEXT, member_id BIGINT);
  CREATE INDEX laid_by_member ON laid (member_id);
  CREATE INDEX laid_by_id ON laid (input_id) WHERE input_id IS NOT NULL;
  CREATE INDEX laid_by_company ON laid (company) WHERE company IS NOT NULL;`;

const INSERT = `INSERT INTO temp.laid (row, line, input_id, company, says, cells, input_values, input_kinds, fields, code, message)
  VALUES (?, ?, ?, ?, unhex(?), unhex(?), ?, ?, ?, ?, ?)`;

/** Rows that say the same company are told apart by their order; those with an ID do not count for those without. */
const NUMBER_COPIES = `UPDATE temp.laid SET company = numbered.company FROM (
    SELECT row AS at, company || '#' || row_number() OVER (PARTITION BY company, @byId = 1 AND input_id IS NOT NULL ORDER BY row) AS company
    FROM temp.laid WHERE company IS NOT NULL AND known_by IS NULL) AS numbered
  WHERE laid.row = numbered.at`;

const KNOWN_BY = `CASE
    WHEN @byId = 1 AND input_id IS NOT NULL THEN 'id:' || input_id
    WHEN company IS NOT NULL THEN 'company:' || company
    ELSE 'row:' || laid.row END`;

/** A file is matched several times: what is as it was is not written again. */
const NAME_ROWS = `UPDATE temp.laid SET known_by = ${KNOWN_BY} WHERE known_by IS DISTINCT FROM ${KNOWN_BY}`;

const MATCH_BY_KEY = `UPDATE temp.laid SET member_id = members.id FROM members
  WHERE members.portfolio_id = @portfolioId AND members.known_by = laid.known_by`;

/** A column of IDs has come or gone. Two different IDs are two members, whatever else they say. */
const MATCH_BY_COMPANY = `UPDATE temp.laid SET member_id = (
    SELECT id FROM members WHERE portfolio_id = @portfolioId AND members.company = laid.company
      AND NOT (substr(members.known_by, 1, 3) = 'id:' AND substr(laid.known_by, 1, 3) = 'id:')
      AND NOT EXISTS (SELECT 1 FROM temp.laid AS other WHERE other.member_id = members.id)
    ORDER BY left_at IS NOT NULL, id LIMIT 1)
  WHERE member_id IS NULL AND company IS NOT NULL
    AND EXISTS (SELECT 1 FROM members WHERE portfolio_id = @portfolioId AND members.company = laid.company)`;

const USABLE = `SELECT (SELECT count(*) FROM temp.laid WHERE code IS NULL) AS now, count(*) AS before,
    count(*) FILTER (WHERE EXISTS (SELECT 1 FROM temp.laid WHERE laid.member_id = members.id AND laid.code IS NULL)) AS kept
  FROM members JOIN rows ON rows.run_id = members.run_id AND rows.row = members.run_row
  WHERE portfolio_id = ? AND left_at IS NULL AND outcome <> 'invalid'`;

const COMPARED = `SELECT laid.row AS laid_row, laid.line, laid.fields, laid.code, laid.message, members.run_id, members.run_row, ${STANDING_COLUMNS}
  FROM temp.laid
  LEFT JOIN members ON members.id = laid.member_id AND members.says = laid.says
  LEFT JOIN rows ON rows.run_id = members.run_id AND rows.row = members.run_row
  WHERE laid.row > ? ORDER BY laid.row LIMIT ?`;
