import { lostAtMost } from '../calls/doubt.js';
import type { Ledger } from '../ledger/ledger.js';
import type { Progress, RunRecord } from '../ledger/runs.js';
import { readSettings } from './stored-settings.js';

/**
 * Where a run stands. A row whose call was lost when a process was killed, or given up on, is parked by the next start if
 * its pipeline says so: it waits for a person already, and is counted so.
 */
export async function standingOf(
  run: RunRecord,
  { runs, doubts }: Pick<Ledger, 'runs' | 'doubts'>,
  now: number,
): Promise<Progress> {
  const progress = await runs.progress(run.id);
  if (run.state === 'reading' || progress.byOutcome.pending === 0) return progress;
  const held = await doubts.heldRows(run.id, lostAtMost(readSettings(run).pipeline), now);
  if (held === 0) return progress;
  const { parked, parkedReasons } = progress;
  return {
    ...progress,
    parked: parked + held,
    parkedReasons: { ...parkedReasons, in_doubt: (parkedReasons.in_doubt ?? 0) + held },
  };
}

/** Rows that wait for a person's word about a lost call. */
export const inDoubtOf = async (
  run: RunRecord,
  ledger: Pick<Ledger, 'runs' | 'doubts'>,
  now: number,
): Promise<number> => (await standingOf(run, ledger, now)).parkedReasons.in_doubt ?? 0;
