import type { ApiError } from '../api/errors.js';
import type { ApiName, Operation } from '../api/operation.js';
import { nextUtcMidnight, readAllowance } from '../api/v1/allowance.js';
import { Breaker } from './breaker.js';
import { Limiter } from './limiter.js';
import { apiOf, type DoorOptions } from './options.js';
import { isTrouble } from './retry.js';

/** What one call's end means for the calls that come after it. */
export class Reactions {
  readonly limiters: Readonly<Record<ApiName, Limiter>>;
  readonly #options: DoorOptions;
  readonly #breakers: Readonly<Record<ApiName, Breaker>>;
  readonly #onStop: (error: ApiError) => void;

  constructor(options: DoorOptions, onStop: (error: ApiError) => void) {
    const { clock, concurrency, breakerFailures } = options;
    this.#options = options;
    this.#onStop = onStop;
    this.limiters = { v1: new Limiter(concurrency, clock), v2: new Limiter(concurrency, clock) };
    this.#breakers = { v1: new Breaker('v1', breakerFailures), v2: new Breaker('v2', breakerFailures) };
  }

  toSuccess({ api }: Operation): void {
    this.limiters[api].succeeded();
    this.#breakers[api].succeeded();
  }

  /** `started` is the number that the limiter gave the call. */
  async toError(operation: Operation, error: ApiError, started: number): Promise<void> {
    const breaker = this.#breakers[operation.api];
    if (isTrouble(error)) {
      this.#slowDown(operation, error, started);
      const open = breaker.failed(error);
      if (open !== undefined) {
        this.#options.listen?.({ kind: 'breaker_open', api: operation.api, code: error.code, message: open.message });
        this.#onStop(open);
      }
      return;
    }
    if (error.exchange !== undefined) breaker.succeeded();
    if (error.class === 'slow_down') this.#slowDown(operation, error, started);
    else if (error.class === 'stop_run') this.#onStop(error);
    else if (error.class === 'block_operation') await this.#close(operation, [operation.name], 'scope', null, error);
    else if (error.class === 'park') await this.#closeLimit(operation, error);
  }

  #slowDown({ api }: Operation, { retryAfterMs = 0 }: ApiError, started: number): void {
    const limiter = this.limiters[api];
    const before = limiter.concurrency;
    limiter.troubled(started, retryAfterMs);
    const { concurrency } = limiter;
    if (concurrency === before && retryAfterMs === 0) return;
    this.#options.listen?.({ kind: 'slowed', api, concurrency, pauseMs: retryAfterMs });
  }

  async #closeLimit(operation: Operation, error: ApiError): Promise<void> {
    const now = this.#options.clock.now();
    const { limit } = error;
    if (limit?.api === 'v2') {
      const { permissions } = this.#options;
      const known = Object.hasOwn(permissions, limit.permission) ? permissions[limit.permission] : undefined;
      // Daily limits of v2 are taken to end with the UTC day; the document does not say.
      const until = limit.period === 'day' ? nextUtcMidnight(now) : null;
      return await this.#close(operation, [operation.name, ...(known ?? [])], 'allowance', until, error);
    }
    const quota = error.exchange === undefined ? null : readAllowance(error.exchange.headers, now).quota;
    await this.#close(operation, [null], 'allowance', quota?.resetAtMs ?? null, error);
  }

  async #close(
    { api }: Operation,
    operations: readonly (string | null)[],
    reason: 'allowance' | 'scope',
    until: number | null,
    { code, message }: ApiError,
  ): Promise<void> {
    const { calls, clock, listen } = this.#options;
    const { environmentId } = apiOf(this.#options, api);
    for (const operation of new Set(operations)) {
      const closure = { operation, reason, until, message: `${code}: ${message}`, closedAt: clock.now() };
      await calls.close(environmentId, closure);
      listen?.({ kind: 'closed', api, operation, reason, until });
    }
  }
}
