import { ExitCode } from '../../domain/errors.js';
import { decisiveHold } from '../../domain/outcomes.js';
import type { RunExit } from './next-step.js';
import type { RunEndView } from './run-end.js';
import type { CommandWording } from './spending.js';

/** Without the words of the command line, every interrupt is the first one. */
export function exitOfRun(end: RunEndView, said: CommandWording | undefined): RunExit {
  const exit = exitOfRows(end, said?.interruptedAs() ?? (end.interrupted ? ExitCode.interrupted : undefined));
  // A script that loads the tables of a finished run must learn that they are incomplete.
  const settled = exit.code === ExitCode.ok || exit.code === ExitCode.rowsOpen;
  return settled && end.tablesLack !== null ? { code: ExitCode.internal, reason: 'TABLES_LACK' } : exit;
}

function exitOfRows(end: RunEndView, interruptedAs: ExitCode | undefined): RunExit {
  if (end.stopped !== null) return { code: end.stopped.exit, reason: end.stopped.code };
  if (!end.finished && interruptedAs !== undefined) return { code: interruptedAs, reason: 'INTERRUPTED' };
  const { outcomes, parked, toDo } = end;
  const held = decisiveHold(parked);
  const reason =
    end.priceAboveLimit !== null && held === 'budget' ? 'UNIT_PRICE' : (held?.toUpperCase() ?? 'ROWS_TO_DO');
  if (held === 'scope') return { code: ExitCode.credentials, reason };
  const inDoubt = (parked.in_doubt ?? 0) + (parked.ask_provider ?? 0);
  const unanswered = parked.unanswered ?? 0;
  if (toDo > inDoubt + unanswered)
    return { code: ExitCode.allowance, reason: MOVES.has(held ?? '') ? reason : waits(end) };
  if (unanswered > 0) return { code: ExitCode.unavailable, reason };
  if (inDoubt > 0) return { code: ExitCode.rowsOpen, reason };
  return outcomes.invalid + outcomes.failed + outcomes.needs_review > 0
    ? { code: ExitCode.rowsOpen, reason: 'ROWS_OPEN' }
    : { code: ExitCode.ok, reason: 'OK' };
}

const MOVES: ReadonlySet<string> = new Set(['budget', 'allowance']);

const waits = ({ waiting }: RunEndView): string => (waiting > 0 ? 'WAITING' : 'ROWS_TO_DO');
