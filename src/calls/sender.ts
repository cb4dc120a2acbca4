import pRetry from 'p-retry';
import { unusableAnswerError } from '../api/answer.js';
import { ApiError } from '../api/errors.js';
import type { Exchange } from '../api/http.js';
import type { ApiName } from '../api/operation.js';
import { MALFORMED_ANSWER, TakenOverError } from '../domain/errors.js';
import type { Settlement } from '../ledger/money/calls.js';
import type { Intent, Limits } from '../ledger/money/intent.js';
import { Admission, type Elsewhere, Halt, reserve } from './admission.js';
import type { Pass } from './breaker.js';
import type { Wire } from './limiter.js';
import { apiOf, type DoorOptions, patienceOf } from './options.js';
import { askProvider, type CallOutcome, DRAINING, type Parked, type Stopped } from './outcome.js';
import { Reactions } from './reactions.js';
import type { DoorRequest, ReadyRequest } from './request.js';
import {
  asTrouble,
  isIntermediaryDenial,
  isRetryable,
  isTrouble,
  isUndocumentedFailure,
  retryDelayMs,
  type Tally,
} from './retry.js';
import { leavesChargeUnknown, refusalOf, settlementOf, unknownChargeAfter, unknownChargeBefore } from './settlement.js';

/** Buys answers: a call, and again where that may be. */
export class Sender {
  readonly #options: DoorOptions;
  readonly #admission: Admission;
  readonly #attempts: SingleSend;
  readonly #reactions: Reactions;
  readonly #halt: Halt;
  readonly #random: () => number;

