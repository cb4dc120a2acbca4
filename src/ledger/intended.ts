import type { Intent } from './intent.js';

/** What one start may spend; null: no limit. */
export interface Limits {
  readonly units: number | null;
  readonly reports: number | null;
}

export type Intended =
  | { readonly kind: 'intent'; readonly intent: Intent }
  /** The same request was sent by somebody and is not answered yet. */
  | { readonly kind: 'under_way' }
  /** Calls in flight decide whether there is enough. */
  | { readonly kind: 'wait' }
  | {
      readonly kind: 'parked';
      readonly reason: 'allowance' | 'budget' | 'scope';
      readonly until: number | null;
      readonly message: string;
    };

/** What the ledger knows at the moment of an intent, all of it read in the intent's own transaction. */
export interface MoneyState {
  /** The same request was sent by somebody and is not answered yet. */
  readonly underWay: boolean;
  readonly closure:
    | { readonly reason: 'allowance' | 'scope'; readonly until: number | null; readonly message: string }
    | undefined;
  readonly unitsSpent: number;
  readonly reportsSpent: number;
  /** Open intents of this start. */
  readonly unitsInFlight: number;
  readonly reportsInFlight: number;
  /** Open intents that count in units, of anybody who shares the allowance. */
  readonly sharedInFlight: number;
  /** As the provider last said; null where it did not, or where the allowance has come back since. */
  readonly unitsLeft: number | null;
}

/**
 * Is there allowance and budget? Open intents count as what they may still cost, so that no two calls spend the same
 * last unit. It parks only on what the provider said, or on a budget: our own count of the allowance is advice (V1-2).
 */
export function decideMoney(
  meter: string,
  state: MoneyState,
  limits: Limits,
): Exclude<Intended, { kind: 'intent' }> | 'go' {
  const { closure } = state;
  if (state.underWay) return { kind: 'under_way' };
  if (closure !== undefined)
    return { kind: 'parked', reason: closure.reason, until: closure.until, message: closure.message };
  if (meter === 'report')
    return withinBudget(limits.reports, state.reportsSpent, state.reportsInFlight, 'credit reports');
  if (meter !== 'unit') return 'go';
  const budget = withinBudget(limits.units, state.unitsSpent, state.unitsInFlight, 'units');
  if (budget !== 'go') return budget;
  // The provider's own count: leave the last units to the calls that are already on their way to them.
  if (state.unitsLeft !== null && state.sharedInFlight > 0 && state.sharedInFlight >= state.unitsLeft)
    return { kind: 'wait' };
  return 'go';
}

function withinBudget(budget: number | null, spent: number, inFlight: number, what: string) {
  if (budget === null || spent + inFlight < budget) return 'go' as const;
  if (inFlight > 0 && spent < budget) return { kind: 'wait' } as const;
  return {
    kind: 'parked',
    reason: 'budget',
    until: null,
    message: `the budget of ${budget} ${what} is spent`,
  } as const;
}
