import type { ApiError } from '../api/errors.js';

export interface RetryPolicy {
  readonly attempts: number;
  readonly baseMs: number;
  readonly capMs: number;
}

/** How often one call met each of the two classes that get better by themselves. */
export interface Tally {
  retry: number;
  slow_down: number;
}

/**
 * How long to wait before the next attempt; undefined where there is none. `met` counts what this call met of the
 * error's own class, this time included.
 */
export function retryDelayMs(
  error: ApiError,
  met: number,
  policy: RetryPolicy,
  random: () => number,
): number | undefined {
  // Only these two classes get better by themselves.
  if (error.class !== 'retry' && error.class !== 'slow_down') return undefined;
  // We stopped it ourselves.
  if (error.code === 'ABORTED') return undefined;
  const usual = error.class === 'slow_down' ? policy.attempts * PATIENCE : policy.attempts;
  if (met >= Math.min(usual, error.attemptsAtMost ?? usual)) return undefined;
  // The provider knows best.
  if (error.retryAfterMs !== undefined) return Math.min(error.retryAfterMs, LONGEST_WAIT_MS);
  // Full jitter: a herd that fell together does not come back together.
  return Math.round(random() * Math.min(policy.capMs, policy.baseMs * 2 ** (met - 1)));
}

/** However mixed its troubles, a call is not sent more often than this. */
export const sendsAtMost = ({ attempts }: RetryPolicy): number => attempts * (1 + PATIENCE);

/** Being asked to wait is no failure: a row that waits its turn costs nothing, a failed one does. */
const PATIENCE = 4;

/** A timer cannot be set for longer than 24 days, and nobody waits that long for one call. */
export const LONGEST_WAIT_MS = 3_600_000;

/** Trouble on the provider's side, or on the way there: what the breaker counts and the limiter yields to. */
export const isTrouble = (error: ApiError): boolean =>
  error.class === 'retry' && error.code !== 'ABORTED' && (error.httpStatus === undefined || error.httpStatus >= 500);
