// The settings of paid calls.

import type { ApiName, ByApi } from '../domain/provider.js';
import type { CallStore } from '../ledger/money/calls.js';
import type { Limits } from '../ledger/money/intent.js';
import type { Clock } from '../util/clock.js';
import type { CallEvent } from './events.js';
import type { BreakerPolicy } from './outage.js';
import type { AnyClient } from './request.js';
import type { RetryPolicy } from './retry.js';
import type { UnknownChargePolicy } from './settlement.js';

export interface DoorApi {
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
