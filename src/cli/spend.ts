// The shared flow of the commands that buy: question, progress, interrupts, closing lines, exit code.

import type { ContinueProposal } from '../app/run/continue-run.js';
import { exitOfRun } from '../app/run/exit-code.js';
import { ContinueError, type ContinueStep, GuardRefusal } from '../app/run/next-step.js';
import type { RunEndView } from '../app/run/run-end.js';
import type { CommandWording, SpendingEvent, SpendingOptions } from '../app/run/spending.js';
import { ExitCode, KybatchError } from '../domain/errors.js';
import type { Message } from '../util/message-parts.js';
import { pick } from '../util/view-json.js';
import { listed } from '../util/words.js';
import { readSpendingFlags, type SpendingArgs } from './run-flags.js';
import { askYesNo, InterruptListener, type Io, printJson } from './terminal/io.js';
import { ProgressDisplay } from './terminal/progress.js';
import { endAsPairs, endInWords, endJson } from './terminal/run-end-words.js';
import { findingsInWords, proposalInWords, startInWords } from './terminal/run-words.js';
import { type Suggestion, suggestCommand, suggestRaised } from './terminal/suggestions.js';

export interface Spending {
  /** The use case, with the flags and the terminal as its options. */
  readonly work: (options: SpendingOptions) => Promise<RunEndView>;
  readonly nothing: (end: RunEndView) => Message;
  /** This command as a step, to suggest it again. */
  readonly again: ContinueStep;
}

/** The shared part of `run`, `resume` and `retry`: progress, interrupts, the last lines and the exit code. */
export async function spend({ work, nothing, again }: Spending, args: SpendingArgs, io: Io): Promise<ExitCode> {
  const interrupts = new InterruptListener();
  let display: ProgressDisplay | undefined;
  let startedAt = io.clock.now();
  let attempt = { goesOn: false, fresh: false };
  const listen = (event: SpendingEvent) => {
    if (event.kind === 'started') {
      startedAt = io.clock.now();
      attempt = pick(event, 'goesOn', 'fresh');
      // The proposal has said the rest.
      const isKnown = io.said.includes('PLAN') || io.said.includes('RUN_PROPOSED');
      io.say(startInWords(event, { isKnown, isInteractive: io.interactive }));
      interrupts.start(io);
      display = new ProgressDisplay(event, io);
    }
    display?.listen(event);
  };
  try {
    const { drain, abort } = interrupts;
    const said: CommandWording = {
      command: (step) => suggestCommand(step, args).command,
      interruptedAs: () => interrupts.exitCode,
    };
    const end = await work({ ...readSpendingFlags(args), listen, drain, abort, said }).finally(() => display?.stop());
    if (!end.worked) io.say(nothing(end), io.json ? 'stderr' : 'result');
    const ways = {
      next: end.next === null ? undefined : suggestCommand(end.next, args),
      further: end.further.map((step) => suggestCommand(step, args)),
      write:
        end.tables === null && end.tablesBefore === null
          ? suggestCommand({ kind: 'export', run: end.run }, args)
          : undefined,
      resume: resumeAfterReview(end, args),
      runAgain: runAgain(end, args),
      raised:
        end.barred && end.rest !== null
          ? suggestRaised(end.run, { ...end.rest, priceAboveLimit: end.priceAboveLimit }, end.limits, args)
          : undefined,
    };
    const facts = { ms: io.clock.now() - startedAt, ...attempt };
    const exit = exitOfRun(end, said).code;
    const messages = endInWords(end, ways, facts);
    if (io.json) printJson(io, endJson(end, ways), messages);
    // With --quiet an attempt that did all it could prints nothing. The exit code tells that rows wait for a person.
    const isQuiet = isAllDone(end);
    if (io.json) io.say(messages, isQuiet ? 'stderr' : 'alert');
    else {
      const isOnScreen = io.screens?.stdout === true;
      io.say([...messages, ...(isOnScreen ? [] : [endAsPairs(end, exit)])], isQuiet ? 'result' : 'stdout');
    }
    return exit;
  } catch (error) {
    const told =
      error instanceof ContinueError
        ? withCommand(error, args)
        : error instanceof GuardRefusal
          ? withAccepted(error, again, args)
          : error;
    throw interrupts.abort.aborted ? asInterrupted(told, interrupts.exitCode) : told;
  } finally {
    interrupts.stop();
  }
}

