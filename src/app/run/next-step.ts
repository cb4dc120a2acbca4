import { type ExitCode, FileError, KybatchError, LedgerError, TakenOverError } from '../../domain/errors.js';
import type { ReadingOptions } from '../../input/types.js';

/** Where `kybatch review export` writes, unless it is told. */
export const REVIEW_SHEET = 'review.csv';

/** What to do next with a run, as data: whoever shows it knows the command line, or the button. */
export type NextStep =
  /** `resume`: with the limits that the last start was given, never more. `doubt`: every row that is left waits for a person to say what became of a lost call. */
  | { readonly kind: 'resume' | 'retry' | 'doubt'; readonly run: string }
  /** `sheets`: there is a `review.csv` already, and what it asks. */
  | (QuestionScope & { readonly kind: 'review'; readonly sheets?: ReviewSheets })
  /** Rows are invalid: it tells which, and why. */
  | (Job & { readonly kind: 'plan' });

/** Whose questions: of one run, of a whole list; of all where neither is said. */
export interface QuestionScope {
  readonly run?: string | undefined;
  /** Its name, or the path of its file. */
  readonly portfolio?: string | undefined;
}

/** The sheets that lie about, and what of the open questions is in them. */
export interface ReviewSheets {
  /** How many are open. */
  readonly open: number;
  /** The first sheet that asks some of them; null where none does. */
  readonly asks: string | null;
  /** Those that no sheet asks. */
  readonly missing: number;
  /** Where an export overwrites nothing. */
  readonly free: string;
}

/** What goes on with something that was broken off. */
export type ContinueStep =
  | NextStep
  | { readonly kind: 'export'; readonly run: string }
  | (Job & { readonly kind: 'run'; readonly fresh: boolean });

/** An input, and what is to be done with it, as it was said at first. */
interface Job {
  readonly input: string;
  /** As `--pipeline` takes it. */
  readonly pipeline: string;
  readonly limit: number | null;
  /** The name that was given to the portfolio. */
  readonly portfolio: string | undefined;
  /** How the file is read, where that was said. */
  readonly reading?: ReadingOptions | undefined;
}

/** It could not be done now; `next` says what goes on with it. */
export class ContinueError extends KybatchError {
  override readonly name = 'ContinueError';
  /** Other steps that are as likely to be meant: then somebody has to choose, and `next` is only the first of them. */
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

/** Work that the machine may break off: once it is well again, `next` goes on with it. */
export async function withContinueStep<T>(next: ContinueStep, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isPassing(error)) throw error;
    const { message, code, hint, exit } = error;
    throw new ContinueError(message, next, { code, hint, exit, cause: error });
  }
}

/** Neither a defect nor a damaged ledger gets better by going on; and what somebody else goes on with is theirs. */
const isPassing = (error: unknown): error is KybatchError =>
  (error instanceof LedgerError || error instanceof FileError) &&
  !LASTING.has(error.code) &&
  !(error instanceof TakenOverError && error.successor !== undefined);

const LASTING: ReadonlySet<string> = new Set(['INTERNAL', 'LEDGER_DAMAGED']);
