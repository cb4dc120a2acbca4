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

/** Calls that may have been charged, whose answer is not there, and of which something still waits for that answer. */
export async function callsInDoubt(
  ledger: Pick<Ledger, 'doubts' | 'runs'>,
  now: number,
): Promise<readonly DoubtView[]> {
  const calls = await ledger.doubts.list({ calls: [], runs: [] }, now);
  return (await withSentAgain(calls, ledger)).filter(({ holds, sentAgain }) => holds && sentAgain !== 'nothing');
}