/** If no step continues all rows, `review apply` names each run with its limits. */
function resumeAfterReview({ next, further }: RunEndView, args: SpendingArgs): Suggestion | undefined {
  const review = [next, ...further].find((step) => step?.kind === 'review');
  return review?.kind === 'review' && review.after ? suggestCommand(review.after, args) : undefined;
}

/** The list again with the same limits, when its invalid rows are mended. Piped input can be read once. */
function runAgain({ next, further }: RunEndView, args: SpendingArgs): Suggestion | undefined {
  const plan = [next, ...further].find((step) => step?.kind === 'plan');
  if (plan?.kind !== 'plan' || ['-', '/dev/stdin'].includes(plan.input)) return undefined;
  return suggestCommand({ ...plan, kind: 'run', fresh: false }, args);
}

/** A person who interrupts during an outage has ended the run. The outage only explains why rows are left. */
function asInterrupted(error: unknown, exit: ExitCode | undefined): unknown {
  if (!(error instanceof KybatchError) || error.exit !== ExitCode.unavailable || exit === undefined) return error;
  const { message, code, hint } = error;
  return new KybatchError(message, { code, hint, exit, cause: error });
}

/** Only questions to people and invalid rows are left, and no edited workbook was moved. */
const isAllDone = ({ finished, outcomes, tablesLack, keptWorkbook }: RunEndView): boolean =>
  finished && outcomes.failed === 0 && tablesLack === null && keptWorkbook === null;

/** The same error, with the next command, or the commands to choose from. */
export function withCommand(
  { message, code, hint = '', exit, next, others, cause }: ContinueError,
  args: Parameters<typeof suggestCommand>[1],
): KybatchError {
  const { words, command } = suggestCommand(next, args);
  const said = next.kind === 'plan' ? 'See the plan, free of charge' : words;
  const commands = [command, ...others.map((other) => suggestCommand(other, args).command)];
  const how = commands.length === 1 ? `: ${command}` : `, with one of\n${commands.map((one) => `  ${one}`).join('\n')}`;
  return new KybatchError(message, { code, hint: `${hint}\n${said}${how}`.trim(), exit, cause });
}

/** The same error, with the plan of the list, which is free, and the command that accepts the finding. */
function withAccepted(refusal: GuardRefusal, again: ContinueStep, args: SpendingArgs): KybatchError {
  const { message, code, exit, guard, remedy } = refusal;
  const { accept = [] } = readSpendingFlags(args);
  const flags = [...accept, guard].map((name) => ` --accept ${name}`).join('');
  const plan = again.kind === 'run' && suggestCommand({ ...again, kind: 'plan' }, args).command;
  const hint = listed(
    [
      `Nothing was spent. ${remedy}`,
      plan && `See the cost, free of charge: \`${plan}\``,
      `To accept it: \`${suggestCommand(again, args).command}${flags}\``,
    ],
    '\n',
  );
  return new KybatchError(message, { code, hint, exit, cause: refusal });
}

/**
 * True if a flag agrees to the cost, or a person agrees now. Without a terminal no question is asked. `about`: the
 * proposal. It is printed even with --quiet if a person is asked.
 */
export async function confirmSpending(
  about: readonly Message[],
  question: string,
  args: SpendingArgs,
  io: Io,
): Promise<boolean> {
  const { ask } = io;
  const asks = !args.yes && !args.sandbox && ask !== undefined;
  io.say(about, asks ? 'alert' : 'stderr');
  return !asks || (await askYesNo(question, ask));
}

/** Prints how many rows would be processed and their cost, then asks. Undefined without a terminal. */
export const confirmContinue = (args: SpendingArgs, io: Io) =>
  io.ask === undefined
    ? undefined
    : (proposal: ContinueProposal) =>
        confirmSpending([...findingsInWords(proposal.findings), ...proposalInWords(proposal)], 'Continue?', args, io);
