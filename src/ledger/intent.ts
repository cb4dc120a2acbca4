import type { IdSpace } from '../domain/id-spaces.js';
import type { Meter } from '../domain/meter.js';

/** What a call is for. */
export interface CallContext {
  readonly environmentId: number;
  readonly runId: string | null;
  readonly row: number | null;
  readonly stage: string | null;
  readonly operation: string;
  readonly meter: Meter;
  readonly requestKey: string;
  /** Whose company, or which report, the answer is about. */
  readonly subject: { readonly space: IdSpace; readonly id: string } | null;
}

export interface NewCall extends CallContext {
  readonly startId: number;
  readonly attempt: number;
  readonly startedAt: number;
  /** An answer from this time on makes the call needless; Infinity: none does. */
  readonly ownedSince: number;
  /** Calls for it that were over before this time have been looked for, for long enough; 0: none has. */
  readonly lookedSince: number;
  /** With so many lost calls for the request it is not sent again: a person has to look. */
  readonly lostAtMost: number;
}

/** What was written down before a call was sent. Only the start that wrote it can settle it, and only once. */
export interface Intent
  extends Pick<NewCall, 'startId' | 'environmentId' | 'runId' | 'row' | 'operation' | 'meter' | 'requestKey'> {
  readonly id: number;
  /** No other call of its kind was under way when it was let through. */
  readonly alone: boolean;
}
