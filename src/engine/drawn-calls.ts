import type { Operation } from '../api/operation.js';
import { type Pipeline, stagesOf } from '../config/pipeline.js';
import { searchOf } from '../stages/identity/space-search.js';
import type { RunPlan } from './plan-tally.js';

type Planned = Pick<RunPlan, 'toSearch' | 'toBuy' | 'v2Calls' | 'creditReportsAtMost'>;

/**
 * How many calls of these operations a planned run can make at the most, for what counts calls by permission. It is a
 * bound: what a row asks for follows from answers that are not there yet, and no operation is asked for more often than
 * all that may cost are together. Null where one of them is asked as often as it takes, like whether a report is ready.
 */
export function callsAtMost(
  operations: readonly string[],
  plan: Planned,
  pipeline: Pick<Pipeline, 'stages' | 'search'>,
): number | null {
  const calls = [...perRow(pipeline)].filter(([{ name }]) => operations.includes(name));
  if (calls.some(([{ meter }]) => meter === 'free')) return null;
  return calls.reduce((sum, [{ meter }, atMost]) => sum + boundOf(meter, atMost, plan), 0);
}

function boundOf(meter: Operation['meter'], atMost: number, plan: Planned): number {
  const moving = plan.toSearch + plan.toBuy;
  switch (meter) {
    // One that is owned may have expired, so there may be more of them than rows that buy.
    case 'report':
      return plan.creditReportsAtMost;
    case 'not_told':
      return Math.min(moving * atMost, plan.v2Calls.atMost);
    case 'free':
    case 'unit':
      return moving * atMost;
  }
}

/** How often one row asks for each operation at the most. */
function perRow(pipeline: Pick<Pipeline, 'stages' | 'search'>): ReadonlyMap<Operation, number> {
  const stages = stagesOf(pipeline);
  const found = new Map<Operation, number>();
  const add = (operation: Operation, times: number) => found.set(operation, (found.get(operation) ?? 0) + times);
  for (const space of new Set(stages.map((stage) => stage.space)))
    add(searchOf(space).operation, pipeline.search.attempts);
  for (const { operation, atMost } of stages.flatMap(({ calls }) => calls)) add(operation, atMost);
  return found;
}
