// What the result of a call means for later calls: slowing down, outages, closures and refusals.

import type { ApiError } from '../api/errors.js';
import { type ApiName, asksAboutOneCompany, type Operation } from '../api/operation.js';
import { nextUtcMidnight, readAllowance } from '../api/v1/allowance.js';
import { maxAttemptsInVain } from '../ledger/money/intent.js';
import { Breaker, type BreakerPolicy, type Pass } from './breaker.js';
import { Limiter } from './limiter.js';
import { apiOf, type DoorOptions, patienceOf } from './options.js';
import type { DoorRequest, ReadyRequest } from './request.js';
import { isTrouble } from './retry.js';
import { lostAtMost } from './settlement.js';

export class Reactions {
  readonly limiters: Readonly<Record<ApiName, Limiter>>;
  readonly #options: DoorOptions;
  readonly #breakers = new Map<string, Breaker>();
  readonly refusals = new Refusals();
  #leftFor: ApiError | undefined;
  readonly #onStop: (error: ApiError) => void;

  constructor(options: DoorOptions, onStop: (error: ApiError) => void) {
    const { clock, concurrency } = options;
    this.#options = options;
    this.#onStop = onStop;
    const limiter = () => new Limiter(concurrency, clock);
    this.limiters = { v1: limiter(), v2: limiter(), mcp: limiter() };
  }

  /** Each operation has its own: one may be down while others work. */
  breakerOf(operation: Operation): Breaker {
    const known = this.#breakers.get(operation.name);
    if (known !== undefined) return known;
    const { breaker, clock, listen = () => {} } = this.#options;
    const made = new Breaker(operation, breaker ?? NEVER_OPENS, clock, listen);
    this.#breakers.set(operation.name, made);
    return made;
  }

