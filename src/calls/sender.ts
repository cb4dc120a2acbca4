import { setMaxListeners } from 'node:events';
import pRetry from 'p-retry';
import { ApiError } from '../api/errors.js';
import type { Exchange } from '../api/exchange.js';
import { TakenOverError } from '../domain/errors.js';
import type { Settlement } from '../ledger/calls.js';
import type { Intent } from '../ledger/intent.js';
import { Admission } from './admission.js';
import { doubtAfter, lostAtMost } from './doubt.js';
import { apiOf, type DoorOptions } from './options.js';
import { type CallOutcome, DRAINING, type Parked, type Stopped } from './outcome.js';
import { Reactions } from './reactions.js';
import type { DoorRequest, ReadyRequest } from './request.js';
import { retryDelayMs, sendsAtMost, type Tally } from './retry.js';
import { leavesDoubt, refusalOf, settlementOf } from './settlement.js';

/** Somebody else has the answer, or is about to: what is owned is to be looked at again. */
export interface Elsewhere {
  readonly kind: 'elsewhere';
  /** An answer from this time on is as new as one of our own. */
  readonly since: number;
}

/** Buys answers: intent, wire, settlement, and again where that may be. */
export class Sender {
  readonly #options: DoorOptions;
  readonly #admission: Admission;
  readonly #reactions: Reactions;
  readonly #random: () => number;
  /** Ends every pause: nothing more will be sent. */
  readonly #halt = new AbortController();
  #stopped: ApiError | undefined;
  #refused = false;

