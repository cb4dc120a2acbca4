import { unreadableReason } from '../api/answer.js';
import { ApiError } from '../api/errors.js';
import type { ApiName, Operation } from '../api/operation.js';
import { apiOf, type DoorOptions } from './options.js';
import { type Answer, askProvider, type CallOutcome, DRAINING, type Parked, type Stopped } from './outcome.js';
import { type AnswerSource, type DoorRequest, makeReady, type ReadyRequest } from './request.js';
import { Sender } from './sender.js';

/**
 * The one door to the paid world. An answer that we own is used; otherwise the intent is written down, the call is
 * sent, and what came back is settled in one transaction with the exact bytes. Two rows that ask for the same thing at
 * the same moment share one call.
 */
export class Door implements AnswerSource {
  readonly #options: DoorOptions;
  readonly #sender: Sender;
  readonly #shared = new Map<string, Promise<CallOutcome>>();

  constructor(options: DoorOptions) {
    this.#options = options;
    this.#sender = new Sender(options);
  }

  /** What stopped the run, if anything did. */
  get stopped(): ApiError | undefined {
    return this.#sender.stopped;
  }

  /** No call is sent any more. */
  get draining(): boolean {
    return this.#sender.draining;
  }

  /** What stops the run if it ends now, with rows that are not finished: the provider is held to be down. */
  get outage(): ApiError | undefined {
    return this.#sender.outage;
  }

  /** Why this operation cannot move now; undefined if it can. */
  async refusal(operation: Operation): Promise<Parked | Stopped | undefined> {
    const { stopped, draining, hasRefused } = this.#sender;
    if (stopped !== undefined) return { kind: 'stopped', error: stopped };
    if (draining) return DRAINING;
    // As long as nothing was refused there is nothing to look up: this is asked for every row that is handed out
    // (docs/performance.md, "What the books cost").
    if (!hasRefused) return undefined;
    const { calls, startId, limits, clock } = this.#options;
    const { environmentId } = apiOf(this.#options, operation.api);
    const call = { startId, environmentId, operation: operation.name, meter: operation.meter };
    return await calls.refusal(call, this.#sender.bound(limits), clock.now());
  }

  /** No call is sent any more, and nobody waits for a better time; calls in flight come home. */
  drain(): void {
    this.#sender.drain();
  }

  /** The provider has asked another process to slow down: this one does so, too. */
  hearOfSlowDown(api: ApiName, pauseMs: number): void {
    this.#sender.hearOfSlowDown(api, pauseMs);
  }

  /** What we own, and no further: undefined if that is nothing. */
  async owned(request: DoorRequest): Promise<Answer | undefined> {
    const ready = this.#ready(request);
    if (ready instanceof ApiError) return undefined;
    const found = await this.#look(request, request.ownedSince, ready);
    return found?.kind === 'answer' ? found : undefined;
  }

  async call(request: DoorRequest): Promise<CallOutcome> {
    const ready = this.#ready(request);
    if (ready instanceof ApiError) return this.#notSent(request, ready);
    if (request.turn?.begins() === false) {
      const owned = await this.#look(request, request.ownedSince, ready);
      if (owned?.kind === 'answer') return owned;
      // Before the call is shared: one who waits for its turn must not keep those waiting who have theirs.
      await request.turn.comes();
    }
    const outcome = await this.#obtainOrShare(request, ready);
    const isRefused = outcome.kind === 'parked' && outcome.reason === 'scope' && outcome.met !== undefined;
    if (isRefused) this.#sender.awaitsDecision(request, ready);
    const isTold = outcome.kind === 'not_available' && this.#sender.isTold(request, ready);
    return isTold ? { ...outcome, isTold } : outcome;
  }

  /** An ID comes from the provider, and one that cannot be asked for with is its trouble; other values are the row's. */
  #notSent({ operation }: DoorRequest, error: ApiError): CallOutcome {
    const isProviders = operation.subject !== null && this.#options.breaker !== null;
    return isProviders ? askProvider(error, 0) : { kind: 'failed', error, attempts: 0 };
  }

  /** The next row that was parked for a refusal which has turned out to be its own; `isFree` where it is not under way. */
  takeDecided(isFree: (row: number) => boolean): number | undefined {
    return this.#sender.takeDecided(isFree);
  }

  /** No row is left that could be answered. True if that decides a refusal: its rows can be taken up again. */
  concludeRefusals(): Promise<boolean> {
    return this.#sender.concludeRefusals();
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

  /** Settles a lost call for this request, where something else has told what became of it. */
  async settleLost(request: DoorRequest, charge: 'charged' | 'free', note: string): Promise<void> {
    const ready = this.#ready(request);
    if (ready instanceof ApiError) return;
    await this.#options.calls.settleLost(ready.context, charge, note);
  }

  #ready(request: DoorRequest): ReadyRequest | ApiError {
    const { client, environmentId } = apiOf(this.#options, request.operation.api);
    return makeReady(client, environmentId, request);
  }

  /** Owned or bought. Whoever has the same answer under way, or got it meanwhile, has it for us too. */
  async #obtain(request: DoorRequest, ready: ReadyRequest): Promise<CallOutcome> {
    const kept = request.operation.keep !== 'never';
    for (let since = request.ownedSince; ; ) {
      const found = kept ? await this.#look(request, since, ready) : undefined;
      if (found?.kind === 'answer') return found;
      const ownedSince = found === undefined ? since : found.fetchedAt + 1;
      // A copy for every call would cost more than all else that is done here.
      const wanted = ownedSince === request.ownedSince ? request : { ...request, ownedSince };
      const outcome = await this.#sender.buy(wanted, ready);
      if (outcome.kind !== 'elsewhere') return outcome;
      since = outcome.since;
    }
  }

  /** What is owned. An answer of an earlier version that cannot be read is as if it were not there. */
  async #look(
    { operation, whyUnfit }: DoorRequest,
    since: number,
    { context }: ReadyRequest,
  ): Promise<Answer | Unreadable | undefined> {
    const { calls, startId, clock } = this.#options;
    const owned = await calls.findAnswer(context.environmentId, context.requestKey, since);
    const body = owned && (await calls.readBody(owned.rawSha256));
    if (owned === undefined || body === undefined) return undefined;
    const { fetchedAt, rawSha256 } = owned;
    if (unreadableReason(operation, body) !== undefined || whyUnfit?.(body) !== undefined)
      return { kind: 'unreadable', fetchedAt };
    return { kind: 'answer', body, owned: true, fetchedAt, use: { ...context, startId, at: clock.now(), rawSha256 } };
  }

  /** Another row made the call, at the same moment: for this one its answer is owned. */
  async #share(outcome: CallOutcome, { context }: ReadyRequest): Promise<CallOutcome> {
    if (outcome.kind !== 'answer') return outcome;
    const { calls, startId, clock } = this.#options;
    const owned = await calls.findAnswer(context.environmentId, context.requestKey, 0);
    const use = owned === undefined ? null : { ...context, startId, at: clock.now(), rawSha256: owned.rawSha256 };
    return { ...outcome, owned: true, use };
  }
}

interface Unreadable {
  readonly kind: 'unreadable';
  readonly fetchedAt: number;
}
