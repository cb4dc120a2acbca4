// Sends calls and repeats them if allowed.

import pRetry from 'p-retry';
import { unusableAnswerError } from '../api/answer.js';
import { ApiError } from '../api/errors.js';
import type { Exchange } from '../api/http.js';
import { REPEATS_ALIKE, TakenOverError } from '../domain/errors.js';
import { isUnknownCharge } from '../domain/outcomes.js';
import type { Settlement } from '../ledger/money/calls.js';
import type { Intent } from '../ledger/money/intent.js';
import { Admission, type AnsweredElsewhere, Halt, reserve } from './admission.js';
import type { SendInSlot } from './limiter.js';
import { apiOf, type DoorOptions, patienceOf } from './options.js';
import { Reactions, type SentCall } from './reactions.js';
import {
  askProvider,
  type CallOutcome,
  type DoorRequest,
  PARKED_BY_STOP,
  type Parked,
  type ReadyRequest,
  type Stopped,
} from './request.js';
import {
  asTemporary,
  isIntermediaryDenial,
  isOutageSign,
  isRetryable,
  isUndocumentedFailure,
  retryDelayMs,
  type Tally,
} from './retry.js';
import { leavesChargeUnknown, refusalOf, settlementOf, unknownChargeAfter, unknownChargeBefore } from './settlement.js';
import { UnitPrices } from './unit-prices.js';

export class Sender {
  readonly #prices: UnitPrices;
  readonly admission: Admission;
  readonly reactions: Reactions;
  readonly halt: Halt;
  /** Allowance, limit or scope has stopped a call. */
  hasRefused = false;
  readonly #random: () => number;

