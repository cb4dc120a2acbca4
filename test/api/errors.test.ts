import { expect, test } from 'vitest';
import { ApiError, type ApiErrorDetails } from '../../src/api/errors.js';
import { KybatchError } from '../../src/domain/errors.js';

type Given = Pick<ApiErrorDetails, 'class' | 'code' | 'stop'>;

test.each<[exit: number, Given]>([
  [4, { class: 'park', code: 'QUOTA_EXCEEDED' }],
  [5, { class: 'block_operation', code: 'INSUFFICIENT_SCOPE' }],
  [5, { class: 'stop_run', stop: 'credentials', code: 'UNAUTHENTICATED' }],
  [6, { class: 'stop_run', stop: 'unavailable', code: 'PROVIDER_UNAVAILABLE' }],
  [2, { class: 'stop_run', stop: 'route', code: 'ROUTE_NOT_FOUND' }],
  [6, { class: 'retry', code: 'NETWORK' }],
  [6, { class: 'slow_down', code: 'TOO_MANY_REQUESTS' }],
  [2, { class: 'fail_row', code: 'INVALID_PARAMS' }],
  [3, { class: 'fail_row', code: 'UNEXPECTED_BODY' }],
  [3, { class: 'not_available', code: 'DATA_SERVICE_404' }],
])('exit %i: %o', (exit, given) => {
  const error = new ApiError({ ...given, message: '', hint: 'h', api: 'v1', operation: 'fullKyb', charge: 'free' });
  expect(error).toBeInstanceOf(KybatchError);
  expect(error).toMatchObject({ exit, code: given.code, hint: 'h', name: 'ApiError' });
});
