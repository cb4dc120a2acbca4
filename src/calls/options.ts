// The settings of paid calls, and the events that they report.

import type { ApiName, ByApi } from '../domain/provider.js';
import type { CallStore } from '../ledger/money/call-store.js';
import type { Settlement } from '../ledger/money/calls.js';
import type { Intent, Limits } from '../ledger/money/intent.js';
import type { Clock } from '../util/clock.js';
import type { BreakerPolicy } from './outage.js';
import type { AnyClient } from './request.js';
import type { RetryPolicy } from './retry.js';
import type { UnknownChargePolicy } from './settlement.js';
import type { UnitPrices } from './unit-prices.js';

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
  | {
      readonly kind: 'retry';
      readonly api: ApiName;
      readonly operation: string;
      readonly row: number | null;
      readonly code: string;
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

interface DoorApi {
  readonly client: AnyClient;
  readonly environmentId: number;
}

export interface DoorOptions extends UnknownChargePolicy {
  readonly calls: CallStore;
  readonly clock: Clock;
  readonly apis: ByApi<DoorApi | null>;
  readonly retry: RetryPolicy;
  readonly concurrency: number;
  /** Null: the caller decides whether to ask again. */
  readonly breaker: BreakerPolicy | null;
  readonly limits: Limits;
  /** Default: each call is expected to cost one unit. */
  readonly unitPrices?: UnitPrices;
  /** v2 permission → the operations that use it (V2-3). */
  readonly permissions: Readonly<Record<string, readonly string[]>>;
  readonly listen?: (event: CallEvent) => void;
  readonly random?: () => number;
  /** Aborts calls in flight, at the second interrupt. */
  readonly signal?: AbortSignal;
}

export function apiOf({ apis }: Pick<DoorOptions, 'apis'>, api: ApiName): DoorApi {
  const found = apis[api];
  if (found == null) throw new TypeError(`${api} is not configured`);
  return found;
}

/** How long one call may wait to be sent again. Without patience for outages, short pauses are still allowed. */
export const patienceOf = ({ breaker }: Pick<DoorOptions, 'breaker'>): number =>
  (breaker?.patienceMs ?? 0) > 0 ? (breaker?.patienceMs ?? 0) : A_MINUTE_MS;

const A_MINUTE_MS = 60_000;
