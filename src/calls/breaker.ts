import { ApiError } from '../api/errors.js';
import type { Operation } from '../api/operation.js';
import type { Clock } from '../util/clock.js';
import type { CallEvent } from './events.js';
import { isTrouble } from './retry.js';

/** The code that a run stops with when an outage has outlasted the patience. */
export const PROVIDER_UNAVAILABLE = 'PROVIDER_UNAVAILABLE';

export interface BreakerPolicy {
  /** Failures in a row after which the operation is held to be down. */
  readonly failures: number;
  /** How long it is waited for. */
  readonly patienceMs: number;
  /** A request that is given up is its own affair: only failures in a row tell about the operation. */
  readonly eachForItself?: boolean;
}

/** What a call was let through with, to be given back with what it met. */
export interface Pass {
  /** It alone goes, to see whether the operation is well again. */
  readonly probe: Outage | null;
}

interface Outage {
  readonly since: number;
  readonly error: ApiError;
  intervalMs: number;
  probeAt: number;
  probing: boolean;
}

/** How a request fails. Calls are known by the number that they were begun with. */
interface Failing {
  /** The last call that had been begun when it first failed; undefined: it has not, since the last outage. */
  readonly since: number | undefined;
  /** When the first call for it that failed had set out. */
  readonly begunAt: number;
  /** How many good answers there had been when it last failed, and the time before. */
  readonly last: number;
  readonly before: number | undefined;
}

const ORDINARY: Pass = { probe: null };

/**
 * Is one operation of the provider well? Each is judged for itself: searches may be answered while records are not.
 *
 * - *Well*: calls go. Failures in a row, or a call that has failed for good where nothing speaks for the provider
 *   (`isToBlame`), open an outage.
 * - *Outage*: nobody sends, and nobody holds money: calls wait before their intent. From time to time one of them goes
 *   as a probe; whoever waits longest goes next, so that a single request that always fails does not keep the rest out.
 * - A good answer, also of a call that was under way before, ends the outage, and all go on. When the patience is over
 *   no call begins any more: the run stops, resumable, and nothing is marked failed. The patience counts from when the
 *   call set out that was not answered, for a provider may hang for as long as its deadline.
 *
 * A credit report is worth more care, for each try may cost one. As long as none was generated, those after a first
 * failure go one by one; three failures in a row, of more than one company, are an outage; and who has failed is no probe.
 */
export class Breaker {
  readonly #operation: Operation;
  readonly #policy: BreakerPolicy;
  readonly #clock: Clock;
  readonly #tell: (event: CallEvent) => void;
  /** Good answers in this start, and when the last one came. */
  #successes = 0;
  #lastGoodAt = 0;
  /** Of those, the one that was begun last. */
  #lastGood = 0;
  /** Failures since the last good answer: those that count, and all. */
  #inARow = 0;
  #failedInARow = 0;
  /** Of those, the ones that may have cost a report. */
  #reportsInARow = 0;
  /** Calls that have set out and not come home. */
  #underWay = 0;
  /** Requests that failed since the last good answer. */
  readonly #failing = new Set<string>();
  /** Requests that are being tried and have failed. */
  readonly #failures = new Map<string, Failing>();
  /** Requests that were given up, and failed while others were answered. */
  readonly #odd = new Set<string>();
  /** Requests that earlier starts have asked in vain: they tell nothing about the operation. */
  readonly #inVainBefore = new Set<string>();
  #outage: Outage | undefined;
  #waiting: (() => void)[] = [];

  constructor(operation: Operation, policy: BreakerPolicy, clock: Clock, tell: (event: CallEvent) => void) {
    this.#operation = operation;
    this.#policy = policy;
    this.#clock = clock;
    this.#tell = tell;
  }

  /**
   * Waits as long as the operation is held to be down. An error: the patience is over, and the run is to stop.
   * Undefined: the signal says that nothing more is sent.
   */
  enter(signal: AbortSignal): Pass | Promise<Pass | ApiError | undefined> {
    return this.#outage === undefined && !this.#mustWaitInLine() ? ORDINARY : this.#waitForPass(signal);
  }

