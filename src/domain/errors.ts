// Error classes, exit codes, and errors of the operating system.

import type { MessageCode } from '../util/message-parts.js';

/**
 * Errors are classified by the next step, not by their cause.
 *
 * - `retry`: the provider or the network failed. The same request may be sent again.
 * - `slow_down`: too many requests. Send again, later and more slowly.
 * - `park`: an allowance or a limit is used up. The row waits, and nothing has failed.
 * - `not_available`: the provider has no such record. That is the row's answer.
 * - `fail_row`: this request will never succeed. The row fails, the others continue.
 * - `hold`: an undocumented refusal by the provider. It is not the row's answer, and a person asks.
 * - `block_operation`: the key may not use this operation. Other operations continue.
 * - `stop_run`: no request can succeed until a person acts. The run stops, and no row is marked failed.
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
 * The code of a complete answer that readers would read differently: a repeated member in an object, or an invalid
 * value (X-5).
 */
export const MALFORMED_ANSWER = 'MALFORMED_ANSWER';

/** The code of an answer beyond the bounds of bytes, values or a text (X-6). */
export const ANSWER_TOO_LARGE = 'ANSWER_TOO_LARGE';

/** The code of complete, valid JSON that is not an answer of the operation, such as `null`. */
export const UNEXPECTED_FORM = 'UNEXPECTED_FORM';

/** The provider would send and charge an answer with one of these codes again, so a person decides. */
export const REPEATS_ALIKE: readonly string[] = [MALFORMED_ANSWER, ANSWER_TOO_LARGE, UNEXPECTED_FORM];

export type Charge = 'charged' | 'free' | 'unknown';

/** Why a run stops. Each reason has its own exit code. */
export type StopReason = 'credentials' | 'route' | 'unavailable';

export interface ErrorDetails {
  /** Stable, for scripts. */
  readonly code: string;
  readonly hint?: string | undefined;
  readonly exit: ExitCode;
  readonly cause?: unknown;
}

/** An expected error that ends a command. Any other thrown error is a bug. */
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

/** A problem with the user's flags, configuration or files. Shown without a stack. */
export class UsageError extends KybatchError {
  override readonly name = 'UsageError';

  constructor(code: MessageCode, message: string, hint?: string) {
    super(message, { code, hint, exit: ExitCode.usage });
  }
}

export class FileError extends KybatchError {
  override readonly name = 'FileError';

  constructor(message: string, { code, hint }: SystemFailure, cause?: unknown) {
    super(message, { code, hint, exit: ExitCode.internal, cause });
  }
}

/** The ledger refused a write: a full disk, a damaged file. Nothing is reported as done before it is on disk. */
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
  LEDGER_DAMAGED: 'the ledger is damaged',
  IO_ERROR: 'the disk reports an error',
};

const SAFE = 'Stored answers are safe and are not paid for again. `kybatch charges` lists calls with unknown charge.';

const HINTS: Readonly<Record<SystemFailureCode, string>> = {
  DISK_FULL: `Free some space on this disk, then continue. ${SAFE}`,
  READ_ONLY: `Make it writable, then continue. ${SAFE}`,
  NO_PERMISSION: `Allow this user to read and write there, then continue. ${SAFE}`,
  LEDGER_DAMAGED:
    'Check it with `kybatch doctor` and restore a backup. Do not delete it: it records what was paid for.',
  IO_ERROR: `The disk may be full, over a quota, or failing. Check it, then continue. ${SAFE}`,
};

/** A later process took over while this one was suspended. Its records are valid, so this process must not continue. */
export class TakenOverError extends LedgerError {
  override readonly name = 'TakenOverError';

  /** `successor`: the process that continues the run, if known. */
  constructor(readonly successor?: string) {
    const rest =
      successor === undefined
        ? 'If the other process is still running, let it finish.'
        : `${successor} continues the run. Its progress: \`kybatch status\``;
    super(undefined, undefined, {
      message: 'another process took over this run',
      code: 'TAKEN_OVER',
      hint: `Stored answers are not paid for again. Calls in flight were sent again and may have been charged twice. To list them: \`kybatch charges\`. ${rest}`,
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

/** Other refusals of SQLite (a constraint, a type) are bugs and are reported as such. */
function ledgerFailure(cause: unknown, path: string | undefined): LedgerFailure {
  const failure = systemFailure(cause);
  if (failure !== undefined) {
    const { code, what, hint } = failure;
    return { message: `cannot use the ledger${path === undefined ? '' : ` ${path}`}: ${what}`, code, hint };
  }
  const reason = cause instanceof Error ? cause.message : String(cause);
  return { message: `the ledger could not be written: ${reason}`, code: 'INTERNAL' };
}

/** The error to throw for a failed write to `path`: in words if the machine refused, otherwise unchanged. */
export function asWriteError(cause: unknown, path: string): unknown {
  if (cause instanceof KybatchError) return cause;
  const failure = systemFailure(cause);
  return failure === undefined ? cause : new FileError(`cannot write ${path}: ${failure.what}`, failure, cause);
}

/** The error to throw for a failed opening. If the user named the path, the user can fix it. */
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

/** A full disk with advice that fits the command. Other errors stay as they are. */
export const adviseOnFullDisk = (error: unknown, hint: string): unknown =>
  error instanceof KybatchError && error.code === 'DISK_FULL'
    ? new FileError(error.message, { code: 'DISK_FULL', what: WHAT.DISK_FULL, hint }, error)
    : error;

const UNFIT: ReadonlyMap<string, string> = new Map([
  ['ENOENT', 'a folder in its path does not exist, or cannot be created'],
  ['ENOTDIR', 'a part of its path is not a folder'],
  ['EISDIR', 'it is a folder'],
  ['EEXIST', 'a file with this name exists'],
  ['ENOTEMPTY', 'the folder is not empty'],
  ['ELOOP', 'its links form a circle'],
  ['ENAMETOOLONG', 'its name is too long'],
  ['EBUSY', 'it is in use'],
  ['ENXIO', 'it is a device, or a pipe without a reader'],
]);

export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];

/** The machine refuses. Neither kybatch, a row nor the provider is the cause. */
export type SystemFailureCode = 'DISK_FULL' | 'READ_ONLY' | 'NO_PERMISSION' | 'LEDGER_DAMAGED' | 'IO_ERROR';

export interface SystemFailure {
  readonly code: SystemFailureCode;
  /** The problem, with the code of the operating system or of SQLite. */
  readonly what: string;
  readonly hint: string;
}

/** An error of a file or of SQLite in words. Undefined if the machine is not the cause. */
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
  // SQLite grows its shared index before it writes, and has a separate code for a disk that is full then.
  if (['ENOSPC', 'EDQUOT', 'SQLITE_FULL', 'SQLITE_IOERR_SHMSIZE'].includes(code)) return 'DISK_FULL';
  if (code === 'EROFS' || code.startsWith('SQLITE_READONLY')) return 'READ_ONLY';
  if (code === 'EACCES' || code === 'EPERM' || code.startsWith('SQLITE_CANTOPEN')) return 'NO_PERMISSION';
  if (code === 'SQLITE_NOTADB' || code === 'SQLITE_IOERR_CORRUPTFS' || code.startsWith('SQLITE_CORRUPT'))
    return 'LEDGER_DAMAGED';
  // EFBIG: a limit on file size (ulimit -f), which SQLite also reports as an I/O error.
  if (code === 'EIO' || code === 'EFBIG' || code.startsWith('SQLITE_IOERR')) return 'IO_ERROR';
  return undefined;
}

export const hintFor = (code: SystemFailureCode): string => HINTS[code];
