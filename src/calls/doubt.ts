import type { ApiError } from '../api/errors.js';
import type { CallStore } from '../ledger/calls.js';
import { decideDoubt } from '../ledger/intended.js';
import type { CallOutcome } from './outcome.js';
import type { DoorRequest, ReadyRequest } from './request.js';
import { comesRight } from './retry.js';
import { leavesDoubt } from './settlement.js';

export interface DoubtPolicy {
  readonly calls: Pick<CallStore, 'doubt'>;
  readonly inDoubt: 'resend' | 'park';
  readonly inDoubtCap: number;
  /** Of this process, on this run. */
  readonly startId: number;
}

export const lostAtMost = ({ inDoubt, inDoubtCap }: Pick<DoubtPolicy, 'inDoubt' | 'inDoubtCap'>): number =>
  inDoubt === 'park' ? 0 : inDoubtCap;

type LeftInDoubt = Extract<CallOutcome, { kind: 'in_doubt' | 'parked' }>;

/** What earlier calls for it have left in doubt; undefined where it may be sent. */
export async function doubtBefore(
  { operation, lookedSince }: DoorRequest,
  { context }: ReadyRequest,
  policy: DoubtPolicy,
): Promise<LeftInDoubt | undefined> {
  const doubt = await policy.calls.doubt({ ...context, startId: policy.startId });
  const verdict = decideDoubt({ meter: operation.meter, lookedSince, lostAtMost: lostAtMost(policy) }, doubt);
  return verdict === 'go' ? undefined : verdict;
}

/** What a call that has just failed leaves in doubt; undefined where the failure itself is the outcome. */
export async function doubtAfter(
  error: ApiError,
  { operation, lookedSince }: DoorRequest,
  { context }: ReadyRequest,
  policy: DoubtPolicy,
): Promise<LeftInDoubt | undefined> {
  const { meter } = operation;
  if (!leavesDoubt(error, meter)) return undefined;
  // What is refused for good is the row's own, for a report as well.
  if (meter === 'report' && !comesRight(error)) return undefined;
  const doubt = await policy.calls.doubt({ ...context, startId: policy.startId });
  // Retrying a report goes through the look and across starts of the program, so it is the ledger that counts the tries.
  if (meter === 'report' && doubt.answered >= (error.attemptsAtMost ?? Number.POSITIVE_INFINITY)) return undefined;
  const verdict = decideDoubt({ meter, lookedSince, lostAtMost: lostAtMost(policy) }, doubt);
  return verdict === 'go' ? undefined : verdict;
}