  constructor(private readonly options: DoorOptions) {
    this.#prices = options.unitPrices ?? new UnitPrices();
    this.admission = new Admission(options.clock, this.#prices);
    this.halt = new Halt(this.admission);
    this.reactions = new Reactions(options, (error) => this.halt.stop(error));
    this.#random = options.random ?? Math.random;
    if (options.signal?.aborted) this.halt.drain();
    options.signal?.addEventListener('abort', () => this.halt.drain(), { once: true, signal: this.halt.signal });
  }

  async buy(request: DoorRequest, ready: ReadyRequest): Promise<CallOutcome | AnsweredElsewhere> {
    const refused = this.reactions.refusalOf(ready);
    if (refused !== undefined) return await this.#giveUp(request, ready, refused.error, 1);
    const tally: Tally = { retry: 0, slow_down: 0, since: undefined };
    let attempts = 0;
    const attempt = (number: number) => {
      attempts = number;
      return this.#make(request, ready, number);
    };
    try {
      // Nearly every call succeeds at once, so p-retry is used only after an error (docs/developers/performance.md, "Cost of
      // the ledger").
      return await attempt(1);
    } catch (first) {
      let met: unknown = first;
      const again = pRetry((number) => (number === 1 ? Promise.reject(first) : attempt(number)), {
        // The tally limits them, and an outage may last any time.
        retries: Number.POSITIVE_INFINITY,
        // The pause depends on the error and uses our clock: p-retry knows only timers.
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

  /** Pauses as the error asks. False if the call is not to be sent again. */
  async #waitToRetry(request: DoorRequest, ready: ReadyRequest, error: unknown, tally: Tally): Promise<boolean> {
    if (!(error instanceof ApiError) || !isRetryable(error)) return false;
    tally[error.class] += 1;
    if (this.halt.signal.aborted) return false;
    // A report is never sent twice in a row: the caller looks for it first.
    if (request.operation.meter === 'report' && leavesChargeUnknown(error, 'report')) return false;
    if ((await unknownChargeAfter(error, request, ready, this.options)) !== undefined) return false;
    if (mayHaveCost(request, error))
      this.reactions.toExhaustion(request.operation, ready.context.requestKey, error, false);
    const delay = retryDelayMs(error, tally[error.class], this.options.retry, this.#random);
    const at = this.options.clock.now();
    tally.since ??= at;
    const givesUpAt = tally.since + patienceOf(this.options);
    // The requested wait counts, not the pause: the wait would not be over.
    const isOver = delay === undefined || at + Math.max(delay, error.retryAfterMs ?? 0) > givesUpAt;
    if (isOver) return this.#waitsForProvider(request, ready, error, tally);
    const { api, name: operation } = request.operation;
    const attempt = tally.retry + tally.slow_down + 1;
    const { row } = request;
    this.options.listen?.({
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
    await this.options.clock.sleep(delay, this.halt.signal).catch(() => {});
    return !this.halt.signal.aborted;
  }

  /** No tries are left. If the provider is to blame, they start over when it is back. */
  #waitsForProvider({ operation }: DoorRequest, { context }: ReadyRequest, error: ApiError, tally: Tally): boolean {
    if (this.reactions.toExhaustion(operation, context.requestKey, error, true) !== 'wait') return false;
    tally.retry = 0;
    tally.slow_down = 0;
    tally.since = undefined;
    return !this.halt.signal.aborted;
  }

  async #giveUp(request: DoorRequest, ready: ReadyRequest, error: ApiError, attempts: number): Promise<CallOutcome> {
    if (this.halt.stopped !== undefined) return this.halt.outcome();
    if (error.class === 'not_available' || this.reactions.refusalOf(ready)?.isOwn)
      return { kind: 'not_available', error };
    if (error.class === 'park') return await this.#parkedBy(request, error);
    if (error.class === 'block_operation')
      return { ...(await this.#parkedBy(request, error)), met: { error, attempts } };
    // Without the stop it would have been sent again, so the row has not failed.
    if (this.halt.signal.aborted && isRetryable(error)) return PARKED_BY_STOP;
    const unknown = await unknownChargeAfter(error, request, ready, this.options);
    if (unknown !== undefined) return { ...unknown, met: { error, attempts } };
    const left = this.#leftPending(request, ready, error);
    if (left !== undefined) return left;
    // Outside a run the caller decides.
    const byHand = this.options.breaker === null;
    if (byHand || error.class === 'fail_row') return { kind: 'failed', error, attempts };
    const comesLater = isUndocumentedFailure(error) || (error.retryAfterMs ?? 0) > patienceOf(this.options);
    // The same answer would come again, so a person asks the provider.
    const isLater = comesLater && !REPEATS_ALIKE.includes(error.code);
    return askProvider(error, attempts, isRetryable(error) && isLater ? 'unanswered' : 'ask_provider');
  }

  /**
   * Each try of a report may cost one, so its tries do not start over. If the provider is to blame, the row is left to
   * another attempt.
   */
  #leftPending({ operation }: DoorRequest, { context }: ReadyRequest, error: ApiError): Parked | Stopped | undefined {
    if (operation.meter !== 'report' || !isRetryable(error)) return undefined;
    if (this.reactions.toExhaustion(operation, context.requestKey, error, true) === 'own') return undefined;
    this.reactions.leaveBehind(operation);
    return this.halt.outcome();
  }

  /** As the ledger has it, with the time to continue. */
  async #parkedBy({ operation }: DoorRequest, { class: kind, message }: ApiError): Promise<Parked> {
    const { calls, attemptId, limits, clock } = this.options;
    const { environmentId } = apiOf(this.options, operation.api);
    const call = { attemptId, environmentId, operation: operation.name, meter: operation.meter };
    const refused = await calls.refusal(call, limits, clock.now());
    const reason = kind === 'block_operation' ? 'scope' : 'allowance';
    return refused ?? { kind: 'parked', reason, until: null, message };
  }

  /** One call, once. The slot covers the time in flight. The result is recorded afterwards and counts as in flight until then. */
  async #make(request: DoorRequest, ready: ReadyRequest, attempt: number): Promise<CallOutcome | AnsweredElsewhere> {
    const { operation } = request;
    const sent = await this.#sendWhenAllowed(request, ready, attempt);
    if (sent.kind !== 'received') return sent;
    const { exchange, intent } = sent;
    try {
      const now = this.options.clock.now();
      const settlement = settlementOf(operation, ready.params, exchange, now);
      await this.#settle(intent, settlement);
      return { kind: 'answer', body: exchange.body, owned: false, fetchedAt: now, use: null };
    } finally {
      this.admission.left(operation.meter);
    }
  }

  /** Past the breaker, into a slot. During an outage it waits here without slot and reservation. */
  async #sendWhenAllowed(request: DoorRequest, ready: ReadyRequest, attempt: number): Promise<SendOutcome> {
    const { operation } = request;
    const breaker = this.reactions.breakerOf(operation);
    const { requestKey } = ready.context;
    for (;;) {
      const first = breaker.ask(requestKey, false);
      const verdict = first.do === 'wait' ? await breaker.enter(requestKey, this.halt.signal) : first;
      if (verdict.do === 'leave') return await this.#leaveToAnotherAttempt(request, ready);
      if (verdict.do === 'stop') this.halt.stop(verdict.error);
      if (verdict.do !== 'send') return this.halt.outcome();
      const sent = await this.reactions.limiters[operation.api].run(
        async (wire) => {
          const again = breaker.ask(requestKey, true, verdict.probe);
          if (again.do !== 'send') return undefined;
          const { probe } = again;
          try {
            return await this.#reserveAndSend(request, ready, attempt, probe, wire);
          } finally {
            breaker.note({ kind: 'left', probe });
          }
        },
        request.row,
        this.halt.signal,
      );
      if (sent !== undefined) return sent;
    }
  }

  /** Its row is left to another attempt, unless the ledger has an unknown charge for a person or a look. */
  async #leaveToAnotherAttempt(request: DoorRequest, ready: ReadyRequest): Promise<SendOutcome> {
    const unknown = await unknownChargeBefore(request, ready, this.options);
    if (unknown !== undefined) return unknown;
    this.reactions.leaveBehind(request.operation);
    return this.halt.outcome();
  }

  async #reserveAndSend(
    request: DoorRequest,
    ready: ReadyRequest,
    attempt: number,
    probe: number | undefined,
    wire: SendInSlot,
  ): Promise<SendOutcome> {
    if (this.halt.stopped !== undefined) return this.halt.outcome();
    const asked = this.options.clock.now();
    const intent = await reserve(request, ready, attempt, this.admission, this.options);
    if ('kind' in intent) {
      if (intent.kind === 'parked' && intent.reason !== 'draining') this.hasRefused = true;
      return this.halt.stopped === undefined ? intent : this.halt.outcome();
    }
    return await wire(async (started) => {
      try {
        if (this.options.clock.now() - asked > SILENT_MS) await this.#mustBeHeardOf();
        if (this.halt.signal.aborted) {
          await this.options.calls.withdraw(intent);
          this.admission.left(intent.meter);
          return this.halt.outcome();
        }
        return await this.#send(request, ready, intent, { started, probe, sentAt: asked });
      } catch (error) {
        this.admission.left(intent.meter);
        throw error;
      }
    });
  }

  /** A refusal is handled before the next call may start. */
  async #send(request: DoorRequest, ready: ReadyRequest, intent: Intent, sent: SentCall): Promise<Received> {
    const { operation } = request;
    const { requestKey } = ready.context;
    try {
      const { client } = apiOf(this.options, operation.api);
      const exchange = await client.send(ready.prepared, { signal: this.options.signal });
      const unfit = request.whyUnfit?.(exchange.body);
      if (unfit !== undefined) throw unusableAnswerError(operation, exchange, unfit);
      this.reactions.toSuccess(operation, requestKey, sent.started, exchange.durationMs);
      return { kind: 'received', exchange, intent };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const met = await this.#asMet(error, intent);
      if (met.class === 'park' || met.class === 'block_operation') this.hasRefused = true;
      const inVainBefore = isOutageSign(met) && (await this.reactions.wasInVainBefore(request, ready));
      // In one commit: before a later one, other calls would be sent in vain.
      await Promise.all([
        this.reactions.toError(operation, requestKey, met, sent, inVainBefore),
        this.#settle(intent, refusalOf(met, operation.meter, this.options.clock.now())),
      ]);
      throw met;
    }
  }

