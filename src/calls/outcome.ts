import type { ApiError } from '../api/errors.js';

/** Why a call was not made although nothing is wrong with it. */
export type ParkReason = 'allowance' | 'budget' | 'scope' | 'in_doubt' | 'draining';

export interface Parked {
  readonly kind: 'parked';
  readonly reason: ParkReason;
  /** When it may go on by itself; null where a person or the operator decides. */
  readonly until: number | null;
  readonly message: string;
}

/** The whole run stops; nothing is marked failed. */
export interface Stopped {
  readonly kind: 'stopped';
  readonly error: ApiError;
}

export interface Answer {
  readonly kind: 'answer';
  /** The exact bytes. */
  readonly body: Buffer;
  /** True if it was owned already: 0 units. */
  readonly owned: boolean;
  readonly fetchedAt: number;
}

export type CallOutcome =
  | Answer
  | Parked
  | Stopped
  /** The provider has no such record. */
  | { readonly kind: 'not_available'; readonly error: ApiError }
  /** A call for this, begun at `lostAt`, was lost or failed, and it is one that is not sent again without a look. */
  | { readonly kind: 'in_doubt'; readonly lostAt: number; readonly endedAt: number }
  | { readonly kind: 'failed'; readonly error: ApiError; readonly attempts: number };
