import type { ApiError } from '../api/errors.js';

export interface RetryPolicy {
  readonly attempts: number;
  readonly baseMs: number;
  readonly capMs: number;
}

/** How long to wait before the next attempt; undefined where there is none. */
export function retryDelayMs(
  error: ApiError,
  attempt: number,
  policy: RetryPolicy,
  random: () => number,
): number | undefined {
  // Only these two classes get better by themselves.
  if (error.class !== 'retry' && error.class !== 'slow_down') return undefined;
  // We stopped it ourselves.
  if (error.code === 'ABORTED') return undefined;
  if (attempt >= Math.min(policy.attempts, error.attemptsAtMost ?? policy.attempts)) return undefined;
  // The provider knows best.
  if (error.retryAfterMs !== undefined) return error.retryAfterMs;
  // Full jitter: a herd that fell together does not come back together.
  return Math.round(random() * Math.min(policy.capMs, policy.baseMs * 2 ** (attempt - 1)));
}

/** Trouble on the provider's side: what the breaker counts and the limiter yields to. */
export const isTrouble = (error: ApiError): boolean => error.class === 'retry' && error.code !== 'ABORTED';
