import { basename } from 'node:path';
import { pipelineNames } from '../../config/find-pipeline.js';
import { hasLedger } from '../../ledger/open-ledger.js';
import { ledgerOf, type PlaceOptions, processEnvironment, withLedger } from '../environment.js';

/** What people name in a command, and what it is. */
export interface NamesInLedger {
  /** The newest first. */
  readonly runs: readonly { readonly id: string; readonly input: string }[];
  readonly portfolios: readonly string[];
}

/** The names that a ledger knows. Nothing is written; where there is no ledger there are none. */
export async function namesInLedger(options: PlaceOptions = {}, around = processEnvironment()): Promise<NamesInLedger> {
  if (!(await hasLedger(ledgerOf(options, around)))) return { runs: [], portfolios: [] };
  return await withLedger('read', options, around, async (ledger) => ({
    runs: (await ledger.runs.all()).map(({ id, inputPath }) => ({ id, input: basename(inputPath) })),
    portfolios: [...new Set((await ledger.portfolios.all()).map(({ name }) => name))],
  }));
}

/** What `--pipeline` takes beside the path of a file. */
export const pipelinesByName = ({ cwd } = processEnvironment()): readonly string[] => pipelineNames(cwd);
