import type { IdSpace } from '../domain/id-spaces.js';

/** What a call is for. */
export interface CallContext {
  readonly environmentId: number;
  readonly runId: string | null;
  readonly row: number | null;
  readonly stage: string | null;
  readonly operation: string;
  readonly meter: string;
  readonly requestKey: string;
  /** Whose company, or which report, the answer is about. */
  readonly subject: { readonly space: IdSpace; readonly id: string } | null;
}

export interface NewCall extends CallContext {
  readonly startId: number;
  readonly attempt: number;
  readonly startedAt: number;
}

/** Only the start that wrote the intent can settle it, and only once. */
export interface Intent extends NewCall {
  readonly id: number;
  /** No other call of its kind was under way when it was let through. */
  readonly alone: boolean;
}
