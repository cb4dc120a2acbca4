import { loadDataDir } from '../config/environment.js';
import { UsageError } from '../domain/errors.js';
import { ExitCode } from '../domain/exit-codes.js';
import type { Ledger, RunRecord } from '../ledger/ledger.js';
import { openExistingLedger } from '../ledger/sqlite/ledger.js';
import { checkProvider, drive, exitCodeOfEnd } from './drive.js';
import { findRun } from './find-run.js';
import { mustHaveSpace } from './free-space.js';
import type { Io } from './io.js';
import { type ProviderNames, providerNames, withProvider } from './provider.js';
import { printEnd } from './run-end.js';
import { againFlags, agrees, type SpendingArgs, spendingLimits } from './spending.js';
import { readStoredSettings } from './stored-settings.js';
import { count, shellWord } from './text.js';

export interface GoOnArgs extends SpendingArgs {
  readonly run: string | undefined;
  readonly export: boolean;
  readonly out: string | undefined;
  readonly format: string | undefined;
}

export interface GoOn {
  /** Which run, where none is named. */
  readonly fits: (run: RunRecord, ledger: Ledger) => Promise<boolean>;
  readonly none: UsageError;
  /** Says how many rows will move, and why none does if so. */
  readonly rows: (run: RunRecord, ledger: Ledger) => Promise<{ readonly count: number; readonly nothing: string }>;
  /** Makes those rows free to move. */
  readonly release: (run: RunRecord, ledger: Ledger) => Promise<unknown>;
}

/** Takes a run up again as it was started: pipeline, budget and speed are those it was created with. */
export async function goOn(args: GoOnArgs, how: GoOn, io: Io): Promise<ExitCode> {
  const dataDir = loadDataDir(io, args);
  mustHaveSpace(dataDir, io);
  const ledger = openExistingLedger(dataDir, io.clock.now());
  try {
    const run = await chosenRun(args.run, how, ledger);
    if (run.state === 'reading') throw halfRead(run, args);
    const { pipeline, fresh } = readStoredSettings(run);
    await mustBeSameProvider(run, providerNames(args, io), args, ledger);
    const shared = { ...args, ...spendingLimits(args, pipeline), run, pipeline, fresh, againFlags: againFlags(args) };
    const rows = await how.rows(run, ledger);
    if (rows.count === 0) {
      io.stderr(`${rows.nothing}\n`);
      const progress = await ledger.progress(run.id);
      const end = { progress, stopped: undefined, interrupted: false, finished: run.state === 'finished' };
      printEnd(end, { ...shared, files: undefined, log: undefined }, io);
      return exitCodeOfEnd(end, undefined);
    }
    const most = rows.count * shared.unitsPerRowAtMost;
    return await withProvider(
      args,
      io,
      async (provider) => {
        checkProvider(pipeline, provider);
        io.stderr(`Run ${run.id}: ${count(rows.count, 'row')} to go, at most ${count(most, 'v1 unit')}.\n`);
        if (!(await agrees('Go on?', args, io))) return ExitCode.interrupted;
        await how.release(run, ledger);
        return await drive(shared, provider, ledger, io);
      },
      { deadlineMs: pipeline.deadlineMs, keepSandbox: true },
    );
  } finally {
    await ledger.close();
  }
}

async function chosenRun(id: string | undefined, how: GoOn, ledger: Ledger): Promise<RunRecord> {
  if (id === undefined) {
    for (const run of await ledger.runs()) if (await how.fits(run, ledger)) return run;
    throw how.none;
  }
  const run = await findRun(id, ledger);
  if (run === undefined) throw how.none;
  return run;
}

function halfRead({ id, inputPath, pipelineName }: RunRecord, args: GoOnArgs): UsageError {
  const pipeline = pipelineName === 'analyst' ? '' : ` --pipeline ${shellWord(pipelineName)}`;
  return new UsageError(
    `run ${id} was stopped while its input was being read; nothing was spent`,
    `Start it again with: kybatch run ${shellWord(inputPath)}${pipeline}${againFlags(args)()}`,
  );
}

/** A run that was tried on the sandbox must not go on at the expense of a real account, nor the other way round. */
async function mustBeSameProvider(run: RunRecord, names: ProviderNames, args: GoOnArgs, ledger: Ledger): Promise<void> {
  for (const api of ['v1', 'v2'] as const) {
    const used = await ledger.environmentOfRun(run.id, api);
    if (used === undefined || used === names[api]) continue;
    const sandbox = used.startsWith('sandbox:');
    throw new UsageError(
      `run ${run.id} was made with ${sandbox ? 'the sandbox' : used}, not with ${args.sandbox ? 'the sandbox' : names[api] || 'nothing configured'}`,
      sandbox
        ? 'Add --sandbox.'
        : args.sandbox
          ? 'Leave out --sandbox.'
          : `Set KYBATCH_${api.toUpperCase()}_BASE_URL to it.`,
    );
  }
}
