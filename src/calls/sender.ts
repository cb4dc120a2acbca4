import { setMaxListeners } from 'node:events';
import pRetry from 'p-retry';
import { unfitAnswer } from '../api/answer.js';
import { ApiError } from '../api/errors.js';
import type { Exchange } from '../api/exchange.js';
import type { Operation } from '../api/operation.js';
import { TakenOverError } from '../domain/errors.js';
import type { Settlement } from '../ledger/calls.js';
import type { Intent } from '../ledger/intent.js';
import { Admission } from './admission.js';
import type { Pass } from './breaker.js';
import { doubtAfter } from './doubt.js';
import { apiOf, type DoorOptions, patienceOf } from './options.js';
import { type CallOutcome, DRAINING, type Parked, type Stopped } from './outcome.js';
import { Reactions } from './reactions.js';
import type { DoorRequest, ReadyRequest } from './request.js';
import { type Elsewhere, reserve } from './reserve.js';
import { asTrouble, comesRight, isNobodysFault, retryDelayMs, type Tally } from './retry.js';
import { leavesDoubt, refusalOf, settlementOf } from './settlement.js';

/** Buys answers: intent, wire, settlement, and again where that may be. */
export class Sender {
  readonly #options: DoorOptions;
  readonly #admission: Admission;
  readonly #reactions: Reactions;
  readonly #random: () => number;
  /** Ends every pause: nothing more will be sent. */
  readonly #halt = new AbortController();
  readonly #halting = this.#halt.signal;
  #stopped: ApiError | undefined;
  /** What rows were left pending for. */
  #leftBehind: ApiError | undefined;
  #refused = false;

