import type { ApiError } from '../api/errors.js';
import type { CallContext } from '../ledger/ledger.js';
import type { DoorOptions, DoorRequest } from './door-options.js';
import type { CallOutcome } from './outcome.js';
import { retryDelayMs } from './retry.js';
import { isFree } from './settlement.js';

type Policy = Pick<DoorOptions, 'ledger' | 'inDoubt' | 'inDoubtCap' | 'retry'>;

/**
 * Why a request is not sent now because of what became of it before. A report is not generated after a failure of any
 * kind unless somebody has looked since then (V2-17). For the rest only lost answers count: the policy says whether such
 * a request may be sent again, and how often (V1-5).
 */
export async function doubtAbout(
  { operation, lookedSince }: DoorRequest,
  { environmentId, requestKey }: CallContext,
  { ledger, inDoubt, inDoubtCap }: Policy,
): Promise<CallOutcome | undefined> {
  if (isFree(operation)) return undefined;
  const doubt = await ledger.inDoubt(environmentId, requestKey);
  const failed = doubt.lost + doubt.answered;
  if (lookedSince !== null && failed > 0 && doubt.lastEndedAt >= lookedSince)
    return { kind: 'in_doubt', lostAt: doubt.lastStartedAt, endedAt: doubt.lastEndedAt };
  if (doubt.lost === 0 || (inDoubt === 'resend' && doubt.lost < inDoubtCap)) return undefined;
  const why = inDoubt === 'park' ? 'in_doubt: park' : `cap of ${inDoubtCap}`;
  const message = `${doubt.lost} call(s) for this were lost and may have been charged; not sent again (${why})`;
  return { kind: 'parked', reason: 'in_doubt', until: null, message };
}

/** What a call that has just failed leaves in doubt; undefined where the failure itself is the outcome. */
export async function doubtAfter(
  error: ApiError,
  request: DoorRequest,
  context: CallContext,
  policy: Policy,
): Promise<CallOutcome | undefined> {
  if (!leavesDoubt(request, error)) return undefined;
  if (error.httpStatus !== undefined && !(await mayComeRight(error, context, policy))) return undefined;
  return await doubtAbout(request, context, policy);
}

/** It may have been paid for, and it is not simply sent again. */
export const leavesDoubt = ({ operation }: DoorRequest, error: ApiError): boolean =>
  error.charge === 'unknown' && !isFree(operation) && (generatesReport(operation) || error.httpStatus === undefined);

/** Each success is a report, paid for: never sent twice in a row. */
export const generatesReport = (operation: string): boolean =>
  operation === 'creditReportGenerate' || operation === 'creditReportCombined';

/** Retrying goes through the look and across starts of the program, so it is the ledger that counts the tries. */
async function mayComeRight(
  error: ApiError,
  { environmentId, requestKey }: CallContext,
  { ledger, retry }: Policy,
): Promise<boolean> {
  const { answered } = await ledger.inDoubt(environmentId, requestKey);
  // The report may well be there, behind an answer that could not be read.
  if (error.code === 'UNEXPECTED_BODY') return answered < retry.attempts;
  return retryDelayMs(error, answered, retry, () => 0) !== undefined;
}
