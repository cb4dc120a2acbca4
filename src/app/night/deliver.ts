import type { NotifyTarget } from '../../config/notify-schema.js';
import type { Clock } from '../../util/clock.js';
import type { Surroundings } from '../surroundings.js';
import { postTo } from './post-to.js';
import { runCommand } from './run-command.js';

/** Between two tries; there is one more than there are pauses. */
const PAUSES_MS = [1_000, 5_000] as const;
const TIMEOUT_MS = 15_000;

export type Delivery =
  | { readonly delivered: true; readonly tries: number }
  /** Why not, the last time. */
  | { readonly delivered: false; readonly tries: number; readonly why: string };

/** Hands the summary over, three times if need be. Never throws, and never takes longer than its tries may. */
export async function deliver(
  to: NotifyTarget,
  summary: string,
  around: Surroundings,
  abort: AbortSignal,
): Promise<Delivery> {
  for (let tries = 1; ; tries++) {
    try {
      await within(TIMEOUT_MS, around.clock, abort, (signal) =>
        to.kind === 'command' ? runCommand(to.argv, summary, around, signal) : postTo(to, summary, signal),
      );
      return { delivered: true, tries };
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      const pause = PAUSES_MS[tries - 1];
      if (pause !== undefined) await around.clock.sleep(pause, abort).catch(() => {});
      if (pause === undefined || abort.aborted) return { delivered: false, tries, why };
    }
  }
}

/** `work` is aborted when the time is over, or somebody has had enough. */
async function within(
  ms: number,
  clock: Clock,
  abort: AbortSignal,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const tooLong = new AbortController();
  const timer = new AbortController();
  const waited = clock.sleep(ms, timer.signal).then(
    () => tooLong.abort(new Error(`it took longer than ${ms / 1000} s`)),
    () => {},
  );
  try {
    await work(AbortSignal.any([tooLong.signal, abort]));
  } finally {
    timer.abort();
    await waited;
  }
}
