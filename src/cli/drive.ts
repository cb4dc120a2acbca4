import { setMaxListeners } from 'node:events';
import { missingRoutes } from '../api/v2/routes.js';
import type { AnyClient } from '../calls/door.js';
import type { LoadedPipeline } from '../config/pipeline.js';
import { UsageError } from '../domain/errors.js';
import { type RunEnd, STAGE_OPERATIONS, v2OperationsOf, workOnRun } from '../engine/run.js';
import type { Ledger, RunRecord } from '../ledger/ledger.js';
import { ExitCode } from './exit-codes.js';
import type { Io } from './io.js';
import { type Provider, required } from './provider.js';
import { printEnd } from './run-end.js';

export interface Drive {
  readonly run: RunRecord;
  readonly pipeline: LoadedPipeline;
  readonly budgetUnits: number | null;
  readonly concurrency: number;
  readonly fresh: boolean;
  readonly json: boolean;
  /** The flags that make the same command line again, e.g. `--sandbox`. */
  readonly againFlags: string;
}

/** Works on a run until nothing moves or somebody interrupts, and tells how it ended. */
export async function drive(drive: Drive, provider: Provider, ledger: Ledger, io: Io): Promise<ExitCode> {
  const drain = new AbortController();
  const abort = new AbortController();
  // Every call and every waiting row listens: that is no leak.
  setMaxListeners(0, drain.signal, abort.signal);
  let signal: 'SIGINT' | 'SIGTERM' | undefined;
  const stopListening = io.onInterrupt((received) => {
    if (signal === undefined)
      io.stderr('\nStopping: calls under way are waited for and written down. Once more stops at once.\n');
    else abort.abort(new Error('interrupted'));
    signal ??= received;
    drain.abort(new Error('interrupted'));
  });
  try {
    const end = await workOnRun({
      ...drive,
      providers: {
        v1: provider.v1 && { client: provider.v1 as unknown as AnyClient, environment: provider.names.v1 },
        v2: provider.v2 && { client: provider.v2 as unknown as AnyClient, environment: provider.names.v2 },
      },
      ledger,
      clock: io.clock,
      drain: drain.signal,
      abort: abort.signal,
    });
    printEnd(end, drive, io);
    return exitCodeOfEnd(end, signal);
  } finally {
    stopListening();
  }
}

/** Everything the stages need is there, or the run is refused before the first paid call (V2-15). */
export function checkProvider(pipeline: LoadedPipeline, provider: Provider): void {
  for (const api of ['v1', 'v2'] as const) {
    const needed = pipeline.stages.some((stage) => STAGE_OPERATIONS[stage].some((operation) => operation.api === api));
    if (needed) required(api === 'v1' ? provider.v1 : provider.v2, api);
  }
  const missing = missingRoutes(v2OperationsOf(pipeline.stages), provider.environment.routes);
  if (missing.length === 0) return;
  const file = provider.environment.routesFile ?? 'a routes file (KYBATCH_V2_ROUTES names it)';
  throw new UsageError(
    `the pipeline needs routes that are not there: ${missing.join(', ')}`,
    `Add these keys to ${file}; nothing was spent.`,
  );
}

function exitCodeOfEnd(end: RunEnd, signal: 'SIGINT' | 'SIGTERM' | undefined): ExitCode {
  if (end.stopped !== undefined) {
    if (end.stopped.stop === 'credentials') return ExitCode.credentials;
    return end.stopped.stop === 'unavailable' ? ExitCode.unavailable : ExitCode.usage;
  }
  if (!end.finished && signal !== undefined) return signal === 'SIGINT' ? ExitCode.interrupted : ExitCode.terminated;
  const { byOutcome, parkedReasons } = end.progress;
  if ((parkedReasons.scope ?? 0) > 0) return ExitCode.credentials;
  const inDoubt = parkedReasons.in_doubt ?? 0;
  if (byOutcome.pending > inDoubt) return ExitCode.allowance;
  return byOutcome.failed + byOutcome.needs_review + inDoubt > 0 ? ExitCode.rowsOpen : ExitCode.ok;
}
