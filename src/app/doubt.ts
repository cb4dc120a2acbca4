import { UsageError } from '../domain/errors.js';
import type { DoubtfulCall, DoubtSelection, DoubtVerdict } from '../ledger/doubts.js';
import type { Ledger } from '../ledger/ledger.js';
import { type DeciderOptions, decider } from './decider.js';
import { findRun } from './find-run.js';
import { type ReleasedRun, releasedRuns } from './released-runs.js';
import { here, type PlaceOptions, withLedger } from './surroundings.js';

export interface DoubtsOptions extends PlaceOptions {
  /** Numbers of calls, or runs; all that there are without it. */
  readonly which?: readonly string[] | undefined;
}

export interface DoubtsView {
  /** The oldest first. */
  readonly calls: readonly DoubtfulCall[];
  /** Runs with rows that were parked for a call which holds them no longer: they may go on. */
  readonly released: readonly ReleasedRun[];
}

/** Calls whose charge nobody knows. */
export function listDoubts(options: DoubtsOptions = {}, around = here()): Promise<DoubtsView> {
  return withLedger('read', options, around, async (ledger) => {
    const calls = await chosen(options, ledger, around.clock.now());
    const free = calls.some(({ holds }) => holds) ? [] : await stillHeld(ledger);
    return { calls, released: await releasedRuns(free, ledger) };
  });
}

export interface SettleDoubtsOptions extends DoubtsOptions, DeciderOptions {
  /** `resend`: the charge stays unknown, the rows go on. */
  readonly verdict: DoubtVerdict;
  /** Why; kept with each call, beside who and when. */
  readonly reason?: string | undefined;
  /** Asked once, with what it is about, unless that is nothing. Without it nobody is asked. */
  readonly agree?: ((calls: readonly DoubtfulCall[]) => Promise<boolean>) | undefined;
}

export interface SettledDoubtsView {
  readonly outcome: 'settled' | 'nothing_found' | 'not_agreed';
  readonly calls: readonly DoubtfulCall[];
  /** Runs whose rows may go on. */
  readonly released: readonly ReleasedRun[];
}

/** Settles what such calls have cost as a person found out, or lets the same be sent again all the same. */
export function settleDoubts(options: SettleDoubtsOptions, around = here()): Promise<SettledDoubtsView> {
  return withLedger('existing', options, around, async (ledger) => {
    const now = around.clock.now();
    // Whoever holds the ledger is alone: what is still open was lost by somebody who died.
    await ledger.calls.flagLost(now);
    const calls = await chosen(options, ledger, now);
    if (calls.length === 0) return { outcome: 'nothing_found', calls, released: [] };
    if (options.agree !== undefined && !(await options.agree(calls)))
      return { outcome: 'not_agreed', calls, released: [] };
    const ids = calls.map(({ id }) => id);
    const rows = await ledger.doubts.settle(ids, options.verdict, noteOf(options, decider(options, around), now));
    const held = await stillHeld(ledger);
    return { outcome: 'settled', calls, released: await releasedRuns([...rows, ...held], ledger) };
  });
}

const WORDS: Readonly<Record<DoubtVerdict, string>> = {
  resend: 'let go on',
  charged: 'settled as charged',
  free: 'settled as free',
};

function noteOf({ verdict, reason }: SettleDoubtsOptions, by: string, now: number): string {
  const why = reason?.trim();
  return `${WORDS[verdict]} by ${by}, ${new Date(now).toISOString()}${why ? `: ${why}` : ''}`;
}

/** Rows of other runs may wait for the same call: their next start finds out. */
async function stillHeld({ runs }: Ledger) {
  const open = (await runs.all()).filter(({ state }) => state === 'open');
  const held = await Promise.all(
    open.map(async ({ id }) => ({ runId: id, count: (await runs.progress(id)).parkedReasons.in_doubt ?? 0 })),
  );
  return held.flatMap(({ runId, count }) => Array.from({ length: count }, (_, row) => ({ runId, row })));
}

async function chosen(options: DoubtsOptions, ledger: Ledger, now: number): Promise<readonly DoubtfulCall[]> {
  const selection = await readSelection(options.which ?? [], ledger);
  const found = await ledger.doubts.list(selection, now);
  const unknown = selection.calls.find((id) => !found.some((call) => call.id === id));
  if (unknown === undefined) return found;
  throw new UsageError(`call ${unknown} is not one whose charge is unknown`, '`kybatch doubt` lists those.');
}

async function readSelection(which: readonly string[], { runs }: Ledger): Promise<DoubtSelection> {
  const isCall = (word: string) => /^\d{1,15}$/.test(word);
  const named = which.filter((word) => !isCall(word));
  for (const run of named) await findRun(run, runs);
  return { calls: which.filter(isCall).map(Number), runs: named };
}
