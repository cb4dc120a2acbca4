import { write } from '../json.js';
import type { Reply } from '../messages.js';

export interface V1Failure {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Where the caller should have gone; only the routes under /kyb point somewhere. */
  readonly pointer?: string | undefined;
}

export function v1Error(failure: V1Failure, requestId: string): Reply {
  const pointer = failure.pointer;
  return {
    status: failure.status,
    headers: { 'Content-Type': 'application/json', ...failure.headers },
    body: write({
      error: { code: failure.code, message: failure.message, status: failure.status },
      request_id: requestId,
      ...(pointer === undefined
        ? {}
        : {
            documentation_url: `${pointer}/docs/kyb`,
            suggested_endpoints: [
              { method: 'POST', url: `${pointer}/kyb/search`, purpose: 'Find a company and its ID.' },
              {
                method: 'GET',
                url: `${pointer}/kyb/{id}/full`.replace(/[{}]/g, encodeURIComponent),
                purpose: 'Read the complete record of a company.',
              },
            ],
          }),
    }),
  };
}

export const invalid = (message: string): V1Failure => ({ status: 400, code: 'INVALID_REQUEST', message });

const codes: Readonly<Record<number, readonly [string, string]>> = {
  400: ['INVALID_REQUEST', 'The request is not valid.'],
  401: ['UNAUTHENTICATED', 'The credential is missing, invalid or revoked.'],
  403: ['INSUFFICIENT_SCOPE', 'The key lacks a required scope.'],
  404: ['DATA_SERVICE_404', 'The data service has no record for this company ID.'],
  405: ['METHOD_NOT_ALLOWED', 'The method is not allowed here.'],
  413: ['BODY_TOO_LARGE', 'The JSON body is larger than 64 KB.'],
  429: ['RATE_LIMITED', 'Too many requests.'],
  502: ['DATA_SERVICE_UNAVAILABLE', 'The company-data dependency failed.'],
  503: ['ACCOUNT_SERVICE_UNAVAILABLE', 'Access could not be verified.'],
  504: ['DATA_SERVICE_TIMEOUT', 'The company-data dependency took longer than 25 seconds.'],
};

/** The failure that belongs to a status, for faults that name only that. */
export function failureOfStatus(status: number, code?: string, message?: string): V1Failure {
  const [usualCode, usualMessage] = codes[status] ?? ['INTERNAL', 'Something failed.'];
  return { status, code: code ?? usualCode, message: message ?? usualMessage };
}
