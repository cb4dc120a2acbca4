import { resolve } from 'node:path';
import { loadPipeline } from '../config/pipeline.js';
import { UsageError } from '../domain/errors.js';
import { openRun } from '../engine/run.js';
import { readInput } from '../input/index.js';
import { openLedger } from '../ledger/sqlite/ledger.js';
import { checkProvider, drive } from './drive.js';
import type { Io } from './io.js';
import { type ProviderArgs, sandboxOption, withProvider } from './provider.js';
import type { Verb } from './verb.js';

interface RunArgs extends ProviderArgs {
  readonly input: string;
  readonly pipeline: string;
  readonly yes: boolean;
  readonly budget: number | undefined;
  readonly limit: number | undefined;
  readonly concurrency: number | undefined;
  readonly fresh: boolean;
}

export const runVerb: Verb<RunArgs> = {
  command: 'run <input>',
  describe: 'Take a CSV of companies through the pipeline; go on with an unfinished run of the same input',
  builder: (yargs) =>
    yargs
      .positional('input', { type: 'string', demandOption: true, describe: 'The CSV' })
      .option('pipeline', {
        type: 'string',
        default: 'analyst',
        requiresArg: true,
        describe: 'A name (analyst, nightly, backfill) or a file',
      })
      .option('sandbox', sandboxOption)
      .option('yes', { type: 'boolean', default: false, describe: 'Spend without asking' })
      .option('budget', { type: 'number', requiresArg: true, describe: 'v1 units this run may spend, all told' })
      .option('limit', { type: 'number', requiresArg: true, describe: 'Only the first rows of the input' })
      .option('concurrency', { type: 'number', requiresArg: true, describe: 'Calls at once at the most' })
      .option('fresh', { type: 'boolean', default: false, describe: 'A new run that uses no answer bought before it' })
      .example('$0 run companies.csv --sandbox --yes', 'try it on the simulated provider')
      .example('$0 run companies.csv --pipeline nightly --budget 500', 'unattended, at most 500 units')
      .epilogue(
        'Exit code: 0 all settled, 3 rows failed or need review, 4 allowance or budget spent, 5 key or scope refused, 6 provider unavailable, 75 in use, 130/143 interrupted. All but 2 are resumable.',
      ),
  async run(args, io) {
    const loaded = loadPipeline(args.pipeline, io.cwd);
    const settings = {
      pipeline: loaded,
      budgetUnits: wholeNumber('--budget', args.budget, 0) ?? loaded.budget.units,
      concurrency: wholeNumber('--concurrency', args.concurrency, 1) ?? loaded.concurrency,
      limit: wholeNumber('--limit', args.limit, 1) ?? null,
      fresh: args.fresh,
    };
    const table = await readInput(resolve(io.cwd, args.input), { synonyms: loaded.columns });
    for (const warning of table.warnings) io.stderr(`note: ${warning}\n`);
    mustAgreeToSpend(args, io);
    return await withProvider(
      args,
      io,
      async (provider) => {
        checkProvider(loaded, provider);
        const ledger = openLedger(provider.environment.dataDir, io.clock.now());
        try {
          const run = await openRun(table, settings, ledger, io.clock);
          const againFlags = args.sandbox ? ' --sandbox' : '';
          return await drive({ run, ...settings, json: args.json, againFlags }, provider, ledger, io);
        } finally {
          await ledger.close();
        }
      },
      { deadlineMs: loaded.deadlineMs, keepSandbox: true },
    );
  },
};

/** Without a terminal nobody can be asked. */
function mustAgreeToSpend(args: RunArgs, io: Io): void {
  if (args.yes || args.budget !== undefined || args.sandbox || io.interactive) return;
  throw new UsageError(
    'run spends money, and there is no terminal to ask on',
    'Add --yes, or --budget UNITS to set a limit. `kybatch plan` shows what it would cost.',
  );
}

export function wholeNumber(flag: string, value: number | undefined, least: number): number | undefined {
  if (value === undefined) return undefined;
  if (Number.isSafeInteger(value) && value >= least) return value;
  throw new UsageError(`${flag} must be a whole number from ${least}, got ${value}`);
}
