import { type Pipeline, stagesOf } from '../config/pipeline.js';
import { addReveals, NO_REVEALS, type Reveals, revealsTimes } from '../domain/account-usage.js';
import type { IdSpace, Meter } from '../domain/provider.js';
import type { Limits } from '../ledger/money/intent.js';
import { type FallbackStep, fallbackSteps } from '../stages/identity/fallback-steps.js';
import { searchOf, spacesToSearch } from '../stages/identity/space-search.js';
import type { StageCall } from '../stages/stage.js';

/** What is counted before it is spent, and after: v1 units and credit reports. v2 does not tell what the rest costs. */
export interface Amounts {
  readonly units: number;
  readonly reports: number;
}

/** What rows can still cost, with the calls of v2 that may cost something nobody tells, and what of people they reveal. */
export interface RemainingCost extends Amounts {
  readonly v2Calls: number;
  readonly reveals: Reveals;
}

type Asking = Pick<Pipeline, 'stages' | 'options' | 'search' | 'idsShared'>;

/** All that one row may ask for, however its searches end. */
export function callsOfRow(pipeline: Asking): readonly StageCall[] {
  const stages = stagesOf(pipeline);
  const spaces = spacesToSearch(stages, pipeline.idsShared, () => false);
  const searches = spaces.map((space) => ({ operation: searchOf(space).operation, atMost: pipeline.search.attempts }));
  const fallback = fallbackCalls(
    pipeline.search.fallback.map((name) => fallbackSteps[name]),
    spaces[0],
  );
  return [...searches, ...fallback, ...stages.flatMap((stage) => stage.calls)];
}

/** The most that so many rows can still cost. */
export function mostFor(rows: number, pipeline: Asking): RemainingCost {
  const calls = callsOfRow(pipeline);
  const most = (meter: Meter) =>
    calls.reduce((sum, { operation, atMost }) => sum + (operation.meter === meter ? atMost : 0), 0);
  return {
    units: rows * most('unit'),
    reports: rows * most('report'),
    v2Calls: rows * most('not_told'),
    reveals: revealsTimes(rows, revealsOfRow(calls)),
  };
}

const revealsOfRow = (calls: readonly StageCall[]): Reveals =>
  calls.reduce((sum, { reveals = NO_REVEALS }) => addReveals(sum, reveals), NO_REVEALS);

/** What the steps of a fallback may cost a row in the space where it is looked for first: each a call of its own, and a search for the number that it names. */
export function fallbackCalls(steps: readonly FallbackStep[], space: IdSpace | undefined): readonly StageCall[] {
  if (space === undefined || steps.length === 0) return [];
  const named = { operation: searchOf(space).operation, atMost: steps.length };
  return [...steps.map(({ operation }) => ({ operation, atMost: 1 })), named];
}

export const within = <Most extends Amounts>(most: Most, limits: Limits): Most => ({
  ...most,
  units: Math.min(most.units, limits.units ?? most.units),
  reports: Math.min(most.reports, limits.reports ?? most.reports),
});
