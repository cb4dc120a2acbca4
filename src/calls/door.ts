import { setMaxListeners } from 'node:events';
import pRetry from 'p-retry';
import { ApiError } from '../api/errors.js';
import type { Exchange } from '../api/exchange.js';
import type { ApiName, Operation } from '../api/operation.js';
import { nextUtcMidnight, readAllowance } from '../api/v1/allowance.js';
import { TakenOverError } from '../domain/errors.js';
import type { CallStore, Settlement } from '../ledger/calls.js';
import type { Limits } from '../ledger/intended.js';
import type { Intent } from '../ledger/intent.js';
import type { Clock } from '../util/clock.js';
import { Admission } from './admission.js';
import { Breaker } from './breaker.js';
import { type DoubtPolicy, doubtAbout, doubtAfter } from './doubt.js';
import type { CallEvent } from './events.js';
import { Limiter } from './limiter.js';
import { type Answer, type CallOutcome, DRAINING, type Parked, type Stopped } from './outcome.js';
import { type Answering, type AnyClient, type DoorRequest, makeReady, type ReadyRequest } from './request.js';
import { isTrouble, retryDelayMs, sendsAtMost, type Tally } from './retry.js';
import { leavesDoubt, refusalOf, settlementOf } from './settlement.js';

export interface DoorApi {
  readonly client: AnyClient;
  readonly environmentId: number;
}

export interface DoorOptions extends DoubtPolicy {
  readonly calls: CallStore;
  /** Of this process, on this run. */
  readonly startId: number;
  readonly clock: Clock;
  readonly apis: Readonly<Record<ApiName, DoorApi | null>>;
  readonly concurrency: number;
  readonly breakerFailures: number;
  readonly limits: Limits;
  /** v2 permission → the operations that draw on it (V2-3). */
  readonly permissions: Readonly<Record<string, readonly string[]>>;
  readonly listen?: (event: CallEvent) => void;
  readonly random?: () => number;
  /** Aborts calls in flight: the second interrupt. */
  readonly signal?: AbortSignal;
}

/**
 * The one door to the paid world. An answer that we own is used; otherwise the intent is written down, the call is
 * sent, and what came back is settled in one transaction with the exact bytes. Two rows that ask for the same thing at
 * the same moment share one call.
 */
export class Door implements Answering {
  readonly #options: DoorOptions;
  readonly #admission: Admission;
  readonly #limiters: Readonly<Record<ApiName, Limiter>>;
  readonly #breakers: Readonly<Record<ApiName, Breaker>>;
  readonly #shared = new Map<string, Promise<CallOutcome>>();
  readonly #random: () => number;
  /** Ends every pause: nothing more will be sent. */
  readonly #halt = new AbortController();
  #stopped: ApiError | undefined;
  /** Allowance, budget or scope have kept a call from being sent. */
  #refused = false;

