import pRetry from 'p-retry';
import { ApiError } from '../api/errors.js';
import type { ApiName } from '../api/operation.js';
import { MALFORMED_ANSWER } from '../domain/errors.js';
import type { Limits } from '../ledger/intended.js';
import { Admission } from './admission.js';
import { Attempts } from './attempts.js';
import { doubtAfter } from './doubt.js';
import { Halt } from './halt.js';
import { apiOf, type DoorOptions, patienceOf } from './options.js';
import { askProvider, type CallOutcome, DRAINING, type Parked, type Stopped } from './outcome.js';
import { Reactions } from './reactions.js';
import type { DoorRequest, ReadyRequest } from './request.js';
import type { Elsewhere } from './reserve.js';
import { comesRight, isNobodysFault, retryDelayMs, type Tally } from './retry.js';
import { leavesDoubt } from './settlement.js';

/** Buys answers: a call, and again where that may be. */
export class Sender {
  readonly #options: DoorOptions;
  readonly #admission: Admission;
  readonly #attempts: Attempts;
  readonly #reactions: Reactions;
  readonly #halt: Halt;
  readonly #random: () => number;

  constructor(options: DoorOptions) {
    this.#options = options;
    this.#admission = new Admission(options.clock);
    this.#halt = new Halt(this.#admission);
    this.#reactions = new Reactions(options, (error) => this.#halt.stop(error));
    this.#attempts = new Attempts(options, this.#admission, this.#reactions, this.#halt);
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
      if (outcome.kind !== 'stopped' || !(met instanceof ApiError) || !comesRight(met)) return outcome;
      return { ...outcome, met: { error: met, attempts } };
    }
  }

  /** Waits as long as the error asks for; false where the call is not to be sent again. */
  async #waitToRetry(request: DoorRequest, ready: ReadyRequest, error: unknown, tally: Tally): Promise<boolean> {
    if (!(error instanceof ApiError) || !comesRight(error)) return false;
    tally[error.class] += 1;
    if (this.#halt.signal.aborted) return false;
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
    if (this.#halt.signal.aborted && comesRight(error)) return DRAINING;
    const doubt = await doubtAfter(error, request, ready, this.#options);
    if (doubt !== undefined) return { ...doubt, met: { error, attempts } };
    const left = this.#leftPending(request, ready, error);
    if (left !== undefined) return left;
    // By hand, whoever asks decides.
    const byHand = this.#options.breaker === null;
    if (byHand || error.class === 'fail_row') return { kind: 'failed', error, attempts };
    const comesLater = isNobodysFault(error) || (error.retryAfterMs ?? 0) > patienceOf(this.#options);
    // What came whole and is no JSON comes so again, and a person asks the provider.
    const isLater = comesLater && error.code !== MALFORMED_ANSWER;
    return comesRight(error) && isLater ? unanswered(error, attempts) : askProvider(error, attempts);
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
