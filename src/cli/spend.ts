import type { SpendingEvent } from '../app/events.js';
import type { GoOnProposal } from '../app/go-on.js';
import { GoOnError } from '../app/next-step.js';
import type { RunEndView } from '../app/run-end.js';
import { exitCodeOfRun } from '../app/run-exit-code.js';
import type { SaidAs, SpendingOptions } from '../app/spending.js';
import { KybatchError } from '../domain/errors.js';
import { ExitCode } from '../domain/exit-codes.js';
import { readSpendingFlags, type SpendingArgs } from './spending-flags.js';
import { placeFlags, suggestCommand } from './terminal/commands.js';
import { InterruptListener } from './terminal/interrupts.js';
import type { Io } from './terminal/io.js';
import { ProgressDisplay } from './terminal/progress.js';
import { endInWords, endToJson } from './terminal/run-end-words.js';
import { saysYes } from './terminal/says-yes.js';
import { findingsInWords, proposalInWords, startInWords } from './terminal/spending-words.js';

export interface Spending {
  /** The use case, with the flags and the terminal as its options. */
  readonly work: (options: SpendingOptions) => Promise<RunEndView>;
  /** What is said when there was nothing to do. */
  readonly nothing: (end: RunEndView) => string;
}

/** What `run`, `resume` and `retry` have in common: progress, interrupts, the last lines and the exit code. */
export async function spend({ work, nothing }: Spending, args: SpendingArgs, io: Io): Promise<ExitCode> {
  const interrupts = new InterruptListener();
  let display: ProgressDisplay | undefined;
  const listen = (event: SpendingEvent) => {
    if (event.kind === 'started') {
      io.stderr(startInWords(event, placeFlags(args)));
      interrupts.start(io);
      display = new ProgressDisplay(event, io);
    }
    display?.listen(event);
  };
  try {
    const { drain, abort } = interrupts;
    const said: SaidAs = {
      command: (step) => suggestCommand(step, args).command,
      interruptedAs: () => interrupts.standsFor,
    };
    const end = await work({ ...readSpendingFlags(args), listen, drain, abort, said }).finally(() => display?.stop());
    if (!end.worked) io.stderr(`${nothing(end)}\n`);
    const ways = {
      next: end.next === null ? undefined : suggestCommand(end.next, args),
      further: end.further.map((step) => suggestCommand(step, args)),
      write:
        end.tables === null && end.tablesBefore === null
          ? suggestCommand({ kind: 'export', run: end.run }, args)
          : undefined,
      place: placeFlags(args),
    };
    if (args.json) io.stdout(`${JSON.stringify(endToJson(end, ways))}\n`);
    // With --quiet a start that has done all it could says nothing: who waits for a person, the exit code tells.
    (isAllDone(end) ? io.stderr : io.alert)(endInWords(end, ways));
    return exitCodeOfRun(end, interrupts.standsFor);
  } catch (error) {
    const told = error instanceof GoOnError ? withCommand(error, args) : error;
    throw interrupts.abort.aborted ? asInterrupted(told, interrupts.standsFor) : told;
  } finally {
    interrupts.stop();
  }
}

/** Who interrupts while nothing can be written down has ended it: what was away is only why so much is left. */
function asInterrupted(error: unknown, exit: ExitCode | undefined): unknown {
  if (!(error instanceof KybatchError) || error.exit !== ExitCode.unavailable || exit === undefined) return error;
  const { message, code, hint } = error;
  return new KybatchError(message, { code, hint, exit, cause: error });
}

/** Nothing is left but questions to people, and rows that nobody can ask about; and nobody's work was put elsewhere. */
const isAllDone = ({ finished, outcomes, tablesLack, keptWorkbook }: RunEndView): boolean =>
  finished && outcomes.failed === 0 && tablesLack === null && keptWorkbook === null;

/** The same error, with the command that goes on, or those of which somebody has to choose one. */
export function withCommand(
  { message, code, hint = '', exit, next, others, cause }: GoOnError,
  args: Parameters<typeof suggestCommand>[1],
): KybatchError {
  const { words, command } = suggestCommand(next, args);
  const said = next.kind === 'plan' ? 'Plan it with' : words;
  const commands = [command, ...others.map((other) => suggestCommand(other, args).command)];
  const how = commands.length === 1 ? `: ${command}` : ` one of\n${commands.map((one) => `  ${one}`).join('\n')}`;
  return new KybatchError(message, { code, hint: `${hint}\n${said}${how}`.trim(), exit, cause });
}

/**
 * True if spending was agreed to by a flag or is agreed to now. Nobody is asked where there is no terminal. `about`: what
 * it is that is agreed to; where a person is asked it is said even with --quiet.
 */
export async function agrees(about: string, question: string, args: SpendingArgs, io: Io): Promise<boolean> {
  const { ask } = io;
  const asks = !args.yes && !args.sandbox && ask !== undefined;
  (asks ? io.alert : io.stderr)(about);
  return !asks || (await saysYes(question, ask));
}

/** Says how many rows would move and what that may cost, then asks; undefined where there is nobody to ask. */
export const agreesToGoOn = (args: SpendingArgs, io: Io) =>
  io.ask === undefined
    ? undefined
    : (proposal: GoOnProposal) =>
        agrees(
          `${findingsInWords(proposal.findings)}${proposalInWords(proposal, placeFlags(args))}`,
          'Go on?',
          args,
          io,
        );
