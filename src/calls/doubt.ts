import type { ApiError } from '../api/errors.js';
import type { CallContext } from '../ledger/ledger.js';
import type { DoorOptions, DoorRequest } from './door-options.js';
import type { CallOutcome } from './outcome.js';
import { isFree } from './settlement.js';

/** A request whose answer was lost: the policy says whether it may be sent again, and how often (V1-5). */
export async function doubtAbout(
  { operation, lookedSince }: DoorRequest,
  { environmentId, requestKey }: CallContext,
  { ledger, inDoubt, inDoubtCap }: Pick<DoorOptions, 'ledger' | 'inDoubt' | 'inDoubtCap'>,
): Promise<CallOutcome | undefined> {
  if (isFree(operation)) return undefined;
  const lost = await ledger.inDoubt(environmentId, requestKey);
  if (lost.calls === 0) return undefined;
  if (lookedSince !== null && lost.lastStartedAt >= lookedSince)
    return { kind: 'in_doubt', lostAt: lost.lastStartedAt };
  if (inDoubt === 'resend' && lost.calls < inDoubtCap) return undefined;
  const why = inDoubt === 'park' ? 'in_doubt: park' : `cap of ${inDoubtCap}`;
  const message = `${lost.calls} call(s) for this were lost and may have been charged; not sent again (${why})`;
  return { kind: 'parked', reason: 'in_doubt', until: null, message };
}

/** The answer did not arrive, and it may have been paid for. */
export const isLost = ({ operation }: DoorRequest, error: ApiError): boolean =>
  error.charge === 'unknown' && !isFree(operation);
