import { lostAtMost } from '../calls/doubt.js';
import type { DoubtfulCall } from '../ledger/doubts.js';
import type { Ledger } from '../ledger/ledger.js';
import { readSettings } from './stored-settings.js';

/** A call in doubt, and what becomes of what it was for. */
export interface DoubtView extends DoubtfulCall {
  readonly sentAgain: SentAgain;
}

/**
 * What sends the same again: a person's word, the next start by itself, a retry of the failed row, somebody by hand; or
 * nothing, where it was answered since, or its row is settled without it.
 */
export type SentAgain = 'person' | 'next_start' | 'retry' | 'by_hand' | 'nothing';

/** Looks up what each run's pipeline allows. */
export async function withSentAgain(
  calls: readonly DoubtfulCall[],
  { runs }: Pick<Ledger, 'runs'>,
): Promise<readonly DoubtView[]> {
  const allowed = new Map<string | null, number>();
  for (const { runId } of calls) {
    if (runId === null || allowed.has(runId)) continue;
    const run = await runs.find(runId);
    if (run !== undefined) allowed.set(runId, lostAtMost(readSettings(run).pipeline));
  }
  return calls.map((call) => ({ ...call, sentAgain: sentAgain(call, allowed.get(call.runId)) }));
}

/** `lostAllowed`: how many lost calls for the same its pipeline puts up with; undefined where its run is gone. */
function sentAgain(call: DoubtfulCall, lostAllowed: number | undefined): SentAgain {
  const { runId, rowOutcome, rowParkedFor, meter, lost, holds, answered } = call;
  if (answered) return 'nothing';
  if (runId === null) return 'by_hand';
  if (lostAllowed === undefined || (rowOutcome !== 'pending' && rowOutcome !== 'failed')) return 'nothing';
  // A report is looked for first, however often it was lost.
  const isHeld = rowParkedFor === 'in_doubt' || (meter !== 'report' && lost >= Math.max(1, lostAllowed));
  if (holds && isHeld) return 'person';
  return rowOutcome === 'failed' ? 'retry' : 'next_start';
}
