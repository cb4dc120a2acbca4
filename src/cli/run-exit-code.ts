import type { RunEndView } from '../app/run-end.js';
import { ExitCode } from '../domain/exit-codes.js';
import { exitCodeOfInterrupt } from './terminal/interrupts.js';
import type { Interrupt } from './terminal/io.js';

/** How a start ended, for cron jobs and scripts. */
export function exitCodeOfRun(end: RunEndView, interrupt: Interrupt | undefined): ExitCode {
  const code = codeOfRows(end, interrupt);
  // Whoever loads the tables of a finished run must hear that they are not whole.
  const settled = code === ExitCode.ok || code === ExitCode.rowsOpen;
  return settled && end.tablesLack !== null ? ExitCode.internal : code;
}

function codeOfRows(end: RunEndView, interrupt: Interrupt | undefined): ExitCode {
  if (end.stopped !== null) return end.stopped.exit;
  if (!end.finished && interrupt !== undefined) return exitCodeOfInterrupt(interrupt);
  const { outcomes, parked, toDo } = end;
  if ((parked.scope ?? 0) > 0) return ExitCode.credentials;
  const inDoubt = parked.in_doubt ?? 0;
  const unanswered = parked.unanswered ?? 0;
  if (toDo > inDoubt + unanswered) return ExitCode.allowance;
  if (unanswered > 0) return ExitCode.unavailable;
  return outcomes.invalid + outcomes.failed + outcomes.needs_review + inDoubt > 0 ? ExitCode.rowsOpen : ExitCode.ok;
}
