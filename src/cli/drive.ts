import { join } from 'node:path';
import { missingRoutes } from '../api/v2/routes.js';
import type { AnyClient } from '../calls/door.js';
import type { LoadedPipeline } from '../config/pipeline.js';
import { KybatchError, UsageError } from '../domain/errors.js';
import { ExitCode } from '../domain/exit-codes.js';
import { type RunEnd, STAGE_OPERATIONS, v2OperationsOf, workOnRun } from '../engine/run.js';
import type { Ledger, RunRecord } from '../ledger/ledger.js';
import { type Logger, openLog } from '../util/logger.js';
import { exportAtEnd } from './export-at-end.js';
import { exportFlags } from './export-options.js';
import { goOnWith } from './go-on-with.js';
import type { Io } from './io.js';
import { ProgressDisplay } from './progress.js';
import { type Provider, required } from './provider.js';
import { type EndView, printEnd } from './run-end.js';
import { count } from './text.js';
import { watchLedger } from './watch-ledger.js';

export interface Drive extends Omit<EndView, 'files' | 'log'> {
  readonly run: RunRecord;
  readonly pipeline: LoadedPipeline;
  readonly concurrency: number;
  readonly fresh: boolean;
  readonly export: boolean;
  readonly out: string | undefined;
  readonly format: string | undefined;
}

type Interrupt = 'SIGINT' | 'SIGTERM';

/** Works on a run until nothing moves or somebody interrupts, and tells how it ended. */
export async function drive(drive: Drive, provider: Provider, ledger: Ledger, io: Io): Promise<ExitCode> {
  const { run } = drive;
  const { dataDir, v1, v2 } = provider.environment;
  const logPath = join(dataDir, 'logs', `${run.id}.log`);
  const secrets = [v1, v2].flatMap((access) => (access === null ? [] : [access.apiKey.reveal()]));
  const log = openLog({ path: logPath, clock: io.clock, secrets });
  const drain = new AbortController();
  const abort = new AbortController();
  let signal: Interrupt | undefined;
  const stopListening = io.onInterrupt((received) => {
    if (signal === undefined)
      io.stderr('\nStopping: calls under way are waited for and written down. Once more stops at once.\n');
    else abort.abort(new Error('interrupted'));
    log.info('interrupt', { signal: received, second: signal !== undefined });
    signal ??= received;
    drain.abort(new Error('interrupted'));
  });
  const display = new ProgressDisplay(run.rowCount, await ledger.progress(run.id), io);
  try {
    log.info('start', { run: run.id, rows: run.rowCount, pipeline: run.pipelineName, ...names(provider) });
    display.start();
    const work = {
      ...drive,
      providers: {
        v1: provider.v1 && { client: provider.v1 as unknown as AnyClient, environment: provider.names.v1 },
        v2: provider.v2 && { client: provider.v2 as unknown as AnyClient, environment: provider.names.v2 },
      },
      ledger: watched(ledger, display, log),
      clock: io.clock,
      drain: drain.signal,
      abort: abort.signal,
    };
    const end = await goOnWith(`kybatch resume ${run.id}${drive.againFlags()}`, () => workOnRun(work)).finally(() =>
      display.stop(),
    );
    logEnd(end, log);
    const files =
      end.interrupted || !drive.export
        ? undefined
        : await goOnWith(`kybatch export ${run.id}${exportFlags(drive)}`, () =>
            exportAtEnd(run, { ledger, dataDir, out: drive.out, format: drive.format }, io),
          );
    printEnd(end, { ...drive, files, log: logPath }, io);
    return exitCodeOfEnd(end, signal);
  } catch (error) {
    const code = error instanceof KybatchError ? error.code : 'INTERNAL';
    log.warn('broken_off', { error: error instanceof Error ? error.name : 'unknown', code });
    throw error;
  } finally {
    stopListening();
    const lost = log.close();
    if (lost > 0) io.stderr(`note: ${count(lost, 'line')} could not be written to ${logPath}\n`);
  }
}

const watched = (ledger: Ledger, display: ProgressDisplay, log: Logger) =>
  watchLedger(ledger, {
    onSettled: (settlement) => display.settled(settlement),
    onCheckpoint(row, checkpoint) {
      display.checkpoint(row, checkpoint);
      const { outcome, stage, hold, holdReason, errorCode } = checkpoint;
      // The messages of rows quote names and numbers; codes do not.
      log.info('row', { row, outcome, stage, hold, hold_reason: holdReason, error_code: errorCode });
    },
    onLostIntents: (count) => log.warn('lost_intents', { count }),
  });

const names = ({ names: { v1, v2 } }: Provider) => ({ v1, v2 });

function logEnd({ progress, stopped, finished, interrupted }: RunEnd, log: Logger): void {
  if (stopped !== undefined) {
    const { code, api, operation, message, httpStatus, requestId } = stopped;
    log.warn('stopped', { code, api, operation, message, http_status: httpStatus, request_id: requestId });
  }
  for (const [reason, count] of Object.entries(progress.parkedReasons)) log.info('parked', { reason, count });
  log.info('end', { finished, interrupted, units_charged: progress.unitsCharged, ...progress.byOutcome });
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

export function exitCodeOfEnd(end: RunEnd, signal: Interrupt | undefined): ExitCode {
  if (end.stopped !== undefined) return end.stopped.exit;
  if (!end.finished && signal !== undefined) return signal === 'SIGINT' ? ExitCode.interrupted : ExitCode.terminated;
  const { byOutcome, parkedReasons } = end.progress;
  if ((parkedReasons.scope ?? 0) > 0) return ExitCode.credentials;
  const inDoubt = parkedReasons.in_doubt ?? 0;
  if (byOutcome.pending > inDoubt) return ExitCode.allowance;
  return byOutcome.failed + byOutcome.needs_review + inDoubt > 0 ? ExitCode.rowsOpen : ExitCode.ok;
}
