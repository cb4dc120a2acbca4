import type { Parked } from '../calls/outcome.js';

/** A call by hand that the allowance, or the key's scopes, do not let through. */
export class ParkedError extends Error {
  override readonly name = 'ParkedError';
  readonly reason: Parked['reason'];
  readonly hint: string;

  constructor({ reason, message, until }: Parked) {
    super(message);
    this.reason = reason;
    this.hint =
      until === null
        ? 'The operator of the account decides when it goes on.'
        : `It goes on at ${new Date(until).toISOString()}.`;
  }
}
