import { bodySaysNothing } from '../../util/says-nothing.js';
import type { SnapshotAnswer, UnsoundAnswer } from '../reading.js';
import { parseStored } from '../stored-json.js';
import type { Bodies } from './bodies.js';
import { Cells, rowFetched, rowStages } from './cells.js';
import type { Connection } from './driver.js';

/** The row by which something stands. */
export interface Place {
  readonly run_id: string;
  readonly run_row: number;
}

/** What keeps the newest answers about a row's company from being what it stands by. */
export interface Shortcomings {
  /** The stages whose answers are in question. */
  readonly asked: string | null;
  /** The statuses, where a stage had nothing to give. */
  readonly lacking: string | null;
}

/** What a stage asks for at one time comes within this, allowances that are waited for included. */
const SAME_READING_MS = 86_400_000;

export type AnswerRow = Omit<SnapshotAnswer, 'body' | 'params'> &
  Pick<UnsoundAnswer, 'api'> & { readonly id: number; readonly params: string };

/**
 * A new answer that is in question is not what the company stands by: the one before it is, until somebody has decided, and
 * where there was none, nothing is: it may be another company's. And one in which nothing was returned says nothing against
 * what came before it (V1-22).
 */
export function answerStoodBy(database: Connection, bodies: Bodies) {
  const earlier = database.prepare<[number, string], AnswerRow>(
    `SELECT calls.id, calls.operation, calls.params, lower(hex(calls.raw_sha256)) AS rawSha256, calls.settled_at AS fetchedAt, calls.stage, api
     FROM calls AS newer CROSS JOIN calls INDEXED BY calls_by_subject
       ON calls.subject_space = newer.subject_space AND calls.subject_id = newer.subject_id AND calls.subject_id IS NOT NULL AND calls.params IS NOT NULL
     JOIN environments ON environments.id = calls.environment_id
     WHERE newer.id = ? AND calls.environment_id = newer.environment_id AND calls.request_key = newer.request_key AND calls.stage = ?
       AND calls.id < newer.id AND calls.charge <> 'owned' AND calls.raw_sha256 IS NOT NULL AND calls.error_code IS NULL
     ORDER BY calls.id DESC`,
  );
  const fetched = database
    .prepare<[string, number], string>('SELECT fetched FROM rows WHERE run_id = ? AND row = ?')
    .pluck();
  const withdrawn = database
    .prepare<[string, number, string], number | null>(
      `SELECT min(decided_at) FROM questions JOIN decisions USING (environment_id, entity_key)
       WHERE run_id = ? AND row = ? AND questions.stage = ? AND decision = 'confirm' AND withdrawn_at IS NOT NULL`,
    )
    .pluck();
  const cells = new Cells(database);

  /** When the answer of the stage was fetched by which the row stands; undefined: there was none, or nobody knows. */
  const asOf = (stage: string, { run_id, run_row }: Place): number | undefined => {
    const times = cells.find(rowFetched, fetched.get(run_id, run_row) ?? '{}', [run_id, run_row]) ?? {};
    return Object.hasOwn(times, stage) ? times[stage] : undefined;
  };
  const before = (answer: AnswerRow, stage: string, fits: (past: AnswerRow) => boolean): AnswerRow =>
    earlier.all(answer.id, stage).find(fits) ?? answer;
  /** Where a person has accepted an answer and withdrawn that, all that came from then on is in question. */
  const beforeDecided = (answer: AnswerRow, stage: string, { run_id, run_row }: Place): AnswerRow | undefined => {
    const decidedAt = withdrawn.get(run_id, run_row, stage) ?? Number.POSITIVE_INFINITY;
    const [, standing] = [answer, ...earlier.all(answer.id, stage)].filter(({ fetchedAt }) => fetchedAt <= decidedAt);
    return standing;
  };
  const says = ({ rawSha256 }: AnswerRow): boolean => {
    const body = bodies.readSound(rawSha256);
    return body !== undefined && !bodySaysNothing(body);
  };

  return (answer: AnswerRow, { asked, lacking }: Shortcomings, place: Place): AnswerRow | undefined => {
    const { stage, fetchedAt } = answer;
    if (stage === null) return answer;
    const stands = asOf(stage, place);
    if (asked?.split(',').includes(stage)) {
      if (stands === fetchedAt) return answer;
      if (stands === undefined) return beforeDecided(answer, stage, place);
      // Of that very time, and only where there is none the last before it: clocks have been wrong.
      const past = earlier.all(answer.id, stage);
      const then = past.find((one) => one.fetchedAt === stands);
      // A stage may ask for several things: who it is first, and what is in question is all that is new by then.
      if (then === undefined && fetchedAt > stands && fetchedAt - stands < SAME_READING_MS) return answer;
      return then ?? past.find((one) => one.fetchedAt <= stands) ?? answer;
    }
    const isEmpty = parseStored(lacking ?? '', rowStages.fits)?.[stage] === 'not_available' && stands === fetchedAt;
    return isEmpty ? before(answer, stage, says) : answer;
  };
}
