import { bodySaysNothing } from '../../util/says-nothing.js';
import type { Database, Script, Sql } from '../database.js';
import type { SnapshotAnswer, UnsoundAnswer } from '../snapshot.js';
import { parseStored } from '../stored-json.js';
import type { Bodies } from './bodies.js';
import { Cells, rowFetched, rowStages } from './cells.js';
import { FITS } from './verdicts.js';

/** The row by which something stands. */
export interface Place {
  readonly run_id: string;
  readonly run_row: number;
}

export type AnswerRow = Omit<SnapshotAnswer, 'body' | 'params'> &
  Pick<UnsoundAnswer, 'api'> & { readonly id: number; readonly params: string };

interface VerdictRow {
  readonly rawSha256: string;
  readonly fits: 0 | 1;
}

/**
 * A new answer that is in question is not what the company stands by: the newest before it is that was compared and is the
 * company's, or was accepted by a person; where there is none, nothing is: it may be another company's. And one in which
 * nothing was returned says nothing against what came before it (V1-22).
 */
export function answerStoodBy(database: Sql & Pick<Database, 'stored'>, bodies: Bodies) {
  const verdicts = database.prepare<[string, number, number], VerdictRow>(
    `SELECT lower(hex(verdicts.raw_sha256)) AS rawSha256, ${FITS} AS fits FROM calls
     CROSS JOIN row_ids ON row_ids.run_id = ? AND row_ids.row = ?
     CROSS JOIN verdicts ON verdicts.space = row_ids.space AND verdicts.id = row_ids.id
       AND verdicts.environment_id = calls.environment_id AND verdicts.request_key = calls.request_key
     WHERE calls.id = ?`,
  );
  const earlier = database.prepare<[number], AnswerRow>(
    `SELECT calls.id, calls.operation, calls.params, lower(hex(calls.raw_sha256)) AS rawSha256, calls.settled_at AS fetchedAt, calls.stage, api
     FROM calls AS newer CROSS JOIN calls INDEXED BY calls_by_subject
       ON calls.subject_space = newer.subject_space AND calls.subject_id = newer.subject_id AND calls.subject_id IS NOT NULL AND calls.params IS NOT NULL
     JOIN environments ON environments.id = calls.environment_id
     WHERE newer.id = ? AND calls.environment_id = newer.environment_id AND calls.request_key = newer.request_key
       AND calls.id < newer.id AND calls.charge <> 'owned' AND calls.raw_sha256 IS NOT NULL AND calls.error_code IS NULL
     ORDER BY calls.id DESC`,
  );
  const fetched = database
    .prepare<[string, number], string>('SELECT fetched FROM rows WHERE run_id = ? AND row = ?')
    .pluck();
  const cells = new Cells(database);

  function* compared(answer: AnswerRow, { run_id, run_row }: Place): Script<AnswerRow | undefined> {
    const known = yield* verdicts.all(run_id, run_row, answer.id);
    if (known.length === 0) return answer;
    const isKnown = ({ rawSha256 }: AnswerRow) => known.some((verdict) => verdict.rawSha256 === rawSha256);
    const fits = ({ rawSha256 }: AnswerRow) => known.some((verdict) => verdict.rawSha256 === rawSha256 && verdict.fits);
    if (fits(answer)) return answer;
    const all = [answer, ...(yield* earlier.all(answer.id))];
    // Before verdicts were written down a stage compared what it had bought; nobody compares what is bought by hand.
    const before = all.slice(all.findLastIndex(isKnown) + 1);
    return all.find(fits) ?? before.find(({ stage }) => stage !== null);
  }
  /** When the answer of the stage was fetched by which the row stands; undefined: there was none, or nobody knows. */
  function* asOf(stage: string, { run_id, run_row }: Place): Script<number | undefined> {
    const text = (yield* fetched.get(run_id, run_row)) ?? '{}';
    const times = cells.find(rowFetched, text, [run_id, run_row]) ?? {};
    return Object.hasOwn(times, stage) ? times[stage] : undefined;
  }
  function* says({ rawSha256 }: AnswerRow): Script<boolean> {
    const body = yield* bodies.readSound(rawSha256);
    return body !== undefined && !bodySaysNothing(body);
  }

  /** `lacking`: the statuses of the row, where a stage had nothing to give. */
  return function* (answer: AnswerRow, lacking: string | null, place: Place): Script<AnswerRow | undefined> {
    const standing = yield* compared(answer, place);
    const stage = standing?.stage ?? null;
    if (standing === undefined || stage === null || lacking === null) return standing;
    if (parseStored(lacking, rowStages.fits)?.[stage] !== 'not_available') return standing;
    if ((yield* asOf(stage, place)) !== standing.fetchedAt) return standing;
    for (const one of yield* earlier.all(standing.id))
      if (one.stage === stage && (yield* says(one)) && (yield* compared(one, place)) === one) return one;
    return standing;
  };
}
