// Admits calls of this process: first calls one by one, waits, and stopping.

import { setMaxListeners } from 'node:events';
import type { ApiError } from '../api/errors.js';
import { TakenOverError } from '../domain/errors.js';
import type { Meter } from '../domain/provider.js';
import type { Intent, IntentOutcome, Limits } from '../ledger/money/intent.js';
import { type Clock, Notifier } from '../util/clock.js';
import type { DoorOptions } from './options.js';
import { type DoorRequest, PARKED_BY_STOP, type Parked, type ReadyRequest, type Stopped } from './request.js';
import { lostAtMost } from './settlement.js';
import { UnitPrices } from './unit-prices.js';

/** Results that need no wait for other calls. */
type Decided = Exclude<IntentOutcome, { kind: 'wait' | 'led_anew' }> | Parked;

/**
 * The queue of calls in this process. The ledger decides about spending. This class knows whether the process is
 * stopping, and wakes waiting calls when one ends. It sends the first v1 calls one by one, so that their remaining
 * units can be compared with the ledger. Calls of other processes end unnoticed, so a wait also checks from time to
 * time.
 */
export class Admission {
  /** Calls waiting for their turn while they go one by one. */
  readonly #inLine = new Notifier();
  /** Calls waiting for others to end. A waiting call never wakes them: two would keep each other awake forever. */
  readonly #callEnded = new Notifier();
  #ended = 0;
  #unitsInFlight = 0;
  #soloCallsLeft = 3;
  #draining = false;

  constructor(
    private readonly clock: Clock,
    private readonly prices = new UnitPrices(),
  ) {}

  async admit(meter: Meter, intend: () => Promise<IntentOutcome>): Promise<Decided> {
    for (;;) {
      if (this.#draining) return PARKED_BY_STOP;
      if (meter === 'unit' && this.#soloCallsLeft > 0 && this.#unitsInFlight > 0) {
        await this.#inLine.wait(this.clock);
        continue;
      }
      if (meter === 'unit') this.#unitsInFlight += 1;
      const ended = this.#ended;
      let intended: IntentOutcome | undefined;
      try {
        intended = await intend();
      } finally {
        if (intended?.kind !== 'intent') this.#stepBack(meter);
      }
      if (intended.kind === 'intent') return intended;
      if (intended.kind === 'led_anew') {
        this.drain();
        return PARKED_BY_STOP;
      }
      if (intended.kind !== 'wait' && intended.kind !== 'under_way') return intended;
      // A call that ended meanwhile may be the one it waits for.
      if (this.#ended === ended) await this.#callEnded.wait(this.clock, LOOK_AGAIN_MS);
      // The sender of the same request may have its answer by now.
      if (intended.kind === 'under_way') return intended;
    }
  }

  left(meter: Meter): void {
    this.#ended += 1;
    this.#stepBack(meter);
    this.#callEnded.ring();
  }

  /** v1 reported the remaining units: from now on calls run in parallel. */
  heardOfUnits(): void {
    this.#soloCallsLeft = 0;
    this.#inLine.ring();
  }

  /** Limits the wait for a first report, so that calls without one do not keep all others in line. */
  noteNoUnitsReported(): void {
    this.#soloCallsLeft = Math.max(0, this.#soloCallsLeft - 1);
    this.#inLine.ring();
  }

  /** The limits with the expected cost of a call: calls in flight exceed them once at most. */
  bound(limits: Limits, operation: string): Limits {
    const { highest } = this.prices;
    return highest === 1 ? limits : { ...limits, unitsEach: this.prices.of(operation), unitsEachInFlight: highest };
  }

  /** No call is sent any more. Calls in flight finish. */
  drain(): void {
    this.#draining = true;
    this.#ended += 1;
    this.#inLine.ring();
    this.#callEnded.ring();
  }

  get draining(): boolean {
    return this.#draining;
  }

  #stepBack(meter: Meter): void {
    if (meter === 'unit') this.#unitsInFlight -= 1;
    this.#inLine.ring();
  }
}

const LOOK_AGAIN_MS = 1_000;

/** Whether calls may still be sent, and what ended that. */
export class Halt {
  readonly #controller = new AbortController();
  /** Ends every pause. */
  readonly signal: AbortSignal = this.#controller.signal;
  #stopped: ApiError | undefined;

  constructor(private readonly admission: Admission) {
    setMaxListeners(0, this.signal);
  }

  get stopped(): ApiError | undefined {
    return this.#stopped;
  }

  get isDraining(): boolean {
    return this.admission.draining;
  }

  drain(): void {
    this.#end(new Error('the run is being stopped'));
  }

  stop(error: ApiError): void {
    this.#stopped ??= error;
    this.#end(error);
  }

  /** The outcome of a call that is no longer sent. */
  outcome(): Parked | Stopped {
    return this.#stopped === undefined ? PARKED_BY_STOP : { kind: 'stopped', error: this.#stopped };
  }

  #end(reason: Error): void {
    this.admission.drain();
    this.#controller.abort(reason);
  }
}

/** Another call has the answer or is about to: look for a stored answer again. */
export interface AnsweredElsewhere {
  readonly kind: 'elsewhere';
  /** An answer from this time on is as new as an own one. */
  readonly since: number;
}

export async function reserve(
  { operation, reusableSince, lookedSince }: DoorRequest,
  { context }: ReadyRequest,
  attempt: number,
  admission: Admission,
  options: DoorOptions,
): Promise<Intent | AnsweredElsewhere | Parked | Extract<IntentOutcome, { kind: 'in_doubt' }>> {
  const { calls, clock, limits, attemptId } = options;
  const asked = clock.now();
  const intended = await admission.admit(operation.meter, () =>
    calls.intend(
      {
        // Written out: spreading the context into a larger object costs five times as much, for every call.
        environmentId: context.environmentId,
        runId: context.runId,
        row: context.row,
        stage: context.stage,
        operation: context.operation,
        meter: context.meter,
        requestKey: context.requestKey,
        subject: context.subject,
        attemptId,
        attempt,
        startedAt: clock.now(),
        reusableSince: operation.keep === 'never' ? Number.POSITIVE_INFINITY : reusableSince,
        lookedSince,
        lostAtMost: lostAtMost(options),
      },
      admission.bound(limits, context.operation),
    ),
  );
  switch (intended.kind) {
    case 'intent':
      return intended.intent;
    case 'taken_over':
      throw new TakenOverError();
    case 'under_way':
    case 'answered':
      return { kind: 'elsewhere', since: Math.min(reusableSince, asked) };
    case 'in_doubt':
    case 'parked':
      return intended;
  }
}
