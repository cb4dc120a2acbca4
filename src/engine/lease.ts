// The lease of an attempt, by which other processes know that it is alive.

import { hostname } from 'node:os';
import { TakenOverError } from '../domain/errors.js';
import type { Ledger } from '../ledger/ledger.js';
import type { Clock } from '../util/clock.js';

/** A worker not heard of for this long is dead, and its calls are lost. */
export const LEASE_MS = 30_000;
const ALONE = { leaseMs: LEASE_MS, renewMs: 10_000 };
/** With several workers, others take over from a dead one within half a minute. */
const SHARED = { leaseMs: 20_000, renewMs: 5000 };

/** Marks calls lost before this process began. In a shared ledger other workers get the time of a lease first. */
export const markCallsOfEarlierAttempts = (
  { calls, claims }: Pick<Ledger, 'calls' | 'claims'>,
  now: number,
): Promise<number> => calls.markCallsOfDeadAttempts(now, claims === undefined ? now : now - SHARED.leaseMs);

export interface Lease {
  readonly attemptId: number;
  /** Aborted with the reason when the lease is lost: nothing more may be sent. */
  readonly broken: AbortSignal;
  end(): Promise<void>;
}

interface LeaseOptions {
  readonly given?: string | undefined;
  readonly onLost?: (calls: number) => void;
  /** The attempt whose limits it shares. Absent: its own. */
  readonly purse?: number | undefined;
  /** Units of its limit that were spent before it began. */
  readonly unitsBefore?: number | undefined;
}

export async function takeLease(
  runId: string | null,
  { calls, claims }: Pick<Ledger, 'calls' | 'claims'>,
  clock: Clock,
  { given, onLost = () => {}, purse, unitsBefore }: LeaseOptions = {},
): Promise<Lease> {
  const now = clock.now();
  const { leaseMs, renewMs } = claims === undefined ? ALONE : SHARED;
  const worker = `${hostname()}:${process.pid}`;
  const attemptId = await calls.begin({
    runId,
    begunAt: now,
    leaseUntil: now + leaseMs,
    given,
    purse,
    worker,
    unitsBefore,
  });
  const broken = new AbortController();
  const ended = new AbortController();
  const renewing = (async () => {
    let heard = now;
    let inTouchSince = now;
    for (;;) {
      await clock.sleep(renewMs, ended.signal);
      const kept = await calls.renew(attemptId, clock.now() + leaseMs);
      if (!kept) throw new TakenOverError();
      // After losing contact itself, a process cannot tell who is dead, so others get the time of a lease.
      if (clock.now() - heard > leaseMs - renewMs) inTouchSince = clock.now();
      heard = clock.now();
      if (claims !== undefined && heard - inTouchSince < leaseMs) continue;
      // Another worker may have died: its rows are free, and rows that wait for its calls must not wait forever.
      const lost = await calls.markCallsOfDeadAttempts(clock.now());
      if (lost > 0) onLost(lost);
    }
  })().catch((reason: unknown) => {
    if (!ended.signal.aborted) broken.abort(reason);
  });
  return {
    attemptId,
    broken: broken.signal,
    async end() {
      ended.abort();
      await renewing;
      await calls.end(attemptId, clock.now());
    },
  };
}
