import { setMaxListeners } from 'node:events';
import pRetry from 'p-retry';
import type { PreparedCall } from '../api/client.js';
import { ApiError } from '../api/errors.js';
import type { Exchange } from '../api/exchange.js';
import type { ApiName } from '../api/operation.js';
import { nextUtcMidnight, readAllowance } from '../api/v1/allowance.js';
import { TakenOverError } from '../domain/errors.js';
import type { CallContext, Intent, Ledger, Settlement } from '../ledger/ledger.js';
import { AllowanceBook } from './allowance-book.js';
import { type Asked, ask } from './asked.js';
import { Breaker } from './breaker.js';
import type { DoorApi, DoorOptions, DoorRequest } from './door-options.js';
import { doubtAbout, doubtAfter, generatesReport, leavesDoubt } from './doubt.js';
import { DRAINING, Gate, type Place } from './gate.js';
import { Limiter } from './limiter.js';
import type { Answer, CallOutcome, Parked, Stopped } from './outcome.js';
import { OwnedAnswers } from './owned-answers.js';
import { isTrouble, retryDelayMs, sendsAtMost, type Tally } from './retry.js';
import { refusalOf, settlementOf } from './settlement.js';

export type { AnyClient, DoorApi, DoorOptions, DoorRequest } from './door-options.js';

/**
 * The one door to the paid world. An answer that we own is used; otherwise the intent is written down, the call is
 * sent, and what came back is settled in one transaction with the exact bytes. Two rows that ask for the same thing at
 * the same moment share one call.
 */
export class Door {
  readonly #options: DoorOptions;
  readonly #gate: Gate;
  readonly #limiters: Readonly<Record<ApiName, Limiter>>;
  readonly #breakers: Readonly<Record<ApiName, Breaker>>;
  readonly #book: AllowanceBook | null;
  readonly #owned: OwnedAnswers;
  readonly #shared = new Map<string, Promise<CallOutcome>>();
  readonly #random: () => number;
  /** Ends every pause: nothing more will be sent. */
  readonly #halt = new AbortController();
  #stopped: ApiError | undefined;

