import type { ApiClient } from '../api/client.js';
import type { ApiName, Operation } from '../api/operation.js';
import type { Ledger } from '../ledger/ledger.js';
import type { Clock } from '../util/clock.js';
import type { RetryPolicy } from './retry.js';

export type AnyClient = ApiClient<Readonly<Record<string, Operation>>>;

export interface DoorApi {
  readonly client: AnyClient;
  readonly environmentId: number;
}

export interface DoorOptions {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly apis: Readonly<Record<ApiName, DoorApi | null>>;
  readonly retry: RetryPolicy;
  readonly concurrency: number;
  readonly breakerFailures: number;
  readonly budgetUnits: number | null;
  /** Units this run has spent already. */
  readonly spentUnits: number;
  readonly inDoubt: 'resend' | 'park';
  readonly inDoubtCap: number;
  readonly permissions: Readonly<Record<string, readonly string[]>>;
  readonly random?: () => number;
  /** Aborts calls in flight: the second interrupt. */
  readonly signal?: AbortSignal;
}

export interface DoorRequest {
  readonly api: ApiName;
  readonly operation: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly runId: string | null;
  readonly row: number | null;
  readonly stage: string | null;
  /** An owned answer from this time on is as good as a new one; Infinity: never use an owned one. */
  readonly ownedSince: number;
  /** False where the answer is not worth owning: a status, a history. */
  readonly own: boolean;
  /**
   * Null: a call that failed may be sent again. Otherwise it is one that is not, unless somebody has looked, from this
   * time on, whether it did its work after all.
   */
  readonly lookedSince: number | null;
}
