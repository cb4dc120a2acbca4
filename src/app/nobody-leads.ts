import { LedElsewhereError } from '../ledger/jobs.js';
import type { Ledger } from '../ledger/ledger.js';
import type { RunRecord } from '../ledger/runs.js';
import type { SpendingOptions } from './spending.js';
import type { Surroundings } from './surroundings.js';

const LOOK_MS = 1000;

interface Meant {
  readonly isMeant: (run: RunRecord) => boolean;
  /** "this run": what somebody is said to lead. */
  readonly called: string;
}

/**
 * What others work on is not taken from under their hands. Of a leader that may have died it is seen within the time of
 * its lease whether it has: who renews it meanwhile is alive.
 */
export async function untilNobodyLeads(
  { isMeant, called }: Meant,
  { drain }: SpendingOptions,
  ledger: Ledger,
  { clock, onNote }: Surroundings,
): Promise<void> {
  let first: LedElsewhereError | undefined;
  for (;;) {
    const led = await ledElsewhere(isMeant, ledger);
    if (led === undefined) return;
    if (led.leaseUntil > (first ?? led).leaseUntil || drain?.aborted === true) throw led;
    const left = Math.max(0, (first ?? led).leaseUntil - clock.now()) + 1;
    if (first === undefined)
      onNote?.(
        `waiting to see whether ${led.worker ?? 'another process'}, which leads ${called}, is alive: ${Math.ceil(left / 1000)} s at the most`,
      );
    first ??= led;
    await clock.sleep(Math.min(LOOK_MS, left), drain).catch(() => {});
  }
}

async function ledElsewhere(
  isMeant: Meant['isMeant'],
  { jobs, runs, reading }: Ledger,
): Promise<LedElsewhereError | undefined> {
  for (const { runId, leaderIsAlive } of (await jobs?.runs()) ?? []) {
    const run = leaderIsAlive ? await runs.find(runId) : undefined;
    if (run === undefined || !isMeant(run)) continue;
    const leader = (await reading.workers(runId)).find(({ leads }) => leads);
    if (leader !== undefined) return new LedElsewhereError(runId, leader.worker, leader.leaseUntil);
  }
  return undefined;
}
