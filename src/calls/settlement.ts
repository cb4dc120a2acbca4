// What is recorded about a finished call, and what unknown charges mean for the next.

import type { ApiError } from '../api/errors.js';
import { type Exchange, requestIdIn } from '../api/http.js';
import type { Operation } from '../api/operation.js';
import { readAllowance, unitsOfSuccess, type V1Allowance } from '../api/v1/allowance.js';
import type { Meter } from '../domain/provider.js';
import type { CallStore } from '../ledger/money/call-store.js';
import type { ObservedAllowance, Settlement } from '../ledger/money/calls.js';
import { decideAfterUnknownCharges } from '../ledger/money/intent.js';
import type { CallOutcome, DoorRequest, ReadyRequest } from './request.js';
import { isRetryable, isUnreadable } from './retry.js';

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
    // v1 may report a charge for an unreadable answer.
    unitsCharged: charge === 'free' ? 0 : charge === 'charged' ? (v1?.unitsCharged ?? null) : null,
    remainingUnits: null,
    inDoubt: leavesChargeUnknown(error, meter),
    // An unreadable answer may have been paid for, so its bytes are stored.
    body: error.code === 'UNEXPECTED_BODY' || isUnreadable(error) ? (error.exchange?.body ?? null) : null,
    answer: null,
    allowance: v1 && observed(v1),
  };
}

/**
 * It may have been charged and brought no answer. A final refusal belongs to the row, and its charge matters only if
 * repeating costs a report (V2-17).
 */
export const leavesChargeUnknown = (error: ApiError, meter: Meter): boolean =>
  meter !== 'free' &&
  error.charge !== 'free' &&
  (meter === 'report' || error.httpStatus === undefined || isRetryable(error));

/** A free workspace may count its day in the quota alone, so the larger figure is available. */
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
  readonly calls: Pick<CallStore, 'unknownCharges'>;
  readonly inDoubt: 'resend' | 'park';
  readonly inDoubtCap: number;
  readonly attemptId: number;
}

export const lostAtMost = ({ inDoubt, inDoubtCap }: Pick<UnknownChargePolicy, 'inDoubt' | 'inDoubtCap'>): number =>
  inDoubt === 'park' ? 0 : inDoubtCap;

type LeftUnknown = Extract<CallOutcome, { kind: 'in_doubt' | 'parked' }>;

/** What earlier calls of unknown charge mean. Undefined if the request may be sent. */
export async function unknownChargeBefore(
  { operation, lookedSince }: DoorRequest,
  { context }: ReadyRequest,
  policy: UnknownChargePolicy,
): Promise<LeftUnknown | undefined> {
  const charges = await policy.calls.unknownCharges({ ...context, attemptId: policy.attemptId });
  const verdict = decideAfterUnknownCharges(
    { meter: operation.meter, lookedSince, lostAtMost: lostAtMost(policy) },
    charges,
  );
  return verdict === 'go' ? undefined : verdict;
}

/** What the unknown charge of a failed call means. Undefined if the failure itself is the outcome. */
export async function unknownChargeAfter(
  error: ApiError,
  { operation, lookedSince }: DoorRequest,
  { context }: ReadyRequest,
  policy: UnknownChargePolicy,
): Promise<LeftUnknown | undefined> {
  const { meter } = operation;
  if (!leavesChargeUnknown(error, meter)) return undefined;
  // A final refusal belongs to the row, for a report as well.
  if (meter === 'report' && !isRetryable(error)) return undefined;
  const charges = await policy.calls.unknownCharges({ ...context, attemptId: policy.attemptId });
  // Retries of a report include a look in the history and span attempts, so the ledger counts them.
  if (meter === 'report' && charges.failed >= (error.attemptsAtMost ?? Number.POSITIVE_INFINITY)) return undefined;
  const verdict = decideAfterUnknownCharges({ meter, lookedSince, lostAtMost: lostAtMost(policy) }, charges);
  return verdict === 'go' ? undefined : verdict;
}
