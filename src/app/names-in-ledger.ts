import { basename } from 'node:path';
import { hasLedger } from '../ledger/open-ledger.js';
import { here, ledgerOf, type PlaceOptions, withLedger } from './surroundings.js';

/** What people name in a command, and what it is. */
export interface NamesInLedger {
  /** The newest first. */
  readonly runs: readonly { readonly id: string; readonly input: string }[];
  readonly portfolios: readonly string[];
}

/** The names that a ledger knows. Nothing is written; where there is no ledger there are none. */
export async function namesInLedger(options: PlaceOptions = {}, around = here()): Promise<NamesInLedger> {
  if (!(await hasLedger(ledgerOf(options, around)))) return { runs: [], portfolios: [] };
  return await withLedger('read', options, around, async (ledger) => ({
    runs: (await ledger.runs.all()).map(({ id, inputPath }) => ({ id, input: basename(inputPath) })),
    portfolios: [...new Set((await ledger.portfolios.all()).map(({ name }) => name))],
  }));
}
