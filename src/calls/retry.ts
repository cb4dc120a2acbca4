import { ApiError } from '../api/errors.js';
import type { CallStore } from '../ledger/money/calls.js';
import type { AnyClient } from './request.js';

export interface RetryPolicy {
  readonly attempts: number;
  readonly baseMs: number;
  readonly capMs: number;
  /** Nothing is sent again, not even where the provider only asks for patience: a person decides about it. */
  readonly once?: true;
}

/** How often one call met each of the two classes that get better by themselves, and since when. */
export interface Tally {
  retry: number;
  slow_down: number;
  since: number | undefined;
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
  if (!isRetryable(error)) return undefined;
  // We stopped it ourselves.
  if (error.code === 'ABORTED' || policy.once === true) return undefined;
  const usual = error.class === 'slow_down' ? policy.attempts * PATIENCE : policy.attempts;
  if (met >= Math.min(usual, error.attemptsAtMost ?? usual)) return undefined;
  // Full jitter: a herd that fell together does not come back together.
  const jitter = Math.round(random() * Math.min(policy.capMs, policy.baseMs * 2 ** (met - 1)));
  // The provider knows best, but a wait of nothing is no wait: it would be asked again in the same moment.
  return Math.max(jitter, Math.min(error.retryAfterMs ?? 0, LONGEST_WAIT_MS));
}

/** Being asked to wait is no failure: a row that waits its turn costs nothing, a failed one does. */
const PATIENCE = 4;

/** A timer cannot be set for longer than 24 days, and nobody waits that long for one call. */
export const LONGEST_WAIT_MS = 3_600_000;

/** Only these two classes get better by themselves. */
export const isRetryable = (error: ApiError): error is ApiError & { readonly class: 'retry' | 'slow_down' } =>
  error.class === 'retry' || error.class === 'slow_down';

/**
 * The next start may be answered. A failure that the document knows, and one that v2 gives no kind for (V2-1), are about
 * this request if other requests are answered: a person asks the provider.
 */
export const isUndocumentedFailure = (error: ApiError): boolean =>
  isRetryable(error) && error.attemptsAtMost === undefined && !isKnownFailure(error);

/** What the document calls a failure that costs nothing. */
const isKnownFailure = ({ class: kind, httpStatus, charge, foreign }: ApiError): boolean =>
  kind === 'retry' && httpStatus !== undefined && charge === 'free' && !foreign;

/** A success by its status, and nothing that the operation returns. */
export const isUnreadable = (error: ApiError): boolean =>
  isUndocumentedFailure(error) && error.httpStatus !== undefined && error.httpStatus >= 200 && error.httpStatus < 300;

/** The same error as trouble on the way. */
export const asTrouble = (error: ApiError): ApiError =>
  new ApiError({
    class: 'retry',
    code: error.code,
    message: error.message,
    hint: `The answer has not the provider's form, and the provider has answered in its own: something on the way denies it. Where it always does: ${error.hint}`,
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

/** Trouble on the provider's side, or on the way there: what the breaker counts and the limiter yields to. */
export const isTrouble = (error: ApiError): boolean => error.class === 'retry' && error.code !== 'ABORTED';

/**
 * Something on the way denies what the provider itself has granted: a key or a route is refused in a form that is not the
 * provider's, and it has answered in its own, to this process or, as the ledger knows, to an earlier one. One answer
 * of any operation, also one that costs nothing, shows that the key is good, and the address. A route of v2 that is
 * configured wrongly may be answered with a page, too: then the hint names the routes file.
 */
export async function isIntermediaryDenial(
  { foreign, class: kind }: ApiError,
  client: Pick<AnyClient, 'isAccepted'> | null,
  environmentId: number | undefined,
  calls: Pick<CallStore, 'hasAnswered'>,
): Promise<boolean> {
  if (!foreign || kind !== 'stop_run') return false;
  if (client?.isAccepted === true) return true;
  return environmentId !== undefined && (await calls.hasAnswered(environmentId));
}
