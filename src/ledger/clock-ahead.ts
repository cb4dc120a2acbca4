import { isoTime } from '../util/iso-time.js';

/** Clocks of machines that share a ledger differ: what is dated less than this ahead is believed. */
export const AHEAD_MS = 86_400_000;

/** Whoever looks after it may have a weekend: a finding is told for so long. */
const TOLD_MS = 7 * 86_400_000;

/** What the ledger says of times, as far as it can be believed. */
export interface Times {
  /**
   * A time that has not come says only that it was written before it was found to be ahead: it counts as that moment, or
   * as now where nobody has worked on the ledger since.
   */
  believed(at: number): number;
}

/** Times that have not come: a clock was ahead when they were written, or is behind now. */
export interface ClockAhead {
  /** When a start first found them; null: none has yet. */
  readonly foundAt: number | null;
  readonly latestAt: number;
  /** Answers that are dated so. */
  readonly answers: number;
}

/** Is it still to be told? Later it is known, and in `doctor`. */
export const isNews = ({ foundAt }: ClockAhead, now: number): boolean => foundAt === null || now - foundAt <= TOLD_MS;

export function aheadInWords({ foundAt, latestAt, answers }: ClockAhead, now: number): string {
  const what =
    answers === 0 ? 'the ledger holds times' : answers === 1 ? '1 answer is dated' : `${answers} answers are dated`;
  const then = foundAt === null ? 'from the next start on' : `since ${day(foundAt)}`;
  const counted =
    answers === 0 ? '' : `; what is dated so counts as fetched when that was found (${then}), and ages from there`;
  return `${what} at a time that has not come, up to ${day(latestAt)}: the clock was ahead when that was written, or is behind now (${day(now)}). Look at it${counted}`;
}

const day = (at: number): string => (isoTime(at) ?? 'a damaged time').slice(0, 10);
