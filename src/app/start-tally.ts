import { REVEALING, revealsOfCall } from '../api/v2/contact-counts.js';
import { addReveals, NO_REVEALS, type Reveals } from '../domain/reveals.js';
import type { RunEvent } from '../engine/events.js';
import { mayHaveCost } from '../ledger/intended.js';
import type { StartSpending } from '../ledger/reading.js';
import { isRecord, parseStored } from '../ledger/stored-json.js';

/** What this start has spent, as far as anybody knows. */
export type Spent = StartSpending;

export const addSpending = (a: Spent, b: Spent): Spent => ({
  units: a.units + b.units,
  reports: a.reports + b.reports,
  unknown: a.unknown + b.unknown,
  unknownInBudget: a.unknownInBudget + b.unknownInBudget,
});

/** Rows that a start has left to people: failed, with a question, or invalid since the file before. */
export interface LeftToPeople {
  readonly failed: number;
  readonly questions: number;
  readonly invalid: number;
}

/** Counts what the calls of one start have cost, and what it has left to people. */
export class StartTally {
  #units = 0;
  #reports = 0;
  #unknown = 0;
  #unknownInBudget = 0;
  #reveals = NO_REVEALS;
  #broughtAnything = false;

  readonly #left = { failed: 0, questions: 0 };

  readonly listen = (event: RunEvent): void => {
    if (event.kind === 'row_settled') {
      this.#broughtAnything ||= event.checkpoint.outcome !== 'pending';
      if (event.checkpoint.outcome === 'failed') this.#left.failed += 1;
      if (event.checkpoint.outcome === 'needs_review') this.#left.questions += 1;
    }
    if (event.kind !== 'call_settled') return;
    const { meter } = event.intent;
    const { charge, unitsCharged, answer } = event.settlement;
    this.#broughtAnything ||= answer !== null || charge !== 'free';
    this.#reveals = addReveals(this.#reveals, revealsIn(event));
    this.#units += unitsCharged ?? 0;
    if (meter === 'report' && charge === 'charged') this.#reports += 1;
    if (charge === 'unknown') this.#unknown += 1;
    // As the ledger holds it against the budget.
    const { units, reports } = mayHaveCost(meter, event.settlement);
    if (charge === 'unknown') this.#unknownInBudget += units + reports;
  };

  /** An answer came, a call may have been charged, or a row has finished: the tables are others. */
  get broughtAnything(): boolean {
    return this.#broughtAnything;
  }

  get spent(): Spent {
    return {
      units: this.#units,
      reports: this.#reports,
      unknown: this.#unknown,
      unknownInBudget: this.#unknownInBudget,
    };
  }

  /** What of people was asked for, and answered; what was lost is among the calls with unknown charge. */
  get reveals(): Reveals {
    return this.#reveals;
  }

  get left(): Omit<LeftToPeople, 'invalid'> {
    return { ...this.#left };
  }
}

function revealsIn({ intent, settlement }: Extract<RunEvent, { kind: 'call_settled' }>): Reveals {
  if (!REVEALING.has(intent.operation) || settlement.answer === null || settlement.errorCode !== null)
    return NO_REVEALS;
  return revealsOfCall(intent.operation, parseStored(settlement.answer.params, isRecord) ?? {});
}
