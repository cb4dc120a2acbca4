import { type Charge, type ErrorClass, ExitCode, KybatchError, type StopReason } from '../domain/errors.js';
import type { ApiName } from '../domain/provider.js';
import { sanitizeText } from '../util/sanitize-text.js';
import type { Exchange } from './http.js';

/** The exhausted allowance: v1 has one for the workspace, v2 one for each permission and module, tools included. */
export type Limit =
  | { readonly api: 'v1' }
  | {
      readonly api: 'v2';
      readonly permission: string;
      readonly module: string;
      /** `day` resets tomorrow. `plan` only changes with the plan. */
      readonly period: 'day' | 'plan';
    };

export interface ApiErrorDetails {
  readonly class: ErrorClass;
  /** Stable: the provider's own code if it gives one, otherwise ours. */
  readonly code: string;
  readonly message: string;
  readonly hint: string;
  readonly api: ApiName;
  readonly operation: string;
  readonly charge: Charge;
  readonly httpStatus?: number | undefined;
  readonly requestId?: string | undefined;
  readonly retryAfterMs?: number | undefined;
  /** A lower maximum of tries than usual. */
  readonly attemptsAtMost?: number | undefined;
  readonly limit?: Limit | undefined;
  readonly stop?: StopReason | undefined;
  /** It does not have the form of the provider's errors: a proxy or gateway may have answered. */
  readonly foreign?: boolean | undefined;
  /** Field by field, if the request or the answer did not fit. */
  readonly problems?: readonly string[] | undefined;
  /** The provider's answer, if there was one: its headers may state the allowance even with a refusal. */
  readonly exchange?: Exchange | undefined;
  readonly cause?: unknown;
}

/**
 * Any failure of one call, from our own validation to the provider's last byte. The provider's text is sanitized here,
 * so that it can be shown and stored. The exchange keeps it as it came.
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
  readonly #details: ApiErrorDetails;

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
    this.#details = details;
  }

  withHint(hint: string): ApiError {
    return new ApiError({ ...this.#details, hint });
  }
}

const cleanLimit = (limit: Extract<Limit, { api: 'v2' }>): Limit => ({
  ...limit,
  permission: sanitizeText(limit.permission, 200),
  module: sanitizeText(limit.module, 200),
});

/** The result, or the error of the call. Any other error is thrown. */
export async function orApiError<T>(result: Promise<T>): Promise<T | ApiError> {
  try {
    return await result;
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

export const INVALID_PARAMS = 'INVALID_PARAMS';

function exitOf({ class: kind, code, stop }: Pick<ApiErrorDetails, 'class' | 'code' | 'stop'>): ExitCode {
  // The allowance resets, or a larger plan raises it.
  if (kind === 'park') return ExitCode.allowance;
  if (kind === 'block_operation' || stop === 'credentials') return ExitCode.credentials;
  // The request is right and may succeed later.
  if (kind === 'retry' || kind === 'slow_down' || stop === 'unavailable') return ExitCode.unavailable;
  // The other causes of a stop are a wrong route or parameters, which are configuration.
  if (kind === 'stop_run' || code === INVALID_PARAMS) return ExitCode.usage;
  return ExitCode.rowsOpen;
}
