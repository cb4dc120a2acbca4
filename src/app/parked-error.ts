import type { Parked } from '../calls/outcome.js';
import { KybatchError } from '../domain/errors.js';
import { ExitCode } from '../domain/exit-codes.js';

/** A call by hand that the allowance, or the key's scopes, do not let through. */
export class ParkedError extends KybatchError {
  override readonly name = 'ParkedError';

  constructor({ reason, message, until }: Parked, more?: string) {
    super(message, {
      code: reason.toUpperCase(),
      hint: [hintOf(reason, until), ...(more === undefined ? [] : [more])].join(' '),
      exit: reason === 'scope' ? ExitCode.credentials : ExitCode.allowance,
    });
  }
}

function hintOf(reason: Parked['reason'], until: number | null): string {
  if (reason === 'scope')
    return 'The key, or its account, may not use this operation: ask who manages the account. `kybatch doctor` checks the key for 0 units.';
  return until === null
    ? 'The operator of the account decides when it goes on.'
    : `It goes on at ${new Date(until).toISOString()}.`;
}
