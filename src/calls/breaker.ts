// A circuit breaker for each operation of the provider.

import { ApiError } from '../api/errors.js';
import type { Operation } from '../api/operation.js';
import type { Clock } from '../util/clock.js';
import type { CallEvent } from './events.js';
import { isTrouble } from './retry.js';

/** The code of a run that stops after an outage outlasted the patience. */
export const PROVIDER_UNAVAILABLE = 'PROVIDER_UNAVAILABLE';

export interface BreakerPolicy {
  /** Failures in a row after which the operation counts as down. */
  readonly failures: number;
  /** How long to wait for it. */
  readonly patienceMs: number;
  /** A request that is given up says nothing about the operation: only failures in a row do. */
  readonly eachForItself?: boolean;
}

/** Given to a call when it may go, and returned with its result. */
export interface Pass {
  /** Set if this call alone probes whether the operation is back. */
  readonly probe: Outage | null;
}

interface Outage {
  readonly since: number;
  readonly error: ApiError;
  intervalMs: number;
  probeAt: number;
  probing: boolean;
}

/** The failures of a request. Calls are identified by their start number. */
interface Failing {
  /** The last call begun before its first failure. Undefined: none since the last outage. */
  readonly since: number | undefined;
  /** When its first failed call was sent. */
  readonly begunAt: number;
  /** The number of good answers at its last failure, and at the one before. */
  readonly last: number;
  readonly before: number | undefined;
}

const ORDINARY: Pass = { probe: null };

/**
 * Decides whether an operation is up. Each is judged separately: searches may work while records do not.
 *
 * - *Up*: calls are sent. Failures in a row, or a call that failed finally without evidence for the provider
 *   (`isToBlame`), begin an outage.
 * - *Outage*: calls wait before their intent, so no money is reserved. From time to time the call that waited longest
 *   goes as a probe, so that a request that always fails does not block the rest.
 * - A good answer, even of an earlier call, ends the outage. When the patience is over no call begins: the run stops,
 *   resumable, and no row fails. The patience counts from when the unanswered call was sent, because a provider may
 *   hang until the deadline.
 *
 * A credit report needs more care, because each try may cost one. Until the first success, reports after a failure go
 * one by one. Three failures in a row, of more than one company, are an outage. A failed request is never a probe.
 */
export class Breaker {
  readonly #operation: Operation;
  readonly #policy: BreakerPolicy;
  readonly #clock: Clock;
  readonly #tell: (event: CallEvent) => void;
  /** Good answers in this attempt, and the time of the last. */
  #successes = 0;
  #lastGoodAt = 0;
  /** The latest start number of a good answer. */
  #lastGood = 0;
  /** Failures since the last good answer: temporary ones, and all. */
  #inARow = 0;
  #failedInARow = 0;
  /** Failures since the last good answer that may have cost a report. */
  #reportsInARow = 0;
  /** Calls in flight. */
  #underWay = 0;
  /** Requests that failed since the last good answer. */
  readonly #failing = new Set<string>();
  /** Requests still being tried that have failed. */
  readonly #failures = new Map<string, Failing>();
  /** Abandoned requests that failed while others were answered. */
  readonly #odd = new Set<string>();
  /** Requests that failed in earlier attempts: they say nothing about the operation. */
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
   * Waits while the operation is down. An error: the patience is over and the run must stop. Undefined: the signal
   * ended the wait.
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

  /** Checks again after the wait for a slot, because the state may have changed. */
  setsOut({ probe }: Pass): boolean {
    const isLate = probe !== null && this.#isOver(probe);
    if (isLate) probe.probing = false;
    const isFree = probe === null ? this.#outage === undefined && !this.#mustWaitInLine() : probe === this.#outage;
    const may = isFree && !isLate;
    if (may) this.#underWay += 1;
    return may;
  }

  /** The call ended. If it said nothing about the provider, the next may try. */
  left({ probe }: Pass): void {
    this.#underWay -= 1;
    if (probe !== null && probe === this.#outage) probe.probing = false;
    this.#wake();
  }

  /** It is unknown whether reports work: one at a time finds out. */
  #mustWaitInLine(): boolean {
    return this.#underWay > 0 && this.#successes === 0 && this.#reportsInARow > 0;
  }

  /**
   * The operation is down and this request has failed since the last good answer: another try may cost another report.
   */
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
    // Answers during an outage say nothing about the next one.
    for (const [key, failing] of this.#failures) this.#failures.set(key, { ...failing, since: undefined });
    const { api, name: operation } = this.#operation;
    this.#tell({ kind: 'recovered', api, operation, since: outage.since, at: this.#clock.now() });
    this.#wake();
  }

  /**
   * `lastBegun`: the latest start number. `setOutAt`: when this call was sent. Returns the error that stops the run, if
   * it must.
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
   * This request has no tries left: is the provider to blame? No, if others were answered between its last two tries,
   * or before while no other request fails, or only requests that fail while others are answered. Older answers prove
   * nothing: when a provider goes down, calls in flight are still answered after the first failures.
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

  /** The request failed in earlier attempts too, so its failure alone is no sign of an outage. */
  noteInVainBefore(requestKey: string): void {
    this.#inVainBefore.add(requestKey);
  }

  #onlyOddFail(): boolean {
    for (const requestKey of this.#failing) if (!this.#isOdd(requestKey)) return false;
    return this.#failing.size > 0;
  }

  /** A call begun after this request failed was answered, so the provider was up. */
  #isOdd(requestKey: string): boolean {
    if (this.#inVainBefore.has(requestKey)) return true;
    const failing = this.#failures.get(requestKey);
    if (failing === undefined) return this.#odd.has(requestKey);
    return failing.since !== undefined && this.#lastGood > failing.since;
  }

  /** The operation counts as down. Without patience, returns the error that stops the run. */
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

  /** The error to stop with if the run ends during an outage. */
  get outage(): ApiError | undefined {
    return this.#outage && this.#down(this.#outage, this.#outage.error);
  }

  #stillDown(outage: Outage, error: ApiError): ApiError | undefined {
    if (this.#clock.now() >= this.#lastProbeAt(outage)) return this.#down(outage, error);
    outage.intervalMs = Math.min(outage.intervalMs * 2, LAST_PROBE_MS);
    this.#waitForNext(outage, error);
    return undefined;
  }

  /** The last probe comes near the end of the patience. */
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

  /** A timer may be late, so the last probe goes shortly before the end. */
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
      message: `${api} ${name} failed ${times}${waited}. The last error: ${error.code}: ${error.message}`,
      hint: `No row failed because of it. Continue when the provider is back. \`patience\` in the pipeline is how long kybatch waits.${error.cause instanceof ApiError ? ` ${error.hint}` : ''}`,
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

/** Reports that may be paid in vain, one after the other, before generating counts as down. */
const REPORTS_IN_VAIN = 3;

/** Soon at first, for short interruptions, then ever more rarely, because each probe may cost. */
const FIRST_PROBE_MS = 1_000;
const LAST_PROBE_MS = 300_000;
const LAST_PROBE_BEFORE_MS = 1_000;
