// Durations as users write them, and whether an answer is still fresh. The default of an operation is its `keep` in
// `src/api`. `freshness` in a pipeline file overrides it.

import { UsageError } from './errors.js';

const MS_PER_UNIT = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** A whole number with its unit, `0`, or `forever`. Seven digits keep even days exact in milliseconds. */
export const DURATION = /^(?:0|forever|(\d{1,7})(ms|s|m|h|d))$/;
export const FINITE_DURATION = /^(?:0|(\d{1,7})(ms|s|m|h|d))$/;

export const DURATION_FORM = 'must be a duration like 500ms, 5s, 30m, 12h or 30d';

/** Milliseconds. `forever` is Infinity. A number without a unit is refused, because it is ambiguous. */
export function parseDuration(text: string): number {
  const match = DURATION.exec(text);
  if (match === null)
    throw new UsageError('DURATION_INVALID', `${JSON.stringify(text)} ${DURATION_FORM}, or 0, or forever`);
  if (text === 'forever') return Infinity;
  return Number(match[1] ?? 0) * MS_PER_UNIT[(match[2] ?? 'ms') as keyof typeof MS_PER_UNIT];
}

export const freshUntil = (fetchedAt: number, freshMs: number): number => fetchedAt + freshMs;

/** An answer from exactly that moment is still fresh. */
export const isOver = (until: number, now: number): boolean => until < now;

/** The oldest answer that can be reused. Infinity: none, because the operation is always asked again. */
export const reusableSince = (now: number, freshMs: number): number =>
  freshMs === 0 ? Number.POSITIVE_INFINITY : now - freshMs;
