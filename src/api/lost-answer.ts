import type { Charge } from '../domain/errors.js';
import { UNREADABLE } from './answer.js';
import { ApiError } from './errors.js';
import type { Operation } from './operation.js';
import type { TransportError } from './transport-error.js';

/**
 * An exchange that did not complete. A lost answer is never counted as 0 or as 1: its charge is unknown, unless nothing
 * was sent at all (V1-5), or what came of it tells.
 */
export function lostAnswer(
  operation: Operation,
  error: TransportError,
  told: { readonly charge?: Charge | undefined; readonly requestId?: string | undefined } = {},
): ApiError {
  const { exchange } = error;
  return new ApiError({
    ...TRANSPORT_ERRORS[error.kind],
    message: `${operation.name}: ${error.message}`,
    api: operation.api,
    operation: operation.name,
    charge: told.charge ?? (error.sent ? 'unknown' : 'free'),
    httpStatus: exchange?.status,
    requestId: told.requestId,
    exchange,
    cause: error,
  });
}

const TRANSPORT_ERRORS = {
  unreachable: {
    class: 'retry',
    code: 'PROVIDER_UNREACHABLE',
    hint: 'Check the base URL and the network. Nothing was sent.',
  },
  timeout: { class: 'retry', code: 'DEADLINE_EXCEEDED', hint: 'The answer was lost; the call may have been charged.' },
  reset: { class: 'retry', code: 'CONNECTION_LOST', hint: 'The answer was lost; the call may have been charged.' },
  encoding: UNREADABLE,
  too_large: {
    class: 'retry',
    code: 'ANSWER_TOO_LARGE',
    hint: 'The answer was cut off; the call may have been charged.',
  },
  aborted: { class: 'retry', code: 'ABORTED', hint: 'The call was stopped on our side.' },
} as const;
