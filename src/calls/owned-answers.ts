import type { CallContext, Ledger } from '../ledger/ledger.js';
import type { Clock } from '../util/clock.js';
import type { Answer, CallOutcome } from './outcome.js';

/** What was bought before, by the request it answers. Using it costs nothing, and is written down all the same. */
export class OwnedAnswers {
  readonly #ledger: Ledger;
  readonly #clock: Clock;

  constructor(ledger: Ledger, clock: Clock) {
    this.#ledger = ledger;
    this.#clock = clock;
  }

  async find(context: CallContext, since: number, writeDown = true): Promise<Answer | undefined> {
    const owned = await this.#ledger.findAnswer(context.environmentId, context.requestKey, since);
    if (owned === undefined) return undefined;
    const body = await this.#ledger.readBody(owned.rawSha256);
    if (body === undefined) return undefined;
    if (writeDown) this.#noteUse(context, owned.rawSha256);
    return { kind: 'answer', body, owned: true, fetchedAt: owned.fetchedAt };
  }

  /** Another row made the call, at the same moment: for this one its answer is owned. */
  async share(outcome: CallOutcome, context: CallContext): Promise<CallOutcome> {
    if (outcome.kind !== 'answer') return outcome;
    const owned = await this.#ledger.findAnswer(context.environmentId, context.requestKey, 0);
    if (owned !== undefined) this.#noteUse(context, owned.rawSha256);
    return { ...outcome, owned: true };
  }

  /** Cost nothing, so nobody waits for it: the next awaited write fails if this one did. */
  #noteUse(context: CallContext, rawSha256: string): void {
    this.#ledger.recordOwnedUse({ ...context, at: this.#clock.now(), rawSha256 }).catch(() => {});
  }
}
