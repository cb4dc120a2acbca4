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
  | { readonly state: 'absent' }
  | { readonly state: 'no_driver'; readonly detail: string }
  /** It could not be looked at: that says nothing about the file. */
  | { readonly state: 'unusable'; readonly detail: string }
  | { readonly state: 'newer' | 'older'; readonly schema: number }
  | { readonly state: 'sound' }
  | { readonly state: 'damaged'; readonly detail: string };

export interface BodiesHealth {
  readonly bodies: number;
  readonly damaged: readonly DamagedAnswer[];
}
