import type { Script, Sql } from '../database.js';
import type { DamagedRecord } from '../health.js';
import { damagedRun } from '../stored-json.js';

interface Misnumbered {
  readonly run: string;
  readonly said: number;
  readonly count: number;
  readonly first: number | null;
  readonly last: number | null;
}

/**
 * Runs whose rows are not what they say they are: as many as the run counts, numbered from 1 on. A row beyond is handed
 * out to nobody, and a wrong count is never reached: the run would neither move nor end. While rows are taken in nothing
 * is said yet. A number stands once in a run: that is the key of the table. A run of a portfolio is about what was due,
 * and its rows go on in later runs: there it is the members who say which rows there must be.
 */
const NUMBERED = `SELECT runs.id AS run, row_count AS said, count(row) AS count, min(row) AS first, max(row) AS last
  FROM runs LEFT JOIN rows ON run_id = runs.id
  WHERE runs.state IN ('open', 'finished')`;
const ARE_NOT_ALL = `GROUP BY runs.id HAVING CASE
    WHEN portfolio_id IS NULL THEN count(row) <> row_count OR (count(row) > 0 AND (min(row) <> 1 OR max(row) <> count(row)))
    ELSE count(row) > row_count OR min(row) < 1 END
  ORDER BY runs.id`;

interface Lost {
  readonly run: string;
  readonly row: number;
  readonly count: number;
}

/** Rows by which members stand, and which are not there. */
const LOST = `SELECT members.run_id AS run, min(run_row) AS row, count(*) AS count FROM members
  WHERE NOT EXISTS (SELECT 1 FROM rows WHERE rows.run_id = members.run_id AND rows.row = members.run_row)`;

const lostRows = (database: Sql, run: string | null): Script<readonly Lost[]> =>
  run === null
    ? database.prepare<[], Lost>(`${LOST} GROUP BY 1 ORDER BY 1`).all()
    : database.prepare<[string], Lost>(`${LOST} AND members.run_id = ? GROUP BY 1`).all(run);

const lostInWords = ({ run, row, count }: Lost): string =>
  `row ${row} of run ${run}${count === 1 ? '' : ` and ${count - 1} more`}, by which a member of its portfolio stands, is not there (members.run_row, rows.row)`;

const misnumbered = (database: Sql, run: string | null): Script<readonly Misnumbered[]> =>
  run === null
    ? database.prepare<[], Misnumbered>(`${NUMBERED} ${ARE_NOT_ALL}`).all()
    : database.prepare<[string], Misnumbered>(`${NUMBERED} AND runs.id = ? ${ARE_NOT_ALL}`).all(run);

const inWords = ({ run, said, count, first, last }: Misnumbered): string =>
  `run ${run} says that it has ${said} rows, and has ${count}${count === 0 ? '' : `, numbered from ${first} to ${last}`} (runs.row_count, rows.row)`;

/** All of them, for `doctor`. */
export function* misnumberedRuns(database: Sql): Script<readonly DamagedRecord[]> {
  const wrong = yield* misnumbered(database, null);
  const lost = yield* lostRows(database, null);
  return [
    ...wrong.map((of) => ({ run: of.run, what: inWords(of) })),
    ...lost.map((of) => ({ run: of.run, what: lostInWords(of) })),
  ].map(({ run, what }) => ({ what, remedy: { kind: 'drop_run', run } }));
}

/** Refuses a start on such a run, before anything is spent on it. */
export function* mustBeNumbered(database: Sql, run: string): Script<void> {
  const [found] = yield* misnumbered(database, run);
  if (found !== undefined) throw damagedRun(inWords(found), [run]);
  const [lost] = yield* lostRows(database, run);
  if (lost !== undefined) throw damagedRun(lostInWords(lost), [run]);
}
