import { type Pipeline, stagesOf } from '../config/pipeline.js';
import type { Meter } from '../domain/meter.js';
import type { Limits } from '../ledger/intended.js';
import { searchOf, spacesToSearch } from '../stages/identity/space-search.js';

/** What is counted before it is spent, and after: v1 units and credit reports. v2 does not tell what the rest costs. */
export interface Amounts {
  readonly units: number;
  readonly reports: number;
}

/** What rows can still cost, with the calls of v2 that may cost something nobody tells. */
export interface Rest extends Amounts {
  readonly v2Calls: number;
}

/** The most that so many rows can still cost, however their searches end. */
export function mostFor(rows: number, pipeline: Pick<Pipeline, 'stages' | 'options' | 'search' | 'idsShared'>): Rest {
  const stages = stagesOf(pipeline);
  const spaces = spacesToSearch(stages, pipeline.idsShared, () => false);
  const searches = spaces.map((space) => ({ operation: searchOf(space).operation, atMost: pipeline.search.attempts }));
  const calls = [...searches, ...stages.flatMap((stage) => stage.calls)];
  const most = (meter: Meter) =>
    calls.reduce((sum, { operation, atMost }) => sum + (operation.meter === meter ? atMost : 0), 0);
  return { units: rows * most('unit'), reports: rows * most('report'), v2Calls: rows * most('not_told') };
}

export const within = ({ units, reports }: Amounts, limits: Limits): Amounts => ({
  units: Math.min(units, limits.units ?? units),
  reports: Math.min(reports, limits.reports ?? reports),
});
