import type { RunEvent } from '../engine/events.js';
import { type Limits, mayHaveCost } from '../ledger/intended.js';
import type { StartSpending } from '../ledger/reading.js';

/** What this start has spent, as far as anybody knows. */
export type Spent = StartSpending;

/** Counts what the calls of one start have cost. */
export class StartTally {
  #units = 0;
  #reports = 0;
  #unknown = 0;
  #unknownInBudget = 0;
  #mayHaveCost = { units: 0, reports: 0 };

  readonly listen = (event: RunEvent): void => {
    if (event.kind !== 'call_settled') return;
    const { meter } = event.intent;
    const { charge, unitsCharged } = event.settlement;
    this.#units += unitsCharged ?? 0;
    if (meter === 'report' && charge === 'charged') this.#reports += 1;
    if (charge === 'unknown') this.#unknown += 1;
    // As the ledger holds it against the budget.
    const { units, reports } = mayHaveCost(meter, event.settlement);
    if (charge === 'unknown') this.#unknownInBudget += units + reports;
    this.#mayHaveCost.units += units;
    this.#mayHaveCost.reports += reports;
  };

  get spent(): Spent {
    return {
      units: this.#units,
      reports: this.#reports,
      unknown: this.#unknown,
      unknownInBudget: this.#unknownInBudget,
    };
  }

  /** Which of the limits are reached. */
  reached({ units, reports }: Limits): { readonly units: boolean; readonly reports: boolean } {
    const { units: unitsUsed, reports: reportsUsed } = this.#mayHaveCost;
    return { units: units !== null && unitsUsed >= units, reports: reports !== null && reportsUsed >= reports };
  }
}