  constructor(options: DoorOptions) {
    this.#options = options;
    const { clock, concurrency, breakerFailures } = options;
    this.#admission = new Admission(clock);
    this.#limiters = { v1: new Limiter(concurrency, clock), v2: new Limiter(concurrency, clock) };
    this.#breakers = { v1: new Breaker('v1', breakerFailures), v2: new Breaker('v2', breakerFailures) };
    this.#random = options.random ?? Math.random;
    setMaxListeners(0, this.#halt.signal);
    if (options.signal?.aborted) this.drain();
    options.signal?.addEventListener('abort', () => this.drain(), { once: true, signal: this.#halt.signal });
  }

  /** What stopped the run, if anything did. */
  get stopped(): ApiError | undefined {
    return this.#stopped;
  }

  /** Why this operation cannot move now; undefined if it can. */
  async refusal(operation: Operation): Promise<Parked | Stopped | undefined> {
    if (this.#stopped !== undefined) return { kind: 'stopped', error: this.#stopped };
    if (this.#admission.draining) return DRAINING;
    // As long as nothing was refused there is nothing to look up: this is asked for every row that is handed out.
    if (!this.#refused) return undefined;
    const { calls, startId, limits, clock } = this.#options;
    const { environmentId } = this.#apiOf(operation.api);
    const call = { startId, environmentId, operation: operation.name, meter: operation.meter };
    return await calls.refusal(call, limits, clock.now());
  }

  /** No call is sent any more, and nobody waits for a better time; calls in flight come home. */
  drain(): void {
    this.#admission.drain();
    this.#halt.abort(new Error('the run is being stopped'));
  }

  /** What we own, and no further: undefined if that is nothing. */
  async owned(request: DoorRequest): Promise<Answer | undefined> {
    const ready = this.#ready(request);
    return ready instanceof ApiError ? undefined : await this.#findOwned(request, ready);
  }

  async call(request: DoorRequest): Promise<CallOutcome> {
    const ready = this.#ready(request);
    if (ready instanceof ApiError) return { kind: 'failed', error: ready, attempts: 0 };
    if (request.operation.keep === 'never') return await this.#buy(request, ready);
    const shareKey = `${ready.context.environmentId}:${ready.context.requestKey}`;
    const underway = this.#shared.get(shareKey);
    if (underway !== undefined) return await this.#share(await underway, ready);
    const obtained = this.#obtain(request, ready).finally(() => this.#shared.delete(shareKey));
    this.#shared.set(shareKey, obtained);
    return await obtained;
  }

  /** Settles a lost call for this request, where something else has told what became of it. */
  async settleLost(request: DoorRequest, charge: 'charged' | 'free', note: string): Promise<void> {
    const ready = this.#ready(request);
    if (ready instanceof ApiError) return;
    const { environmentId, requestKey } = ready.context;
    await this.#options.calls.settleLost(environmentId, requestKey, charge, note);
  }

  #ready(request: DoorRequest): ReadyRequest | ApiError {
    const { client, environmentId } = this.#apiOf(request.operation.api);
    return makeReady(client, environmentId, request);
  }

  async #obtain(request: DoorRequest, ready: ReadyRequest): Promise<CallOutcome> {
    return (await this.#findOwned(request, ready)) ?? (await this.#buy(request, ready));
  }

  async #findOwned({ ownedSince }: DoorRequest, { context }: ReadyRequest): Promise<Answer | undefined> {
    const { calls, startId, clock } = this.#options;
    const owned = await calls.findAnswer(context.environmentId, context.requestKey, ownedSince);
    const body = owned && (await calls.readBody(owned.rawSha256));
    if (owned === undefined || body === undefined) return undefined;
    const use = { ...context, startId, at: clock.now(), rawSha256: owned.rawSha256 };
    return { kind: 'answer', body, owned: true, fetchedAt: owned.fetchedAt, use };
  }

  /** Another row made the call, at the same moment: for this one its answer is owned. */
  async #share(outcome: CallOutcome, { context }: ReadyRequest): Promise<CallOutcome> {
    if (outcome.kind !== 'answer') return outcome;
    const { calls, startId, clock } = this.#options;
    const owned = await calls.findAnswer(context.environmentId, context.requestKey, 0);
    const use = owned === undefined ? null : { ...context, startId, at: clock.now(), rawSha256: owned.rawSha256 };
    return { ...outcome, owned: true, use };
  }

  async #buy(request: DoorRequest, ready: ReadyRequest): Promise<CallOutcome> {
    const doubt = await doubtAbout(request, ready, this.#options);
    if (doubt !== undefined) return doubt;
    const tally: Tally = { retry: 0, slow_down: 0 };
    let attempts = 0;
    const attempt = (number: number) => {
      attempts = number;
      return this.#attempt(request, ready, number);
    };
    try {
      // Nearly every call succeeds at once. p-retry is for the others: it takes over with the error that was met
      // (docs/performance.md, "What the books cost").
      return await attempt(1).catch((met: unknown) =>
        pRetry((number) => (number === 1 ? Promise.reject(met) : attempt(number)), {
          retries: sendsAtMost(this.#options.retry) - 1,
          // How long to wait depends on the error, and is waited on our own clock: p-retry knows timers only.
          minTimeout: 0,
          shouldRetry: ({ error }) => this.#waitToRetry(request, ready, error, tally),
        }),
      );
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return await this.#giveUp(request, ready, error, attempts, tally);
    }
  }

  /** The slot is for the time on the wire. What came back is written down after it; until then it counts as in flight. */
  async #attempt(request: DoorRequest, ready: ReadyRequest, attempt: number): Promise<CallOutcome> {
    const { operation } = request;
    const asked = this.#options.clock.now();
    const flight = await this.#limiters[operation.api].run(
      (started) => this.#fly(request, ready, attempt, started),
      this.#halt.signal,
    );
    // An answer that came while we waited for it is as new as one of our own.
    if (flight.kind === 'under_way')
      return await this.#obtain({ ...request, ownedSince: Math.min(request.ownedSince, asked) }, ready);
    if (flight.kind !== 'landed') return flight;
    const { exchange, intent } = flight;
    try {
      const now = this.#options.clock.now();
      const settlement = settlementOf(operation, ready.params, exchange, now);
      await this.#settle(intent, settlement);
      return { kind: 'answer', body: exchange.body, owned: false, fetchedAt: now, use: null };
    } finally {
      this.#admission.left(operation.meter);
    }
  }

  /** From the intent to the answer. A refusal is dealt with before the next call may start. */
  async #fly(
    { operation }: DoorRequest,
    { prepared, context }: ReadyRequest,
    attempt: number,
    started: number,
  ): Promise<Landed | Parked | Stopped | { readonly kind: 'under_way' }> {
    const { calls, clock, limits, startId, signal } = this.#options;
    if (this.#stopped !== undefined) return { kind: 'stopped', error: this.#stopped };
    const admitted = await this.#admission.admit(operation.meter, () =>
      calls.intend({ ...context, startId, attempt, startedAt: clock.now() }, limits),
    );
    if (admitted.kind !== 'intent')
      return this.#stopped === undefined ? admitted : { kind: 'stopped', error: this.#stopped };
    const { intent } = admitted;
    try {
      const exchange = await this.#apiOf(operation.api).client.send(prepared, { signal });
      this.#limiters[operation.api].succeeded();
      this.#breakers[operation.api].succeeded();
      return { kind: 'landed', exchange, intent };
    } catch (error) {
      try {
        if (!(error instanceof ApiError)) throw error;
        await this.#settle(intent, refusalOf(error, operation.meter, clock.now()));
        await this.#react(operation, error, started);
      } finally {
        this.#admission.left(operation.meter);
      }
      throw error;
    }
  }

  /** A later process gave this call up while we were frozen: its books stand, and ours must not go on. */
  async #settle(intent: Intent, settlement: Settlement): Promise<void> {
    const settled = await this.#options.calls.settle(intent, settlement);
    if (!settled) throw new TakenOverError();
    if (intent.meter === 'unit') {
      if (settlement.allowance?.available == null) this.#admission.heardNothing();
      else this.#admission.heardOfUnits();
    }
    this.#options.listen?.({ kind: 'call_settled', intent, settlement });
  }