  async #waitForPass(signal: AbortSignal): Promise<Pass | ApiError | undefined> {
    for (;;) {
      if (signal.aborted) return undefined;
      const outage = this.#outage;
      if (outage === undefined) {
        if (!this.#mustWaitInLine()) return ORDINARY;
        await this.#change(undefined, signal);
        continue;
      }
      if (!outage.probing && this.#isOver(outage)) return this.#down(outage, outage.error);
      const early = outage.probeAt - this.#clock.now();
      if (!outage.probing && early <= 0) {
        outage.probing = true;
        return { probe: outage };
      }
      await this.#change(outage.probing ? undefined : early, signal);
    }
  }

  /** Whoever has waited for a slot asks once more: much may have happened meanwhile. */
  setsOut({ probe }: Pass): boolean {
    const isLate = probe !== null && this.#isOver(probe);
    if (isLate) probe.probing = false;
    const isFree = probe === null ? this.#outage === undefined && !this.#mustWaitInLine() : probe === this.#outage;
    const may = isFree && !isLate;
    if (may) this.#underWay += 1;
    return may;
  }

  /** It has come home. If it told nothing about the provider, the next may try. */
  left({ probe }: Pass): void {
    this.#underWay -= 1;
    if (probe !== null && probe === this.#outage) probe.probing = false;
    this.#wake();
  }

  /** Nobody knows whether reports can be had: one at a time finds out. */
  #mustWaitInLine(): boolean {
    return this.#underWay > 0 && this.#successes === 0 && this.#reportsInARow > 0;
  }

  /** It is held to be down, and this request has failed since the last good answer: another try may cost another report. */
  isInVain(requestKey: string): boolean {
    return this.#operation.meter === 'report' && this.#outage !== undefined && this.#failing.has(requestKey);
  }

  succeeded(requestKey: string, begun: number): void {
    this.#successes += 1;
    this.#lastGoodAt = this.#clock.now();
    this.#lastGood = Math.max(this.#lastGood, begun);
    this.#inARow = 0;
    this.#failedInARow = 0;
    this.#reportsInARow = 0;
    if (this.#failing.size > 0) this.#failing.clear();
    if (this.#failures.size > 0) this.#failures.delete(requestKey);
    const outage = this.#outage;
    if (outage === undefined) return;
    this.#outage = undefined;
    // What was answered to end an outage says nothing about the next one.
    for (const [key, failing] of this.#failures) this.#failures.set(key, { ...failing, since: undefined });
    const { api, name: operation } = this.#operation;
    this.#tell({ kind: 'recovered', api, operation, since: outage.since, at: this.#clock.now() });
    this.#wake();
  }

  /**
   * `lastBegun`: the last call that has been begun by now; `setOutAt`: when this one was. Returns the error that stops the
   * run, once it is time.
   */
  failed(
    { probe }: Pass,
    requestKey: string,
    error: ApiError,
    lastBegun: number,
    setOutAt = this.#clock.now(),
  ): ApiError | undefined {
    const { since = lastBegun, last: before, begunAt = setOutAt } = this.#failures.get(requestKey) ?? {};
    this.#failing.add(requestKey);
    this.#failures.set(requestKey, { since, begunAt, last: this.#successes, before });
    if (isTrouble(error)) this.#inARow += 1;
    this.#failedInARow += 1;
    if (this.#operation.meter === 'report' && error.charge !== 'free') this.#reportsInARow += 1;
    if (this.#outage !== undefined) return probe === this.#outage ? this.#stillDown(this.#outage, error) : undefined;
    if (this.#onlyOddFail()) return undefined;
    const several = this.#failing.size > 1;
    if (this.#hasLostReports() && several) return this.open(requestKey, error);
    return this.#inARow >= this.#policy.failures && (several || this.#successes === 0)
      ? this.open(requestKey, error)
      : undefined;
  }

  #hasLostReports(): boolean {
    return this.#reportsInARow >= REPORTS_IN_VAIN && Number.isFinite(this.#policy.failures);
  }

  /**
   * This request has used up its tries: is it the provider's doing? Not where the operation has answered others between
   * its last two tries, nor where it did before and no other request fails, or only such that fail while others are
   * answered. What was answered longer ago proves nothing: when a provider goes down, calls that were under way are still
   * answered after the first ones have failed.
   */
  isToBlame(requestKey: string): boolean {
    if (this.#outage !== undefined) return true;
    if (this.#policy.eachForItself === true) return false;
    if (this.#successes > (this.#failures.get(requestKey)?.before ?? this.#successes)) return false;
    if (this.#onlyOddFail()) return false;
    return this.#successes === 0 || this.#failing.size > 1 || !this.#failing.has(requestKey);
  }

  /** The request is given up. */
  forget(requestKey: string): void {
    if (this.#failing.has(requestKey) && this.#isOdd(requestKey)) this.#odd.add(requestKey);
    this.#failures.delete(requestKey);
  }

  /** The request failed in earlier starts, too: alone, its failure is no sign of an outage. */
  noteInVainBefore(requestKey: string): void {
    this.#inVainBefore.add(requestKey);
  }

  #onlyOddFail(): boolean {
    for (const requestKey of this.#failing) if (!this.#isOdd(requestKey)) return false;
    return this.#failing.size > 0;
  }

  /** A call that was begun after this request had failed was answered: the provider was well, and it failed on. */
  #isOdd(requestKey: string): boolean {
    if (this.#inVainBefore.has(requestKey)) return true;
    const failing = this.#failures.get(requestKey);
    if (failing === undefined) return this.#odd.has(requestKey);
    return failing.since !== undefined && this.#lastGood > failing.since;
  }

  /** The operation is held to be down. Without patience that is the end, with the error that stops the run. */
  open(requestKey: string, error: ApiError): ApiError | undefined {
    if (this.#outage !== undefined) return undefined;
    const now = this.#clock.now();
    const silentSince = Math.max(this.#failures.get(requestKey)?.begunAt ?? now, this.#lastGoodAt);
    const since = Math.min(silentSince, now);
    const outage = { since, error, intervalMs: FIRST_PROBE_MS, probeAt: now, probing: false };
    if (now >= this.#lastProbeAt(outage)) return this.#down(outage, error);
    this.#outage = outage;
    this.#waitForNext(outage, error);
    return undefined;
  }

  /** What the run is stopped with if it ends in an outage. */
  get outage(): ApiError | undefined {
    return this.#outage && this.#down(this.#outage, this.#outage.error);
  }

  #stillDown(outage: Outage, error: ApiError): ApiError | undefined {
    if (this.#clock.now() >= this.#lastProbeAt(outage)) return this.#down(outage, error);
    outage.intervalMs = Math.min(outage.intervalMs * 2, LAST_PROBE_MS);
    this.#waitForNext(outage, error);
    return undefined;
  }

  /** The last probe is near the end of the patience. */
  #waitForNext(outage: Outage, error: ApiError): void {
    const givesUpAt = this.#givesUpAt(outage);
    const wait = Math.max(outage.intervalMs, error.retryAfterMs ?? 0);
    outage.probeAt = Math.min(this.#clock.now() + wait, this.#lastProbeAt(outage));
    outage.probing = false;
    const { api, name: operation } = this.#operation;
    const { since, probeAt } = outage;
    this.#tell({ kind: 'outage', api, operation, since, code: error.code, nextTryAt: probeAt, givesUpAt });
    this.#wake();
  }

  #givesUpAt({ since }: Outage): number {
    return since + this.#policy.patienceMs;
  }

  /** A timer may be late: the last probe sets out before the end, and not after it. */
  #lastProbeAt(outage: Outage): number {
    return this.#givesUpAt(outage) - Math.min(LAST_PROBE_BEFORE_MS, this.#policy.patienceMs / 10);
  }

  #isOver(outage: Outage): boolean {
    return this.#clock.now() >= this.#givesUpAt(outage);
  }

  #down({ since }: Outage, error: ApiError): ApiError {
    const { api, name } = this.#operation;
    const waitedS = Math.round((this.#clock.now() - since) / 1000);
    const times = this.#failedInARow <= 1 ? 'once' : `${this.#failedInARow} times in a row`;
    const waited = waitedS === 0 ? '' : `, over ${waitedS} s of waiting`;
    return new ApiError({
      class: 'stop_run',
      stop: 'unavailable',
      code: PROVIDER_UNAVAILABLE,
      message: `${api} ${name} failed ${times}${waited}; the last: ${error.code}: ${error.message}`,
      hint: `No row is marked failed for it. Go on when the provider is well again; \`patience\` in the pipeline says how long it is waited for.${error.cause instanceof ApiError ? ` ${error.hint}` : ''}`,
      api,
      operation: name,
      charge: 'free',
      cause: error,
    });
  }

  async #change(afterMs: number | undefined, signal: AbortSignal): Promise<void> {
    const timer = new AbortController();
    const either = AbortSignal.any([signal, timer.signal]);
    const woken = new Promise<void>((wake) => {
      this.#waiting.push(wake);
      signal.addEventListener('abort', () => wake(), { once: true, signal: timer.signal });
    });
    const slept = afterMs === undefined ? [] : [this.#clock.sleep(afterMs, either).catch(() => {})];
    await Promise.race([woken, ...slept]);
    timer.abort();
  }

  #wake(): void {
    if (this.#waiting.length === 0) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }
}

/** So many reports may have been paid for in vain, one after the other, before generating is held to be down. */
const REPORTS_IN_VAIN = 3;

/** Soon at first, for hiccups; then ever more rarely, for each probe may cost. */
const FIRST_PROBE_MS = 1_000;
const LAST_PROBE_MS = 300_000;
const LAST_PROBE_BEFORE_MS = 1_000;
