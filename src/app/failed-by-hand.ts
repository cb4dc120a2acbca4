import type { ApiError } from '../api/errors.js';
import type { Operation } from '../api/operation.js';
import { comesRight } from '../calls/retry.js';

export const CHARGE_UNKNOWN = 'Whether this call was charged is not known; `kybatch doubt` lists it.';

/** A call by hand is made once: what it means for the money, and that only who asks sends it again, is said with it. */
export function failedByHand(error: ApiError, { meter }: Operation): ApiError {
  const mayHaveCost = meter !== 'free' && error.charge === 'unknown';
  const words = [error.hint];
  if (mayHaveCost) words.push(CHARGE_UNKNOWN);
  if (comesRight(error) && mayHaveCost) words.push('The same command sends it again, and may be charged again.');
  if (comesRight(error) && !mayHaveCost) words.push('The same command sends it again.');
  return words.length === 1 ? error : error.withHint(words.join(' '));
}
