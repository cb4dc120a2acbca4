import type { ApiError } from '../api/errors.js';
import type { CallStore } from '../ledger/calls.js';
import type { CallOutcome } from './outcome.js';
import type { DoorRequest, ReadyRequest } from './request.js';
import { type RetryPolicy, retryDelayMs } from './retry.js';
import { leavesDoubt } from './settlement.js';

export interface DoubtPolicy {
  readonly calls: Pick<CallStore, 'doubt'>;
  readonly inDoubt: 'resend' | 'park';
  readonly inDoubtCap: number;
  readonly retry: RetryPolicy;
}

/**
 * Why a request is not sent now because of what became of it before. A report is not generated after a failure of any
 * kind unless somebody has looked since then (V2-17). For the rest only lost answers count: the policy says whether such
 * a request may be sent again, and how often (V1-5).
 */
export async function doubtAbout(
  { operation, lookedSince }: DoorRequest,
  { context }: ReadyRequest,
  { calls, inDoubt, inDoubtCap }: DoubtPolicy,
): Promise<CallOutcome | undefined> {
  if (operation.meter === 'free') return undefined;
  const { lost, answered, lastEndedAt } = await calls.doubt(context.environmentId, context.requestKey);
  if (operation.meter === 'report' && lost + answered > 0 && lastEndedAt >= lookedSince)
    return { kind: 'in_doubt', endedAt: lastEndedAt };
  if (lost === 0 || (inDoubt === 'resend' && lost < inDoubtCap)) return undefined;
  const why = inDoubt === 'park' ? 'in_doubt: park' : `cap of ${inDoubtCap}`;
  const message = `${lost} call(s) for this were lost and may have been charged; not sent again (${why})`;
  return { kind: 'parked', reason: 'in_doubt', until: null, message };
}

/** What a call that has just failed leaves in doubt; undefined where the failure itself is the outcome. */
export async function doubtAfter(
  error: ApiError,
  request: DoorRequest,
  ready: ReadyRequest,
  policy: DoubtPolicy,
): Promise<CallOutcome | undefined> {
  if (!leavesDoubt(error, request.operation.meter)) return undefined;
  if (error.httpStatus !== undefined && !(await mayComeRight(error, ready, policy))) return undefined;
  return await doubtAbout(request, ready, policy);
}

/** Retrying goes through the look and across starts of the program, so it is the ledger that counts the tries. */
async function mayComeRight(
  error: ApiError,
  { context }: ReadyRequest,
  { calls, retry }: DoubtPolicy,
): Promise<boolean> {
  const { answered } = await calls.doubt(context.environmentId, context.requestKey);
  // The report may well be there, behind an answer that could not be read.
  if (error.code === 'UNEXPECTED_BODY') return answered < retry.attempts;
  return retryDelayMs(error, answered, retry, () => 0) !== undefined;
}
