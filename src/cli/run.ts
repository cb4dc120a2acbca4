import { resolve } from 'node:path';
import { loadDataDir } from '../config/environment.js';
import { type LoadedPipeline, loadPipeline } from '../config/pipeline.js';
import { ExitCode } from '../domain/exit-codes.js';
import { identityOf, openRun, type RunSettings } from '../engine/run.js';
import { readInput } from '../input/read-input.js';
import type { InputTable } from '../input/types.js';
import type { Ledger, RunRecord } from '../ledger/ledger.js';
import { openLedger } from '../ledger/sqlite/ledger.js';
import { checkProvider, drive, exitCodeOfEnd } from './drive.js';
import { exportAtEnd, exportOptions } from './export-at-end.js';
import { mustHaveSpace } from './free-space.js';
import type { Io } from './io.js';
import { makePlan, printPlan } from './plan.js';
import { type ProviderNames, providerNames, sandboxOption, withProvider } from './provider.js';
import { printEnd } from './run-end.js';
import {
  againFlags,
  agrees,
  mustAgreeToSpend,
  type SpendingArgs,
  spendingLimits,
  spendingOptions,
  wholeNumber,
} from './spending.js';
import { count } from './text.js';
import type { Verb } from './verb.js';

interface RunArgs extends SpendingArgs {
  readonly input: string;
  readonly pipeline: string;
  readonly limit: number | undefined;
  readonly fresh: boolean;
  readonly export: boolean;
  readonly out: string | undefined;
  readonly format: string | undefined;
}

export const runVerb: Verb<RunArgs> = {
  command: 'run <input>',
  describe: 'Take a CSV of companies through the pipeline; go on with an unfinished run of the same input',
  builder: (yargs) =>
    yargs
      .positional('input', { type: 'string', demandOption: true, describe: 'The CSV' })
      .option('pipeline', pipelineOption)
      .option('sandbox', sandboxOption)
      .options(spendingOptions)
      .option('limit', limitOption)
      .option('fresh', { type: 'boolean', default: false, describe: 'A new run that uses no answer bought before it' })
      .options(exportOptions)
      .example('$0 run companies.csv --sandbox', 'try it on the simulated provider')
      .example('$0 run companies.csv --pipeline nightly --budget 500', 'unattended, at most 500 units')
      .epilogue(
        'Exit code: 0 all settled, 2 usage, 3 rows failed or need review, 4 allowance or budget spent, 5 key or scope refused, 6 provider unavailable, 75 in use, 130/143 interrupted. From 4 on it can be resumed.',
      ),
  async run(args, io) {
    const loaded = loadPipeline(args.pipeline, io.cwd);
    const limits = spendingLimits(args, loaded);
    const limit = wholeNumber('--limit', args.limit, 1) ?? null;
    const table = await readInput(resolve(io.cwd, args.input), { synonyms: loaded.columns });
    for (const warning of table.warnings) io.stderr(`note: ${warning}\n`);
    const names = providerNames(args, io);
    const pipeline = settled(loaded, names, limits);
    const dataDir = loadDataDir(io, args);
    mustHaveSpace(dataDir, io);
    const ledger = openLedger(dataDir, io.clock.now());
    try {
      const settings: RunSettings = { pipeline, ...limits, limit, fresh: args.fresh };
      const before = args.fresh ? undefined : await ledger.latestRun(table.sha256, identityOf(settings));
      const shared = { ...args, pipeline, ...limits, againFlags: againFlags(args) };
      if (before?.state === 'finished') return await tellFinished(before, { ...shared, names }, ledger, io);
      mustAgreeToSpend(args, io);
      return await withProvider(
        args,
        io,
        async (provider) => {
          checkProvider(pipeline, provider);
          if (!(await agreed(table, settings, before, args, ledger, io))) return ExitCode.interrupted;
          const run = await openRun(table, settings, ledger, io.clock);
          return await drive({ ...shared, run, fresh: args.fresh }, provider, ledger, io);
        },
        { deadlineMs: loaded.deadlineMs, keepSandbox: true },
      );
    } finally {
      await ledger.close();
    }
  },
};

export const pipelineOption = {
  type: 'string',
  default: 'analyst',
  requiresArg: true,
  describe: 'A name (analyst, nightly, backfill) or a file',
} as const;

export const limitOption = { type: 'number', requiresArg: true, describe: 'Only the first rows of the input' } as const;

/**
 * The pipeline as the run keeps it: with the budget and speed that were agreed to, so that `resume` holds to them.
 * Its identity names the provider too: a file that was tried on the sandbox is still to be run for real.
 */
function settled(
  pipeline: LoadedPipeline,
  names: ProviderNames,
  { budgetUnits, concurrency }: { readonly budgetUnits: number | null; readonly concurrency: number },
): LoadedPipeline {
  return {
    ...pipeline,
    budget: { ...pipeline.budget, units: budgetUnits },
    concurrency,
    sha256: `${pipeline.sha256}@${[...new Set([names.v1, names.v2])].join()}`,
  };
}

/** On a terminal the plan is shown first, and nothing is spent before a yes. */
async function agreed(
  table: InputTable,
  settings: RunSettings,
  before: RunRecord | undefined,
  args: RunArgs,
  ledger: Ledger,
  io: Io,
): Promise<boolean> {
  if (before !== undefined && before.state === 'open') io.stderr(`Going on with run ${before.id}.\n`);
  if (io.ask === undefined) return true;
  const plan = await makePlan({ table, ...settings }, providerNames(args, io), ledger, io);
  printPlan(plan, table.path, io);
  return await agrees(`Spend up to ${count(mostUnits(plan.units.atMost, settings), 'v1 unit')}?`, args, io);
}

const mostUnits = (units: number, { budgetUnits }: RunSettings) => Math.min(units, budgetUnits ?? units);

interface FinishedView extends RunArgs {
  readonly againFlags: (budget?: number) => string;
  readonly budgetUnits: number | null;
  readonly unitsPerRowAtMost: number;
  readonly names: ProviderNames;
}

/** Everything was bought; nothing is spent. The tables are written again only if asked for. */
async function tellFinished(
  run: RunRecord,
  view: Omit<FinishedView, 'pipeline'>,
  ledger: Ledger,
  io: Io,
): Promise<ExitCode> {
  const progress = await ledger.progress(run.id);
  const wanted = view.out !== undefined || view.format !== undefined;
  const files = wanted
    ? await exportAtEnd(run, { ledger, dataDir: loadDataDir(io, view), out: view.out, format: view.format }, io)
    : undefined;
  io.stderr(`This input is finished: nothing was spent now. --fresh buys everything anew.\n`);
  const end = { progress, stopped: undefined, interrupted: false, finished: true };
  printEnd(end, { ...view, run, files, log: undefined }, io);
  return exitCodeOfEnd(end, undefined);
}
