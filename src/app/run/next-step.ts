import { ExitCode, FileError, KybatchError, LedgerError, TakenOverError } from '../../domain/errors.js';
import type { GuardName } from '../../domain/outcomes.js';
import type { ReadingOptions } from '../../input/types.js';
import { sanitizeText } from '../../util/sanitize-text.js';

/** The default file of `kybatch review export`. */
export const REVIEW_SHEET = 'review.csv';

/** The next step for a run as data, so that the command line and the page can each show it in their way. */
export type NextStep =
  /** `resume`: with the limits of the last attempt. `doubt`: every row left waits for a lost call. */
  | { readonly kind: 'resume' | 'retry' | 'doubt'; readonly run: string }
  /** `after`: continues the rows when they are answered. Absent: several runs ask, and no list continues them. */
  | (QuestionScope & { readonly kind: 'review'; readonly sheets?: ReviewSheets; readonly after?: NextStep })
  | (Job & { readonly kind: 'run'; readonly fresh: boolean })
  /** Some rows are invalid. `plan` shows which and why. */
  | (Job & { readonly kind: 'plan' });

/** It continues rows, and may spend. */
export const continuesRows = ({ kind }: ContinueStep): boolean => kind === 'resume' || kind === 'run';

/** The questions of one run or one list. Default: all. */
export interface QuestionScope {
  readonly run?: string | undefined;
  /** The name of the portfolio, or the path of its file. */
  readonly portfolio?: string | undefined;
}

/** The existing review sheets, and which open questions they contain. */
export interface ReviewSheets {
  /** How many are open, of those asked for and of all runs. */
  readonly open: number;
  readonly openInAll: number;
  /** The sheet that contains some of them, preferably one with answers. Null: none does. */
  readonly asks: string | null;
  /** How many of them it answers. */
  readonly answered: number;
  /** Open questions that are in no sheet. */
  readonly missing: number;
  /** A file name that an export can use without overwriting a sheet. */
  readonly free: string;
}

/** The step that continues interrupted work. */
export type ContinueStep =
  | NextStep
  | { readonly kind: 'export'; readonly run: string }
  /** The key or the configuration has to be corrected first. */
  | { readonly kind: 'doctor' };

/** An input, and the options it was first run with. */
interface Job {
  readonly input: string;
  /** In the form that `--pipeline` takes. */
  readonly pipeline: string;
  readonly limit: number | null;
  /** The portfolio name that was given. */
  readonly portfolio: string | undefined;
  /** How the file is read, if options said so. */
  readonly reading?: ReadingOptions | undefined;
}

/** The work could not be done now. `next` is the step that continues it. */
export class ContinueError extends KybatchError {
  override readonly name = 'ContinueError';
  /** Other equally likely steps. If there are any, a person has to choose, and `next` is only the first. */
  readonly others: readonly ContinueStep[];

  constructor(
    message: string,
    readonly next: ContinueStep,
    {
      others = [],
      ...details
    }: { code: string; hint?: string | undefined; exit: ExitCode; cause?: unknown; others?: readonly ContinueStep[] },
  ) {
    super(message, details);
    this.others = others;
  }
}

/** A guard refused the attempt before anything was spent. `--accept` with its name lets one attempt pass. */
export class GuardRefusal extends KybatchError {
  override readonly name = 'GuardRefusal';

  constructor(
    message: string,
    readonly guard: GuardName,
    /** The remedy, other than accepting it. */
    readonly remedy: string,
  ) {
    const hint = `Nothing was spent. ${remedy} To accept it: --accept ${guard}`;
    super(message, { code: guard.toUpperCase(), hint, exit: ExitCode.usage });
  }
}

/** The code of a refusal by the guard `new_ledger`. */
export const NEW_LEDGER = 'NEW_LEDGER';

/** A machine failure carries its cost and the step that continues the work. Other errors stay as they are. */
export function asContinueError(error: unknown, next: ContinueStep, cost: string): unknown {
  if (!isPassing(error)) return error;
  const { message, code, hint, exit } = error;
  return new ContinueError(message, next, { code, hint: `${cost}\n${hint ?? ''}`.trim(), exit, cause: error });
}

/** A defect or a damaged ledger stays, and a run that another process took over is not ours to continue. */
const isPassing = (error: unknown): error is KybatchError =>
  (error instanceof LedgerError || error instanceof FileError) &&
  !LASTING.has(error.code) &&
  !(error instanceof TakenOverError && error.successor !== undefined);

const LASTING: ReadonlySet<string> = new Set(['INTERNAL', 'LEDGER_DAMAGED']);

/** The exit code of an attempt, and the cause that it stands for. Screen, metrics and notifications name this cause. */
export interface RunExit {
  readonly code: ExitCode;
  readonly reason: string;
}

/** Any other error than ours is a defect. */
export const asKybatchError = (error: unknown): KybatchError =>
  error instanceof KybatchError
    ? error
    : new KybatchError(sanitizeText(error instanceof Error ? error.message : String(error)), {
        code: 'INTERNAL',
        exit: ExitCode.internal,
        cause: error,
      });

/** The exit after an error: a failed write, a takeover or a defect. */
export function exitOfFailure(error: unknown): RunExit {
  const { exit, code } = asKybatchError(error);
  return { code: exit, reason: code };
}
