import type { ApiError } from '../api/errors.js';
import type { CallStore } from '../ledger/calls.js';
import type { AnyClient } from './request.js';

/**
 * Something on the way denies what the provider itself has granted: a key or a route is refused in a form that is not the
 * provider's, and it has answered in its own, to this process or, as the ledger knows, to an earlier one. One answer
 * of any operation, also one that costs nothing, shows that the key is good, and the address. A route of v2 that is
 * configured wrongly may be answered with a page, too: then the hint names the routes file.
 */
export async function isForeignDenial(
  { foreign, class: kind }: ApiError,
  client: Pick<AnyClient, 'isAccepted'> | null,
  environmentId: number | undefined,
  calls: Pick<CallStore, 'hasAnswered'>,
): Promise<boolean> {
  if (!foreign || kind !== 'stop_run') return false;
  if (client?.isAccepted === true) return true;
  return environmentId !== undefined && (await calls.hasAnswered(environmentId));
}
