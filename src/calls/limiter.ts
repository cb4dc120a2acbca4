import pLimit from 'p-limit';
import type { Clock } from '../util/clock.js';
import { LONGEST_WAIT_MS } from './retry.js';

/**
 * How many calls of one API may be under way. Request-rate limits are not shown (V1-19), so it starts low. It quadruples
 * with each round trip while every answer is prompt, doubles once one was slow, grows slowly after the first trouble, and
 * halves on trouble. Trouble of calls that had started before the last cut says nothing new and is ignored.
 */
export class Limiter {
  readonly #limit;
  readonly #most: number;
  readonly #clock: Clock;
  #successes = 0;
  #troubled = false;
  #fastestMs = Number.POSITIVE_INFINITY;
  #wasSlow = false;
  #started = 0;
  #cutAt = 0;
  #pausedUntil = 0;

  constructor(most: number, clock: Clock, start = 4) {
    this.#most = most;
    this.#clock = clock;
    this.#limit = pLimit(Math.min(start, most));
  }

  get concurrency(): number {
    return this.#limit.concurrency;
  }

  /** The number of the last call that has been begun. */
  get started(): number {
    return this.#started;
  }

  /** Runs `work` in a slot; `work` is told its number, to be given back with what it met. The signal ends pauses. */
  run<T>(work: (started: number) => Promise<T>, signal: AbortSignal): Promise<T> {
    return this.#limit(async () => {
      // Whoever started meanwhile may have met another pause.
      for (let pause = this.#pauseMs(); pause > 0 && !signal.aborted; pause = this.#pauseMs())
        await this.#clock.sleep(pause, signal).catch(() => {});
      this.#started += 1;
      return await work(this.#started);
    });
  }

  /** `durationMs`: how long the answer took. */
  succeeded(durationMs = 0): void {
    this.#successes += 1;
    this.#fastestMs = Math.min(this.#fastestMs, durationMs);
    this.#wasSlow ||= durationMs > SLOW_TIMES * this.#fastestMs + SLOW_MS;
    if (this.#limit.concurrency >= this.#most) return;
    if (this.#troubled && this.#successes < this.#limit.concurrency) return;
    this.#successes = 0;
    const more = this.#troubled || this.#wasSlow ? 1 : 3;
    this.#limit.concurrency = Math.min(this.#most, this.#limit.concurrency + more);
  }

  /** `pauseMs`: nobody starts before that has passed. */
  troubled(started: number, pauseMs = 0): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, this.#clock.now() + Math.min(pauseMs, LONGEST_WAIT_MS));
    if (started <= this.#cutAt) return;
    this.#troubled = true;
    this.#cutAt = this.#started;
    this.#successes = 0;
    this.#limit.concurrency = Math.max(1, Math.floor(this.#limit.concurrency / 2));
  }

  #pauseMs(): number {
    return this.#pausedUntil - this.#clock.now();
  }
}

/** An answer is slow that takes twice as long as the fastest, and more than a machine's own hiccups. */
const SLOW_TIMES = 2;
const SLOW_MS = 200;
