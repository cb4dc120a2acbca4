import type { Charge, ErrorClass, StopReason } from '../domain/errors.js';
import type { Exchange } from './exchange.js';

/** What ran out: v1 has one allowance for the workspace, v2 one for each permission and module. */
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
  readonly api: 'v1' | 'v2';
  readonly operation: string;
  readonly charge: Charge;
  readonly httpStatus?: number | undefined;
  readonly requestId?: string | undefined;
  readonly retryAfterMs?: number | undefined;
  /** An upper bound on tries that is lower than the usual one. */
  readonly attemptsAtMost?: number | undefined;
  readonly limit?: Limit | undefined;
  readonly stop?: StopReason | undefined;
  /** Field by field, where the request or the answer did not fit. */
  readonly problems?: readonly string[] | undefined;
  /** What the provider answered, if it did: its headers may tell the allowance even when it refuses. */
  readonly exchange?: Exchange | undefined;
  readonly cause?: unknown;
}

/** Everything that can go wrong with one call, from our own validation to the provider's last byte. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly class: ErrorClass;
  readonly code: string;
  readonly hint: string;
  readonly api: 'v1' | 'v2';
  readonly operation: string;
  readonly charge: Charge;
  readonly httpStatus: number | undefined;
  readonly requestId: string | undefined;
  readonly retryAfterMs: number | undefined;
  readonly attemptsAtMost: number | undefined;
  readonly limit: Limit | undefined;
  readonly stop: StopReason | undefined;
  readonly problems: readonly string[];
  readonly exchange: Exchange | undefined;

  constructor(details: ApiErrorDetails) {
    super(details.message, details.cause === undefined ? undefined : { cause: details.cause });
    this.class = details.class;
    this.code = details.code;
    this.hint = details.hint;
    this.api = details.api;
    this.operation = details.operation;
    this.charge = details.charge;
    this.httpStatus = details.httpStatus;
    this.requestId = details.requestId;
    this.retryAfterMs = details.retryAfterMs;
    this.attemptsAtMost = details.attemptsAtMost;
    this.limit = details.limit;
    this.stop = details.stop;
    this.problems = details.problems ?? [];
    this.exchange = details.exchange;
  }
}
