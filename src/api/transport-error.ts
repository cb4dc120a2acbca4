import type { Exchange } from './exchange.js';

export type TransportFailure = 'unreachable' | 'timeout' | 'reset' | 'too_large' | 'encoding' | 'aborted';

/** The exchange did not complete. `sent` is false only where no byte of the request can have left. */
export class TransportError extends Error {
  override readonly name = 'TransportError';
  constructor(
    readonly kind: TransportFailure,
    readonly sent: boolean,
    message: string,
    cause?: unknown,
    /** What came, where an answer did that cannot be used; its body is as it came over the wire. */
    readonly exchange?: Exchange,
  ) {
    super(message, cause === undefined ? undefined : { cause });
  }
}

export const tooLarge = (maxBytes: number, exchange?: Exchange): TransportError =>
  new TransportError('too_large', true, `the answer is larger than ${maxBytes} bytes`, undefined, exchange);
