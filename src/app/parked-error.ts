import type { Parked } from '../calls/outcome.js';
import { KybatchError } from '../domain/errors.js';
import { ExitCode } from '../domain/exit-codes.js';

/** A call by hand that the allowance, or the key's scopes, do not let through. */
export class ParkedError extends KybatchError {
  override readonly name = 'ParkedError';

  constructor({ reason, message, until }: Parked) {
    super(message, {
      code: reason.toUpperCase(),
      hint:
        until === null
          ? 'The operator of the account decides when it goes on.'
          : `It goes on at ${new Date(until).toISOString()}.`,
      exit: reason === 'scope' ? ExitCode.credentials : ExitCode.allowance,
    });
  }
}
