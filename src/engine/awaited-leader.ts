import { LedElsewhereError } from '../ledger/jobs.js';
import type { Clock } from '../util/clock.js';

const LOOK_MS = 1000;

interface Waiting {
  readonly clock: Clock;
  readonly drain?: AbortSignal | undefined;
  /** Told once, when it is seen that somebody else leads. */
  readonly onWait: (led: LedElsewhereError) => void;
}

/**
 * What only works where nobody else leads the run. Of a leader that may have died it is seen within the time of its lease
 * whether it has: who renews it meanwhile is alive.
 */
export async function whereNobodyLeads<T>(attempt: () => Promise<T>, { clock, drain, onWait }: Waiting): Promise<T> {
  let first: LedElsewhereError | undefined;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof LedElsewhereError)) throw error;
      if (first === undefined) onWait(error);
      first ??= error;
      if (error.leaseUntil > first.leaseUntil || drain?.aborted === true) throw error;
    }
    const left = Math.max(0, first.leaseUntil - clock.now()) + 1;
    await clock.sleep(Math.min(LOOK_MS, left), drain).catch(() => {});
  }
}
