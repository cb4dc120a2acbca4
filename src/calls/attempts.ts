import { unfitAnswer } from '../api/answer.js';
import { ApiError } from '../api/errors.js';
import type { Exchange } from '../api/exchange.js';
import { TakenOverError } from '../domain/errors.js';
import type { Settlement } from '../ledger/calls.js';
import type { Intent } from '../ledger/intent.js';
import type { Admission } from './admission.js';
import type { Pass } from './breaker.js';
import { doubtBefore } from './doubt.js';
import { isForeignDenial } from './foreign.js';
import type { Halt } from './halt.js';
import type { Wire } from './limiter.js';
import { apiOf, type DoorOptions } from './options.js';
import type { CallOutcome, Parked, Stopped } from './outcome.js';
import type { Reactions } from './reactions.js';
import type { DoorRequest, ReadyRequest } from './request.js';
import { type Elsewhere, reserve } from './reserve.js';
import { asTrouble, isTrouble } from './retry.js';
import { refusalOf, settlementOf } from './settlement.js';

/** Nobody is given up who was heard of so lately. */
const SILENT_MS = 10_000;
/** Until the lease is renewed in its turn. */
const RENEWED_MS = 30_000;

/** One call, once: intent, wire, settlement. What it met is thrown when it is written down. */
export class Attempts {
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
    const doubt = await doubtBefore(request, ready, this.#options);
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
      if (unfit !== undefined) throw unfitAnswer(operation, exchange, unfit);
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
    return (await isForeignDenial(error, client, environmentId, this.#options.calls)) ? asTrouble(error) : error;
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