  constructor(options: DoorOptions) {
    this.#options = options;
    this.#gate = new Gate(options);
    this.#owned = new OwnedAnswers(options.ledger, options.clock);
    const { clock, concurrency, breakerFailures } = options;
    this.#limiters = { v1: new Limiter(concurrency, clock), v2: new Limiter(concurrency, clock) };
    this.#breakers = { v1: new Breaker('v1', breakerFailures), v2: new Breaker('v2', breakerFailures) };
    this.#book = options.apis.v1 && new AllowanceBook(options.ledger, options.apis.v1.environmentId, this.#gate);
    this.#random = options.random ?? Math.random;
    setMaxListeners(0, this.#halt.signal);
    if (options.signal?.aborted) this.drain();
    options.signal?.addEventListener('abort', () => this.drain(), { once: true, signal: this.#halt.signal });
  }

  /** What stopped the run, if anything did. */
  get stopped(): ApiError | undefined {
    return this.#stopped;
  }

  get callsInFlight(): number {
    return this.#limiters.v1.active + this.#limiters.v2.active;
  }

  /** Why this operation cannot move now; undefined if it can. */
  refusal(api: ApiName, operation: string): Parked | Stopped | undefined {
    if (this.#stopped !== undefined) return { kind: 'stopped', error: this.#stopped };
    return this.#gate.refusal({ api, operation });
  }

  /** No call is sent any more, and nobody waits for a better time; calls in flight come home. */
  drain(): void {
    this.#gate.drain();
    this.#halt.abort(new Error('the run is being stopped'));
  }

  /** Writes down what is known about the allowance. */
  async close(): Promise<void> {
    await this.#book?.save();
  }

  /** What we own, and no further: undefined if that is nothing. */
  async owned(request: DoorRequest, writeDown: boolean): Promise<Answer | undefined> {
    const { client, environmentId } = this.#apiOf(request.api);
    const asked = ask(client, environmentId, request);
    if (asked instanceof ApiError) return undefined;
    return await this.#owned.find(asked.context, request.ownedSince, writeDown);
  }

  async call(request: DoorRequest): Promise<CallOutcome> {
    const { client, environmentId } = this.#apiOf(request.api);
    const asked = ask(client, environmentId, request);
    if (asked instanceof ApiError) return { kind: 'failed', error: asked, attempts: 0 };
    if (!request.own) return await this.#buy(request, asked);

    const shareKey = `${environmentId}:${asked.context.requestKey}`;
    const underway = this.#shared.get(shareKey);
    if (underway !== undefined) return await this.#owned.share(await underway, asked.context);
    const obtained = this.#obtain(request, asked).finally(() => this.#shared.delete(shareKey));
    this.#shared.set(shareKey, obtained);
    return await obtained;
  }

  async #obtain(request: DoorRequest, asked: Asked): Promise<CallOutcome> {
    const owned = await this.#owned.find(asked.context, request.ownedSince);
    return owned ?? (await this.#buy(request, asked));
  }

  async #buy(request: DoorRequest, asked: Asked): Promise<CallOutcome> {
    const { context } = asked;
    const doubt = await doubtAbout(request, context, this.#options);
    if (doubt !== undefined) return doubt;
    const tally: Tally = { retry: 0, slow_down: 0 };
    let attempts = 0;
    const attempt = async (number: number) => {
      attempts = number;
      return await this.#attempt(request, asked, number);
    };
    const mayRetry = (error: unknown) => this.#waitToRetry(request, context, error, tally);
    try {
      // Nearly every call succeeds at once: the machinery of retrying is for the others.
      const first = await attempt(1).catch(async (error: unknown) => {
        if (!(await mayRetry(error))) throw error;
      });
      return (
        first ??
        (await pRetry((further) => attempt(1 + further), {
          retries: sendsAtMost(this.#options.retry) - 2,
          minTimeout: 0,
          maxTimeout: 0,
          shouldRetry: ({ error }) => mayRetry(error),
        }))
      );
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return await this.#giveUp(request, context, error, attempts, tally);
    }
  }

  /** The slot is for the time on the wire. What came back is written down after it, while the place is still held. */
  async #attempt(request: DoorRequest, asked: Asked, attempt: number): Promise<CallOutcome> {
    const flight = await this.#limiters[request.api].run(
      (started) => this.#fly(request, asked, attempt, started),
      this.#halt.signal,
    );
    if (flight.kind !== 'landed') return flight;
    const { exchange, intent, place, alone } = flight;
    let units: number | null = null;
    try {
      const now = this.#options.clock.now();
      const settlement = settlementOf(request, asked.params, exchange, now);
      // The settlement is written first, so that the books which the observation compares have it.
      await this.#settle(intent, settlement);
      units = settlement.unitsCharged;
      await this.#observe(request.api, exchange, intent, alone);
      return { kind: 'answer', body: exchange.body, owned: false, fetchedAt: now };
    } finally {
      place.release(units);
    }
  }

  /** From the gate to the answer. A refusal is dealt with before the next call may start. */
  async #fly(
    request: DoorRequest,
    { prepared, context }: Asked,
    attempt: number,
    started: number,
  ): Promise<Landed | Parked | Stopped> {
    const place = await this.#gate.admit(request);
    if (this.#stopped !== undefined) {
      if (place.kind === 'place') place.release(0);
      return { kind: 'stopped', error: this.#stopped };
    }
    if (place.kind === 'parked') return place;
    // Unknown until it is known: a defect between here and the settlement must not make a call free.
    let units: number | null = null;
    try {
      const intent = await this.#intend({ ...context, attempt, startedAt: this.#options.clock.now() }, () => {
        units = 0;
      });
      const exchange = await this.#send(request, prepared, intent, started);
      const alone = place.alone();
      this.#limiters[request.api].succeeded();
      this.#breakers[request.api].succeeded();
      return { kind: 'landed', exchange, intent, place, alone };
    } catch (error) {
      if (error instanceof ApiError && error.charge === 'free') units = 0;
      place.release(units);
      throw error;
    }
  }

  /** Without a written intent nothing is sent, so nothing can have been charged. */
  async #intend(intent: Parameters<Ledger['intend']>[0], notSent: () => void): Promise<Intent> {
    try {
      return await this.#options.ledger.intend(intent);
    } catch (error) {
      notSent();
      throw error;
    }
  }

