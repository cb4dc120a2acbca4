import { KybatchError, LedgerError, UsageError } from '../../domain/errors.js';
import { ExitCode } from '../../domain/exit-codes.js';
import { hintFor } from '../../domain/system-failure.js';

/** SQLSTATE, or the code of the operating system. */
export function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

const AWAY = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENETDOWN',
  'EAI_AGAIN',
  'ENOTFOUND',
  // Shut down, crashed, starting up, no connection to spare; one of ours that was cut because it did not move on.
  '57P01',
  '57P02',
  '57P03',
  '57P05',
  '53300',
  '25P03',
  '25P04',
  // A standby that has not been promoted yet.
  '25006',
]);

/** The database, or the way to it, is gone; it may come back. */
export function isAway(error: unknown): boolean {
  const code = codeOf(error);
  if (code !== undefined) return AWAY.has(code) || code.startsWith('08');
  const isOfDriver = (one: Error) =>
    /^(Connection terminated|Client has encountered|Client was closed|timeout expired)/.test(one.message);
  if (error instanceof AggregateError) return error.errors.some(isAway);
  return error instanceof Error && isOfDriver(error);
}

/** Two transactions were in each other's way: the same one works when it is run again. */
export const isToRepeat = (error: unknown): boolean => ['40001', '40P01'].includes(codeOf(error) ?? '');

/** The end of patience. Nothing that is not written down was paid for after it went away. */
export class LedgerAwayError extends LedgerError {
  constructor(name: string, cause: unknown, waitedMs: number) {
    const waited = waitedMs < 1000 ? '' : ` for ${Math.round(waitedMs / 1000)} s`;
    super(cause, name, {
      message: `the ledger ${name} was not to be reached${waited}: ${reasonOf(cause)}`,
      code: 'LEDGER_AWAY',
      hint: 'Look whether PostgreSQL is up and the way to it is open, then go on. What is written is safe and not paid for again.',
      exit: ExitCode.unavailable,
    });
  }
}

/** What a failure of the database is to a person. */
export function inPlainWords(error: unknown, name: string): unknown {
  if (error instanceof KybatchError) return error;
  const code = codeOf(error);
  if (code === '53100')
    return new LedgerError(error, name, {
      message: `the disk of the ledger ${name} is full (53100)`,
      code: 'DISK_FULL',
      hint: `Free some space on the machine of PostgreSQL, then go on. What is written is safe and not paid for again.`,
    });
  if (code === '28P01' || code === '28000')
    return new UsageError(
      `the ledger ${name} refuses this user or its password (${code})`,
      'Look at KYBATCH_LEDGER_URL.',
    );
  if (code === '3D000')
    return new UsageError(`the ledger ${name}: there is no such database`, 'Look at KYBATCH_LEDGER_URL.');
  if (code === '42501')
    return new UsageError(
      `the ledger ${name}: this user lacks a right: ${reasonOf(error)}`,
      'Grant what docs/deploy/several-machines.md says; `kybatch migrate --grant ROLE` does it.',
    );
  if (code === '58030')
    return new LedgerError(error, name, {
      message: `the disk of the ledger ${name} reports an error`,
      code: 'IO_ERROR',
      hint: hintFor('IO_ERROR'),
    });
  if (isAway(error)) return new LedgerAwayError(name, error, 0);
  return error;
}

export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0]);
  return error instanceof Error ? error.message : String(error);
}
