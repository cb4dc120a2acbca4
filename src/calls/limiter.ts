import pLimit from 'p-limit';
import type { Clock } from '../util/clock.js';
import { LONGEST_WAIT_MS } from './retry.js';

/**
 * How many calls of one API may be under way. Request-rate limits are not shown (V1-19), so it starts low. It quadruples
 * with each round trip while every answer is prompt, doubles once one was slow, grows slowly after the first trouble, and
 * halves on trouble. Trouble of calls that had started before the last cut says nothing new and is ignored.
 *
 * A free slot goes to the earliest row that waits: rows are finished in the order of the file, and the next API is never
 * kept waiting for rows whose first call was sent long ago.
 */
export class Limiter {
  /** Calls that are being written down or are on the wire. */
  readonly #begun;
  /** Calls on the wire. */
  readonly #wire;
  readonly #most: number;
  readonly #clock: Clock;
  #successes = 0;
  #troubled = false;
  #fastestMs = Number.POSITIVE_INFINITY;
  #wasSlow = false;
  #started = 0;
  #cutAt = 0;
  #pausedUntil = 0;
  /** The earliest row last. */
  readonly #waiting: { readonly row: number; readonly go: () => Promise<void> }[] = [];

  constructor(most: number, clock: Clock, start = 16) {
    this.#most = most;
    this.#clock = clock;
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

  /** The number of the last call that has been begun. */
  get started(): number {
    return this.#started;
  }

  /**
   * Begins `work` when its turn has come. It writes down what it is about to do, and sends in a slot of the wire that it
   * asks for: a few calls are written down ahead, so that a slot is never empty for the time that takes. The signal ends
   * pauses.
   */
  run<T>(work: (wire: Wire) => Promise<T>, row: number | null, signal: AbortSignal): Promise<T> {
    const wire: Wire = (send) =>
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

  /** `durationMs`: how long the answer took. */
  succeeded(durationMs = 0): void {
    this.#successes += 1;
    this.#fastestMs = Math.min(this.#fastestMs, durationMs);
    this.#wasSlow ||= durationMs > SLOW_TIMES * this.#fastestMs + SLOW_MS;
    if (this.concurrency >= this.#most) return;
    if (this.#troubled && this.#successes < this.concurrency) return;
    this.#successes = 0;
    const more = this.#troubled || this.#wasSlow ? 1 : 3;
    this.concurrency = Math.min(this.#most, this.concurrency + more);
  }

  /** `pauseMs`: nobody starts before that has passed. */
  troubled(started: number, pauseMs = 0): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, this.#clock.now() + Math.min(pauseMs, LONGEST_WAIT_MS));
    if (started <= this.#cutAt) return;
    this.#troubled = true;
    this.#cutAt = this.#started;
    this.#successes = 0;
    this.concurrency = Math.max(1, Math.floor(this.concurrency / 2));
  }

  /** Whoever started meanwhile may have met another pause. */
  async #pause(signal: AbortSignal): Promise<void> {
    while (this.#pausedUntil > this.#clock.now() && !signal.aborted)
      await this.#clock.sleep(this.#pausedUntil - this.#clock.now(), signal).catch(() => {});
  }
}

/** Sends in a slot. `send` is told its number, to be given back with what it met. */
export type Wire = <T>(send: (started: number) => Promise<T>) => Promise<T>;

const withThoseAhead = (calls: number): number => calls + Math.floor(calls / 8);

/** An answer is slow that takes twice as long as the fastest, and more than a machine's own hiccups. */
const SLOW_TIMES = 2;
const SLOW_MS = 200;
