import { hostname } from 'node:os';
import { TakenOverError } from '../domain/errors.js';
import type { Ledger } from '../ledger/ledger.js';
import type { CallStore } from '../ledger/money/calls.js';
import type { JobStore } from '../ledger/rows/workers.js';
import type { Clock } from '../util/clock.js';

/** A worker that has not been heard of for this long is dead, and its calls are lost. */
export const LEASE_MS = 30_000;
const ALONE = { leaseMs: LEASE_MS, renewMs: 10_000 };
/** Where others go on with what the dead have left, they do so within half a minute. */
const SHARED = { leaseMs: 20_000, renewMs: 5000 };

/** Calls that were lost when this process was not there: of those who share the ledger nobody is given up at once. */
export const flagLostBefore = ({ calls, jobs }: Pick<Ledger, 'calls' | 'jobs'>, now: number): Promise<number> =>
  calls.flagLost(now, jobs === undefined ? now : now - SHARED.leaseMs);

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
  /** Where several work: what the dead have held is handed back. */
  readonly jobs?: Pick<JobStore, 'handBack'> | undefined;
  /** The start whose budget it spends; without it, its own. */
  readonly purse?: number | undefined;
  /** Units of its limit that were spent before it began. */
  readonly unitsBefore?: number | undefined;
}

/** A start on the ledger, renewed until it ends. */
export async function takeLease(
  runId: string | null,
  calls: CallStore,
  clock: Clock,
  { given, onLost = () => {}, jobs, purse, unitsBefore }: LeaseOptions = {},
): Promise<Lease> {
  const now = clock.now();
  const { leaseMs, renewMs } = jobs === undefined ? ALONE : SHARED;
  const worker = `${hostname()}:${process.pid}`;
  const startId = await calls.begin({
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
      const kept = await calls.renew(startId, clock.now() + leaseMs);
      if (!kept) throw new TakenOverError();
      // Who was out of touch itself cannot tell who is dead: the others get the time of a lease to be heard of again.
      if (clock.now() - heard > leaseMs - renewMs) inTouchSince = clock.now();
      heard = clock.now();
      if (jobs !== undefined && heard - inTouchSince < leaseMs) continue;
      // Somebody else may have died meanwhile: what waits for its calls must not wait for ever.
      const lost = await calls.flagLost(clock.now());
      if (lost > 0) onLost(lost);
      await jobs?.handBack();
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
