import type { RowOutcome } from '../../domain/outcomes.js';
import type { Database, Script, Sql } from '../database.js';
import type { Standing } from '../portfolios.js';
import type { Stages } from '../runs.js';
import { type Cell, Cells, rowFetched, rowStages } from './cells.js';
import type { BelievedTimes } from './times.js';

/** Where a member stands, as it is read from `members` and `rows`. */
export interface StandingRow {
  readonly member: number;
  readonly at_row: number;
  readonly run_id: string;
  readonly run_row: number;
  readonly outcome: RowOutcome;
  readonly stages: string;
  readonly fetched: string;
  readonly updated_at: number | null;
  readonly changed_at: number | null;
  /** The run and the number of a row that is on its way, in one text. */
  readonly way: string | null;
}

export const STANDING_COLUMNS = `members.id AS member, members.row AS at_row, rows.outcome, rows.stages, rows.fetched, rows.updated_at, members.changed_at,
  (SELECT way.run_id || ' ' || way.row FROM rows AS way WHERE way.member_id = members.id AND way.outcome = 'pending' ORDER BY way.run_id DESC LIMIT 1) AS way`;

/** The same as a list, after the run and the number of the row: of hundreds of thousands that is read in two thirds of the time. */
export type StandingColumns = readonly [
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

export function rowOfColumns(columns: StandingColumns): StandingRow {
  const [run_id, run_row, member, at_row, outcome, stages, fetched, updated_at, changed_at, way] = columns;
  return { run_id, run_row, member, at_row, outcome, stages, fetched, updated_at, changed_at, way };
}

export type StandingReader = (row: StandingRow) => Standing;

/** `damaged`: what is read in place of a text that is damaged; without it that is thrown, with its place. */
export function* standingReader(
  database: Sql & Pick<Database, 'stored'>,
  times: BelievedTimes,
  damaged?: Record<string, never>,
): Script<StandingReader> {
  const cells = new Cells(database);
  const read = <T>(of: Cell<T>, text: string, key: readonly (string | number)[]): T | Record<string, never> =>
    damaged === undefined ? cells.read(of, text, key) : (cells.find(of, text, key) ?? damaged);
  const pipelines = new Map(
    yield* database.prepare<[], [string, string]>('SELECT id, pipeline_sha256 FROM runs').raw().all(),
  );
  // Of a million members nearly all say the same.
  const known = new Map<string, Stages>();
  const stages = ({ stages: text, run_id, run_row }: StandingRow): Stages => {
    const before = known.get(text);
    if (before !== undefined) return before;
    const found = read(rowStages, text, [run_id, run_row]);
    if (known.size < REMEMBERED) known.set(text, found);
    return found;
  };
  return (row) => ({
    member: row.member,
    row: row.at_row,
    at: { runId: row.run_id, row: row.run_row },
    outcome: row.outcome,
    stages: stages(row),
    fetched: times.allBelieved(read(rowFetched, row.fetched, [row.run_id, row.run_row])),
    updatedAt: times.believed(row.updated_at ?? 0),
    changedAt: row.changed_at && times.believed(row.changed_at),
    pipelineSha256: pipelines.get(row.run_id) ?? '',
    onItsWay: placeOf(row.way),
  });
}

const REMEMBERED = 1000;

function placeOf(way: string | null): Standing['onItsWay'] {
  const [runId = '', row = ''] = way?.split(' ') ?? [];
  return way === null ? null : { runId, row: Number(row) };
}