  constructor(options: DoorOptions) {
    this.#options = options;
    this.#admission = new Admission(options.clock);
    this.#halt = new Halt(this.#admission);
    this.#reactions = new Reactions(options, (error) => this.#halt.stop(error));
    this.#attempts = new SingleSend(options, this.#admission, this.#reactions, this.#halt);
    this.#random = options.random ?? Math.random;
    if (options.signal?.aborted) this.drain();
    options.signal?.addEventListener('abort', () => this.drain(), { once: true, signal: this.#halt.signal });
  }

  get stopped(): ApiError | undefined {
    return this.#halt.stopped;
  }

  /** What stops the run if it ends now: the provider is held to be down, and was waited for. */
  get outage(): ApiError | undefined {
    return this.#reactions.outage;
  }

  hearOfSlowDown(api: ApiName, pauseMs: number): void {
    this.#reactions.hearOfSlowDown(api, pauseMs);
  }

  get draining(): boolean {
    return this.#halt.isDraining;
  }

  /** Allowance, budget or scope have kept a call from being sent. */
  get hasRefused(): boolean {
    return this.#attempts.hasRefused;
  }

  /** The limits, with what one call may cost. */
  bound(limits: Limits): Limits {
    return this.#admission.bound(limits);
  }

  drain(): void {
    this.#halt.drain();
  }

  /** A row that was parked because the provider refused, and whose refusal is known by now to be its own. */
  takeDecided(isFree: (row: number) => boolean): number | undefined {
    return this.#reactions.refusals.takeDecided(isFree);
  }

  concludeRefusals(): Promise<boolean> {
    return this.#reactions.concludeRefusals();
  }

  /** Its row was parked for the refusal before. */
  isTold({ row }: DoorRequest, { context }: ReadyRequest): boolean {
    return row !== null && this.#reactions.refusals.isTold(row, context.requestKey);
  }

  /** Its row is parked for a refusal, perhaps of a call that another row has made. */
  awaitsDecision({ row }: DoorRequest, { context }: ReadyRequest): void {
    if (row !== null) this.#reactions.refusals.awaits(row, context.requestKey);
  }

  async buy(request: DoorRequest, ready: ReadyRequest): Promise<CallOutcome | Elsewhere> {
    const refused = this.#reactions.refusals.of(ready.context.requestKey);
    if (refused !== undefined) return await this.#giveUp(request, ready, refused.error, 1);
    const tally: Tally = { retry: 0, slow_down: 0, since: undefined };
    let attempts = 0;
    const attempt = (number: number) => {
      attempts = number;
      return this.#attempts.make(request, ready, number);
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
      if (outcome.kind !== 'stopped' || !(met instanceof ApiError) || !isRetryable(met)) return outcome;
      return { ...outcome, met: { error: met, attempts } };
    }
  }

  /** Waits as long as the error asks for; false where the call is not to be sent again. */
  async #waitToRetry(request: DoorRequest, ready: ReadyRequest, error: unknown, tally: Tally): Promise<boolean> {
    if (!(error instanceof ApiError) || !isRetryable(error)) return false;
    tally[error.class] += 1;
    if (this.#halt.signal.aborted) return false;
    // A report is not sent twice in a row: whoever asked for it looks first.
    if (request.operation.meter === 'report' && leavesChargeUnknown(error, 'report')) return false;
    if ((await unknownChargeAfter(error, request, ready, this.#options)) !== undefined) return false;
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
    await this.#options.clock.sleep(delay, this.#halt.signal).catch(() => {});
    return !this.#halt.signal.aborted;
  }

  /** Its tries are used up. Where that is the provider's doing, it begins anew when the provider is well again. */
  #waitsForProvider({ operation }: DoorRequest, { context }: ReadyRequest, error: ApiError, tally: Tally): boolean {
    if (!this.#reactions.holdDown(operation, context.requestKey, error)) return false;
    tally.retry = 0;
    tally.slow_down = 0;
    tally.since = undefined;
    return !this.#halt.signal.aborted;
  }

  async #giveUp(request: DoorRequest, ready: ReadyRequest, error: ApiError, attempts: number): Promise<CallOutcome> {
    if (this.#halt.stopped !== undefined) return this.#halt.outcome();
    const isRowsOwn = this.#reactions.refusals.of(ready.context.requestKey)?.isOwn;
    if (error.class === 'not_available' || isRowsOwn) return { kind: 'not_available', error };
    if (error.class === 'park') return await this.#parkedBy(request, error);
    if (error.class === 'block_operation')
      return { ...(await this.#parkedBy(request, error)), met: { error, attempts } };
    // It was to be sent again, had the run gone on: the row has not failed.
    if (this.#halt.signal.aborted && isRetryable(error)) return DRAINING;
    const doubt = await unknownChargeAfter(error, request, ready, this.#options);
    if (doubt !== undefined) return { ...doubt, met: { error, attempts } };
    const left = this.#leftPending(request, ready, error);
    if (left !== undefined) return left;
    // By hand, whoever asks decides.
    const byHand = this.#options.breaker === null;
    if (byHand || error.class === 'fail_row') return { kind: 'failed', error, attempts };
    const comesLater = isUndocumentedFailure(error) || (error.retryAfterMs ?? 0) > patienceOf(this.#options);
    // What came whole and is no JSON comes so again, and a person asks the provider.
    const isLater = comesLater && error.code !== MALFORMED_ANSWER;
    return isRetryable(error) && isLater ? unanswered(error, attempts) : askProvider(error, attempts);
  }

  /**
   * Each try of a report may cost one, so it does not begin anew when the provider is well again. Where its failure is
   * the provider's doing, the row is left to another start.
   */
  #leftPending({ operation }: DoorRequest, { context }: ReadyRequest, error: ApiError): Parked | Stopped | undefined {
    const { requestKey } = context;
    const breaker = this.#reactions.breakerOf(operation);
    const left =
      operation.meter === 'report' && isRetryable(error) && this.#reactions.holdDown(operation, requestKey, error);
    breaker.forget(requestKey);
    if (!left) return undefined;
    this.#reactions.leaveBehind(operation);
    return this.#halt.outcome();
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

/** Nobody is given up who was heard of so lately. */
const SILENT_MS = 10_000;

/** Until the lease is renewed in its turn. */
const RENEWED_MS = 30_000;

/** One call, once: intent, wire, settlement. What it met is thrown when it is written down. */
export class SingleSend {
  readonly #options: DoorOptions;
  readonly #admission: Admission;
  readonly #reactions: Reactions;
  readonly #halt: Halt;
  #refused = false;

  constructor(options: DoorOptions, admission: Admission, reactions: Reactions, halt: Halt) {
    this.#options = options;
    this.#admission = admission;
    this.#reactions = reactions;
    this.#halt = halt;
  }

  /** Allowance, budget or scope have kept a call from being sent. */
  get hasRefused(): boolean {
    return this.#refused;
  }

  /** The slot is for the time on the wire. What came back is written down after it; until then it counts as in flight. */
  async make(request: DoorRequest, ready: ReadyRequest, attempt: number): Promise<CallOutcome | Elsewhere> {
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
      if (breaker.isInVain(ready.context.requestKey)) return await this.#leave(request, ready);
      const entered = breaker.enter(this.#halt.signal);
      const pass = entered instanceof Promise ? await entered : entered;
      if (pass instanceof ApiError) this.#halt.stop(pass);
      if (pass === undefined || pass instanceof ApiError) return this.#halt.outcome();
      const flight = await this.#reactions.limiters[operation.api].run(
        async (wire) => {
          if (!breaker.setsOut(pass)) return undefined;
          try {
            return await this.#fly(request, ready, attempt, pass, wire);
          } finally {
            breaker.left(pass);
          }
        },
        request.row,
        this.#halt.signal,
      );
      if (flight !== undefined) return flight;
    }
  }

  /** Its row is left to another start, unless the ledger knows that it is for a person, or has to be looked for first. */
  async #leave(request: DoorRequest, ready: ReadyRequest): Promise<Flight> {
    const doubt = await unknownChargeBefore(request, ready, this.#options);
    if (doubt !== undefined) return doubt;
    this.#reactions.leaveBehind(request.operation);
    return this.#halt.outcome();
  }

  /** From the intent to the answer. */
  async #fly(request: DoorRequest, ready: ReadyRequest, attempt: number, pass: Pass, wire: Wire): Promise<Flight> {
    if (this.#halt.stopped !== undefined) return this.#halt.outcome();
    const asked = this.#options.clock.now();
    const intent = await reserve(request, ready, attempt, this.#admission, this.#options);
    if ('kind' in intent) {
      if (intent.kind === 'parked' && intent.reason !== 'draining') this.#refused = true;
      return this.#halt.stopped === undefined ? intent : this.#halt.outcome();
    }
    return await wire(async (started) => {
      try {
        if (this.#options.clock.now() - asked > SILENT_MS) await this.#mustBeHeardOf();
        if (this.#halt.signal.aborted) {
          await this.#options.calls.withdraw(intent);
          this.#admission.left(intent.meter);
          return this.#halt.outcome();
        }
        return await this.#send(request, ready, intent, { started, pass, setOutAt: asked });
      } catch (error) {
        this.#admission.left(intent.meter);
        throw error;
      }
    });
  }

  /** A refusal is dealt with before the next call may start. */
  async #send(request: DoorRequest, ready: ReadyRequest, intent: Intent, leave: Leave): Promise<Landed> {
    const { operation } = request;
    const { requestKey } = ready.context;
    try {
      const { client } = apiOf(this.#options, operation.api);
      const exchange = await client.send(ready.prepared, { signal: this.#options.signal });
      const unfit = request.whyUnfit?.(exchange.body);
      if (unfit !== undefined) throw unusableAnswerError(operation, exchange, unfit);
      this.#reactions.toSuccess(operation, requestKey, leave.started, exchange.durationMs);
      return { kind: 'landed', exchange, intent };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const met = await this.#asMet(error, intent);
      if (met.class === 'park' || met.class === 'block_operation') this.#refused = true;
      if (isTrouble(met)) await this.#reactions.noteIfInVainBefore(request, ready);
      // At once, and in one commit: before the next one others would set out in vain.
      await Promise.all([
        this.#reactions.toError(operation, requestKey, met, leave),
        this.#settle(intent, refusalOf(met, operation.meter, this.#options.clock.now())),
      ]);
      throw met;
    }
  }

  /**
   * Who was frozen while its intent was written may have been given up since, and another may have bought the answer: it
   * asks before it pays.
   */
  async #mustBeHeardOf(): Promise<void> {
    const { calls, clock, startId } = this.#options;
    let heard: number;
    do {
      heard = clock.now();
      if (!(await calls.renew(startId, heard + RENEWED_MS))) throw new TakenOverError();
    } while (clock.now() - heard > SILENT_MS);
  }

  /** A key or a route that was good, and is now denied in a form that is not the provider's: that is trouble. */
  async #asMet(error: ApiError, { environmentId }: Intent): Promise<ApiError> {
    const { client } = apiOf(this.#options, error.api);
    return (await isIntermediaryDenial(error, client, environmentId, this.#options.calls)) ? asTrouble(error) : error;
  }

  /** A later process gave this call up while we were frozen: its books stand, and ours must not go on. */
  async #settle(intent: Intent, settlement: Settlement): Promise<void> {
    const settled = await this.#options.calls.settle(intent, settlement);
    if (!settled) throw new TakenOverError();
    if (intent.meter === 'unit') {
      this.#admission.heardOfCost(settlement.unitsCharged ?? 1);
      const available = settlement.allowance?.available ?? null;
      if (available === null) this.#admission.heardNothing();
      else this.#admission.heardOfUnits();
      if (available === 0) this.#refused = true;
    }
    this.#options.listen?.({ kind: 'call_settled', intent, settlement });
  }
}

/** What a call goes with: its number from the limiter, its pass from the breaker. */
interface Leave {
  readonly started: number;
  readonly pass: Pass;
  readonly setOutAt: number;
}

type Flight = Landed | Elsewhere | Extract<CallOutcome, { kind: 'in_doubt' }> | Parked | Stopped;

/** An answer is there; its call is not settled yet. */
interface Landed {
  readonly kind: 'landed';
  readonly exchange: Exchange;
  readonly intent: Intent;
}
