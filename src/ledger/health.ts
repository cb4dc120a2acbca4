import type { ExitCode } from '../domain/exit-codes.js';

/** A stored answer whose bytes are not what its digest says. */
export interface DamagedAnswer {
  readonly callId: number;
  readonly rawSha256: string;
  readonly api: string;
  readonly operation: string;
  /** JSON; null where the answer was never owned. */
  readonly params: string | null;
  readonly runId: string | null;
  readonly row: number | null;
  /** It is the newest answer to its request: tables are written from it. */
  readonly owned: boolean;
}

export type DatabaseHealth =
  /** With `note`: something shows that more was there. */
  | { readonly state: 'absent' | 'sound'; readonly note?: string | undefined }
  | { readonly state: 'no_driver'; readonly detail: string }
  /** It could not be looked at: that says nothing about the file. */
  | { readonly state: 'unusable'; readonly detail: string; readonly exit: ExitCode }
  | { readonly state: 'newer' | 'older'; readonly schema: number }
  | { readonly state: 'damaged'; readonly detail: string; readonly wayOut?: string };

/** Something the ledger keeps that cannot be read, or points to what is not there. */
export interface DamagedRecord {
  readonly what: string;
  readonly remedy: Remedy;
}

/**
 * What leads on. `ask_anew`: it is about an answer, which whoever needs it buys again; `drop_run`: it goes with its run;
 * `withdraw`: a decision that can be made again; `none_needed`: only `status` tells of it.
 */
export type Remedy =
  | { readonly kind: 'ask_anew' | 'restore' | 'none_needed' }
  | { readonly kind: 'drop_run'; readonly run: string }
  | { readonly kind: 'withdraw'; readonly decision: number };

export interface DeepHealth {
  readonly bodies: number;
  readonly damaged: readonly DamagedAnswer[];
  readonly records: readonly DamagedRecord[];
}
