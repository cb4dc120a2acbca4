import { basename } from 'node:path';
import { pipelineNames } from '../../config/user-files.js';
import { hasLedger } from '../../ledger/open-ledger.js';
import { ledgerOf, type PlaceOptions, processEnvironment, withLedger } from '../environment.js';

/** Names that shell completion offers. */
export interface NamesInLedger {
  /** The newest first. */
  readonly runs: readonly { readonly id: string; readonly input: string }[];
  readonly portfolios: readonly string[];
}

/** The names in a ledger. Nothing is written. Without a ledger the lists are empty. */
export async function namesInLedger(
  options: PlaceOptions = {},
  environment = processEnvironment(),
): Promise<NamesInLedger> {
  if (!(await hasLedger(ledgerOf(options, environment)))) return { runs: [], portfolios: [] };
  return await withLedger('read', options, environment, async (ledger) => ({
    runs: (await ledger.runs.all()).map(({ id, inputPath }) => ({ id, input: basename(inputPath) })),
    portfolios: [...new Set((await ledger.portfolios.all()).map(({ name }) => name))],
  }));
}

/** The names that `--pipeline` accepts beside a file path. */
export const namesOfPipelines = ({ cwd } = processEnvironment()): readonly string[] => pipelineNames(cwd);
