import { v2Operations } from '../../api/v2/operations.js';
import type { Ledger } from '../../ledger/ledger.js';
import type { PortfolioRecord } from '../../ledger/portfolios.js';
import { isWanted, type ProviderOptions } from '../provider.js';
import { type DoubtView, withSentAgain } from '../sent-again.js';

/** All lists, each once: one that was tried on the sandbox, or with another provider, before is not a list of its own. */
export async function currentLists(
  { portfolios }: Pick<Ledger, 'portfolios'>,
  which: Pick<ProviderOptions, 'sandbox'> = {},
): Promise<readonly PortfolioRecord[]> {
  const names = new Set<string>();
  const wanted = (await portfolios.all()).filter(({ providers }) => isWanted(which, providers));
  // The newest comes first.
  return wanted.filter(({ name }) => !names.has(name) && names.add(name));
}

/** Of the calls that `doubt` lists, those about which a person has still to say something. */
export async function callsInDoubt(
  ledger: Pick<Ledger, 'doubts' | 'runs'>,
  now: number,
): Promise<readonly DoubtView[]> {
  const calls = await ledger.doubts.list({ calls: [], runs: [] }, now);
  return (await withSentAgain(calls, ledger)).filter(needsAWord);
}

const ASKED_EVERY_NIGHT: readonly string[] = [v2Operations.watchHistory.name, v2Operations.watchList.name];

/**
 * In doubt, and either what it was for waits, or nobody knows what it cost: also where its row has gone on without it. What
 * was answered since has been dealt with as the pipeline says; but of a report that may have been paid for twice only a
 * person can find out. What the provider has refused for good was never in doubt, and what the watch was asked the next
 * night asks again: that costs no more than it always does.
 */
function needsAWord({ operation, holds, sentAgain, charge, note, answered, meter }: DoubtView): boolean {
  if (ASKED_EVERY_NIGHT.includes(operation)) return false;
  if (holds) return sentAgain !== 'nothing' || charge === 'unknown';
  return answered && meter === 'report' && charge === 'unknown' && note === null;
}
