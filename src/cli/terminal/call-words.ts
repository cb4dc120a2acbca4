import type { CallView } from '../../app/call.js';
import { stringifyExact } from '../../util/exact-json-write.js';

/** The answer, as JSON to be read. */
export const bodyInWords = ({ body }: CallView): string => `${stringifyExact(body, 2)}\n`;

/** Where it came from, and what it cost. */
export function callInWords(view: CallView): string {
  const known = Object.entries(costOf(view)).filter(([, value]) => value !== null);
  return `${view.operation}: ${sourceOf(view)}, ${known.map(([name, value]) => `${name} ${value}`).join(', ')}\n`;
}

function sourceOf({ owned, inHistory, reportId, fetchedAt }: CallView): string {
  const since = new Date(fetchedAt).toISOString();
  if (inHistory)
    return `found in the history as report ${reportId}, which was generated before and has not expired; nothing was paid (--fresh asks anew)`;
  if (reportId !== null)
    return `report ${reportId}, owned since ${since}, opened again; nothing was paid (--fresh asks anew)`;
  return owned ? `owned since ${since}, nothing was sent (--fresh asks anew)` : 'sent';
}

export const callToJson = (view: CallView): string =>
  stringifyExact({ api: view.api, operation: view.operation, ...factsOf(view), body: view.body });

const factsOf = (view: CallView) => ({
  owned: view.owned,
  in_history: view.inHistory,
  fetched_at: new Date(view.fetchedAt).toISOString(),
  report_id: view.reportId,
  ...costOf(view),
});

const costOf = (view: CallView) => ({
  http_status: view.httpStatus,
  request_id: view.requestId,
  units_charged: view.unitsCharged,
  units_remaining: view.unitsRemaining,
  duration_ms: view.durationMs,
});
