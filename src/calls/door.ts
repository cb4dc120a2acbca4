import { ApiError } from '../api/errors.js';
import type { ApiName, Operation } from '../api/operation.js';
import { apiOf, type DoorOptions } from './options.js';
import {
  type Answer,
  type AnswerSource,
  askProvider,
  type CallOutcome,
  type DoorRequest,
  type FoundAnswer,
  findStored,
  makeReady,
  type Parked,
  type ReadyRequest,
  type Stopped,
} from './request.js';
import { Sender } from './sender.js';

/**
 * The only way to paid calls. It reuses a stored answer, or records the intent, sends the call, and stores the result
 * with the exact bytes in one transaction. Rows with the same request at the same moment share one call.
 */
export class Door implements AnswerSource {
  readonly #sender: Sender;
  readonly #shared = new Map<string, Promise<CallOutcome>>();

  constructor(private readonly options: DoorOptions) {
    this.#sender = new Sender(options);
  }

  get stopped(): ApiError | undefined {
    return this.#sender.halt.stopped;
  }

  get draining(): boolean {
    return this.#sender.halt.isDraining;
  }

  /** The error to stop with if the run ends now with unfinished rows: the provider is down. */
  get outage(): ApiError | undefined {
    return this.#sender.reactions.outage;
  }

  /** Why this operation cannot continue now. Undefined if it can. */
  async refusal(operation: Operation): Promise<Parked | Stopped | undefined> {
    const { halt, admission, hasRefused } = this.#sender;
    if (halt.stopped !== undefined || halt.isDraining) return halt.outcome();
    // Without a refusal there is nothing to look up, and this runs for every row (docs/developers/performance.md, "Cost of the
    // ledger").
    if (!hasRefused) return undefined;
    const { calls, attemptId, limits, clock } = this.options;
    const { environmentId } = apiOf(this.options, operation.api);
    const call = { attemptId, environmentId, operation: operation.name, meter: operation.meter };
    return await calls.refusal(call, admission.bound(limits, operation.name), clock.now());
  }

  /** No call is sent any more, and waits end. Calls in flight finish. */
  drain(): void {
    this.#sender.halt.drain();
  }

  /** The provider asked another process to slow down, so this one does too. */
  hearOfSlowDown(api: ApiName, pauseMs: number): void {
    this.#sender.reactions.hearOfSlowDown(api, pauseMs);
  }

  async stored(request: DoorRequest): Promise<Answer | undefined> {
    const ready = this.#ready(request);
    if (ready instanceof ApiError) return undefined;
    return this.#reuse(await this.#look(request, request.reusableSince, ready), ready);
  }

  async call(request: DoorRequest): Promise<CallOutcome> {
    const ready = this.#ready(request);
    if (ready instanceof ApiError) return this.#notSent(request, ready);
    if (request.turn?.begins() === false) {
      const stored = this.#reuse(await this.#look(request, request.reusableSince, ready), ready);
      if (stored !== undefined) return stored;
      // Before the call is shared: a row that waits for its turn must not delay rows that have theirs.
      await request.turn.comes();
    }
    return this.#sender.reactions.noteRow(request, ready, await this.#obtainOrShare(request, ready));
  }

  /** An ID comes from the provider, so an unusable one is the provider's fault. Other values are the row's. */
  #notSent({ operation }: DoorRequest, error: ApiError): CallOutcome {
    const isProviders = operation.subject !== null && this.options.breaker !== null;
    return isProviders ? askProvider(error, 0) : { kind: 'failed', error, attempts: 0 };
  }

  /** No other row can be answered. Returns the rows whose refusal proved to be their own: they can continue. */
  concludeRefusals(): Promise<readonly number[]> {
    return this.#sender.reactions.concludeRefusals();
  }

  async #obtainOrShare(request: DoorRequest, ready: ReadyRequest): Promise<CallOutcome> {
    if (request.operation.keep === 'never') return await this.#obtain(request, ready);
    const shareKey = `${ready.context.environmentId}:${ready.context.requestKey}`;
    const underway = this.#shared.get(shareKey);
    if (underway !== undefined) return await this.#share(await underway, ready);
    const obtained = this.#obtain(request, ready);
    this.#shared.set(shareKey, obtained);
    try {
      return await obtained;
    } finally {
      this.#shared.delete(shareKey);
    }
  }

  /** Records the charge of a lost call for this request from other evidence. */
  async settleLost(request: DoorRequest, charge: 'charged' | 'free', note: string): Promise<void> {
    const ready = this.#ready(request);
    if (ready instanceof ApiError) return;
    await this.options.calls.settleLost(ready.context, charge, note);
  }

  #ready(request: DoorRequest): ReadyRequest | ApiError {
    const { client, environmentId } = apiOf(this.options, request.operation.api);
    return makeReady(client, environmentId, request);
  }

  /** Reuses or buys. An answer that another call gets meanwhile is used too. */
  async #obtain(request: DoorRequest, ready: ReadyRequest): Promise<CallOutcome> {
    for (let since = request.reusableSince; ; ) {
      const found = await this.#look(request, since, ready);
      const reused = this.#reuse(found, ready);
      if (reused !== undefined) return reused;
      const reusableSince = found === undefined ? since : found.fetchedAt + 1;
      // A copy for every call would cost more than the rest of this function.
      const wanted = reusableSince === request.reusableSince ? request : { ...request, reusableSince };
      const outcome = await this.#sender.buy(wanted, ready);
      if (outcome.kind !== 'elsewhere') return outcome;
      since = outcome.since;
    }
  }

  #look(request: DoorRequest, since: number, { context }: ReadyRequest): Promise<FoundAnswer | undefined> {
    return findStored(request, context, since, this.options.calls);
  }

  #reuse(stored: FoundAnswer | undefined, { context }: ReadyRequest): Answer | undefined {
    if (stored?.body === undefined) return undefined;
    const { attemptId, clock } = this.options;
    const { body, fetchedAt, rawSha256 } = stored;
    return { kind: 'answer', body, owned: true, fetchedAt, use: { ...context, attemptId, at: clock.now(), rawSha256 } };
  }

  /** Another row made the same call at the same moment: for this row its answer is reused. */
  async #share(outcome: CallOutcome, { context }: ReadyRequest): Promise<CallOutcome> {
    if (outcome.kind !== 'answer') return outcome;
    const { calls, attemptId, clock } = this.options;
    const stored = await calls.findAnswer(context.environmentId, context.requestKey, 0);
    const use = stored === undefined ? null : { ...context, attemptId, at: clock.now(), rawSha256: stored.rawSha256 };
    return { ...outcome, owned: true, use };
  }
}
