// Detects stored times in the future and treats them as the moment they were found.

import { isoTime } from '../util/clock.js';
import type { Script, Sql } from './db/database.js';

/** Clocks of machines that share a ledger differ: times less than this ahead are accepted. */
const AHEAD_MS = 86_400_000;

/** A finding is shown for this long, so that an operator's weekend is covered. */
const SHOWN_FOR_MS = 7 * 86_400_000;

export interface Times {
  /**
   * Corrects a stored time. A future time counts as the moment it was found, or as now if no attempt has found it yet.
   */
  corrected(at: number): number;
}

/** Future times: a clock was ahead when they were written, or is behind now. */
export interface ClockAhead {
  /** When an attempt first found them. Null: none has. */
  readonly foundAt: number | null;
  readonly latestAt: number;
  /** The number of answers with such a time. */
  readonly answers: number;
}

/** Should it still be shown? Later only `doctor` shows it. */
export const isRecentFinding = ({ foundAt }: ClockAhead, now: number): boolean =>
  foundAt === null || now - foundAt <= SHOWN_FOR_MS;

export function aheadInWords({ foundAt, latestAt, answers }: ClockAhead, now: number): string {
  const what =
    answers === 0 ? 'the ledger has times' : answers === 1 ? '1 answer has a date' : `${answers} answers have dates`;
  const then = foundAt === null ? 'at the next attempt' : `on ${day(foundAt)}`;
  const counted = answers === 0 ? '' : `. They count as fetched ${then}, and kybatch buys none of them again`;
  const until = foundAt === null ? '' : `. This note ends on ${day(foundAt + SHOWN_FOR_MS)}`;
  return `${what} in the future, up to ${day(latestAt)}. The clock was ahead then, or is behind now (${day(now)}). Set it${counted}${until}`;
}

const day = (at: number): string => (isoTime(at) ?? 'a damaged time').slice(0, 10);

/**
 * Nothing is rewritten, because it is unknown which clock was wrong. A time that has passed is used again. So a clock
 * that is behind for one night makes no answer older.
 */
export class CorrectedTimes implements Times {
  /** Values from when the ledger was opened. */
  readonly #horizon: number;
  readonly #foundAt: number;
  readonly #lastCall: number;

  /** Created by `readCorrectedTimes`. */
  constructor(
    { horizon, foundAt, lastCall }: ReadTimes,
    private readonly clock: () => number,
  ) {
    this.#horizon = horizon;
    this.#foundAt = foundAt;
    this.#lastCall = lastCall;
  }

  corrected(at: number): number {
    return at > this.#horizon && at > this.clock() + AHEAD_MS ? this.#foundAt : at;
  }

  /** Corrects many times. Usually none needs it. */
  allCorrected(times: Readonly<Record<string, number>>): Readonly<Record<string, number>> {
    for (const stage in times)
      if ((times[stage] ?? 0) > this.#horizon)
        return Object.fromEntries(Object.entries(times).map(([name, at]) => [name, this.corrected(at)]));
    return times;
  }

  /** As SQL, for statements prepared when the ledger opens. */
  sql(column: string): string {
    return `CASE WHEN ${column} > ${this.#horizon} THEN ${this.#foundAt} ELSE ${column} END`;
  }

  /** When a call was answered, as SQL. Calls of this process keep its clock's times, however long it runs. */
  get answeredAt(): string {
    return `CASE WHEN calls.settled_at > ${this.#horizon} AND calls.id <= ${this.#lastCall} THEN ${this.#foundAt} ELSE calls.settled_at END`;
  }
}

interface ReadTimes {
  readonly horizon: number;
  readonly foundAt: number;
  readonly lastCall: number;
}

export function* readCorrectedTimes(database: Sql, now: number, clock = () => now): Script<CorrectedTimes> {
  const horizon = now + AHEAD_MS;
  const note = yield* readNote(database, horizon);
  const lastCall = yield* database.prepare<[], number>('SELECT coalesce(max(id), 0) FROM calls').pluck().get();
  return new CorrectedTimes({ horizon, foundAt: note?.foundAt ?? now, lastCall: lastCall ?? 0 }, clock);
}

/** Records future times once, and again if more appear. For ledgers opened to write. */
export function* noteAhead(database: Sql, now: number): Script<ClockAhead | null> {
  const found = yield* findAhead(database, now);
  if (found === null) yield* database.prepare('DELETE FROM clock_ahead').run();
  if (found === null || found.foundAt !== null) return found;
  const { latestAt, answers, lastCall } = found;
  yield* database
    .prepare(
      `INSERT INTO clock_ahead (id, found_at, latest_at, answers, last_call_id) VALUES (1, @now, @latestAt, @answers, @lastCall)
       ON CONFLICT (id) DO UPDATE SET found_at = excluded.found_at, latest_at = excluded.latest_at, answers = excluded.answers,
         last_call_id = excluded.last_call_id`,
    )
    .run({ now, latestAt, answers, lastCall });
  return { ...found, foundAt: now };
}

interface Ahead extends ClockAhead {
  readonly lastCall: number;
}

/**
 * The same without a write. It scans all calls, in a third of the time of the check at opening. A refused attempt has
 * read its list and begun its run, but bought nothing: those times do not count.
 */
export function* findAhead(database: Sql, now: number): Script<Ahead | null> {
  const horizon = now + AHEAD_MS;
  const found = yield* database
    .prepare<[number], Omit<Ahead, 'foundAt'>>(
      `SELECT count(*) FILTER (WHERE params IS NOT NULL) AS answers, coalesce(max(id), 0) AS lastCall,
         max(max(coalesce(max(settled_at), 0), (SELECT coalesce(max(begun_at), 0) FROM starts)),
           (SELECT coalesce(max(last_success_at), 0) FROM portfolios)) AS latestAt
       FROM calls WHERE settled_at > ?`,
    )
    .get(horizon);
  if (found === undefined || found.latestAt <= horizon) return null;
  const note = yield* readNote(database, horizon);
  return { ...found, foundAt: note !== undefined && found.lastCall <= note.lastCall ? note.foundAt : null };
}

interface Note {
  readonly foundAt: number;
  readonly lastCall: number;
}

/** Undefined also if the clock that found them was ahead itself, or behind: some of those times have passed. */
function* readNote(database: Sql, horizon: number): Script<Note | undefined> {
  const note = yield* database
    .prepare<[], Note>('SELECT found_at AS foundAt, last_call_id AS lastCall FROM clock_ahead')
    .get();
  if (note === undefined || note.foundAt > horizon) return undefined;
  const hasCome = database.prepare<[number, number, number], 1>(
    'SELECT 1 FROM calls WHERE id <= ? AND settled_at > ? AND settled_at <= ? LIMIT 1',
  );
  const come = yield* hasCome.get(note.lastCall, note.foundAt + AHEAD_MS, horizon);
  return come === undefined ? note : undefined;
}
