import { Door } from '../calls/door.js';
import type { AnyClient } from '../calls/request.js';
import { flagLostBefore, takeLease } from '../engine/lease.js';
import type { Ledger } from '../ledger/ledger.js';
import { type Asking, AT_ONCE } from '../portfolio/watch/asking.js';
import { type Provider, required } from './provider.js';
import type { Surroundings } from './surroundings.js';

/** How somebody can stop it. */
export interface Stoppable {
  /** The first interrupt: calls under way come home. */
  readonly drain?: AbortSignal | undefined;
  /** The second: they are given up. */
  readonly abort?: AbortSignal | undefined;
}

/** The provider's watch, through the door that every call goes through; under a start of its own. */
export async function withWatchDoor<T>(
  { v2, names }: Provider,
  { drain, abort }: Stoppable,
  ledger: Ledger,
  { clock }: Surroundings,
  use: (asking: Asking) => Promise<T>,
): Promise<T> {
  const client = required(v2, 'v2') as unknown as AnyClient;
  const environmentId = await ledger.calls.environment('v2', names.v2);
  const lease = await takeLease(null, ledger.calls, clock, { jobs: ledger.jobs });
  try {
    await flagLostBefore(ledger, clock.now());
    const shared = {
      ...POLICY,
      calls: ledger.calls,
      startId: lease.startId,
      clock,
      apis: { v1: null, v2: { client, environmentId } },
      signal: abort === undefined ? lease.broken : AbortSignal.any([abort, lease.broken]),
    };
    const door = new Door({ ...shared, retry: { attempts: 3, baseMs: 500, capMs: 5_000 } });
    const sentOnce = new Door({ ...shared, retry: SENT_ONCE });
    const each = new Door({ ...shared, retry: SENT_ONCE, breaker: { ...POLICY.breaker, eachForItself: true } });
    const onStop = () => {
      for (const one of [door, sentOnce, each]) one.drain();
    };
    drain?.addEventListener('abort', onStop, { once: true });
    if (drain?.aborted === true) onStop();
    const through =
      (which: Door): Asking['ask'] =>
      async (operation, params) => {
        const outcome = await which.call({ ...BY_NOBODY, operation, params });
        if (lease.broken.aborted) throw lease.broken.reason;
        return outcome;
      };
    const wasDone: Asking['wasDone'] = (operation, params, note) =>
      door.settleLost({ ...BY_NOBODY, operation, params }, 'charged', note);
    const ways = { ask: through(door), askOnce: through(sentOnce), askEach: through(each), wasDone };
    return await use({ environmentId, watches: ledger.watches, clock, ...ways }).finally(() =>
      drain?.removeEventListener('abort', onStop),
    );
  } finally {
    await lease.end();
  }
}

/** It can be done tomorrow: a provider that is down is not waited for. */
const POLICY = {
  concurrency: AT_ONCE,
  breaker: { failures: 10, patienceMs: 0 },
  limits: { units: null, reports: null },
  inDoubt: 'resend',
  inDoubtCap: Number.POSITIVE_INFINITY,
  permissions: {},
} as const;

const SENT_ONCE = { attempts: 1, baseMs: 0, capMs: 0 } as const;

const BY_NOBODY = {
  runId: null,
  row: null,
  stage: null,
  ownedSince: Number.POSITIVE_INFINITY,
  lookedSince: 0,
} as const;