  /**
   * If the process was frozen while the intent was written, another may have taken over and bought the answer, so it
   * renews its lease before it pays.
   */
  async #mustBeHeardOf(): Promise<void> {
    const { calls, clock, attemptId } = this.options;
    let heard: number;
    do {
      heard = clock.now();
      if (!(await calls.renew(attemptId, heard + RENEWED_MS))) throw new TakenOverError();
    } while (clock.now() - heard > SILENT_MS);
  }

  /** A key or route that worked and is now denied in a foreign form is a temporary failure. */
  async #asMet(error: ApiError, { environmentId }: Intent): Promise<ApiError> {
    const { client } = apiOf(this.options, error.api);
    return (await isIntermediaryDenial(error, client, environmentId, this.options.calls)) ? asTemporary(error) : error;
  }

  /** Another process gave this call up while we were frozen: its record stands and this process must stop. */
  async #settle(intent: Intent, settlement: Settlement): Promise<void> {
    const settled = await this.options.calls.settle(intent, settlement);
    if (!settled) throw new TakenOverError();
    if (intent.meter === 'unit') {
      if (settlement.charge === 'charged') this.#prices.charged(intent.operation, settlement.unitsCharged ?? 1);
      const available = settlement.allowance?.available ?? null;
      if (available === null) this.admission.noteNoUnitsReported();
      else this.admission.heardOfUnits();
      if (available === 0) this.hasRefused = true;
    }
    this.options.listen?.({ kind: 'call_settled', intent, settlement });
  }
}

const mayHaveCost = ({ operation }: DoorRequest, { charge }: ApiError): boolean =>
  operation.meter !== 'free' && isUnknownCharge({ charge });

/** An attempt heard of within this time is not given up. */
const SILENT_MS = 10_000;

/** Until the next regular renewal of the lease. */
const RENEWED_MS = 30_000;

type SendOutcome = Received | AnsweredElsewhere | Extract<CallOutcome, { kind: 'in_doubt' }> | Parked | Stopped;

interface Received {
  readonly kind: 'received';
  readonly exchange: Exchange;
  readonly intent: Intent;
}
