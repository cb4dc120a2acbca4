import type { Meter } from '../domain/meter.js';
import type { RunPlan } from './plan-tally.js';
import { callsOfRow } from './row-cost.js';

type Planned = Pick<RunPlan, 'toSearch' | 'toBuy' | 'v2Calls' | 'creditReportsAtMost'>;

/**
 * How many calls of these operations a planned run can make at the most, for what counts calls by permission. It is a
 * bound: what a row asks for follows from answers that are not there yet, and no operation is asked for more often than
 * all that may cost are together. Null where one of them is asked as often as it takes, like whether a report is ready.
 */
export function callsAtMost(
  operations: readonly string[],
  plan: Planned,
  pipeline: Parameters<typeof callsOfRow>[0],
): number | null {
  const calls = callsOfRow(pipeline).filter(({ operation }) => operations.includes(operation.name));
  if (calls.some(({ operation }) => operation.meter === 'free')) return null;
  const most = (meter: Meter) =>
    calls.reduce((sum, call) => sum + (call.operation.meter === meter ? call.atMost : 0), 0);
  const moving = plan.toSearch + plan.toBuy;
  // A report that is owned may have expired, so there may be more of them than rows that buy.
  const reports = most('report') > 0 ? plan.creditReportsAtMost : 0;
  return reports + Math.min(moving * most('not_told'), plan.v2Calls.atMost);
}
