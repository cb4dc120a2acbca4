import type { CallView } from '../../app/call.js';
import { stringifyExact } from '../../util/exact-json-write.js';

/** The answer, as JSON to be read. */
export const bodyInWords = ({ body }: CallView): string => `${stringifyExact(body, 2)}\n`;

/** Where it came from, and what it cost. */
export function callInWords(view: CallView): string {
  const { owned, in_history, fetched_at, ...rest } = factsOf(view);
  const known = Object.entries(rest).filter(([, value]) => value !== null);
  const source = owned
    ? `owned since ${fetched_at}, nothing was sent (--fresh asks anew)`
    : in_history
      ? 'found in the history, where a call that failed before had put it; nothing was sent for it'
      : 'sent';
  return `${view.operation}: ${source}, ${known.map(([name, value]) => `${name} ${value}`).join(', ')}\n`;
}

export const callToJson = (view: CallView): string =>
  stringifyExact({ api: view.api, operation: view.operation, ...factsOf(view), body: view.body });

const factsOf = (view: CallView) => ({
  owned: view.owned,
  in_history: view.inHistory,
  fetched_at: new Date(view.fetchedAt).toISOString(),
  http_status: view.httpStatus,
  request_id: view.requestId,
  units_charged: view.unitsCharged,
  units_remaining: view.unitsRemaining,
  duration_ms: view.durationMs,
});