  /** What an error means for the calls that come after it. */
  async #react(operation: Operation, error: ApiError, started: number): Promise<void> {
    const limiter = this.#limiters[operation.api];
    const breaker = this.#breakers[operation.api];
    if (isTrouble(error)) {
      limiter.troubled(started, error.retryAfterMs);
      const open = breaker.failed(error);
      if (open !== undefined) this.#stop(open);
      return;
    }
    if (error.exchange !== undefined) breaker.succeeded();
    if (error.class === 'slow_down') limiter.troubled(started, error.retryAfterMs);
    else if (error.class === 'stop_run') this.#stop(error);
    else if (error.class === 'block_operation') await this.#close(operation, [operation.name], 'scope', null, error);
    else if (error.class === 'park') await this.#closeLimit(operation, error);
  }

  #stop(error: ApiError): void {
    this.#stopped ??= error;
    this.#admission.drain();
    this.#halt.abort(error);
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
    const { environmentId } = this.#apiOf(api);
    this.#refused = true;
    for (const operation of new Set(operations)) {
      const closure = { operation, reason, until, message: `${code}: ${message}`, closedAt: clock.now() };
      await calls.close(environmentId, closure);
      listen?.({ kind: 'closed', api, operation, reason, until });
    }
  }

  /** Waits as long as the error asks for; false where the call is not to be sent again. */
  async #waitToRetry(request: DoorRequest, ready: ReadyRequest, error: unknown, tally: Tally): Promise<boolean> {
    if (!(error instanceof ApiError) || (error.class !== 'retry' && error.class !== 'slow_down')) return false;
    tally[error.class] += 1;
    const delay = retryDelayMs(error, tally[error.class], this.#options.retry, this.#random);
    if (delay === undefined || this.#halt.signal.aborted) return false;
    if (leavesDoubt(error, request.operation.meter)) {
      // A report is not sent twice in a row: whoever asked for it looks first.
      if (request.operation.meter === 'report') return false;
      if ((await doubtAbout(request, ready, this.#options)) !== undefined) return false;
    }
    await this.#options.clock.sleep(delay, this.#halt.signal).catch(() => {});
    return !this.#halt.signal.aborted;
  }

  async #giveUp(
    request: DoorRequest,
    ready: ReadyRequest,
    error: ApiError,
    attempts: number,
    tally: Tally,
  ): Promise<CallOutcome> {
    if (this.#stopped !== undefined) return { kind: 'stopped', error: this.#stopped };
    if (error.class === 'park' || error.class === 'block_operation') {
      const refused = await this.refusal(request.operation);
      return refused ?? { kind: 'parked', reason: 'allowance', until: null, message: error.message };
    }
    if (error.class === 'not_available') return { kind: 'not_available', error };
    // It was to be sent again, had the run gone on: the row has not failed.
    if (this.#halt.signal.aborted && this.#mightGoOn(error, tally)) return DRAINING;
    return (await doubtAfter(error, request, ready, this.#options)) ?? { kind: 'failed', error, attempts };
  }

  #mightGoOn(error: ApiError, tally: Tally): boolean {
    if (error.code === 'ABORTED') return true;
    if (error.class !== 'retry' && error.class !== 'slow_down') return false;
    return retryDelayMs(error, tally[error.class], this.#options.retry, () => 0) !== undefined;
  }

  #apiOf(api: ApiName): DoorApi {
    const found = this.#options.apis[api];
    if (found === null) throw new TypeError(`${api} is not configured`);
    return found;
  }
}

/** An answer is there; its call is not settled yet. */
interface Landed {
  readonly kind: 'landed';
  readonly exchange: Exchange;
  readonly intent: Intent;
}
