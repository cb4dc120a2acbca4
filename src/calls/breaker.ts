import { ApiError } from '../api/errors.js';
import type { ApiName } from '../api/operation.js';

/**
 * Counts failures in a row that are the provider's or the network's; any success starts anew. When it opens, the run
 * stops and stays resumable: a provider that is down is not asked a million times.
 */
export class Breaker {
  readonly #api: ApiName;
  readonly #most: number;
  #inARow = 0;

  constructor(api: ApiName, most: number) {
    this.#api = api;
    this.#most = most;
  }

  succeeded(): void {
    this.#inARow = 0;
  }

  /** The error that stops the run, once it is time. */
  failed(error: ApiError): ApiError | undefined {
    this.#inARow += 1;
    if (this.#inARow < this.#most) return undefined;
    return new ApiError({
      class: 'stop_run',
      stop: 'unavailable',
      code: 'PROVIDER_UNAVAILABLE',
      message: `${this.#api} failed ${this.#inARow} times in a row; the last: ${error.code}: ${error.message}`,
      hint: 'Nothing is marked failed. Go on when the provider is well again.',
      api: this.#api,
      operation: error.operation,
      charge: 'free',
      cause: error,
    });
  }
}
