import { TakenOverError } from '../domain/errors.js';
import type { CallStore } from '../ledger/calls.js';
import type { Clock } from '../util/clock.js';

/** A worker that has not been heard of for this long is dead, and its calls are lost. */
export const LEASE_MS = 30_000;
const RENEW_MS = 10_000;

export interface Lease {
  readonly startId: number;
  /** Aborts with the reason when the lease could not be kept: nothing more may be sent. */
  readonly broken: AbortSignal;
  end(): Promise<void>;
}

interface LeaseOptions {
  /** What the start may spend, as it is kept for later. */
  readonly given?: string | undefined;
  /** Told of calls of others who died meanwhile. */
  readonly onLost?: (calls: number) => void;
}

/** A start on the ledger, renewed until it ends. */
export async function takeLease(
  runId: string | null,
  calls: CallStore,
  clock: Clock,
  { given, onLost = () => {} }: LeaseOptions = {},
): Promise<Lease> {
  const now = clock.now();
  const startId = await calls.begin({ runId, begunAt: now, leaseUntil: now + LEASE_MS, given });
  const broken = new AbortController();
  const ended = new AbortController();
  const renewing = (async () => {
    for (;;) {
      await clock.sleep(RENEW_MS, ended.signal);
      const kept = await calls.renew(startId, clock.now() + LEASE_MS);
      if (!kept) throw new TakenOverError();
      // Somebody else may have died meanwhile: what waits for its calls must not wait for ever.
      const lost = await calls.flagLost(clock.now());
      if (lost > 0) onLost(lost);
    }
  })().catch((reason: unknown) => {
    if (!ended.signal.aborted) broken.abort(reason);
  });
  return {
    startId,
    broken: broken.signal,
    async end() {
      ended.abort();
      await renewing;
      await calls.end(startId, clock.now());
    },
  };
}
