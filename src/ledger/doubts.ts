import type { RowOutcome } from '../domain/outcomes.js';
import type { RowRef } from './review.js';
import type { UnitsTold } from './units-told.js';

/** Calls whose charge nobody knows, and what a person makes of them. */
export interface DoubtStore {
  /** The oldest first; nothing is changed. */
  list(which: DoubtSelection, now: number): Promise<readonly DoubtfulCall[]>;
  /** Calls of a process that is at work, or may be: what they cost is not settled yet. */
  underWay(now: number): Promise<readonly CallUnderWay[]>;
  /**
   * Pending rows of a run that no start has parked yet, and the next one will: at least `lost` calls for the same were
   * lost. Reports do not count, for they are looked for first.
   */
  heldRows(runId: string, lost: number, now: number): Promise<number>;
  /** What the provider's own count says about them, as far as it has told. */
  unitsTold(ids: readonly number[]): Promise<readonly UnitsTold[]>;
  /**
   * Settles the charge of these calls, or leaves it open (`resend`). Either way a person has looked: the same request may
   * be sent again, a report after a look in the history as always. Rows that were parked for it are free to move. What
   * was settled before is settled anew: the last word stands, and every one is kept. `notes` has another note for some.
   */
  settle(
    ids: readonly number[],
    verdict: DoubtVerdict,
    note: string,
    notes?: ReadonlyMap<number, string>,
  ): Promise<readonly RowRef[]>;
}

export type DoubtVerdict = 'resend' | 'charged' | 'free';

/** Of these calls or runs; all where neither is named. */
export interface DoubtSelection {
  readonly calls: readonly number[];
  readonly runs: readonly string[];
  /** Those that were in doubt and are settled, too: of the calls that are named, or all. */
  readonly settled?: 'none' | 'named' | 'all';
}

export interface DoubtfulCall {
  readonly id: number;
  readonly api: string;
  readonly environment: string;
  readonly operation: string;
  readonly meter: string;
  readonly runId: string | null;
  readonly row: number | null;
  /** Where that stands in its file. */
  readonly line: number | null;
  /** What the row says; null where it belongs to none, or that is damaged. */
  readonly fields: Readonly<Record<string, string>> | null;
  /** The ID that it was asked about, if it was. */
  readonly subjectId: string | null;
  readonly startedAt: number;
  readonly errorCode: string;
  /** Null: nothing came back. */
  readonly httpStatus: number | null;
  readonly requestId: string | null;
  /** The same request is not simply sent again. False: it was answered since, or a person has let it go on. */
  readonly holds: boolean;
  /** `charged`: as something has told since; its answer is still not there. */
  readonly charge: 'unknown' | 'charged' | 'free';
  /** What was said about it, the last first. */
  readonly note: string | null;
  /** The same request was answered since. */
  readonly answered: boolean;
  /** Of its row; null where it belongs to none. */
  readonly rowOutcome: RowOutcome | null;
  /** Why its row is parked; null where it is not. */
  readonly rowParkedFor: string | null;
  /** Calls for the same, since the last answer, of which nothing came back and nobody knows whether they were charged. */
  readonly lost: number;
}

export interface CallUnderWay
  extends Pick<DoubtfulCall, 'id' | 'api' | 'operation' | 'runId' | 'row' | 'line' | 'startedAt'> {
  /** The process is held to be alive until then; it puts this off as long as it is. */
  readonly leaseUntil: number;
}
