/**
 * Errors are classified by what happens next, not by what went wrong.
 *
 * - `retry`: the provider or the network stumbled; the same request may be sent again.
 * - `slow_down`: too many requests; send again, later and more slowly.
 * - `park`: an allowance or a budget is spent; the row waits, nothing has failed.
 * - `not_available`: the provider has no such record; that is the row's answer.
 * - `fail_row`: this request will never succeed; the row fails, the rest goes on.
 * - `block_operation`: the key may not use this operation; other operations go on.
 * - `stop_run`: no request can succeed until a person acts; stop, nothing is marked failed.
 */
export type ErrorClass = 'retry' | 'slow_down' | 'park' | 'not_available' | 'fail_row' | 'block_operation' | 'stop_run';

/** Whether the provider has charged for the call, as far as we can know. */
export type Charge = 'charged' | 'free' | 'unknown';

/** Why a run stops; each has an exit code of its own. */
export type StopReason = 'credentials' | 'route' | 'unavailable';

/** A problem with what the user wrote: flags, configuration, input files. Shown without a stack. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  readonly hint: string | undefined;

  constructor(message: string, hint?: string) {
    super(message);
    this.hint = hint;
  }
}

/** The store refused a write: a full disk, a damaged file. Nothing that was not on disk is reported as done. */
export class LedgerError extends Error {
  override readonly name = 'LedgerError';

  constructor(cause: unknown) {
    super(`the ledger could not be written: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}
