import type { ApiError } from '../api/errors.js';
import { type Exchange, requestIdIn } from '../api/http.js';
import type { Operation } from '../api/operation.js';
import { readAllowance, unitsOfSuccess, type V1Allowance } from '../api/v1/allowance.js';
import type { Meter } from '../domain/provider.js';
import type { CallStore, ObservedAllowance, Settlement } from '../ledger/money/calls.js';
import { decideAfterUnknownCharges } from '../ledger/money/intent.js';
import type { CallOutcome } from './outcome.js';
import type { DoorRequest, ReadyRequest } from './request.js';
import { isRetryable, isUnreadable } from './retry.js';

/** What is written down about a call that succeeded. */
export function settlementOf(operation: Operation, params: string, exchange: Exchange, now: number): Settlement {
  const { headers, status, durationMs, body } = exchange;
  const v1 = operation.api === 'v1' ? readAllowance(headers, now) : null;
  return {
    settledAt: now,
    durationMs,
    httpStatus: status,
    errorClass: null,
    errorCode: null,
    requestId: requestIdIn(headers) ?? null,
    charge: operation.meter === 'free' ? 'free' : 'charged',
    // v2 does not count in units.
    unitsCharged: v1 === null ? null : unitsOfSuccess(v1),
    remainingUnits: v1?.remainingUnits ?? null,
    inDoubt: false,
    body,
    answer: operation.keep === 'never' ? null : { params },
    allowance: v1 && observed(v1),
  };
}

/** What is written down about a call that brought no answer. */
export function refusalOf(error: ApiError, meter: Meter, now: number): Settlement {
  const charge = meter === 'free' ? 'free' : error.charge;
  const v1 = error.api === 'v1' && error.exchange !== undefined ? readAllowance(error.exchange.headers, now) : null;
  return {
    settledAt: now,
    durationMs: error.exchange?.durationMs ?? null,
    httpStatus: error.httpStatus ?? null,
    errorClass: error.class,
    errorCode: error.code,
    requestId: error.requestId ?? null,
    charge,
    // v1 may say that it has charged for what cannot be read.
    unitsCharged: charge === 'free' ? 0 : charge === 'charged' ? (v1?.unitsCharged ?? null) : null,
    remainingUnits: null,
    inDoubt: leavesChargeUnknown(error, meter),
    // An answer that we could not read may have been paid for: its bytes are kept.
    body: error.code === 'UNEXPECTED_BODY' || isUnreadable(error) ? (error.exchange?.body ?? null) : null,
    answer: null,
    allowance: v1 && observed(v1),
  };
}

/**
 * It may have been paid for, or was, and its answer is not here. What the provider has refused for good is the row's, and
 * leaves a doubt only where repeating costs a report (V2-17).
 */
export const leavesChargeUnknown = (error: ApiError, meter: Meter): boolean =>
  meter !== 'free' &&
  error.charge !== 'free' &&
  (meter === 'report' || error.httpStatus === undefined || isRetryable(error));

/** A free workspace may count its day in the quota alone: the larger figure is what can still be had. */
function observed({ remainingUnits, quota }: V1Allowance): ObservedAllowance | null {
  if (remainingUnits === null && quota === null) return null;
  return {
    available: remainingUnits === null ? null : Math.max(remainingUnits, quota?.dailyRemaining ?? 0),
    remainingUnits,
    dailyLimit: quota?.dailyLimit ?? null,
    dailyRemaining: quota?.dailyRemaining ?? null,
    resetAt: quota?.resetAtMs ?? null,
    raw: quota === null ? null : JSON.stringify(quota.raw),
  };
}

export interface UnknownChargePolicy {
  readonly calls: Pick<CallStore, 'doubt'>;
  readonly inDoubt: 'resend' | 'park';
  readonly inDoubtCap: number;
  /** Of this process, on this run. */
  readonly startId: number;
}

export const lostAtMost = ({ inDoubt, inDoubtCap }: Pick<UnknownChargePolicy, 'inDoubt' | 'inDoubtCap'>): number =>
  inDoubt === 'park' ? 0 : inDoubtCap;

type LeftInDoubt = Extract<CallOutcome, { kind: 'in_doubt' | 'parked' }>;

/** What earlier calls for it have left in doubt; undefined where it may be sent. */
export async function unknownChargeBefore(
  { operation, lookedSince }: DoorRequest,
  { context }: ReadyRequest,
  policy: UnknownChargePolicy,
): Promise<LeftInDoubt | undefined> {
  const doubt = await policy.calls.doubt({ ...context, startId: policy.startId });
  const verdict = decideAfterUnknownCharges(
    { meter: operation.meter, lookedSince, lostAtMost: lostAtMost(policy) },
    doubt,
  );
  return verdict === 'go' ? undefined : verdict;
}

/** What a call that has just failed leaves in doubt; undefined where the failure itself is the outcome. */
export async function unknownChargeAfter(
  error: ApiError,
  { operation, lookedSince }: DoorRequest,
  { context }: ReadyRequest,
  policy: UnknownChargePolicy,
): Promise<LeftInDoubt | undefined> {
  const { meter } = operation;
  if (!leavesChargeUnknown(error, meter)) return undefined;
  // What is refused for good is the row's own, for a report as well.
  if (meter === 'report' && !isRetryable(error)) return undefined;
  const doubt = await policy.calls.doubt({ ...context, startId: policy.startId });
  // Retrying a report goes through the look and across starts of the program, so it is the ledger that counts the tries.
  if (meter === 'report' && doubt.answered >= (error.attemptsAtMost ?? Number.POSITIVE_INFINITY)) return undefined;
  const verdict = decideAfterUnknownCharges({ meter, lookedSince, lostAtMost: lostAtMost(policy) }, doubt);
  return verdict === 'go' ? undefined : verdict;
}
