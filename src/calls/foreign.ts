import type { ApiError } from '../api/errors.js';
import type { CallStore } from '../ledger/calls.js';

/**
 * Something on the way denies what the provider itself has granted before: a key or a route is refused in a form that is
 * not the provider's, and the ledger knows better. One answer of any operation has shown that the key is good, and
 * the address: all routes of v1 are in its document. Those of v2 are partly configured, so each has to show for itself.
 */
export async function isForeignDenial(
  { foreign, class: kind, stop, api, operation }: ApiError,
  environmentId: number | undefined,
  calls: Pick<CallStore, 'hasAnswered'>,
): Promise<boolean> {
  if (!foreign || kind !== 'stop_run' || environmentId === undefined) return false;
  return await calls.hasAnswered(environmentId, api === 'v1' || stop === 'credentials' ? null : operation);
}
