import { ExitCode } from './exit-codes.js';
import { type SystemFailure, systemCode, systemFailure } from './system-failure.js';

/**
 * Errors are classified by what happens next, not by what went wrong.
 *
 * - `retry`: the provider or the network stumbled; the same request may be sent again.
 * - `slow_down`: too many requests; send again, later and more slowly.
 * - `park`: an allowance or a budget is spent; the row waits, nothing has failed.
 * - `not_available`: the provider has no such record; that is the row's answer.
 * - `fail_row`: this request will never succeed; the row fails, the rest goes on.
 * - `hold`: the provider refuses in a way that its document does not know; that is not the row's answer, and a person asks.
 * - `block_operation`: the key may not use this operation; other operations go on.
 * - `stop_run`: no request can succeed until a person acts; stop, nothing is marked failed.
 */
export type ErrorClass =
  | 'retry'
  | 'slow_down'
  | 'park'
  | 'not_available'
  | 'fail_row'
  | 'hold'
  | 'block_operation'
  | 'stop_run';

/**
 * The code of an answer that is whole, and no JSON that every reader reads alike: a member comes twice in one object, a
 * value is none (X-5). Asked again, the provider would write the same, and be paid for it: a person decides.
 */
export const MALFORMED_ANSWER = 'MALFORMED_ANSWER';

/** Whether the provider has charged for the call, as far as we can know. */
export type Charge = 'charged' | 'free' | 'unknown';

/** Why a run stops; each has an exit code of its own. */
export type StopReason = 'credentials' | 'route' | 'unavailable';

export interface ErrorDetails {
  /** Stable, for scripts. */
  readonly code: string;
  /** What the person who reads this can do. */
  readonly hint?: string | undefined;
  readonly exit: ExitCode;
  readonly cause?: unknown;
}

/** Everything that can end a command and is no defect of ours. Whatever else is thrown is one. */
export class KybatchError extends Error {
  override readonly name: string = 'KybatchError';
  readonly code: string;
  readonly hint: string | undefined;
  readonly exit: ExitCode;

  constructor(message: string, { code, hint, exit, cause }: ErrorDetails) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.hint = hint;
    this.exit = exit;
  }
}

/** A problem with what the user wrote: flags, configuration, input files. Shown without a stack. */
export class UsageError extends KybatchError {
  override readonly name = 'UsageError';

  constructor(message: string, hint?: string, code = 'USAGE') {
    super(message, { code, hint, exit: ExitCode.usage });
  }
}

/** The machine does not let a file be written. */
export class FileError extends KybatchError {
  override readonly name = 'FileError';

  constructor(message: string, { code, hint }: SystemFailure, cause?: unknown) {
    super(message, { code, hint, exit: ExitCode.internal, cause });
  }
}

/** The store refused a write: a full disk, a damaged file. Nothing that was not on disk is reported as done. */
export class LedgerError extends KybatchError {
  override readonly name: string = 'LedgerError';

  constructor(cause: unknown, path?: string, details = ledgerFailure(cause, path)) {
    super(details.message, { exit: ExitCode.internal, ...details, cause });
  }
}

/** A later process gave our calls up while this one was frozen: its books stand, and ours must not go on. */
export class TakenOverError extends LedgerError {
  override readonly name = 'TakenOverError';

  /** `successor`: who goes on with the run, where that is known. */
  constructor(readonly successor?: string) {
    const rest =
      successor === undefined
        ? 'Where the other one is still at work, let it finish.'
        : `${successor} goes on with the run: \`kybatch status\` tells how far it is.`;
    super(undefined, undefined, {
      message: 'this process was taken over: another one has settled its calls',
      code: 'TAKEN_OVER',
      hint: `What was stored before is not paid for again. Calls that it had under way may have been charged, and were asked for again: \`kybatch doubt\` lists them. ${rest}`,
      exit: ExitCode.locked,
    });
  }
}

interface LedgerFailure {
  readonly message: string;
  readonly code: string;
  readonly hint?: string;
  readonly exit?: ExitCode;
}

/** What SQLite refuses for any other reason (a constraint, a type) is a defect, and is told as one. */
function ledgerFailure(cause: unknown, path: string | undefined): LedgerFailure {
  const failure = systemFailure(cause);
  if (failure !== undefined) {
    const { code, what, hint } = failure;
    return { message: `cannot use the ledger${path === undefined ? '' : ` ${path}`}: ${what}`, code, hint };
  }
  const reason = cause instanceof Error ? cause.message : String(cause);
  return { message: `the ledger could not be written: ${reason}`, code: 'INTERNAL' };
}

/** What a failed write to `path` is to be thrown as: in words where the machine refuses, else as it was. */
export function asFileError(cause: unknown, path: string): unknown {
  if (cause instanceof KybatchError) return cause;
  const failure = systemFailure(cause);
  return failure === undefined ? cause : new FileError(`cannot write ${path}: ${failure.what}`, failure, cause);
}

/** The same where something is opened: a place that the user named and may not use is theirs to mend. */
export function asPlaceError(cause: unknown, place: string): unknown {
  if (cause instanceof KybatchError) return cause;
  const failure = systemFailure(cause);
  if (failure?.code === 'NO_PERMISSION' || failure?.code === 'READ_ONLY')
    return new UsageError(`cannot use ${place}: ${failure.what}`, failure.hint, failure.code);
  if (failure !== undefined) return new FileError(`cannot use ${place}: ${failure.what}`, failure, cause);
  const code = systemCode(cause);
  const unfit = code === undefined ? undefined : UNFIT.get(code);
  return unfit === undefined ? cause : new UsageError(`cannot use ${place}: ${unfit} (${code})`);
}

/** No folder where one is needed, or no file. */
const UNFIT: ReadonlyMap<string, string> = new Map([
  ['ENOENT', 'a folder on the way there does not exist, or cannot be made'],
  ['ENOTDIR', 'something on the way there is no folder'],
  ['EISDIR', 'it is a folder'],
  ['EEXIST', 'something else is there'],
  ['ENOTEMPTY', 'it is a folder with something in it'],
  ['ELOOP', 'its links lead in a circle'],
  ['ENAMETOOLONG', 'its name is too long'],
  ['EBUSY', 'it is in use'],
  ['ENXIO', 'it is a device, or a pipe that nobody reads'],
]);