  constructor(options: DoorOptions) {
    this.#options = options;
    this.#admission = new Admission(options.clock);
    this.#reactions = new Reactions(options, (error) => this.#stop(error));
    this.#random = options.random ?? Math.random;
    setMaxListeners(0, this.#halt.signal);
    if (options.signal?.aborted) this.drain();
    options.signal?.addEventListener('abort', () => this.drain(), { once: true, signal: this.#halt.signal });
  }

  get stopped(): ApiError | undefined {
    return this.#stopped;
  }

  get draining(): boolean {
    return this.#admission.draining;
  }

  /** Allowance, budget or scope have kept a call from being sent. */
  get hasRefused(): boolean {
    return this.#refused;
  }

  drain(): void {
    this.#admission.drain();
    this.#halt.abort(new Error('the run is being stopped'));
  }

  async buy(request: DoorRequest, ready: ReadyRequest): Promise<CallOutcome | Elsewhere> {
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
  async #attempt(request: DoorRequest, ready: ReadyRequest, attempt: number): Promise<CallOutcome | Elsewhere> {
    const { operation } = request;
    const flight = await this.#reactions.limiters[operation.api].run(
      (started) => this.#fly(request, ready, attempt, started),
      this.#halt.signal,
    );
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
    request: DoorRequest,
    ready: ReadyRequest,
    attempt: number,
    started: number,
  ): Promise<Landed | Elsewhere | Extract<CallOutcome, { kind: 'in_doubt' }> | Parked | Stopped> {
    const { operation } = request;
    if (this.#stopped !== undefined) return { kind: 'stopped', error: this.#stopped };
    const intent = await this.#reserve(request, ready, attempt);
    if ('kind' in intent) return this.#stopped === undefined ? intent : { kind: 'stopped', error: this.#stopped };
    try {
      const { client } = apiOf(this.#options, operation.api);
      const exchange = await client.send(ready.prepared, { signal: this.#options.signal });
      this.#reactions.toSuccess(operation);
      return { kind: 'landed', exchange, intent };
    } catch (error) {
      try {
        if (!(error instanceof ApiError)) throw error;
        await this.#settle(intent, refusalOf(error, operation.meter, this.#options.clock.now()));
        if (error.class === 'park' || error.class === 'block_operation') this.#refused = true;
        await this.#reactions.toError(operation, error, started);
      } finally {
        this.#admission.left(operation.meter);
      }
      throw error;
    }
  }

  /** The intent, or why there is none. */
  async #reserve({ operation, ownedSince, lookedSince }: DoorRequest, { context }: ReadyRequest, attempt: number) {
    const { calls, clock, limits, startId } = this.#options;
    const asked = clock.now();
    const intended = await this.#admission.admit(operation.meter, () =>
      calls.intend(
        {
          // Written out: a copy of the context that then grows costs five times as much, for every call.
          environmentId: context.environmentId,
          runId: context.runId,
          row: context.row,
          stage: context.stage,
          operation: context.operation,
          meter: context.meter,
          requestKey: context.requestKey,
          subject: context.subject,
          startId,
          attempt,
          startedAt: clock.now(),
          ownedSince: operation.keep === 'never' ? Number.POSITIVE_INFINITY : ownedSince,
          lookedSince,
          lostAtMost: lostAtMost(this.#options),
        },
        limits,
      ),
    );
    switch (intended.kind) {
      case 'intent':
        return intended.intent;
      case 'taken_over':
        throw new TakenOverError();
      case 'under_way':
      case 'answered':
        return { kind: 'elsewhere', since: Math.min(ownedSince, asked) } as const;
      case 'in_doubt':
        return intended;
      case 'parked':
        this.#refused = true;
        return intended;
    }
  }

  /** A later process gave this call up while we were frozen: its books stand, and ours must not go on. */
  async #settle(intent: Intent, settlement: Settlement): Promise<void> {
    const settled = await this.#options.calls.settle(intent, settlement);
    if (!settled) throw new TakenOverError();
    if (intent.meter === 'unit') {
      const available = settlement.allowance?.available ?? null;
      if (available === null) this.#admission.heardNothing();
      else this.#admission.heardOfUnits();
      if (available === 0) this.#refused = true;
    }
    this.#options.listen?.({ kind: 'call_settled', intent, settlement });
  }

  #stop(error: ApiError): void {
    this.#stopped ??= error;
    this.#admission.drain();
    this.#halt.abort(error);
  }

  /** Waits as long as the error asks for; false where the call is not to be sent again. */
  async #waitToRetry(request: DoorRequest, ready: ReadyRequest, error: unknown, tally: Tally): Promise<boolean> {
    if (!(error instanceof ApiError) || (error.class !== 'retry' && error.class !== 'slow_down')) return false;
    tally[error.class] += 1;
    const delay = retryDelayMs(error, tally[error.class], this.#options.retry, this.#random);
    if (delay === undefined || this.#halt.signal.aborted) return false;
    // A report is not sent twice in a row: whoever asked for it looks first.
    if (request.operation.meter === 'report' && leavesDoubt(error, 'report')) return false;
    if ((await doubtAfter(error, request, ready, this.#options)) !== undefined) return false;
    const { api, name: operation } = request.operation;
    const attempt = tally.retry + tally.slow_down + 1;
    this.#options.listen?.({
      kind: 'retry',
      api,
      operation,
      row: request.row,
      code: error.code,
      attempt,
      waitMs: delay,
    });
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
    if (error.class === 'park' || error.class === 'block_operation') return await this.#parkedBy(request, error);
    if (error.class === 'not_available') return { kind: 'not_available', error };
    // It was to be sent again, had the run gone on: the row has not failed.
    if (this.#halt.signal.aborted && this.#mightGoOn(error, tally)) return DRAINING;
    return (await doubtAfter(error, request, ready, this.#options)) ?? { kind: 'failed', error, attempts };
  }

  /** As the ledger has it, with the time at which it goes on. */
  async #parkedBy({ operation }: DoorRequest, { message }: ApiError): Promise<Parked> {
    const { calls, startId, limits, clock } = this.#options;
    const { environmentId } = apiOf(this.#options, operation.api);
    const call = { startId, environmentId, operation: operation.name, meter: operation.meter };
    const refused = await calls.refusal(call, limits, clock.now());
    return refused ?? { kind: 'parked', reason: 'allowance', until: null, message };
  }

  #mightGoOn(error: ApiError, tally: Tally): boolean {
    if (error.code === 'ABORTED') return true;
    if (error.class !== 'retry' && error.class !== 'slow_down') return false;
    return retryDelayMs(error, tally[error.class], this.#options.retry, () => 0) !== undefined;
  }
}

/** An answer is there; its call is not settled yet. */
interface Landed {
  readonly kind: 'landed';
  readonly exchange: Exchange;
  readonly intent: Intent;
}
