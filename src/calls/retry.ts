// Decides whether and when a failed call is sent again. Which errors are temporary: src/api/v1/client.ts and
// src/api/v2/errors.ts.

import { ApiError } from '../api/errors.js';
import type { CallStore } from '../ledger/money/call-store.js';
import type { AnyClient } from './request.js';

export interface RetryPolicy {
  readonly attempts: number;
  readonly baseMs: number;
  readonly capMs: number;
  /** Nothing is sent again, not even if the provider only asks to wait: a person decides. */
  readonly once?: true;
}

/** How often one call met each retryable class, and since when. */
export interface Tally {
  retry: number;
  slow_down: number;
  since: number | undefined;
}

/**
 * The pause before the next try. Undefined if there is none. `met`: errors of this class so far, including this one.
 */
export function retryDelayMs(
  error: ApiError,
  met: number,
  policy: RetryPolicy,
  random: () => number,
): number | undefined {
  if (!isRetryable(error)) return undefined;
  // kybatch aborted it.
  if (error.code === 'ABORTED' || policy.once === true) return undefined;
  const usual = error.class === 'slow_down' ? policy.attempts * PATIENCE : policy.attempts;
  if (met >= Math.min(usual, error.attemptsAtMost ?? usual)) return undefined;
  // Full jitter: calls that failed together do not return together.
  const jitter = Math.round(random() * Math.min(policy.capMs, policy.baseMs * 2 ** (met - 1)));
  // The provider's wait counts, but without any pause the call would be repeated at once.
  return Math.max(jitter, Math.min(error.retryAfterMs ?? 0, LONGEST_WAIT_MS));
}

/** A request to wait is no failure: a waiting row costs nothing, a failed one does. */
const PATIENCE = 4;

/** A timer cannot exceed 24 days, and no call should wait that long. */
export const LONGEST_WAIT_MS = 3_600_000;

export const isRetryable = (error: ApiError): error is ApiError & { readonly class: 'retry' | 'slow_down' } =>
  error.class === 'retry' || error.class === 'slow_down';

/**
 * The next attempt may succeed. A documented failure, or a v2 failure without a kind (V2-1), concerns this request if
 * others are answered: a person asks the provider.
 */
export const isUndocumentedFailure = (error: ApiError): boolean =>
  isRetryable(error) && error.attemptsAtMost === undefined && !isKnownFailure(error);

const isKnownFailure = ({ class: kind, httpStatus, charge, foreign }: ApiError): boolean =>
  kind === 'retry' && httpStatus !== undefined && charge === 'free' && !foreign;

export const isUnreadable = (error: ApiError): boolean =>
  isUndocumentedFailure(error) && error.httpStatus !== undefined && error.httpStatus >= 200 && error.httpStatus < 300;

export const asTemporary = (error: ApiError): ApiError =>
  new ApiError({
    class: 'retry',
    code: error.code,
    message: error.message,
    hint: `The provider answered before, but this response has another form. A proxy or gateway may have sent it. If it does not end: ${error.hint}`,
    api: error.api,
    operation: error.operation,
    charge: error.charge,
    httpStatus: error.httpStatus,
    requestId: error.requestId,
    retryAfterMs: error.retryAfterMs,
    foreign: error.foreign,
    exchange: error.exchange,
    cause: error,
  });

/** A temporary failure of the provider or the network, which breaker and limiter count. */
export const isOutageSign = (error: ApiError): boolean => error.class === 'retry' && error.code !== 'ABORTED';

/**
 * Something between kybatch and the provider refuses a key or route that the provider has accepted. The refusal
 * has not the provider's form, and the provider has answered this process or, by the ledger, an earlier one. One answer
 * of any operation proves key and address. A wrongly configured v2 route may also return a page: then the hint names
 * the routes file. A 401 without any body has no form, and one in JSON comes from an API, perhaps the
 * other one: both mean a revoked key (V1-10), and the run stops.
 */
export async function isIntermediaryDenial(
  { foreign, class: kind, httpStatus, exchange }: ApiError,
  client: Pick<AnyClient, 'isAccepted'> | null,
  environmentId: number | undefined,
  calls: Pick<CallStore, 'hasAnswered'>,
): Promise<boolean> {
  if (!foreign || kind !== 'stop_run') return false;
  if (httpStatus === 401 && /^(?:\{|$)/.test(exchange?.body.toString('utf8', 0, 64).trimStart() ?? '?')) return false;
  if (client?.isAccepted === true) return true;
  return environmentId !== undefined && (await calls.hasAnswered(environmentId));
}
