import { isSettled } from '../../domain/outcomes.js';
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
  /** Whether a stage had nothing to give. */
  readonly lacking: number;
  readonly statuses: string;
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
  const withdrawnAsked = database
    .prepare<[string, number], number | null>(
      `SELECT min(decided_at) FROM questions JOIN decisions USING (environment_id, entity_key)
       WHERE run_id = ? AND row = ? AND answered = 0 AND questions.stage <> '' AND withdrawn_at IS NOT NULL`,
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

  /**
   * The row has nothing of this stage, which comes after what is in question; what others have bought of it, or the row
   * itself by a word that was taken back, is not what it stands by. Until when it was: undefined where all of it stands.
   */
  const standsUntil = (stage: string, { statuses }: Shortcomings, place: Place): number | undefined => {
    const status = parseStored(statuses, rowStages.fits)?.[stage];
    if (status === undefined || status === 'failed' || isSettled(status)) return undefined;
    if (asOf(stage, place) !== undefined) return undefined;
    return withdrawnAsked.get(place.run_id, place.run_row) ?? Number.NEGATIVE_INFINITY;
  };

  return {
    about(answer: AnswerRow, short: Shortcomings, place: Place): AnswerRow | undefined {
      const { stage, fetchedAt } = answer;
      if (stage === null) return answer;
      const { asked, lacking, statuses } = short;
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
      const until = asked === null ? undefined : standsUntil(stage, short, place);
      if (until !== undefined) return [answer, ...earlier.all(answer.id, stage)].find((one) => one.fetchedAt < until);
      const isNone = lacking === 1 && parseStored(statuses, rowStages.fits)?.[stage] === 'not_available';
      return isNone && stands === fetchedAt ? before(answer, stage, says) : answer;
    },
    /** Of what was asked for the company, without an ID in the request: a stage's answers belong together. */
    askedFor(answers: readonly AnswerRow[], short: Shortcomings, place: Place): readonly AnswerRow[] {
      if (short.asked === null) return answers;
      const late = answers.filter(({ stage, fetchedAt }) => {
        const until = stage === null ? undefined : standsUntil(stage, short, place);
        return until !== undefined && fetchedAt >= until;
      });
      const left = new Set(late.map(({ stage }) => stage));
      return answers.filter(({ stage }) => !left.has(stage));
    },
  };
}
