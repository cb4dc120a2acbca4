import { ApiError } from '../api/errors.js';
import { UsageError } from '../domain/errors.js';
import { LockedError } from '../ledger/locked-error.js';
import { ParkedError } from './parked-error.js';

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
  interrupted: 130,
  terminated: 143,
} as const;

export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];

export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof UsageError) return ExitCode.usage;
  if (error instanceof LockedError) return ExitCode.locked;
  if (error instanceof ParkedError) return error.reason === 'scope' ? ExitCode.credentials : ExitCode.allowance;
  if (error instanceof ApiError) return exitCodeOfApiError(error);
  return ExitCode.internal;
}

function exitCodeOfApiError(error: ApiError): ExitCode {
  switch (error.class) {
    case 'park':
      return ExitCode.allowance;
    case 'block_operation':
      return ExitCode.credentials;
    case 'stop_run':
      return error.stop === 'credentials'
        ? ExitCode.credentials
        : error.stop === 'unavailable'
          ? ExitCode.unavailable
          : ExitCode.usage;
    case 'retry':
    case 'slow_down':
      return ExitCode.unavailable;
    case 'fail_row':
      return error.code === 'INVALID_PARAMS' ? ExitCode.usage : ExitCode.rowsOpen;
    case 'not_available':
      return ExitCode.rowsOpen;
  }
}
