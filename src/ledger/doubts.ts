import type { RowRef } from './review.js';

/** Calls whose charge nobody knows, and what a person makes of them. */
export interface DoubtStore {
  /** The oldest first; nothing is changed. */
  list(which: DoubtSelection, now: number): Promise<readonly DoubtfulCall[]>;
  /**
   * Pending rows of a run that no start has parked yet, and the next one will: at least `lost` calls for the same were
   * lost. Reports do not count, for they are looked for first.
   */
  heldRows(runId: string, lost: number, now: number): Promise<number>;
  /**
   * Settles the charge of these calls, or leaves it open (`resend`). Either way a person has looked: the same request may
   * be sent again, a report after a look in the history as always. Rows that were parked for it are free to move.
   */
  settle(ids: readonly number[], verdict: DoubtVerdict, note: string): Promise<readonly RowRef[]>;
}

export type DoubtVerdict = 'resend' | 'charged' | 'free';

/** Of these calls or runs; all where neither is named. */
export interface DoubtSelection {
  readonly calls: readonly number[];
  readonly runs: readonly string[];
}

export interface DoubtfulCall {
  readonly id: number;
  readonly api: string;
  readonly environment: string;
  readonly operation: string;
  readonly meter: string;
  readonly runId: string | null;
  readonly row: number | null;
  /** What the row says: JSON of its fields; null where it belongs to none. */
  readonly fields: string | null;
  /** The ID that it was asked about, if it was. */
  readonly subjectId: string | null;
  readonly startedAt: number;
  readonly errorCode: string;
  /** Null: nothing came back. */
  readonly httpStatus: number | null;
  readonly requestId: string | null;
  /** The same request is not simply sent again. False: it was answered since, or a person has let it go on. */
  readonly holds: boolean;
  readonly note: string | null;
}