  async #send(request: DoorRequest, prepared: PreparedCall, intent: Intent, started: number): Promise<Exchange> {
    const { clock, signal } = this.#options;
    try {
      return await this.#apiOf(request.api).client.send(prepared, { signal });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      await this.#settle(intent, refusalOf(error, clock.now()));
      if (error.exchange !== undefined) await this.#observe(request.api, error.exchange, intent, false);
      else if (request.api === 'v1') this.#gate.countSolo();
      await this.#react(request, error, started);
      throw error;
    }
  }

  /** A later process gave this call up while we were frozen: its books stand, and ours must not go on. */
  async #settle(intent: Intent, settlement: Settlement): Promise<void> {
    if (await this.#options.ledger.settle(intent, settlement)) return;
    throw new TakenOverError();
  }

  /** What an error means for the calls that come after it. */
  async #react(request: DoorRequest, error: ApiError, started: number): Promise<void> {
    const { clock } = this.#options;
    if (isTrouble(error)) {
      this.#limiters[request.api].troubled(started, error.retryAfterMs);
      const open = this.#breakers[request.api].failed(error);
      if (open !== undefined) this.#stop(open);
      return;
    }
    if (error.exchange !== undefined) this.#breakers[request.api].succeeded();
    if (error.class === 'slow_down') this.#limiters[request.api].troubled(started, error.retryAfterMs);
    else if (error.class === 'stop_run') this.#stop(error);
    else if (error.class === 'block_operation')
      this.#gate.close(`${request.api}:${request.operation}`, 'scope', null, `${error.code}: ${error.message}`);
    else if (error.class === 'park') await this.#closeLimit(request, error, clock.now());
  }

  #stop(error: ApiError): void {
    this.#stopped ??= error;
    this.#halt.abort(error);
  }

  async #closeLimit(request: DoorRequest, error: ApiError, now: number): Promise<void> {
    const { limit } = error;
    const message = `${error.code}: ${error.message}`;
    if (limit?.api === 'v2') {
      // Daily limits of v2 are taken to end with the UTC day; the document does not say.
      const until = limit.period === 'day' ? nextUtcMidnight(now) : null;
      this.#gate.closePermission(limit.permission, request.operation, until, message);
      return;
    }
    const quota = error.exchange === undefined ? null : readAllowance(error.exchange.headers, now).quota;
    const until = quota?.resetAtMs ?? null;
    this.#gate.close('v1', 'allowance', until, message);
    await this.#book?.spent(until, now);
  }

  async #observe(api: ApiName, exchange: Exchange, intent: Intent, alone: boolean): Promise<void> {
    if (api !== 'v1') return;
    const now = this.#options.clock.now();
    await this.#book?.observe(readAllowance(exchange.headers, now), intent.id, alone, now);
  }

  /** Waits as long as the error asks for; false where the call is not to be sent again. */
  async #waitToRetry(request: DoorRequest, context: CallContext, error: unknown, tally: Tally): Promise<boolean> {
    if (!(error instanceof ApiError) || (error.class !== 'retry' && error.class !== 'slow_down')) return false;
    tally[error.class] += 1;
    const delay = retryDelayMs(error, tally[error.class], this.#options.retry, this.#random);
    if (delay === undefined || this.#halt.signal.aborted) return false;
    if (leavesDoubt(request, error)) {
      if (generatesReport(request.operation) || (await doubtAbout(request, context, this.#options)) !== undefined)
        return false;
    }
    await this.#options.clock.sleep(delay, this.#halt.signal).catch(() => {});
    return !this.#halt.signal.aborted;
  }

  async #giveUp(
    request: DoorRequest,
    context: CallContext,
    error: ApiError,
    attempts: number,
    tally: Tally,
  ): Promise<CallOutcome> {
    if (this.#stopped !== undefined) return { kind: 'stopped', error: this.#stopped };
    if (error.class === 'park' || error.class === 'block_operation') {
      return (
        this.#gate.refusal(request) ?? { kind: 'parked', reason: 'allowance', until: null, message: error.message }
      );
    }
    if (error.class === 'not_available') return { kind: 'not_available', error };
    // It was to be sent again, had the run gone on: the row has not failed.
    if (this.#halt.signal.aborted && this.#mightGoOn(error, tally)) return DRAINING;
    return (await doubtAfter(error, request, context, this.#options)) ?? { kind: 'failed', error, attempts };
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
  readonly place: Place;
  /** No other v1 call was under way when it came. */
  readonly alone: boolean;
}
