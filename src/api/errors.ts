import { type Charge, type ErrorClass, ExitCode, KybatchError, type StopReason } from '../domain/errors.js';
import type { ApiName } from '../domain/provider.js';
import { sanitizeText } from '../util/sanitize-text.js';
import type { Exchange } from './http.js';

/** What ran out: v1 has one allowance for the workspace, v2 one for each permission and module, tools included. */
export type Limit =
  | { readonly api: 'v1' }
  | {
      readonly api: 'v2';
      readonly permission: string;
      readonly module: string;
      /** `day` comes back tomorrow; `plan` only when the plan changes. */
      readonly period: 'day' | 'plan';
    };

export interface ApiErrorDetails {
  readonly class: ErrorClass;
  /** Stable: the provider's own code where it gives one, otherwise ours. */
  readonly code: string;
  readonly message: string;
  /** What the person who reads this can do. */
  readonly hint: string;
  readonly api: ApiName;
  readonly operation: string;
  readonly charge: Charge;
  readonly httpStatus?: number | undefined;
  readonly requestId?: string | undefined;
  readonly retryAfterMs?: number | undefined;
  /** An upper bound on tries that is lower than the usual one. */
  readonly attemptsAtMost?: number | undefined;
  readonly limit?: Limit | undefined;
  readonly stop?: StopReason | undefined;
  /** It has not the form of an error of the provider: something on the way may have answered. */
  readonly foreign?: boolean | undefined;
  /** Field by field, where the request or the answer did not fit. */
  readonly problems?: readonly string[] | undefined;
  /** What the provider answered, if it did: its headers may tell the allowance even when it refuses. */
  readonly exchange?: Exchange | undefined;
  readonly cause?: unknown;
}

/**
 * Everything that can go wrong with one call, from our own validation to the provider's last byte. Whatever the provider
 * said is cleaned here, so that it can be shown and kept; the exchange holds it as it came.
 */
export class ApiError extends KybatchError {
  override readonly name = 'ApiError';
  readonly class: ErrorClass;
  override readonly hint: string;
  readonly api: ApiName;
  readonly operation: string;
  readonly charge: Charge;
  readonly httpStatus: number | undefined;
  readonly requestId: string | undefined;
  readonly retryAfterMs: number | undefined;
  readonly attemptsAtMost: number | undefined;
  readonly limit: Limit | undefined;
  readonly stop: StopReason | undefined;
  readonly foreign: boolean;
  readonly problems: readonly string[];
  readonly exchange: Exchange | undefined;

  constructor(details: ApiErrorDetails) {
    const { message, code, requestId, limit, problems = [] } = details;
    super(sanitizeText(message), { ...details, code: sanitizeText(code, 100), exit: exitOf(details) });
    this.class = details.class;
    this.hint = sanitizeText(details.hint, 1000);
    this.api = details.api;
    this.operation = details.operation;
    this.charge = details.charge;
    this.httpStatus = details.httpStatus;
    this.requestId = requestId === undefined ? undefined : sanitizeText(requestId, 200);
    this.retryAfterMs = details.retryAfterMs;
    this.attemptsAtMost = details.attemptsAtMost;
    this.limit = limit?.api === 'v2' ? cleanLimit(limit) : limit;
    this.stop = details.stop;
    this.foreign = details.foreign === true;
    this.problems = problems.map((problem) => sanitizeText(problem, 500));
    this.exchange = details.exchange;
  }

  /** The same error, with another way on for the person who reads it. */
  withHint(hint: string): ApiError {
    const { class: kind, code, message, api, operation, charge, httpStatus, requestId, retryAfterMs } = this;
    const { attemptsAtMost, limit, stop, foreign, problems, exchange, cause } = this;
    const said = { class: kind, code, message, hint, api, operation, charge, httpStatus, requestId, retryAfterMs };
    return new ApiError({ ...said, attemptsAtMost, limit, stop, foreign, problems, exchange, cause });
  }
}

const cleanLimit = (limit: Extract<Limit, { api: 'v2' }>): Limit => ({
  ...limit,
  permission: sanitizeText(limit.permission, 200),
  module: sanitizeText(limit.module, 200),
});

/** Nothing was sent, and never will be as it is. */
export const INVALID_PARAMS = 'INVALID_PARAMS';

/** How a command ends whose call failed like this. */
function exitOf({ class: kind, code, stop }: Pick<ApiErrorDetails, 'class' | 'code' | 'stop'>): ExitCode {
  // Comes back by itself, or with a larger plan.
  if (kind === 'park') return ExitCode.allowance;
  if (kind === 'block_operation' || stop === 'credentials') return ExitCode.credentials;
  // Nothing is wrong with what was asked: later it may go through.
  if (kind === 'retry' || kind === 'slow_down' || stop === 'unavailable') return ExitCode.unavailable;
  // What is left to stop a run is a route that does not fit, and that is configuration; so are parameters.
  if (kind === 'stop_run' || code === INVALID_PARAMS) return ExitCode.usage;
  return ExitCode.rowsOpen;
}
