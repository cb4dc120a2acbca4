import pLimit from 'p-limit';
import type { Clock } from '../util/clock.js';
import { LONGEST_WAIT_MS } from './retry.js';

/**
 * Limits the calls of one API in flight. The provider publishes no rate limits (V1-19), so it starts low. It quadruples
 * with each round trip while all answers are prompt, doubles after a slow one, grows slowly after the first trouble,
 * and halves on trouble. Trouble of calls begun before the last cut is ignored, because it is nothing new.
 *
 * A free slot goes to the earliest waiting row, so that rows finish in file order. So the next API never waits for rows
 * whose first call was sent long ago.
 */
export class Limiter {
  /** Calls being recorded or in flight. */
  readonly #begun;
  /** Calls in flight. */
  readonly #wire;
  #successes = 0;
  #troubled = false;
  #fastestMs = Number.POSITIVE_INFINITY;
  #wasSlow = false;
  #started = 0;
  #cutAt = 0;
  #pausedUntil = 0;
  /** The earliest row last. */
  readonly #waiting: { readonly row: number; readonly go: () => Promise<void> }[] = [];

  constructor(
    private readonly most: number,
    private readonly clock: Clock,
    start = 16,
  ) {
    this.#wire = pLimit(Math.min(start, most));
    this.#begun = pLimit(withThoseAhead(this.concurrency));
  }

  get concurrency(): number {
    return this.#wire.concurrency;
  }

  set concurrency(calls: number) {
    this.#wire.concurrency = calls;
    this.#begun.concurrency = withThoseAhead(calls);
  }

  get started(): number {
    return this.#started;
  }

  /**
   * Runs `work` when its turn comes. It records the call and then sends it in a slot of `wire`. A few calls are
   * recorded ahead, so that slots do not idle. The signal ends pauses.
   */
  run<T>(work: (wire: SendInSlot) => Promise<T>, row: number | null, signal: AbortSignal): Promise<T> {
    const wire: SendInSlot = (send) =>
      this.#wire(async () => {
        await this.#pause(signal);
        this.#started += 1;
        return await send(this.#started);
      });
    return new Promise((resolve) => {
      this.#wait(row ?? 0, async () => {
        await this.#pause(signal);
        const done = work(wire);
        resolve(done);
        await done.catch(() => {});
      });
      void this.#begun(() => this.#waiting.pop()?.go());
    });
  }

  #wait(row: number, go: () => Promise<void>): void {
    let at = this.#waiting.length;
    while (at > 0 && (this.#waiting[at - 1]?.row ?? 0) <= row) at -= 1;
    this.#waiting.splice(at, 0, { row, go });
  }

  succeeded(durationMs = 0): void {
    this.#successes += 1;
    this.#fastestMs = Math.min(this.#fastestMs, durationMs);
    this.#wasSlow ||= durationMs > SLOW_TIMES * this.#fastestMs + SLOW_MS;
    if (this.concurrency >= this.most) return;
    if (this.#troubled && this.#successes < this.concurrency) return;
    this.#successes = 0;
    const more = this.#troubled || this.#wasSlow ? 1 : 3;
    this.concurrency = Math.min(this.most, this.concurrency + more);
  }

  /** `pauseMs`: no call starts before it has passed. */
  troubled(started: number, pauseMs = 0): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, this.clock.now() + Math.min(pauseMs, LONGEST_WAIT_MS));
    if (started <= this.#cutAt) return;
    this.#troubled = true;
    this.#cutAt = this.#started;
    this.#successes = 0;
    this.concurrency = Math.max(1, Math.floor(this.concurrency / 2));
  }

  /** Another pause may have begun meanwhile. */
  async #pause(signal: AbortSignal): Promise<void> {
    while (this.#pausedUntil > this.clock.now() && !signal.aborted)
      await this.clock.sleep(this.#pausedUntil - this.clock.now(), signal).catch(() => {});
  }
}

/** Sends in a slot. `send` gets its start number, to be returned with the result. */
export type SendInSlot = <T>(send: (started: number) => Promise<T>) => Promise<T>;

const withThoseAhead = (calls: number): number => calls + Math.floor(calls / 8);

/** Slow: twice as long as the fastest answer, and more than a machine's own delays. */
const SLOW_TIMES = 2;
const SLOW_MS = 200;
