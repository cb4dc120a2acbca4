// The possible outcomes of a call.

import type { ApiError } from '../api/errors.js';
import type { StoredAnswerUse } from '../ledger/money/calls.js';

/**
 * Why a call was not made, or brought no usable answer. `unanswered`: tried as often as one attempt may, without an
 * answer. `ask_provider`: the answer or an ID of the provider cannot be used to judge a row. `closed`: a plan makes no
 * calls.
 */
export type ParkReason =
  | 'allowance'
  | 'budget'
  | 'scope'
  | 'in_doubt'
  | 'unanswered'
  | 'ask_provider'
  | 'draining'
  | 'closed';

export interface Parked {
  readonly kind: 'parked';
  readonly reason: ParkReason;
  /** When it may continue by itself. Null if a person or the operator decides. */
  readonly until: number | null;
  readonly message: string;
  /** The last error, if calls were made. */
  readonly met?: { readonly error: ApiError; readonly attempts: number };
}

/** The whole run stops and no row fails. */
export interface Stopped {
  readonly kind: 'stopped';
  readonly error: ApiError;
  /** The last error of this call, if it was made. */
  readonly met?: { readonly error: ApiError; readonly attempts: number };
}

export interface Answer {
  readonly kind: 'answer';
  /** The exact bytes. */
  readonly body: Buffer;
  /** True if it was stored already: 0 units. */
  readonly owned: boolean;
  readonly fetchedAt: number;
  /** The record of a reuse. Null for a bought answer. */
  readonly use: StoredAnswerUse | null;
}

/** A call for this was lost or failed at `endedAt`. It is not sent again before a look at the provider. */
export interface ChargeUnknown {
  readonly kind: 'in_doubt';
  readonly endedAt: number;
  /** The error, if the call was made just now. */
  readonly met?: { readonly error: ApiError; readonly attempts: number };
}

export type CallOutcome =
  | Answer
  | Parked
  | Stopped
  /** The provider has no such record, or refuses it. `isTold`: the row's errors already show it. */
  | { readonly kind: 'not_available'; readonly error: ApiError; readonly isTold?: boolean }
  | ChargeUnknown
  | { readonly kind: 'failed'; readonly error: ApiError; readonly attempts: number };

export type NoAnswer = Exclude<CallOutcome, { readonly kind: 'answer' }>;

/**
 * Not the row's fault, and asking again in this attempt does not help: the row is parked until a person asks the
 * provider.
 */
export const askProvider = (error: ApiError, attempts: number): Parked => ({
  kind: 'parked',
  reason: 'ask_provider',
  until: null,
  message: `${error.code}: ${error.message}`,
  met: { error, attempts },
});

export const DRAINING: Parked = {
  kind: 'parked',
  reason: 'draining',
  until: null,
  message: 'the run is being stopped',
};
