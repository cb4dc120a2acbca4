import type { ApiName } from '../api/operation.js';
import type { Settlement } from '../ledger/money/calls.js';
import type { Intent } from '../ledger/money/intent.js';

/** Events of paid calls, sent after they are on disk. */
export type CallEvent =
  | { readonly kind: 'call_settled'; readonly intent: Intent; readonly settlement: Settlement }
  | {
      readonly kind: 'closed';
      readonly api: ApiName;
      /** Null: the whole API. */
      readonly operation: string | null;
      readonly reason: 'allowance' | 'scope';
      readonly until: number | null;
    }
  /** A call is sent again after a pause. */
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
      /** When all its pauses together reach their limit. */
      readonly givesUpAt: number;
    }
  /** Fewer calls run in parallel from now on, or none for a while. */
  | { readonly kind: 'slowed'; readonly api: ApiName; readonly concurrency: number; readonly pauseMs: number }
  /** The operation is down. Repeated after each failed probe. */
  | {
      readonly kind: 'outage';
      readonly api: ApiName;
      readonly operation: string;
      readonly since: number;
      /** Code of the last error. */
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
