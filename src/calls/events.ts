import type { ApiName } from '../api/operation.js';
import type { Settlement } from '../ledger/money/calls.js';
import type { Intent } from '../ledger/money/intent.js';

/** What happens at the door, told when it is on disk. */
export type CallEvent =
  | { readonly kind: 'call_settled'; readonly intent: Intent; readonly settlement: Settlement }
  | {
      readonly kind: 'closed';
      readonly api: ApiName;
      /** Null: all of the API. */
      readonly operation: string | null;
      readonly reason: 'allowance' | 'scope';
      readonly until: number | null;
    }
  /** A call is sent again after a while. */
  | {
      readonly kind: 'retry';
      readonly api: ApiName;
      readonly operation: string;
      readonly row: number | null;
      readonly code: string;
      /** The next attempt's number. */
      readonly attempt: number;
      readonly at: number;
      readonly waitMs: number;
      /** How long this call may wait to be sent again, all its waits together. */
      readonly givesUpAt: number;
    }
  /** Fewer calls go at once from now on, or none for a while. */
  | { readonly kind: 'slowed'; readonly api: ApiName; readonly concurrency: number; readonly pauseMs: number }
  /** The operation is held to be down, and is waited for; told again after each probe that failed. */
  | {
      readonly kind: 'outage';
      readonly api: ApiName;
      readonly operation: string;
      readonly since: number;
      /** Of the last error. */
      readonly code: string;
      readonly nextTryAt: number;
      readonly givesUpAt: number;
    }
  | {
      readonly kind: 'recovered';
      readonly api: ApiName;
      readonly operation: string;
      readonly since: number;
      readonly at: number;
    };
