// The most that rows can cost.

import { type Pipeline, stagesOf } from '../config/pipeline.js';
import { addReveals, NO_REVEALS, type Reveals, revealsTimes } from '../domain/account-usage.js';
import { addCalls, countCalls, noPurchases } from '../domain/prices.js';
import type { IdSpace } from '../domain/provider.js';
import type { Limits } from '../ledger/money/intent.js';
import { type FallbackStep, fallbackSteps } from '../stages/identity/fallback-steps.js';
import { searchOf, spacesToSearch } from '../stages/identity/space-search.js';
import type { StageCall } from '../stages/stage.js';

/** What is counted before and after spending: v1 units and credit reports. v2 does not report its costs. */
export interface Amounts {
  readonly units: number;
  readonly reports: number;
}

/** What rows can still cost, including v2 calls of unreported cost and people's data they reveal. */
export interface RemainingCost extends Amounts {
  readonly v2Calls: number;
  /** The same by operation. */
  readonly calls: Readonly<Record<string, number>>;
  readonly reveals: Reveals;
}

type Asking = Pick<Pipeline, 'stages' | 'options' | 'search' | 'idsShared'>;

/** All calls that one row may make, whatever its searches find. */
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

export function maximumCostOfRows(rows: number, pipeline: Asking): RemainingCost {
  const calls = callsOfRow(pipeline);
  const most = noPurchases();
  for (const { operation, atMost } of calls) addCalls(most, operation, rows * atMost);
  return { ...most, v2Calls: countCalls(most), reveals: revealsTimes(rows, revealsOfRow(calls)) };
}

const revealsOfRow = (calls: readonly StageCall[]): Reveals =>
  calls.reduce((sum, { reveals = NO_REVEALS }) => addReveals(sum, reveals), NO_REVEALS);

/** The cost of fallback steps in the first searched space: one call each, and one search for the number each finds. */
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
