// The summary of an attempt for notifications, and its exit code.

import type { NotifyReason } from '../../config/pipeline-schema.js';
import { ExitCode } from '../../domain/errors.js';
import type { LeftMember } from '../../ledger/portfolio/portfolios.js';
import { isoTime } from '../../util/clock.js';
import { version } from '../../util/packages.js';
import { sanitizeText } from '../../util/sanitize-text.js';
import { redact } from '../../util/secret.js';
import { exitOfRun } from '../run/exit-code.js';
import { asKybatchError, ContinueError, type ContinueStep, exitOfFailure, type RunExit } from '../run/next-step.js';
import type { RunEndView } from '../run/run-end.js';
import type { CommandWording } from '../run/spending.js';

/** What an attempt was for, as far as known before it began. */
export interface AttemptedWork {
  readonly input: string | null;
  /** The name of the portfolio, or the run that continues. */
  readonly of: { readonly portfolio: string } | { readonly run: string } | null;
}

export type AttemptResult =
  | { readonly end: RunEndView }
  | { readonly error: unknown; readonly after: ListAfter | null };

/** The list after an attempt that was refused or broke off, and the next step if the error names none. */
export interface ListAfter {
  readonly list: RunEndView;
  readonly step: ContinueStep;
}

/** The reasons to notify: none if all is well, if the user declined, or if another process was running. */
export function reasonsOf(ended: AttemptResult, said: CommandWording | undefined): readonly NotifyReason[] {
  if ('error' in ended) return NOTHING_HAPPENED.has(exitOf(ended, said).code) ? [] : ['failed'];
  const { left, departed, importantChanges, finished, worked } = ended.end;
  return [
    ...(left.failed > 0 || FAILED.has(exitOf(ended, said).code) ? (['failed'] as const) : []),
    ...((importantChanges ?? 0) > 0 ? (['important_change'] as const) : []),
    ...(left.invalid > 0 ? (['invalid'] as const) : []),
    ...(departed > 0 ? (['members_left'] as const) : []),
    ...(left.questions > 0 ? (['questions'] as const) : []),
    ...(worked && !finished ? (['stopped'] as const) : []),
  ];
}

/** A refused key or permission is a failure before the first call and after the hundredth. */
const FAILED: ReadonlySet<ExitCode> = new Set([ExitCode.internal, ExitCode.usage, ExitCode.credentials]);
const NOTHING_HAPPENED: ReadonlySet<ExitCode> = new Set([ExitCode.locked, ExitCode.interrupted]);

/** The summary as JSON. `docs/how-to/monitor.md` explains it. */
export const summaryText = (
  ended: AttemptResult,
  reasons: readonly NotifyReason[],
  { input, of }: AttemptedWork,
  now: number,
  said: CommandWording | undefined,
): string =>
  redact(
    JSON.stringify({
      kybatch: version,
      at: isoTime(now),
      on: reasons,
      exit_code: exitOf(ended, said).code,
      reason: exitOf(ended, said).reason,
      ...('end' in ended
        ? ofEnd(ended.end, said)
        : {
            input,
            ...of,
            finished: false,
            ...(ended.after && ofEnd(ended.after.list, said)),
            ...ofError(ended, said),
          }),
    }),
  );

function exitOf(ended: AttemptResult, said: CommandWording | undefined): RunExit {
  return 'end' in ended ? exitOfRun(ended.end, said) : exitOfFailure(ended.error);
}

function ofEnd(end: RunEndView, said: CommandWording | undefined) {
  const { spent, left, stopped, next } = end;
  const command = said?.command;
  return {
    input: end.input,
    portfolio: end.portfolio,
    run: end.run,
    finished: end.finished,
    rows: end.rows,
    outcomes: end.outcomes,
    due: end.due,
    to_do: end.toDo,
    waiting: end.waiting,
    parked: end.parked,
    members_left: end.departed,
    ...(end.departed === 0 ? {} : { left_members: end.departedFirst.map(leftToJson) }),
    this_start: {
      units_charged: spent.units,
      credit_reports: spent.reports,
      unknown_calls: spent.unknown,
      failed: left.failed,
      questions: left.questions,
      invalid: left.invalid,
      ...(end.importantChanges === null ? {} : { important_changes: end.importantChanges }),
    },
    ...(stopped === null ? {} : { stopped: { code: stopped.code, message: stopped.message, hint: stopped.hint } }),
    ...(end.tables === null ? {} : { files: end.tables }),
    ...(end.latest === null ? {} : { files_latest: end.latest }),
    ...(end.log === null ? {} : { log: end.log }),
    ...(next === null || command === undefined ? {} : { next: command(next), further: end.further.map(command) }),
  };
}

/** Names and IDs come from a file, so they are sanitized. */
export const leftToJson = ({ line, inputId, name }: LeftMember) => ({
  line,
  id: inputId === null ? null : sanitizeText(inputId),
  name: name === null ? null : sanitizeText(name),
});

/** A list that cannot be read leaves the keys out. */
function ofError(
  { error, after }: Extract<AttemptResult, { readonly error: unknown }>,
  said: CommandWording | undefined,
) {
  const { code, hint, message } = asKybatchError(error);
  const steps = error instanceof ContinueError ? [error.next, ...error.others] : after === null ? [] : [after.step];
  const [next, ...others] = said === undefined ? [] : steps.map(said.command);
  // A person has to choose between equally likely steps.
  const goesOn = others.length > 0 ? { further: [next, ...others] } : next === undefined ? {} : { next, further: [] };
  const ofRun = after === null && steps[0] !== undefined && 'run' in steps[0] ? { run: steps[0].run } : {};
  return { ...ofRun, error: { code, message: sanitizeText(message), hint }, ...goesOn };
}
