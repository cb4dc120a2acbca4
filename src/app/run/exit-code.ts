import { ExitCode } from '../../domain/errors.js';
import type { RunEndView } from './run-end.js';

/** The exit code of an attempt, for cron jobs and scripts. `interruptedAs`: the code of the first interrupt. */
export function exitCodeOfRun(end: RunEndView, interruptedAs: ExitCode | undefined): ExitCode {
  const code = codeOfRows(end, interruptedAs);
  // A script that loads the tables of a finished run must learn that they are incomplete.
  const settled = code === ExitCode.ok || code === ExitCode.rowsOpen;
  return settled && end.tablesLack !== null ? ExitCode.internal : code;
}

function codeOfRows(end: RunEndView, interruptedAs: ExitCode | undefined): ExitCode {
  if (end.stopped !== null) return end.stopped.exit;
  if (!end.finished && interruptedAs !== undefined) return interruptedAs;
  const { outcomes, parked, toDo } = end;
  if ((parked.scope ?? 0) > 0) return ExitCode.credentials;
  const inDoubt = (parked.in_doubt ?? 0) + (parked.ask_provider ?? 0);
  const unanswered = parked.unanswered ?? 0;
  if (toDo > inDoubt + unanswered) return ExitCode.allowance;
  if (unanswered > 0) return ExitCode.unavailable;
  return outcomes.invalid + outcomes.failed + outcomes.needs_review + inDoubt > 0 ? ExitCode.rowsOpen : ExitCode.ok;
}
