import type { RunEndView } from '../app/run-end.js';
import { ExitCode } from '../domain/exit-codes.js';
import { exitCodeOfInterrupt } from './terminal/interrupts.js';
import type { Interrupt } from './terminal/io.js';

/** How a start ended, for cron jobs and scripts. */
export function exitCodeOfRun(end: RunEndView, interrupt: Interrupt | undefined): ExitCode {
  if (end.stopped !== null) return end.stopped.exit;
  if (!end.finished && interrupt !== undefined) return exitCodeOfInterrupt(interrupt);
  const { outcomes, parked } = end;
  if ((parked.scope ?? 0) > 0) return ExitCode.credentials;
  const inDoubt = parked.in_doubt ?? 0;
  if (outcomes.pending > inDoubt) return ExitCode.allowance;
  return outcomes.invalid + outcomes.failed + outcomes.needs_review + inDoubt > 0 ? ExitCode.rowsOpen : ExitCode.ok;
}
