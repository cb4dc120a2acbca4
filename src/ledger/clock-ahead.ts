// Answers dated in the future: a clock was ahead when they came, or is behind now.

import { isoTime } from '../util/clock.js';

/** Clocks of machines that share a ledger differ: times less than this ahead are accepted. */
export const AHEAD_MS = 86_400_000;

export interface ClockAhead {
  readonly latestAt: number;
  readonly answers: number;
}

export const aheadInWords = ({ latestAt, answers }: ClockAhead, now: number): string =>
  `${answers === 1 ? '1 answer has a date' : `${answers} answers have dates`} in the future, up to ${day(latestAt)}. The clock was ahead then, or is behind now (${day(now)}). Set it. Until then kybatch does not renew them: \`kybatch run FILE --rebuy\` buys them again`;

const day = (at: number): string => (isoTime(at) ?? 'a damaged time').slice(0, 10);
