import type { RowOutcome } from '../domain/outcomes.js';
import type { RunEvent } from '../engine/events.js';
import type { Amounts, Rest } from '../engine/row-cost.js';
import type { Converged, DueReason } from '../ledger/portfolios.js';

export type { Amounts, DueReason, Rest };

/** What a use case that spends tells while it works: what the engine tells, and that it begins. */
export type SpendingEvent = RunEvent | StartedEvent;

/** The rows are in the ledger, spending was agreed to, and work begins. */
export interface StartedEvent {
  readonly kind: 'started';
  readonly run: string;
  readonly rows: number;
  /** As they stand before it. */
  readonly outcomes: Readonly<Record<RowOutcome, number>>;
  /** Rows that will move, or may. */
  readonly toGo: number;
  /** Rows that wait for a person's word about a lost call. They are not to go, unless what the provider tells settles it. */
  readonly inDoubt: number;
  readonly unitsCharged: number;
  /** The run was begun by an earlier start. */
  readonly goesOn: boolean;
  /** Answers from before the run are not used. */
  readonly fresh: boolean;
  /** What this start may spend. */
  readonly atMost: Rest;
  /** Without v1 nothing is counted in units. */
  readonly asksV1: boolean;
  /** Why rows are to go, and how many have left the list, where a file was taken in. */
  readonly list?: ListNews | undefined;
  /** Answers that are lost, and asked for again, may cost more than that. */
  readonly moreIfLost: boolean;
  /** There is a budget of units, and none of credit reports, which may be bought. */
  readonly reportsUnbound: boolean;
}

export type ListNews = Pick<Converged, 'due' | 'invalid' | 'left' | 'leftFirst' | 'members'>;

export type ListenToSpending = (event: SpendingEvent) => void;
