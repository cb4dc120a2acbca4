import type { MessageCode } from '../util/message-parts.js';

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

  constructor(code: MessageCode, message: string, hint?: string) {
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

/** The contract with cron jobs and scripts. */
export const ExitCode = {
  ok: 0,
  internal: 1,
  usage: 2,
  rowsOpen: 3,
  allowance: 4,
  credentials: 5,
  unavailable: 6,
  locked: 75,
  hungUp: 129,
  interrupted: 130,
  terminated: 143,
} as const;

const WHAT: Readonly<Record<SystemFailureCode, string>> = {
  DISK_FULL: 'the disk is full',
  READ_ONLY: 'it is read-only',
  NO_PERMISSION: 'this user may not open or change it',
  LEDGER_DAMAGED: 'the database is damaged',
  IO_ERROR: 'the disk reports an error',
};

const SAFE = 'What is written is safe and not paid for again; `kybatch usage` shows calls whose charge is not known.';

const HINTS: Readonly<Record<SystemFailureCode, string>> = {
  DISK_FULL: `Free some space there (\`kybatch prune --older-than 90d\` begins with old exports and logs), then go on. ${SAFE}`,
  READ_ONLY: `Make it writable, then go on. ${SAFE}`,
  NO_PERMISSION: `Give this user the right to read and write there, then go on. ${SAFE}`,
  LEDGER_DAMAGED: 'Look at it with `kybatch doctor` and restore a copy; do not delete it: it says what was paid for.',
  IO_ERROR: `It may be full, over a quota or a limit, or failing: look at it, then go on. ${SAFE}`,
};

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
export function asWriteError(cause: unknown, path: string): unknown {
  if (cause instanceof KybatchError) return cause;
  const failure = systemFailure(cause);
  return failure === undefined ? cause : new FileError(`cannot write ${path}: ${failure.what}`, failure, cause);
}

/** The same where something is opened: a place that the user named and may not use is theirs to mend. */
export function asOpenError(cause: unknown, place: string): unknown {
  if (cause instanceof KybatchError) return cause;
  const failure = systemFailure(cause);
  if (failure?.code === 'NO_PERMISSION' || failure?.code === 'READ_ONLY')
    return new UsageError(failure.code, `cannot use ${place}: ${failure.what}`, failure.hint);
  if (failure !== undefined) return new FileError(`cannot use ${place}: ${failure.what}`, failure, cause);
  const code = systemCode(cause);
  const unfit = code === undefined ? undefined : UNFIT.get(code);
  return unfit === undefined ? cause : new UsageError('PLACE_UNUSABLE', `cannot use ${place}: ${unfit} (${code})`);
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

export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];

/** The machine refuses: no defect of kybatch, and nothing that a row or the provider could help. */
export type SystemFailureCode = 'DISK_FULL' | 'READ_ONLY' | 'NO_PERMISSION' | 'LEDGER_DAMAGED' | 'IO_ERROR';

export interface SystemFailure {
  readonly code: SystemFailureCode;
  /** What is the matter, with the code of the operating system or of SQLite. */
  readonly what: string;
  readonly hint: string;
}

/** What an error of a file or of SQLite is to a person; undefined where it is none of the machine's. */
export function systemFailure(cause: unknown): SystemFailure | undefined {
  const given = systemCode(cause);
  const code = given === undefined ? undefined : classify(given);
  return code && { code, what: `${WHAT[code]} (${given})`, hint: HINTS[code] };
}

function systemCode(cause: unknown): string | undefined {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

function classify(code: string): SystemFailureCode | undefined {
  // SQLite grows its shared index before it writes, and has a code of its own for a disk that is full by then.
  if (['ENOSPC', 'EDQUOT', 'SQLITE_FULL', 'SQLITE_IOERR_SHMSIZE'].includes(code)) return 'DISK_FULL';
  if (code === 'EROFS' || code.startsWith('SQLITE_READONLY')) return 'READ_ONLY';
  if (code === 'EACCES' || code === 'EPERM' || code.startsWith('SQLITE_CANTOPEN')) return 'NO_PERMISSION';
  if (code === 'SQLITE_NOTADB' || code === 'SQLITE_IOERR_CORRUPTFS' || code.startsWith('SQLITE_CORRUPT'))
    return 'LEDGER_DAMAGED';
  // EFBIG: a limit on the size of files (ulimit -f), which SQLite reports as an I/O error too.
  if (code === 'EIO' || code === 'EFBIG' || code.startsWith('SQLITE_IOERR')) return 'IO_ERROR';
  return undefined;
}

/** What a person can do about it. */
export const hintFor = (code: SystemFailureCode): string => HINTS[code];
