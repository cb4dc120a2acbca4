import type { ApiError } from '../api/errors.js';
import type { StoredAnswerUse } from '../ledger/money/calls.js';

/**
 * Why a call was not made although nothing is wrong with it. `unanswered`: it was made, as often as one start makes it,
 * and what came back, if anything did, is no answer. `ask_provider`:
 * what came back, or an ID of the provider's, is nothing that a row can be judged by. `closed`: a plan only counts.
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
  /** When it may go on by itself; null where a person or the operator decides. */
  readonly until: number | null;
  readonly message: string;
  /** The last that was met, where calls were made. */
  readonly met?: { readonly error: ApiError; readonly attempts: number };
}

/** The whole run stops; nothing is marked failed. */
export interface Stopped {
  readonly kind: 'stopped';
  readonly error: ApiError;
  /** The last that this very call met, where it was made. */
  readonly met?: { readonly error: ApiError; readonly attempts: number };
}

export interface Answer {
  readonly kind: 'answer';
  /** The exact bytes. */
  readonly body: Buffer;
  /** True if it was owned already: 0 units. */
  readonly owned: boolean;
  readonly fetchedAt: number;
  /** What is to be written down about the use of an owned answer; null for a bought one. */
  readonly use: StoredAnswerUse | null;
}

/** A call for this was lost or failed, at `endedAt`, and it is one that is not sent again without a look. */
export interface InDoubt {
  readonly kind: 'in_doubt';
  readonly endedAt: number;
  /** What it met, where that call was made just now. */
  readonly met?: { readonly error: ApiError; readonly attempts: number };
}

export type CallOutcome =
  | Answer
  | Parked
  | Stopped
  /** The provider has no such record, or refuses it to us. `isTold`: this stands among the row's errors already. */
  | { readonly kind: 'not_available'; readonly error: ApiError; readonly isTold?: boolean }
  | InDoubt
  | { readonly kind: 'failed'; readonly error: ApiError; readonly attempts: number };

export type NoAnswer = Exclude<CallOutcome, { readonly kind: 'answer' }>;

/** No row's fault, and asking again in this start changes nothing: the row is held, and a person asks the provider. */
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
