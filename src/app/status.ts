import { UsageError } from '../domain/errors.js';
import type { RunActivity } from '../ledger/reading.js';
import { findRun } from './find-run.js';
import type { GoOnStep } from './next-step.js';
import { isOnSandbox } from './released-runs.js';
import { nextStep } from './run-end.js';
import { type RunStanding, viewOf } from './run-view.js';
import { readAgain } from './stored-settings.js';
import { here, type PlaceOptions, withLedger } from './surroundings.js';

export interface StatusOptions extends PlaceOptions {
  /** The newest without it. */
  readonly run?: string | undefined;
}

export interface StatusView extends RunStanding {
  /** When it was looked at. */
  readonly at: number;
  readonly activity: RunActivity;
  /** When the next credit report may be ready; null if none is waited for. */
  readonly nextReportAt: number | null;
  /** What leads on; null where nothing is left to do. */
  readonly next: GoOnStep | null;
  /** It was made with the simulated provider, and goes on with it. */
  readonly sandbox: boolean;
}

/** "Of late" for the speed of a run. */
export const LATELY_MS = 60_000;

/** One run: counts, stages, units, speed, and what it waits for; also while it is at work. */
export function status(options: StatusOptions = {}, around = here()): Promise<StatusView> {
  return withLedger('read', options, around, async ({ runs, reading }) => {
    const run = await findRun(options.run, runs);
    if (run === undefined)
      throw new UsageError('there is no run yet', '`kybatch run companies.csv --sandbox` makes one.');
    const at = around.clock.now();
    const progress = await runs.progress(run.id);
    return {
      run: viewOf(run),
      progress,
      at,
      activity: await reading.activity(run.id, at - LATELY_MS),
      nextReportAt: (await runs.nextDue(run.id)) ?? null,
      next: run.state === 'reading' ? readAgain(run) : nextStep(run, progress),
      sandbox: await isOnSandbox(run.id, runs),
    };
  });
}