  constructor(options: DoorOptions) {
    this.#options = options;
    this.#admission = new Admission(options.clock);
    this.#reactions = new Reactions(options, (error) => this.#stop(error));
    this.#random = options.random ?? Math.random;
    setMaxListeners(0, this.#halting);
    if (options.signal?.aborted) this.drain();
    options.signal?.addEventListener('abort', () => this.drain(), { once: true, signal: this.#halting });
  }

  get stopped(): ApiError | undefined {
    return this.#stopped;
  }

  /** What stops the run if it ends now: the provider is held to be down, and was waited for. */
  get outage(): ApiError | undefined {
    return this.#reactions.outage ?? this.#leftBehind;
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
    const tally: Tally = { retry: 0, slow_down: 0, since: undefined };
    let attempts = 0;
    const attempt = (number: number) => {
      attempts = number;
      return this.#attempt(request, ready, number);
    };
    try {
      // Nearly every call succeeds at once. p-retry is for the others: it takes over with the error that was met
      // (docs/performance.md, "What the books cost").
      return await attempt(1);
    } catch (first) {
      let met: unknown = first;
      const again = pRetry((number) => (number === 1 ? Promise.reject(first) : attempt(number)), {
        // The tally bounds them, and an outage is waited out however long it is.
        retries: Number.POSITIVE_INFINITY,
        // How long to wait depends on the error, and is waited on our own clock: p-retry knows timers only.
        minTimeout: 0,
        shouldRetry: ({ error }) => {
          met = error;
          return this.#waitToRetry(request, ready, error, tally);
        },
      });
      const outcome = await again.catch((error: unknown) => {
        if (error instanceof ApiError) return this.#giveUp(request, ready, error, attempts);
        throw error;
      });
      if (outcome.kind !== 'stopped' || !(met instanceof ApiError) || !comesRight(met)) return outcome;
      return { ...outcome, met: { error: met, attempts } };
    }
  }

  /** The slot is for the time on the wire. What came back is written down after it; until then it counts as in flight. */
  async #attempt(request: DoorRequest, ready: ReadyRequest, attempt: number): Promise<CallOutcome | Elsewhere> {
    const { operation } = request;
    const flight = await this.#takeOff(request, ready, attempt);
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

  /** Past the breaker, into a slot. While the provider is held to be down it waits here, without slot and money. */
  async #takeOff(request: DoorRequest, ready: ReadyRequest, attempt: number): Promise<Flight> {
    const { operation } = request;
    const breaker = this.#reactions.breakerOf(operation);
    for (;;) {
      const entered = breaker.enter(this.#halting);
      const pass = entered instanceof Promise ? await entered : entered;
      if (pass === undefined) return this.#halted();
      const flight = await this.#reactions.limiters[operation.api].run(async (started) => {
        if (!breaker.admits(pass)) return undefined;
        try {
          return await this.#fly(request, ready, attempt, { started, pass });
        } finally {
          breaker.left(pass);
        }
      }, this.#halting);
      if (flight !== undefined) return flight;
    }
  }

  /** From the intent to the answer. A refusal is dealt with before the next call may start. */
  async #fly(request: DoorRequest, ready: ReadyRequest, attempt: number, leave: Leave): Promise<Flight> {
    const { operation } = request;
    const { requestKey } = ready.context;
    if (this.#stopped !== undefined) return { kind: 'stopped', error: this.#stopped };
    const intent = await reserve(request, ready, attempt, this.#admission, this.#options);
    if ('kind' in intent) {
      if (intent.kind === 'parked' && intent.reason !== 'draining') this.#refused = true;
      return this.#stopped === undefined ? intent : { kind: 'stopped', error: this.#stopped };
    }
    try {
      const { client } = apiOf(this.#options, operation.api);
      const exchange = await client.send(ready.prepared, { signal: this.#options.signal });
      const unfit = request.whyUnfit?.(exchange.body);
      if (unfit !== undefined) throw unfitAnswer(operation, exchange, unfit);
      this.#reactions.toSuccess(operation, requestKey, leave.started);
      return { kind: 'landed', exchange, intent };
    } catch (error) {
      try {
        if (!(error instanceof ApiError)) throw error;
        const met = await this.#asMet(operation, error, intent);
        await this.#settle(intent, refusalOf(met, operation.meter, this.#options.clock.now()));
        if (met.class === 'park' || met.class === 'block_operation') this.#refused = true;
        await this.#reactions.toError(operation, requestKey, met, leave);
        throw met;
      } finally {
        this.#admission.left(operation.meter);
      }
    }
  }

  /** A route or a right that was there, and is now denied in a form that is not the provider's: that is trouble. */
  async #asMet({ name }: Operation, error: ApiError, { environmentId }: Intent): Promise<ApiError> {
    const denies = error.class === 'block_operation' || (error.class === 'stop_run' && error.httpStatus !== 401);
    if (!error.foreign || !denies || !(await this.#options.calls.hasAnswered(environmentId, name))) return error;
    return asTrouble(error);
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

  #halted(): Parked | Stopped {
    return this.#stopped === undefined ? DRAINING : { kind: 'stopped', error: this.#stopped };
  }

  /** Waits as long as the error asks for; false where the call is not to be sent again. */
  async #waitToRetry(request: DoorRequest, ready: ReadyRequest, error: unknown, tally: Tally): Promise<boolean> {
    if (!(error instanceof ApiError) || !comesRight(error)) return false;
    tally[error.class] += 1;
    if (this.#halting.aborted) return false;
    // A report is not sent twice in a row: whoever asked for it looks first.
    if (request.operation.meter === 'report' && leavesDoubt(error, 'report')) return false;
    if ((await doubtAfter(error, request, ready, this.#options)) !== undefined) return false;
    if (mayHaveCost(request, error)) this.#reactions.hesitate(request.operation, ready.context.requestKey, error);
    const delay = retryDelayMs(error, tally[error.class], this.#options.retry, this.#random);
    const at = this.#options.clock.now();
    tally.since ??= at;
    const givesUpAt = tally.since + patienceOf(this.#options);
    // What is asked for counts, not what is waited at a time: it would not be over by then.
    const isOver = delay === undefined || at + Math.max(delay, error.retryAfterMs ?? 0) > givesUpAt;
    if (isOver) return this.#waitsForProvider(request, ready, error, tally);
    const { api, name: operation } = request.operation;
    const attempt = tally.retry + tally.slow_down + 1;
    const { row } = request;
    this.#options.listen?.({
      kind: 'retry',
      api,
      operation,
      row,
      code: error.code,
      attempt,
      at,
      waitMs: delay,
      givesUpAt,
    });
    await this.#options.clock.sleep(delay, this.#halting).catch(() => {});
    return !this.#halting.aborted;
  }

  /** Its tries are used up. Where that is the provider's doing, it begins anew when the provider is well again. */
  #waitsForProvider({ operation }: DoorRequest, { context }: ReadyRequest, error: ApiError, tally: Tally): boolean {
    if (!this.#reactions.holdDown(operation, context.requestKey, error)) return false;
    tally.retry = 0;
    tally.slow_down = 0;
    tally.since = undefined;
    return !this.#halting.aborted;
  }

  async #giveUp(request: DoorRequest, ready: ReadyRequest, error: ApiError, attempts: number): Promise<CallOutcome> {
    if (this.#stopped !== undefined) return { kind: 'stopped', error: this.#stopped };
    if (error.class === 'not_available' || this.#reactions.isRowsOwn(error, request.operation))
      return { kind: 'not_available', error };
    if (error.class === 'park' || error.class === 'block_operation') return await this.#parkedBy(request, error);
    // It was to be sent again, had the run gone on: the row has not failed.
    if (this.#halting.aborted && comesRight(error)) return DRAINING;
    const doubt = await doubtAfter(error, request, ready, this.#options);
    if (doubt !== undefined) return doubt.kind === 'parked' ? { ...doubt, met: { error, attempts } } : doubt;
    const left = this.#leftPending(request, ready, error);
    if (left !== undefined) return left;
    // By hand, whoever asks decides. A report that failed as often as it may be tried is for a person, too (V2-17).
    const comesLater = isNobodysFault(error) || (error.retryAfterMs ?? 0) > patienceOf(this.#options);
    const leaves =
      this.#options.breaker !== null && request.operation.meter !== 'report' && comesRight(error) && comesLater;
    if (leaves) return unanswered(error, attempts);
    if (comesRight(error)) this.#reactions.breakerOf(request.operation).failedRow();
    return { kind: 'failed', error, attempts };
  }

  /**
   * Each try of a report may cost one, so it does not begin anew when the provider is well again. Where its failure is
   * the provider's doing, the row is left to another start.
   */
  #leftPending({ operation }: DoorRequest, { context }: ReadyRequest, error: ApiError): Parked | Stopped | undefined {
    const { requestKey } = context;
    const breaker = this.#reactions.breakerOf(operation);
    const left =
      operation.meter === 'report' && comesRight(error) && this.#reactions.holdDown(operation, requestKey, error);
    breaker.forget(requestKey);
    if (!left) return undefined;
    this.#leftBehind ??= breaker.outage;
    return this.#halted();
  }

  /** As the ledger has it, with the time at which it goes on. */
  async #parkedBy({ operation }: DoorRequest, { class: kind, message }: ApiError): Promise<Parked> {
    const { calls, startId, limits, clock } = this.#options;
    const { environmentId } = apiOf(this.#options, operation.api);
    const call = { startId, environmentId, operation: operation.name, meter: operation.meter };
    const refused = await calls.refusal(call, limits, clock.now());
    const reason = kind === 'block_operation' ? 'scope' : 'allowance';
    return refused ?? { kind: 'parked', reason, until: null, message };
  }
}

/** The provider is well otherwise, and this is no row's fault all the same: the next start asks again. */
const unanswered = (error: ApiError, attempts: number): Parked => ({
  kind: 'parked',
  reason: 'unanswered',
  until: null,
  message: `${error.code}: ${error.message}`,
  met: { error, attempts },
});

const mayHaveCost = ({ operation }: DoorRequest, { charge }: ApiError): boolean =>
  operation.meter !== 'free' && charge === 'unknown';

/** What a call goes with: its number from the limiter, its pass from the breaker. */
export interface Leave {
  readonly started: number;
  readonly pass: Pass;
}

type Flight = Landed | Elsewhere | Extract<CallOutcome, { kind: 'in_doubt' }> | Parked | Stopped;

/** An answer is there; its call is not settled yet. */
interface Landed {
  readonly kind: 'landed';
  readonly exchange: Exchange;
  readonly intent: Intent;
}
