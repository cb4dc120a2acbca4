import type { Pipeline } from '../config/pipeline.js';
import { type RunEnd, workOnRun } from '../engine/run.js';
import type { Ledger } from '../ledger/ledger.js';
import type { RunRecord } from '../ledger/runs.js';
import { writeTables } from './export.js';
import { orGoOnWith } from './next-step.js';
import { type Provider, sourcesOf } from './provider.js';
import { mostFor, within } from './row-cost.js';
import { nextStep, type RunEndView, viewOfEnd } from './run-end.js';
import { openRunLog, type RunLog } from './run-log.js';
import type { SpendingBounds, SpendingOptions } from './spending.js';
import { StartTally } from './start-tally.js';
import type { Surroundings } from './surroundings.js';

/** One start on a run. */
export interface Start extends SpendingBounds {
  readonly run: RunRecord;
  readonly pipeline: Pipeline;
  /** Answers from before the run are not used. */
  readonly fresh: boolean;
  /** An earlier start began it. */
  readonly goesOn: boolean;
  /** Rows that an earlier start has parked stay so. */
  readonly keepParked?: boolean;
  readonly options: SpendingOptions;
}

/** Works on a run until nothing moves or somebody interrupts; then writes the tables, and tells how it ended. */
export async function workOn(
  start: Start,
  provider: Provider,
  ledger: Ledger,
  around: Surroundings,
): Promise<RunEndView> {
  const { run, pipeline, limits, options } = start;
  const log = openRunLog(run, provider, around);
  const stopListening = listenForInterrupts(options, log);
  const tally = new StartTally();
  const listener = harmless(options, around);
  try {
    await tellStarted(start, listener, ledger);
    const end = await orGoOnWith({ kind: 'resume', run: run.id }, () =>
      workOnRun({
        run,
        pipeline,
        fresh: start.fresh,
        keepParked: start.keepParked ?? false,
        budgetUnits: limits.units,
        budgetReports: limits.reports,
        concurrency: start.concurrency,
        sources: sourcesOf(provider),
        ledger,
        clock: around.clock,
        drain: options.drain ?? never(),
        abort: options.abort ?? never(),
        listen(event) {
          tally.listen(event);
          log.listen(event);
          listener(event);
        },
      }),
    );
    log.ended(end);
    const tables = await tablesAtEnd(start, end, provider.environment.dataDir, ledger, around);
    const next = nextStep(run, end.progress, enoughToGoOn(start, end, tally));
    return viewOfEnd(run, end, tally.spent, next, { tables, log: log.path });
  } catch (error) {
    log.brokenOff(error);
    throw error;
  } finally {
    stopListening();
    log.close();
  }
}

type Listener = NonNullable<SpendingOptions['listen']>;

/** Nothing depends on who listens: one that fails is told of, and not called again. */
function harmless({ listen }: SpendingOptions, { onNote }: Surroundings): Listener {
  let heard = listen;
  return (event) => {
    try {
      heard?.(event);
    } catch (error) {
      heard = undefined;
      onNote?.(
        `a listener failed, and is told nothing more: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  };
}

async function tellStarted(
  { run, pipeline, limits, goesOn }: Start,
  listener: Listener,
  { runs }: Ledger,
): Promise<void> {
  const { byOutcome, unitsCharged } = await runs.progress(run.id);
  listener({
    kind: 'started',
    run: run.id,
    rows: run.rowCount,
    outcomes: byOutcome,
    unitsCharged,
    goesOn,
    atMost: within(mostFor(byOutcome.pending, pipeline), limits),
  });
}

/** Whoever interrupts wants the terminal back: the tables can be had later. */
async function tablesAtEnd(
  { run, options }: Start,
  { interrupted }: RunEnd,
  dataDir: string,
  ledger: Ledger,
  around: Surroundings,
): Promise<string | null> {
  if (interrupted || options.export === false) return null;
  const { folder } = await orGoOnWith({ kind: 'export', run: run.id }, () =>
    writeTables(run.id, ledger, dataDir, options, around),
  );
  return folder;
}

/** Budgets that are enough for every open row, where those of this start were not. */
function enoughToGoOn({ pipeline, limits }: Start, { progress }: RunEnd, tally: StartTally) {
  if ((progress.parkedReasons.budget ?? 0) === 0) return {};
  const most = mostFor(progress.byOutcome.pending, pipeline);
  const reached = tally.reached(limits);
  return {
    ...(reached.units ? { budget: most.units } : {}),
    ...(reached.reports ? { maxReports: most.reports } : {}),
  };
}

function listenForInterrupts({ drain, abort }: SpendingOptions, log: RunLog): () => void {
  const first = () => log.interrupted(false);
  const second = () => log.interrupted(true);
  drain?.addEventListener('abort', first);
  abort?.addEventListener('abort', second);
  return () => {
    drain?.removeEventListener('abort', first);
    abort?.removeEventListener('abort', second);
  };
}

const never = (): AbortSignal => new AbortController().signal;