  /** The error to stop with if the run ends while an operation is down, or was when a row was left. */
  get outage(): ApiError | undefined {
    for (const { outage } of this.#breakers.values()) if (outage !== undefined) return outage;
    return this.#leftFor;
  }

  /** A row stays pending because the operation is down. */
  leaveBehind(operation: Operation): void {
    this.#leftFor ??= this.breakerOf(operation).outage;
  }

  toSuccess(operation: Operation, requestKey: string, started: number, durationMs: number): void {
    this.limiters[operation.api].succeeded(durationMs);
    this.breakerOf(operation).succeeded(requestKey, started);
    this.refusals.answered(operation, started);
  }

  /** A request that failed in earlier attempts is no sign of an outage: a person has to look at its row. */
  async noteIfInVainBefore({ operation, wasHeld, row }: DoorRequest, { context }: ReadyRequest): Promise<void> {
    const { breaker, calls, attemptId } = this.#options;
    if (breaker === null || row === null || operation.meter === 'report') return;
    const isOver = async () =>
      (await calls.attemptsInVain({ ...context, attemptId })) >= maxAttemptsInVain(lostAtMost(this.#options));
    if (wasHeld || (await isOver())) this.breakerOf(operation).noteInVainBefore(context.requestKey);
  }

  /** `started`: the number from the limiter. */
  async toError(
    operation: Operation,
    requestKey: string,
    error: ApiError,
    { started, pass, setOutAt }: { readonly started: number; readonly pass: Pass; readonly setOutAt: number },
  ): Promise<void> {
    if (isTrouble(error) || error.class === 'slow_down') {
      // A long pause is an outage, unless one request is delayed while others are answered. An outage is reported, ends
      // with the patience, and one probe goes before the others.
      const long = this.#options.breaker !== null && (error.retryAfterMs ?? 0) > this.#longestPauseMs();
      this.#slowDown(operation, long ? 0 : (error.retryAfterMs ?? 0), started);
      const breaker = this.breakerOf(operation);
      const lastBegun = this.limiters[operation.api].started;
      const stop = breaker.failed(pass, requestKey, error, lastBegun, setOutAt);
      const opened =
        stop === undefined && long && breaker.isToBlame(requestKey) ? breaker.open(requestKey, error) : stop;
      if (opened !== undefined) this.#onStop(opened);
      return;
    }
    if (error.class === 'stop_run') return this.#onStop(error);
    if (error.class === 'block_operation') return await this.#refused(operation, requestKey, error);
    // A documented error shows that the operation works.
    if (error.exchange !== undefined) this.breakerOf(operation).succeeded(requestKey, started);
    if (error.class === 'park') await this.#closeLimit(operation, error);
  }

  /** The request has no tries left. True if the provider is to blame: the operation now counts as down. */
  holdDown(operation: Operation, requestKey: string, error: ApiError): boolean {
    const breaker = this.breakerOf(operation);
    if (this.#options.breaker === null || error.code === 'ABORTED' || !breaker.isToBlame(requestKey)) return false;
    const stop = breaker.open(requestKey, error);
    if (stop !== undefined) this.#onStop(stop);
    return true;
  }

  /**
   * The call may have been charged and brought nothing. If the provider is to blame, one probe goes before the others,
   * which would otherwise use up the limit in vain.
   */
  hesitate(operation: Operation, requestKey: string, error: ApiError): void {
    const isPatient = (this.#options.breaker?.patienceMs ?? 0) > 0;
    if (isPatient) this.holdDown(operation, requestKey, error);
  }

  /** Longer pauses are reported as an outage, and none exceeds the patience. */
  #longestPauseMs(): number {
    return Math.min(A_MINUTE_MS, patienceOf(this.#options));
  }

  /** v1 names a scope, so one refusal is enough. v2 needs two, so that one company does not block the rest. */
  async #refused(operation: Operation, requestKey: string, error: ApiError): Promise<void> {
    const { calls, attemptId } = this.#options;
    const { environmentId } = apiOf(this.#options, operation.api);
    const before = { environmentId, operation: operation.name, requestKey, attemptId };
    if (asksAboutOneCompany(operation) && error.api === 'v2' && (await calls.answeredSinceRefused(before)))
      return this.refusals.noteOwn(operation, requestKey, error);
    const open = this.refusals.note(operation, requestKey, error, this.limiters[operation.api].started);
    if (operation.api === 'v1' || open > 1) await this.#close(operation, [operation.name], 'scope', null, error);
  }

  /** No other row can be answered. True if that decides a refusal: its rows can continue. */
  async concludeRefusals(): Promise<boolean> {
    const { calls, clock } = this.#options;
    const since = clock.now() - OF_LATE_MS;
    return await this.refusals.concludeAlone(({ api, name }) =>
      calls.wasAnswered(apiOf(this.#options, api).environmentId, name, since),
    );
  }

  #slowDown({ api }: Operation, pauseMs: number, started: number): void {
    const limiter = this.limiters[api];
    const before = limiter.concurrency;
    limiter.troubled(started, pauseMs);
    const { concurrency } = limiter;
    if (concurrency === before && pauseMs === 0) return;
    this.#options.listen?.({ kind: 'slowed', api, concurrency, pauseMs });
  }

  /** The provider asked another process that uses the same account. */
  hearOfSlowDown(api: ApiName, pauseMs: number): void {
    const limiter = this.limiters[api];
    limiter.troubled(limiter.started, pauseMs);
  }

  async #closeLimit(operation: Operation, error: ApiError): Promise<void> {
    const now = this.#options.clock.now();
    const { limit } = error;
    if (limit?.api === 'v2') {
      const { permissions } = this.#options;
      const known = Object.hasOwn(permissions, limit.permission) ? permissions[limit.permission] : undefined;
      // v2's daily limits are assumed to end with the UTC day. The document does not say.
      const until = limit.period === 'day' ? nextUtcMidnight(now) : null;
      return await this.#close(operation, [operation.name, ...(known ?? [])], 'allowance', until, error);
    }
    const quota = error.exchange === undefined ? null : readAllowance(error.exchange.headers, now).quota;
    // If the reset has passed by our clock and the call is still refused, the next try comes soon, but not at once.
    const until = quota === null ? null : Math.max(quota.resetAtMs, now + A_MINUTE_MS);
    await this.#close(operation, [null], 'allowance', until, error);
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

const NEVER_OPENS: BreakerPolicy = { failures: Number.POSITIVE_INFINITY, patienceMs: 0 };
const A_MINUTE_MS = 60_000;

/** Older answers say nothing about the account's present permissions. */
const OF_LATE_MS = 30 * 24 * 3_600_000;

/**
 * v2's refusals in this attempt. v2 does not say whether a refusal concerns the operation or one company. It concerns
 * the company once a later request to the operation is answered. It also does if it is the only refusal by the end and
 * the operation was answered recently. Until then its row waits, because the permission may be missing and the next
 * request refused too.
 */
export class Refusals {
  readonly #open = new Map<string, Refused>();
  readonly #own = new Map<string, Refused>();
  /** Rows whose refusal proved to be their own after they were parked. */
  readonly #decided: number[] = [];
  /** Operations answered in this attempt. */
  readonly #answered = new Set<Operation>();

  /** Returns the number of refused requests of the operation without an answer since. */
  note(operation: Operation, requestKey: string, error: ApiError, lastBegun: number): number {
    this.#open.set(requestKey, { operation, error, lastBegun, rows: [] });
    let count = 0;
    for (const refused of this.#open.values()) if (refused.operation === operation) count += 1;
    return count;
  }

  noteOwn(operation: Operation, requestKey: string, error: ApiError): void {
    this.#own.set(requestKey, { operation, error, lastBegun: 0, rows: [] });
  }

  /** `begun`: the number of the answered call. An earlier call proves nothing. */
  answered(operation: Operation, begun: number): void {
    this.#answered.add(operation);
    for (const [requestKey, refused] of this.#open) {
      // v1 names the scope, which concerns no single company.
      if (refused.operation !== operation || operation.api === 'v1' || begun <= refused.lastBegun) continue;
      this.#open.delete(requestKey);
      this.#isOwn(requestKey, refused);
    }
  }

  /**
   * No other row can be answered: a single v2 refusal concerns its company, if the operation is known to be permitted.
   * v1 names the scope.
   */
  async concludeAlone(wasAnsweredOfLate: (operation: Operation) => Promise<boolean>): Promise<boolean> {
    const decided = this.#decided.length;
    for (const [requestKey, refused] of [...this.#open]) {
      const { operation } = refused;
      const others = [...this.#open.values()].filter((other) => other.operation === operation);
      if (operation.api === 'v1' || others.length > 1) continue;
      if (!this.#answered.has(operation) && !(await wasAnsweredOfLate(operation))) continue;
      this.#open.delete(requestKey);
      this.#isOwn(requestKey, refused);
    }
    return this.#decided.length > decided;
  }

  #isOwn(requestKey: string, refused: Refused): void {
    if (!asksAboutOneCompany(refused.operation)) return;
    this.#own.set(requestKey, refused);
    this.#decided.push(...refused.rows);
  }

  /** A request refused in this attempt is not repeated in it. */
  of(requestKey: string): { readonly isOwn: boolean; readonly error: ApiError } | undefined {
    const own = this.#own.get(requestKey);
    if (own !== undefined) return { isOwn: true, error: own.error };
    const open = this.#open.get(requestKey);
    return open && { isOwn: false, error: open.error };
  }

  /** The row is parked for this request and continues when it is decided. */
  awaits(row: number, requestKey: string): void {
    const own = this.#own.get(requestKey);
    if (own !== undefined) this.#decided.push(row);
    (own ?? this.#open.get(requestKey))?.rows.push(row);
  }

  /** The row was parked for this request in this attempt, so its errors already show it. */
  isTold(row: number, requestKey: string): boolean {
    return this.#own.get(requestKey)?.rows.includes(row) === true;
  }

  /** The next parked row that can continue. `isFree`: the row is not in progress. */
  takeDecided(isFree: (row: number) => boolean): number | undefined {
    const index = this.#decided.findIndex(isFree);
    return index === -1 ? undefined : this.#decided.splice(index, 1)[0];
  }
}

interface Refused {
  readonly operation: Operation;
  readonly error: ApiError;
  /** The last call begun before the refusal. */
  readonly lastBegun: number;
  readonly rows: number[];
}
