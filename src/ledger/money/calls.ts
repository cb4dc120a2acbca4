// The records of the call store: attempts, settlements, closures and allowances.

import type { Charge, ErrorClass } from '../../domain/errors.js';
import type { ApiName } from '../../domain/provider.js';
import type { CallContext } from './intent.js';

/** Codename of a permission → the operations that use it, as the pipeline says. */
export type DrawnOn = Readonly<Record<string, readonly string[]>>;

export interface RefusedRequest {
  readonly environmentId: number;
  readonly operation: string;
  readonly requestKey: string;
  /** The attempt that sends the request. */
  readonly attemptId: number;
}

export interface NewAttempt {
  /** Null: calls outside a run. */
  readonly runId: string | null;
  readonly begunAt: number;
  readonly leaseUntil: number;
  /** Its limits, as JSON. */
  readonly given?: string | undefined;
  /** The attempt whose limits it shares. Without it, its own. */
  readonly purse?: number | undefined;
  readonly worker?: string | undefined;
  /** Units of its limit that were spent before it began. */
  readonly unitsBefore?: number | undefined;
}

/** An operation without answers, or one row's delayed call, that an attempt waits for. */
export interface OutageNote {
  /** The row that waits while other rows are answered. Absent: no row is answered. */
  readonly row?: number | undefined;
  readonly api: ApiName;
  readonly operation: string;
  readonly code: string;
  readonly since: number;
  readonly nextTryAt: number;
  readonly givesUpAt: number;
}

export interface Settlement {
  readonly settledAt: number;
  readonly durationMs: number | null;
  readonly httpStatus: number | null;
  readonly errorClass: ErrorClass | null;
  readonly errorCode: string | null;
  readonly requestId: string | null;
  readonly charge: Charge;
  /** Null if the provider does not count in units (v2) or the charge is unknown. */
  readonly unitsCharged: number | null;
  readonly remainingUnits: number | null;
  /** It may have been charged and brought no answer: see `unknownCharges`. */
  readonly inDoubt: boolean;
  readonly body: Buffer | null;
  /** Present if the answer is to be stored. */
  readonly answer: { readonly params: string } | null;
  /** The allowance in the headers, if they report one. */
  readonly allowance: ObservedAllowance | null;
}

export interface ObservedAllowance {
  /** The larger of the two reported counts. */
  readonly available: number | null;
  readonly remainingUnits: number | null;
  readonly dailyLimit: number | null;
  readonly dailyRemaining: number | null;
  readonly resetAt: number | null;
  readonly raw: string | null;
}

export interface StoredAnswerUse extends CallContext {
  readonly attemptId: number;
  readonly at: number;
  readonly rawSha256: string;
}

export interface StoredAnswer {
  readonly callId: number;
  readonly rawSha256: string;
  readonly fetchedAt: number;
}

export interface Closure {
  /** Null: the whole environment. */
  readonly operation: string | null;
  readonly reason: 'allowance' | 'scope';
  readonly until: number | null;
  readonly message: string;
  readonly closedAt: number;
}

export interface AllowanceRecord extends Omit<ObservedAllowance, 'available'> {
  readonly observedAt: number;
  /** The provider reported the allowance spent until then. Null: not spent. The largest integer means for ever. */
  readonly spentUntil: number | null;
  /** At an anchor no call is in flight: the last completed call, and the units that remained. */
  readonly anchorCallId: number | null;
  readonly anchorUnits: number | null;
  /** Units that the provider counted and kybatch did not. */
  readonly driftUnits: number;
}
